// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/onnx/write/export.h"
#include "core/project/snapshot/build_snapshot.h"
#include "tests/support/helper_call.h"
#include "tests/support/small_model.h"
#include "tests/support/tensors.h"

#include <QTemporaryDir>
#include <QtTest>

#include <random>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kOpen = -1; ///< a size that the file does not say

/// x -> [quantizers] -> MatMul -> y
SmallModel product(int64_t batch, bool quantized)
{
    std::mt19937 random(5);
    SmallModel m({});
    m.input("x", { batch, 4 }).constant("w", normalFloats(random, { 4, 3 }, 1));
    if (quantized)
        m.qdq<int8_t>("x", "x_read", 4.f / 127, 0);
    m.node("MatMul", { quantized ? "x_read" : "x", "w" }, { "y" });
    m.output("y");
    return m;
}

} // namespace

/// Files whose inputs are those of the float model in another form: they are one network all the same.
class InterfaceTests : public QObject {
    Q_OBJECT
private slots:
    void batchOfTheOtherFile();

private:
    std::string path(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)).toStdString(); }
    void save(SmallModel& model, const char* name);
    Inputs asked() const;
    SnapshotPtr compared() const; ///< null where that failed
    QTemporaryDir m_folder;
};

void InterfaceTests::save(SmallModel& model, const char* name)
{
    const Prepared made = model.finish();
    QVERIFY(exportModel(GraphDraft(std::shared_ptr<const Model>(made.plan, &made.plan->model())), path(name)).ok());
}

Inputs InterfaceTests::asked() const
{
    Inputs inputs;
    inputs.floatPath = path("float.onnx");
    inputs.quantPath = path("quantized.onnx");
    inputs.data.spec = "random:8:1";
    inputs.threads = 1;
    return inputs;
}

SnapshotPtr InterfaceTests::compared() const
{
    const auto built = buildSnapshot(asked(), nullptr, {}, {});
    if (!built.ok())
        qWarning("%s", issueText(built.issue()).c_str());
    return built.ok() ? *built : nullptr;
}

void InterfaceTests::batchOfTheOtherFile()
{
    SmallModel open = product(kOpen, false), fixed = product(4, true);
    QS_HELPER(save(open, "float.onnx"));
    QS_HELPER(save(fixed, "quantized.onnx"));
    const SnapshotPtr found = compared();
    QVERIFY(found);
    QCOMPARE(found->data->samples(), size_t(8));
    QCOMPARE(found->data->feeds(), size_t(2));
    QVERIFY(*found->comparison->outputs.at(0).similarity.sqnrDb > 30);
}

QTEST_APPLESS_MAIN(InterfaceTests)
#include "interface_test.moc"
