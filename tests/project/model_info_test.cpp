// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/model_info.h"
#include "core/project/snapshot/loaded_model.h"
#include "tests/support/small_model.h"
#include "tests/support/tensors.h"

#include <QTest>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kRows = 3, kColumns = 4;

enum class Form { Plain, Bounded, FewBits, Moved, CodedBias };

/// x -> Gemm -> y with codes of the weight per channel, of all else per tensor.
ModelInfo infoOf(Form form)
{
    SmallModel m("q");
    m.input("x", { 2, kColumns }).qdq<int8_t>("x", "x_dq", 0.1f, 0);
    const bool moved = form == Form::Moved;
    const std::vector<int8_t> codes(kRows * kColumns, 3);
    m.constant("w_q", Tensor::of<int8_t>(moved ? Shape { kRows, kColumns } : Shape { kColumns, kRows }, codes));
    m.constant("w_s", Tensor::of<float>({ kRows }, { 0.1f, 0.2f, 0.3f }));
    m.constant("w_z", Tensor::of<int8_t>({ kRows }, { 0, 0, 0 }));
    const int8_t last = form == Form::FewBits ? 7 : 127;
    if (moved)
        m.node("Transpose", { "w_q" }, { "w_c" });
    else if (form != Form::Plain && form != Form::CodedBias)
        m.constant("low", Tensor::scalar(int8_t(-last)))
            .constant("high", Tensor::scalar(last))
            .node("Clip", { "w_q", "low", "high" }, { "w_c" });
    const bool direct = form == Form::Plain || form == Form::CodedBias;
    m.node("DequantizeLinear", { direct ? "w_q" : "w_c", "w_s", "w_z" }, { "w" }, { { "axis", int64_t(1) } });
    m.constant("b_q",
        form == Form::CodedBias ? Tensor::of<int8_t>({ kRows }, { 1, 2, 3 })
                                : Tensor::of<int32_t>({ kRows }, { 1, 2, 3 }));
    m.constant("b_s", Tensor::scalar(0.5f));
    m.node("DequantizeLinear", { "b_q", "b_s" }, { "b" });
    const Prepared made = m.node("Gemm", { "x_dq", "w", "b" }, { "y" }).output("y").finish();
    return modelInfo(loadedModel(std::shared_ptr<const Model>(made.plan, &made.plan->model())));
}

} // namespace
Q_DECLARE_METATYPE(Form)

/// What is told of a file by itself.
class ModelInfoTests : public QObject {
    Q_OBJECT

private slots:
    void weights_data()
    {
        QTest::addColumn<Form>("form");
        QTest::addColumn<int>("bits");
        QTest::newRow("plain") << Form::Plain << 8;
        QTest::newRow("codes behind a Clip") << Form::Bounded << 8;
        QTest::newRow("codes behind a Clip that leaves few") << Form::FewBits << 4;
        QTest::newRow("codes behind a Transpose") << Form::Moved << 8;
        QTest::newRow("a bias of 8 bits") << Form::CodedBias << 8;
    }
    void weights()
    {
        QFETCH(Form, form);
        QFETCH(int, bits);
        const ModelInfo info = infoOf(form);
        QCOMPARE(info.parameters, kRows * kColumns + kRows);
        QCOMPARE(info.weightTypes, std::set<std::string> { "int8" });
        QCOMPARE(info.weightBits, std::set<size_t> { size_t(bits) });
        QCOMPARE(info.activationBits, std::set<size_t> { 8 });
        QCOMPARE(info.granularity, std::set<std::string> { "per_channel" }); // of the weight alone
    }
};

QTEST_GUILESS_MAIN(ModelInfoTests)
#include "model_info_test.moc"
