// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/measured.h"
#include "core/analysis/rows/parameter_difference.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/runners.h"
#include "tests/support/helper_call.h"

#include <cmath>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

double decibel(double signal, double noise) { return 10 * std::log10(signal / noise); }

Prepared twoSteps()
{
    return SmallModel("f")
        .input("x", { 4 })
        .node("Neg", { "x" }, { "a" })
        .node("Neg", { "a" }, { "y" })
        .output("y")
        .finish();
}

/// x in half steps; a in steps of 1/128 from -1 to 127/128, which two of its values do not fit.
Prepared twoStepsQuantized()
{
    return SmallModel("q")
        .input("x", { 4 })
        .qdq<int8_t>("x", "x_dq", 0.5f, 0)
        .node("Neg", { "x_dq" }, { "a" })
        .qdq<int8_t>("a", "a_dq", 1.f / 128, 0)
        .node("Neg", { "a_dq" }, { "y" })
        .output("y")
        .finish();
}

const Tensor kSample = Tensor::of<float>({ 4 }, { 0.3f, -1.2f, 2.0f, 0.8f });

Tensor smallFloatZero()
{
    Tensor t = Tensor::allocate(DType::Float8E4M3FN, {});
    t.fill<uint8_t>()[0] = 0;
    return t;
}

void verifySplit(const ActivationRow& row)
{
    const double mse = *row.accumulated.rmse * *row.accumulated.rmse;
    const double sum = *row.noise.rounding + *row.noise.clipping + row.noise.weights.value_or(0) + *row.noise.inherited;
    QVERIFY2(std::fabs(sum - mse) <= 1e-12 * std::max(mse, 1e-12),
        qPrintable(QString("%1: %2 and %3").arg(row.name.c_str()).arg(sum, 0, 'g', 17).arg(mse, 0, 'g', 17)));
}

/// x -> Conv (1x1, two channels) -> y, weight {1, 0.02} and a quantized form.
Prepared twoChannels(const std::vector<float>& weight)
{
    return SmallModel("f")
        .input("x", { 1, 1, 1, 4 })
        .constant("w", Tensor::of<float>({ 2, 1, 1, 2 }, weight))
        .constant("b", Tensor::of<float>({ 2 }, { 0.5f, -0.25f }))
        .node("Conv", { "x", "w", "b" }, { "y" })
        .output("y")
        .finish();
}

} // namespace

class NumbersTests : public QObject {
    Q_OBJECT
private slots:
    void inputNumbers();
    void clippedTensor();
    void dynamicQuantizersAreJudgedByTheirOwnScale();
    void float8HasARange();
    void foldedReluHidesNoClipping();
    void increaseFollowsTheDefinition();
    void exactTensors();
    void zeros();
    void nonFiniteAreCountedApart();
    void nodeAlone();
    void weightNumbers();
    void parametersOfNegativeScales();
    void parametersGain_data();
    void parametersGain();
    void outputsAndAccuracy();
    void samplesAddUp();
    void equalForAnyThreads();
    void cancels();
    void refusesLittleMemory();
};

