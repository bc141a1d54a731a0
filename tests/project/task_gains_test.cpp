// SPDX-License-Identifier: GPL-3.0-or-later
// What remedies gain is counted as the outputs' tasks say.
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"
#include "tests/project/remedies.h"

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kIn = 8, kOut = 5;

/// x -> Neg -> a -> MatMul -> y, where the range of a is far too small; or with a convolution and a Softmax over three
/// channels of each pixel.
Prepared network(bool codes, const Shape& input, bool pixels)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", input).node("Neg", { "x" }, { "a" });
    if (codes)
        m.qdq<uint8_t>("a", "a_dq", 0.004f, 128);
    const std::string a = codes ? "a_dq" : "a";
    if (!pixels) {
        m.constant("w", Tensor::of<float>({ kIn, kOut }, uniform(kIn * kOut, 5)));
        return m.node("MatMul", { a, "w" }, { "y" }).output("y").finish();
    }
    m.constant("w", Tensor::of<float>({ 3, 1, 3, 3 }, uniform(27, 5)));
    m.node("Conv", { a, "w" }, { "c" }, { { "pads", std::vector<int64_t> { 1, 1, 1, 1 } } });
    return m.node("Softmax", { "c" }, { "y" }, { { "axis", int64_t(1) } }).output("y").finish();
}

} // namespace

class TaskGainsTests : public QObject {
    Q_OBJECT
private slots:
    void gains_data()
    {
        QTest::addColumn<QList<int>>("input"); // its shape
        QTest::addColumn<QString>("told"); // of the output; empty: nothing
        QTest::addColumn<bool>("classes"); // samples of a class are counted
        QTest::addColumn<int>("counted"); // the other task that is; Values: none
        QTest::newRow("classes") << QList<int> { 1, kIn } << "" << true << int(TaskKind::Values);
        QTest::newRow("told values") << QList<int> { 1, kIn } << "values" << false << int(TaskKind::Values);
        QTest::newRow("a sequence") << QList<int> { 1, 6, kIn } << "" << false << int(TaskKind::Sequence);
        QTest::newRow("a sequence, told values")
            << QList<int> { 1, 6, kIn } << "values" << false << int(TaskKind::Values);
        QTest::newRow("a mask") << QList<int> { 1, 1, kIn, kIn } << "" << false << int(TaskKind::Mask);
    }
    void gains()
    {
        QFETCH(QList<int>, input);
        QFETCH(QString, told);
        QFETCH(bool, classes);
        QFETCH(int, counted);
        const Shape shape(input.begin(), input.end());
        const bool pixels = shape.size() == 4;
        std::vector<Tensor> feeds;
        for (unsigned s = 0; s < 12; ++s) {
            std::vector<float> x = uniform(size_t(*elementCount(shape)), 20 + s);
            for (float& v : x)
                v *= 3;
            feeds.push_back(Tensor::of<float>(shape, x));
        }
        const auto modelOf
            = [&](bool codes) { return std::make_shared<const Model>(network(codes, shape, pixels).plan->model()); };
        Snapshot s = *snapshotOf({ modelOf(false), modelOf(true), std::make_shared<FixedData>(feeds) });
        if (!told.isEmpty())
            s.inputs.tasks.told["y"] = taskFromText(told.toStdString()).value();
        const SnapshotPtr after = tried(std::make_shared<const Snapshot>(std::move(s)));
        const Finding* f = firstOffered(*after);
        QVERIFY2(f && f->measuredGainDb, qPrintable(rulesOf(*after->comparison)));
        QCOMPARE(f->measuredTop1Gain.has_value(), classes);
        QCOMPARE(f->measuredAgreementGain.has_value(), counted != int(TaskKind::Values));
        QCOMPARE(int(f->agreementOf), counted);
        if (f->measuredAgreementGain)
            QVERIFY2(*f->measuredAgreementGain > 5, qPrintable(QString::number(*f->measuredAgreementGain)));
    }
};

QTEST_GUILESS_MAIN(TaskGainsTests)
#include "task_gains_test.moc"
