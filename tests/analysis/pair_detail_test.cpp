// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/pair_detail.h"
#include "tests/analysis/comparing.h"

#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

/// x [1, 2, 1, 4]: the second channel is ten times as wide as the first.
Prepared floatNet()
{
    return SmallModel("f").input("x", { 1, 2, 1, 4 }).node("Neg", { "x" }, { "y" }).output("y").finish();
}

Prepared quantNet()
{
    return SmallModel("q")
        .input("x", { 1, 2, 1, 4 })
        .qdq<int8_t>("x", "x_dq", 0.5f, 0)
        .node("Neg", { "x_dq" }, { "y" })
        .output("y")
        .finish();
}

Tensor sample(float factor)
{
    return Tensor::of<float>({ 1, 2, 1, 4 }, { 0.25f * factor, -1, 0.5f, 1, 10 * factor, -10, 5.125f, 0 });
}

DetailInputs inputsOf(const Prepared& f, const Prepared& q, const std::vector<Tensor>& samples)
{
    return { pairOf(f, q), std::make_shared<FixedData>(samples), {}, nullptr };
}

} // namespace

class PairDetailTests : public QObject {
    Q_OBJECT
private slots:
    void channelsPlacesAndBands();
    void samplesAreChosen();
    void outputsOfOneSample();
    void mapsAreReduced();
    void refusesUnpaired();
};

void PairDetailTests::channelsPlacesAndBands()
{
    const Prepared f = floatNet(), q = quantNet();
    const DetailInputs inputs = inputsOf(f, q, { sample(1) });
    const size_t first[] { 0 };
    const auto found = pairDetail(inputs, f.value("x"), q.value("x_dq"), first);
    QVERIFY2(found.ok(), found.ok() ? "" : issueText(found.issue()).c_str());
    QCOMPARE(found->samples, size_t(1));
    QCOMPARE(found->channelAxis, size_t(1));
    QCOMPARE(found->channels.size(), size_t(2));
    const PartSums& narrow = found->channels[0];
    QCOMPARE(narrow.count, uint64_t(4));
    QCOMPARE(narrow.lowX, -1.0);
    QCOMPARE(narrow.highX, 1.0);
    QCOMPARE(narrow.ee, 0.0625); // 0.25 becomes 0: a tie goes to the even code
    QVERIFY(close(narrow.sqnrDb(), 10 * std::log10((0.0625 + 1 + 0.25 + 1) / 0.0625)));
    QCOMPARE(found->channels[1].maxError, 0.125);
    QCOMPARE(found->map.rows, size_t(1));
    QCOMPARE(found->map.columns, size_t(4));
    QVERIFY(close(found->map.error[0], std::sqrt(0.0625 / 2)));
    QCOMPARE(found->map.error[3], 0.0);
    QVERIFY(close(found->map.signal[1], std::sqrt(101.0 / 2)));
    QVERIFY(close(found->rangeRatio(), 1.0)); // of two, the larger one is the median
    // 20 wide against 2 and 20 wide
    QVERIFY(close(found->perChannelGainDb(), 10 * std::log10(400.0 / ((4 * 4 + 4 * 400) / 8.0))));
    uint64_t counted = 0;
    for (const MagnitudeBand& band : found->bands) {
        QVERIFY(band.high > band.low);
        counted += band.sums.count;
    }
    QCOMPARE(counted, uint64_t(8));
    QCOMPARE(found->bands.back().low, 8.0);
    QCOMPARE(found->bands.back().sums.count, uint64_t(2));
    QCOMPARE(found->bands.front().low, 0.0);
}

void PairDetailTests::samplesAreChosen()
{
    const Prepared f = floatNet(), q = quantNet();
    const DetailInputs inputs = inputsOf(f, q, { sample(1), sample(2), sample(3) });
    const size_t some[] { 0, 2 };
    const auto found = pairDetail(inputs, f.value("x"), q.value("x_dq"), some);
    QVERIFY(found.ok());
    QCOMPARE(found->samples, size_t(2));
    QCOMPARE(found->channels[1].highX, 30.0);
    const CancelToken stop;
    stop.cancel();
    const auto stopped = pairDetail(inputs, f.value("x"), q.value("x_dq"), some, { {}, stop });
    QVERIFY(!stopped.ok());
    QCOMPARE(stopped.issue().kind, IssueKind::Cancelled);
}

void PairDetailTests::outputsOfOneSample()
{
    const Prepared f = floatNet(), q = quantNet();
    const auto outputs = sampleOutputs(inputsOf(f, q, { sample(1), sample(2) }), 1);
    QVERIFY(outputs.ok());
    QCOMPARE(outputs->size(), size_t(1));
    QCOMPARE(outputs->front().name, std::string("y"));
    QCOMPARE(outputs->front().x[4], -20.f);
    QCOMPARE(outputs->front().y[6], -5.f);
}

void PairDetailTests::mapsAreReduced()
{
    ErrorMap map { 4, 6, std::vector<double>(24, 0), std::vector<double>(24, 2) };
    map.error[0] = 4;
    const ErrorMap small = map.reduced(3);
    QCOMPARE(small.rows, size_t(2));
    QCOMPARE(small.columns, size_t(3));
    QVERIFY(close(small.error[0], 2)); // sqrt(16 / 4)
    QCOMPARE(small.error[1], 0.0);
    QCOMPARE(small.signal[5], 2.0);
    QCOMPARE(map.reduced(6).columns, size_t(6));
}

void PairDetailTests::refusesUnpaired()
{
    const Prepared f = floatNet(), q = quantNet();
    const size_t first[] { 0 };
    const auto none = pairDetail(inputsOf(f, q, { sample(1) }), f.value("x"), q.value("y"), first);
    QVERIFY(!none.ok());
    QVERIFY(!none.issue().remedy.empty());
}

namespace qs::test {

int runPairDetailTests(int argc, char** argv)
{
    PairDetailTests tests;
    return QTest::qExec(&tests, argc, argv);
}

} // namespace qs::test

#include "pair_detail_test.moc"