void NumbersTests::inputNumbers()
{
    const Comparison c = compared(twoSteps(), twoStepsQuantized(), FixedData({ kSample }));
    const ActivationRow& x = rowOf(c, "x");
    // 0.3 -> 0.5, -1.2 -> -1, 2 -> 2, 0.8 -> 1: errors 0.2, 0.2, 0, 0.2.
    QVERIFY(close(x.accumulated.sqnrDb, decibel(6.17, 0.12)));
    QVERIFY(close(x.localSqnrDb, decibel(6.17, 0.12)));
    QVERIFY(close(x.qdqSqnrDb, decibel(6.17, 0.12)));
    QVERIFY(close(x.idealSqnrDb, decibel(6.17 / 4, 0.25 / 12)));
    QVERIFY(close(x.accumulated.rmse, std::sqrt(0.03)));
    QVERIFY(close(x.accumulated.maxAbsError, 0.2));
    QVERIFY(close(x.accumulated.meanError, 0.15));
    QVERIFY(close(x.accumulated.cosine, 6.15 / std::sqrt(6.17 * 6.25)));
    QVERIFY(close(x.signalPower, 6.17 / 4));
    QVERIFY(close(x.noise.rounding, 0.03));
    QVERIFY(close(x.noise.clipping, 0));
    QVERIFY(close(x.noise.inherited, 0));
    QVERIFY(close(x.clippedFraction, 0));
    QCOMPARE(x.range->first, -64.0);
    QCOMPARE(x.range->second, 63.5);
    QCOMPARE(float(x.observedRange->first), -1.2f);
    QCOMPARE(float(x.observedRange->second), 2.0f);
    QVERIFY(close(x.usedCodes, 4.0 / 256));
    // Graph inputs start from their floor.
    QVERIFY(close(x.increaseDb, *x.idealSqnrDb - *x.accumulated.sqnrDb));
    QVERIFY(!x.nodeSqnrDb);
    QVERIFY(!x.accumulated.exact);
    QCOMPARE(x.accumulated.elements, uint64_t(4));
    QCOMPARE(x.sampleSqnrDb.size(), size_t(1));
    QS_HELPER(verifySplit(x));
}

void NumbersTests::clippedTensor()
{
    const Comparison c = compared(twoSteps(), twoStepsQuantized(), FixedData({ kSample }));
    const ActivationRow& a = rowOf(c, "a");
    // x = -0.3, 1.2, -2, -0.8; p = -0.5, 1, -2, -1; y = -0.5, 127/128, -1, -1. Beyond the range: 1 and -2.
    const double top = 127.0 / 128;
    const double ee = 0.04 + (1.2 - top) * (1.2 - top) + 1 + 0.04;
    QVERIFY(close(a.accumulated.sqnrDb, decibel(6.17, ee)));
    QVERIFY(close(a.accumulated.rmse, std::sqrt(ee / 4)));
    QVERIFY(close(a.clippedFraction, 0.5));
    QVERIFY(close(a.floatClippedFraction, 0.5)); // 1.2 and -2
    QVERIFY(close(a.qdqSqnrDb, decibel(0.25 + 1 + 4 + 1, (1 - top) * (1 - top) + 1)));
    // The float model's own values through this quantizer: -38/128, 127/128, -1, -102/128.
    const double local = std::pow(-38.0 / 128 + 0.3, 2) + std::pow(top - 1.2, 2) + 1 + std::pow(-102.0 / 128 + 0.8, 2);
    QVERIFY(close(a.localSqnrDb, decibel(6.17, local)));
    // (y - x) times (a(p) - x), and times (y - a(p)) where it is clipped.
    QVERIFY(close(a.noise.inherited, (0.2 * 0.2 + (top - 1.2) * -0.2 + 0 + 0.2 * 0.2) / 4));
    QVERIFY(close(a.noise.clipping, ((top - 1.2) * (top - 1) + 1) / 4));
    QVERIFY(close(a.noise.rounding, 0));
    QCOMPARE(a.range->first, -1.0);
    QCOMPARE(a.observedRange->first, -2.0);
    QCOMPARE(a.observedRange->second, 1.0);
    QCOMPARE(float(a.floatRange->second), 1.2f);
    QS_HELPER(verifySplit(a));
    QS_HELPER(verifySplit(rowOf(c, "y")));
    // The last tensor has no quantizer of its own: all its noise came in.
    const ActivationRow& y = rowOf(c, "y");
    QVERIFY(!y.localSqnrDb && !y.qdqSqnrDb && !y.idealSqnrDb && !y.range && !y.clippedFraction);
    QVERIFY(close(y.noise.inherited, ee / 4));
}

void NumbersTests::dynamicQuantizersAreJudgedByTheirOwnScale()
{
    const auto model = [](bool quantized) {
        SmallModel m(quantized ? "q" : "f");
        m.input("x", { 4 });
        if (quantized)
            m.qdq<int8_t>("x", "x_dq", 2, 0);
        m.node("Neg", { quantized ? "x_dq" : "x" }, { "a" });
        if (quantized)
            m.node("DynamicQuantizeLinear", { "a" }, { "a_q", "a_scale", "a_zero" })
                .node("DequantizeLinear", { "a_q", "a_scale", "a_zero" }, { "a_dq" });
        return m.node("Neg", { quantized ? "a_dq" : "a" }, { "y" }).output("y").finish();
    };
    const std::vector<float> x { 0.3f, -1.2f, 2.0f, 0.8f };
    const Comparison c = compared(model(false), model(true), FixedData({ kSample }));
    // -x lies in -2 .. 1.2, where 255 steps of 3.2 / 255 begin at -159 steps. The quantized model sees -2 .. 2.
    const double scale = double((1.2f + 2.0f) / 255.0f);
    double noise = 0, signal = 0;
    for (const float v : x) {
        const double back = std::nearbyint(-double(v) / scale) * scale;
        noise += (back + v) * (back + v);
        signal += double(v) * v;
    }
    const ActivationRow& a = rowOf(c, "a");
    QVERIFY(a.dynamic);
    QVERIFY(close(a.localSqnrDb, decibel(signal, noise), 1e-4));
    QVERIFY(*a.localSqnrDb > *a.accumulated.sqnrDb + 20);
}

void NumbersTests::float8HasARange()
{
    const Prepared q = SmallModel("q")
                           .input("x", { 4 })
                           .constant("s", Tensor::scalar(0.01f))
                           .constant("z", smallFloatZero())
                           .node("QuantizeLinear", { "x", "s", "z" }, { "x_q" })
                           .node("DequantizeLinear", { "x_q", "s", "z" }, { "x_dq" })
                           .node("Neg", { "x_dq" }, { "a" })
                           .node("Neg", { "a" }, { "y" })
                           .output("y")
                           .finish();
    const Comparison c = compared(twoSteps(), q, FixedData({ kSample }));
    const ActivationRow& x = rowOf(c, "x");
    QVERIFY(x.range);
    QVERIFY(close(x.range->first, -4.48) && close(x.range->second, 4.48));
}

void NumbersTests::foldedReluHidesNoClipping()
{
    const Prepared f = SmallModel("f")
                           .input("x", { 4 })
                           .node("Neg", { "x" }, { "n" })
                           .node("Relu", { "n" }, { "r" })
                           .node("Neg", { "r" }, { "y" })
                           .output("y")
                           .finish();
    const Prepared q = SmallModel("q")
                           .input("x", { 4 })
                           .node("Neg", { "x" }, { "n" })
                           .qdq<uint8_t>("n", "r", 0.5f, 0)
                           .node("Neg", { "r" }, { "y" })
                           .output("y")
                           .finish();
    const Comparison c = compared(f, q, FixedData({ kSample }));
    const ActivationRow& r = rowOf(c, "r");
    // x = 0, 1.2, 0, 0; p = -0.3, 1.2, -2, -0.8; y = 0, 1, 0, 0.
    QCOMPARE(r.foldedActivation, std::string("Relu"));
    QVERIFY(close(r.clippedFraction, 0));
    QVERIFY(close(r.accumulated.sqnrDb, decibel(1.44, 0.04)));
    QVERIFY(close(r.noise.rounding, 0.01));
    QVERIFY(close(r.noise.inherited, 0));
    QCOMPARE(r.observedRange->first, 0.0);
    // ONNX Runtime's number takes p as it is.
    QVERIFY(close(r.qdqSqnrDb, decibel(6.17, 0.09 + 0.04 + 4 + 0.64)));
    QS_HELPER(verifySplit(r));
    // The value before the removed Relu is compared with p and is equal.
    QVERIFY(rowOf(c, "n").accumulated.exact);
}

void NumbersTests::increaseFollowsTheDefinition()
{
    const Comparison c = compared(twoSteps(), twoStepsQuantized(), FixedData({ kSample }));
    const ActivationRow &x = rowOf(c, "x"), &a = rowOf(c, "a"), &y = rowOf(c, "y");
    const double floorOfA = -*a.idealSqnrDb;
    const double in = std::max(-*x.accumulated.sqnrDb, floorOfA), here = std::max(-*a.accumulated.sqnrDb, floorOfA);
    QVERIFY(close(a.increaseDb, here - in));
    QVERIFY(*a.increaseDb > 3);
    QVERIFY(close(y.increaseDb, 0));
}

void NumbersTests::exactTensors()
{
    const Comparison c = compared(twoSteps(), twoSteps(), FixedData({ kSample, kSample }));
    QCOMPARE(c.samples, size_t(2));
    QCOMPARE(c.activations.size(), size_t(3));
    for (const ActivationRow& row : c.activations) {
        QVERIFY(row.accumulated.exact);
        QVERIFY(!row.accumulated.sqnrDb);
        QVERIFY(close(row.accumulated.rmse, 0));
        QVERIFY(close(row.accumulated.cosine, 1));
        QVERIFY(!row.localSqnrDb && !row.idealSqnrDb && !row.increaseDb.value_or(0));
        QVERIFY(row.params.scale.empty());
    }
    QVERIFY(c.outputs[0].similarity.exact);
    QVERIFY2(c.findings.empty(), qPrintable(rulesOf(c)));

    // Values on the grid are exact although they are quantized.
    const Comparison grid
        = compared(twoSteps(), twoStepsQuantized(), FixedData({ Tensor::of<float>({ 4 }, { 0.5f, -0.5f, 0, -0.5f }) }));
    for (const ActivationRow& row : grid.activations)
        QVERIFY(row.accumulated.exact);
    QVERIFY(rowOf(grid, "a").localExact && rowOf(grid, "a").qdqExact);
    QVERIFY(!rowOf(grid, "a").localSqnrDb);
}

void NumbersTests::zeros()
{
    const Comparison c
        = compared(twoSteps(), twoStepsQuantized(), FixedData({ Tensor::of<float>({ 4 }, { 0, 0, 0, 0 }) }));
    for (const ActivationRow& row : c.activations) {
        QVERIFY(row.accumulated.exact);
        QVERIFY(!row.accumulated.sqnrDb && !row.accumulated.cosine && !row.idealSqnrDb && !row.increaseDb);
        QVERIFY(close(row.accumulated.rmse, 0));
    }
    QVERIFY2(c.findings.empty(), qPrintable(rulesOf(c)));
    // Noise without a signal is neither exact nor a number.
    PairSums sums;
    const float x[] = { 0, 0 }, y[] = { 1, 0 };
    addPairSums(sums, x, y, nullptr, 2, nullptr, {});
    const Similarity s = similarityOf(sums);
    QVERIFY(!s.exact && !s.sqnrDb && !s.cosine);
    QVERIFY(close(s.rmse, std::sqrt(0.5)));
    QVERIFY(!similarityOf({}).rmse && !similarityOf({}).exact);
}

void NumbersTests::nonFiniteAreCountedApart()
{
    const float inf = std::numeric_limits<float>::infinity();
    const Comparison c = compared(twoSteps(), twoStepsQuantized(),
        FixedData({ kSample, Tensor::of<float>({ 4 }, { std::nanf(""), inf, -inf, 1 }) }));
    const ActivationRow& x = rowOf(c, "x");
    QCOMPARE(x.accumulated.nonFinite, uint64_t(3));
    QCOMPARE(x.accumulated.elements, uint64_t(5));
    QVERIFY(close(x.accumulated.sqnrDb, decibel(7.17, 0.12)));
    QVERIFY(close(x.accumulated.maxAbsError, 0.2));
    QCOMPARE(x.floatHistogram.nonFinite(), uint64_t(3));
    QVERIFY(!x.accumulated.exact);
    QS_HELPER(verifySplit(x));
    // Nothing but NaN: no numbers, no crash.
    const float nan = std::nanf("");
    const Comparison none
        = compared(twoSteps(), twoStepsQuantized(), FixedData({ Tensor::of<float>({ 4 }, { nan, nan, nan, nan }) }));
    QVERIFY(!rowOf(none, "x").accumulated.sqnrDb && !rowOf(none, "x").accumulated.exact);
    QCOMPARE(rowOf(none, "x").accumulated.nonFinite, uint64_t(4));
}

void NumbersTests::nodeAlone()
{
    CompareOptions options;
    options.nodeAlone = true;
    const Comparison c = compared(twoSteps(), twoStepsQuantized(), FixedData({ kSample }), options);
    // Neg itself adds nothing: what is left is its input quantizer, not its own.
    QVERIFY(close(rowOf(c, "a").nodeSqnrDb, decibel(6.17, 0.12)));
    // y = -DQ(Q(a)) of the float model's a: the local error of a.
    QVERIFY(close(rowOf(c, "y").nodeSqnrDb, *rowOf(c, "a").localSqnrDb));
}

void NumbersTests::weightNumbers()
{
    // Channel 0: codes 100 and -50 of scale 0.01; channel 1: 2.2 steps of 0.001 and one clipped.
    const Prepared f = twoChannels({ 1.0f, -0.504f, 0.0022f, 0.2f });
    SmallModel m("q");
    m.input("x", { 1, 1, 1, 4 }).weight("w", { 2, 1, 1, 2 }, { 100, -50, 2, 127 }, { 0.01f, 0.001f });
    m.constant("b", Tensor::of<float>({ 2 }, { 0.5f, -0.25f }));
    const Prepared q = m.node("Conv", { "x", "w", "b" }, { "y" }).output("y").finish();
    const Comparison c = compared(f, q, FixedData({ Tensor::of<float>({ 1, 1, 1, 4 }, { 1, 2, 3, 4 }) }));
    QCOMPARE(c.weights.size(), size_t(1));
    const WeightRow& w = c.weights[0];
    QCOMPARE(w.name, std::string("w"));
    QCOMPARE(w.node, std::string("n_y"));
    QCOMPARE(w.channelAxis, int64_t(0));
    const double signal0 = 1 + 0.504 * 0.504, signal1 = 0.0022 * 0.0022 + 0.04;
    const double noise0 = 0.004 * 0.004, noise1 = 0.0002 * 0.0002 + 0.073 * 0.073;
    QVERIFY(close(w.similarity.sqnrDb, decibel(signal0 + signal1, noise0 + noise1)));
    QCOMPARE(w.channelSqnrDb.size(), size_t(2));
    QVERIFY(close(w.channelSqnrDb[0], decibel(signal0, noise0), 1e-4));
    QVERIFY(close(w.channelSqnrDb[1], decibel(signal1, noise1), 1e-4));
    QVERIFY(close(w.idealSqnrDb, decibel(signal0 + signal1, 2 * (1e-4 + 1e-6) / 12)));
    QVERIFY(close(w.channelAbsMax[0], 1));
    QVERIFY(close(w.channelAbsMax[1], 0.2));
    QVERIFY(close(w.rangeRatio, 1 / 0.6));
    QVERIFY(close(w.clippedFraction, 0.25));
    QVERIFY(close(w.offByMoreThanHalfStep, 0));
    QVERIFY(*w.perChannelSqnrDb > *w.perTensorSqnrDb);
    // Symmetric 8 bits over all: scale 1/127.
    double noise = 0;
    for (double v : { 1.0, -0.504, 0.0022, 0.2 })
        noise += std::pow(std::nearbyint(v * 127) / 127 - v, 2);
    QVERIFY(close(w.perTensorSqnrDb, decibel(signal0 + signal1, noise), 1e-4));
    QVERIFY(close(w.usedCodes, 4.0 / 256));
    QVERIFY(!w.bias);
}

/// ONNX Runtime's symmetric blocks may have them.
void NumbersTests::parametersOfNegativeScales()
{
    Comparison a;
    a.weights.resize(1);
    a.weights[0].name = "w";
    a.weights[0].params = { DType::Int8, { -0.01f, -0.03f }, { 0, 0 }, 1 };
    Comparison b = a;
    QVERIFY(parameterDifferences(a, b).at(0).same);
    QVERIFY(close(parameterDifferences(a, b).at(0).scaleRatio, 1));
    b.weights[0].params.scale[1] = -0.06f;
    QVERIFY(!parameterDifferences(a, b).at(0).same);
    QVERIFY(std::abs(*parameterDifferences(a, b).at(0).scaleRatio - 2) < 1e-6);
    b.weights[0].params.scale[1] = 0.03f; // turned round, so the codes stand for other values
    QVERIFY(!parameterDifferences(a, b).at(0).same);
}

void NumbersTests::parametersGain_data()
{
    QTest::addColumn<double>("allA"); ///< SQNR, dB
    QTest::addColumn<double>("ownA");
    QTest::addColumn<double>("allB");
    QTest::addColumn<double>("ownB");
    QTest::addColumn<double>("gain");
    const double half = 10 * std::log10(2.0); // of noise of equal parts
    QTest::newRow("equal") << 20.0 << 20 + half << 20.0 << 20 + half << 0.0;
    QTest::newRow("nothing was inherited") << 10.0 << 10.0 << 30.0 << 30.0 << 20.0;
    QTest::newRow("A also inherits more") << 10.0 << 10 + half << 20.0 << 20 + half << 10 * std::log10(5.5);
    QTest::newRow("what A adds cancels, more than both have") << 7.16 << 6.9 << 19.32 << 35.0 << 12.16;
    QTest::newRow("the same of B") << 19.32 << 35.0 << 7.16 << 6.9 << -12.16;
    QTest::newRow("equal quantizers, what B adds cancels") << 10.0 << 9.0 << 10.1 << 9.0 << 0.1;
    QTest::newRow("equal quantizers, cancelling more in B") << 8.9 << 9.0 << 10.0 << 9.0 << 0.0;
}

/// B gains no more than its file has less noise.
void NumbersTests::parametersGain()
{
    QFETCH(double, allA);
    QFETCH(double, ownA);
    QFETCH(double, allB);
    QFETCH(double, ownB);
    QFETCH(double, gain);
    const auto rowOf = [](double all, double own, float scale) {
        Comparison c;
        c.activations.resize(1);
        c.activations[0].name = "t";
        c.activations[0].params = { DType::Int8, { scale }, { 0 } };
        c.activations[0].accumulated.sqnrDb = all;
        c.activations[0].localSqnrDb = own;
        return c;
    };
    const auto found = parameterDifferences(rowOf(allA, ownA, 0.01f), rowOf(allB, ownB, 0.06f));
    QCOMPARE(found.size(), size_t(1));
    const double got = found[0].gainDb;
    QVERIFY2(std::fabs(got - gain) < 0.15, qPrintable(QString::number(got)));
    QVERIFY2(std::fabs(got) <= std::max(std::fabs(allB - allA), 1e-6) + 1e-6, qPrintable(QString::number(got)));
}

void NumbersTests::outputsAndAccuracy()
{
    const FixedData data({ Tensor::of<float>({ 4 }, { 0.1f, 0.2f, 0.4f, 0 }),
                             Tensor::of<float>({ 4 }, { 0.9f, 3, 2, 0 }), Tensor::of<float>({ 4 }, { 5, 0, 0, 0 }) },
        { 2, 0, 0 });
    const Comparison c = compared(twoSteps(), twoStepsQuantized(), data);
    // Quantized: 0.4 -> 0.5 stays; 0.9, 3, 2 all clip to 1 and the first wins; the third stays.
    QCOMPARE(c.outputs.size(), size_t(1));
    QCOMPARE(c.outputs[0].name, std::string("y"));
    QCOMPARE(c.floatClass, (std::vector<int64_t> { 2, 1, 0 }));
    QCOMPARE(c.quantClass, (std::vector<int64_t> { 2, 0, 0 }));
    QCOMPARE(c.flipped, std::vector<size_t> { 1 });
    QVERIFY(close(c.outputs[0].top1Agreement, 2.0 / 3));
    QVERIFY(close(c.outputs[0].top5Agreement, 1));
    QVERIFY(c.accuracy.has_value());
    QCOMPARE(c.accuracy->labels, size_t(3));
    QVERIFY(close(c.accuracy->floatAccuracy, 2.0 / 3));
    QVERIFY(close(c.accuracy->quantizedAccuracy, 1.0));
    QVERIFY(close(c.outputs[0].similarity.sqnrDb, *rowOf(c, "y").accumulated.sqnrDb));
    QVERIFY(!compared(twoSteps(), twoStepsQuantized(), FixedData({ kSample })).accuracy);
    // A negative label is none, and one that no class has is wrong.
    const FixedData some({ kSample, kSample, kSample }, { -1, 7, -1 });
    const Comparison partly = compared(twoSteps(), twoStepsQuantized(), some);
    QCOMPARE(partly.accuracy->labels, size_t(1));
    QCOMPARE(partly.accuracy->floatAccuracy, 0.0);
    QVERIFY(!compared(twoSteps(), twoStepsQuantized(), FixedData({ kSample }, { -1 })).accuracy);
}

void NumbersTests::samplesAddUp()
{
    // All samples taken together, not the mean of their decibels.
    const Tensor loud = Tensor::of<float>({ 4 }, { 30.1f, 20, -30, 10 });
    const Comparison both = compared(twoSteps(), twoStepsQuantized(), FixedData({ kSample, loud }));
    const ActivationRow& x = rowOf(both, "x");
    QVERIFY(close(x.accumulated.sqnrDb, decibel(6.17 + 30.1 * 30.1 + 400 + 900 + 100, 0.12 + 0.01)));
    QCOMPARE(x.sampleSqnrDb.size(), size_t(2));
    QVERIFY(close(x.sampleSqnrDb[0], decibel(6.17, 0.12)));
    QVERIFY(close(x.sampleSqnrDb[1], decibel(30.1 * 30.1 + 1400, 0.01), 1e-4));
}

void NumbersTests::equalForAnyThreads()
{
    const uint32_t seed = 5;
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<Tensor> samples;
    for (int i = 0; i < 23; ++i) {
        std::vector<float> v(4);
        for (float& f : v)
            f = normal(random);
        samples.push_back(Tensor::of<float>({ 4 }, v));
    }
    const FixedData data(samples);
    const Comparison a = compared(twoSteps(), twoStepsQuantized(), data, {}, { {}, {}, 1 });
    const Comparison b = compared(twoSteps(), twoStepsQuantized(), data, {}, { {}, {}, 3 });
    for (size_t i = 0; i < a.activations.size(); ++i) {
        const ActivationRow &x = a.activations[i], &y = b.activations[i];
        QVERIFY(x.accumulated.sqnrDb == y.accumulated.sqnrDb && x.accumulated.meanError == y.accumulated.meanError);
        QVERIFY(x.localSqnrDb == y.localSqnrDb && x.qdqSqnrDb == y.qdqSqnrDb && x.increaseDb == y.increaseDb);
        QVERIFY(x.noise.inherited == y.noise.inherited && x.noise.rounding == y.noise.rounding);
        QVERIFY(x.floatHistogram == y.floatHistogram && x.errorHistogram == y.errorHistogram);
        QVERIFY(x.usedCodes == y.usedCodes && x.sampleSqnrDb == y.sampleSqnrDb);
        QS_HELPER(verifySplit(x));
    }
}

void NumbersTests::cancels()
{
    CancelToken cancel;
    cancel.cancel();
    const auto result
        = compareModels(pairOf(twoSteps(), twoStepsQuantized()), FixedData({ kSample }), {}, { {}, cancel });
    QVERIFY(!result.ok());
    QCOMPARE(result.issue().kind, IssueKind::Cancelled);
}

void NumbersTests::refusesLittleMemory()
{
    WorkContext work;
    work.memoryLimit = 8;
    const auto result = compareModels(pairOf(twoSteps(), twoStepsQuantized()), FixedData({ kSample }), {}, work);
    QVERIFY(!result.ok());
    QCOMPARE(result.issue().kind, IssueKind::BadInput);
    QVERIFY(result.issue().what.find("memory limit") != std::string::npos);
    work.memoryLimit = 20'000; // enough but for histograms
    CompareOptions sums;
    sums.histograms = false;
    QVERIFY(compareModels(pairOf(twoSteps(), twoStepsQuantized()), FixedData({ kSample }), sums, work).ok());
    const auto more = compareModels(pairOf(twoSteps(), twoStepsQuantized()), FixedData({ kSample }), {}, work);
    QVERIFY(!more.ok() && more.issue().what.find("histograms") != std::string::npos);
}

int qs::test::runNumbersTests(int argc, char** argv)
{
    NumbersTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "numbers_test.moc"
