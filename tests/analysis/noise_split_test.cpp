// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/range_candidates.h"

#include "core/analysis/measure/pair_meter.h"
#include "core/quant/params/scale.h"
#include "tests/analysis/runners.h"

#include <QtTest>

#include <cmath>
#include <random>

using namespace qs;

namespace {

QuantParams paramsFor(double low, double high)
{
    const ScaleZero s = scaleAndZeroPoint(low, high, {});
    QuantParams params;
    params.dtype = DType::Int8;
    params.scale = { s.scale };
    params.zeroPoint = { s.zeroPoint };
    return params;
}

float quantized(float value, const QuantParams& params)
{
    const double code = std::clamp(
        std::nearbyint(double(value) / params.scale[0]) + params.zeroPoint[0], double(params.codes().low), 127.0);
    return params.scale[0] * float(code - params.zeroPoint[0]);
}

struct Values {
    std::vector<float> x, a; ///< float model's, and before the quantizer
};

Values someValues(size_t n, bool relu, double drift, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    Values v;
    for (size_t i = 0; i < n; ++i) {
        const float x = relu ? std::fabs(normal(random)) : normal(random);
        v.x.push_back(x);
        v.a.push_back(x + float(drift) * (x * 0.1f + 0.05f * normal(random))); // the error grows with the value
    }
    return v;
}

/// What the numbers would be with these parameters, one value at a time.
PairSums naive(const Values& v, const QuantParams& params)
{
    std::vector<float> y;
    for (const float a : v.a)
        y.push_back(quantized(a, params));
    PairSums sums;
    PairExtremes extremes;
    const PairQuantizer quantizer = quantizerOf(params, 0);
    addPairSumsReference(sums, extremes, { v.x.data(), y.data(), v.a.data(), v.x.size(), &quantizer, {}, nullptr });
    return sums;
}

double naiveNoise(const Values& v, const QuantParams& params) { return naive(v, params).ee / double(v.x.size()); }

/// A row as a comparison with `params` makes it.
ActivationRow rowOf(const Values& v, const QuantParams& params)
{
    std::vector<float> y, scratch;
    for (const float a : v.a)
        y.push_back(quantized(a, params));
    PairSums sums;
    PairHistograms histograms;
    const PairQuantizer quantizer = quantizerOf(params, 0);
    PairMeter meter(sums, &histograms, {}, scratch);
    meter.addRun({ v.x.data(), y.data(), v.a.data(), v.x.size(), &quantizer, {}, nullptr });
    ActivationRow row;
    row.params = params;
    row.beforeHistogram = histograms.before;
    row.inherited = histograms.inherited;
    const auto n = double(v.x.size());
    row.signalPower = sums.xx / n;
    row.noise = { sums.rounding / n, sums.clipping / n, sums.inherited / n, 0.0 };
    return row;
}

} // namespace

class NoiseSplitTests : public QObject {
    Q_OBJECT
private slots:
    void predictionIsNearTheLoop_data()
    {
        QTest::addColumn<bool>("relu");
        QTest::addColumn<double>("drift");
        QTest::addColumn<double>("madeHigh"); ///< range the row was measured with
        QTest::addColumn<double>("high"); ///< range to predict
        for (const bool relu : { false, true })
            for (const double drift : { 0.0, 0.3, 3.0 })
                for (const double made : { 1.0, 4.0 })
                    for (const double high : { 0.5, 1.0, 2.5, 4.0, 20.0 })
                        QTest::addRow("relu %d, drift %g, from %g to %g", relu, drift, made, high)
                            << relu << drift << made << high;
    }

    void predictionIsNearTheLoop()
    {
        QFETCH(bool, relu);
        QFETCH(double, drift);
        QFETCH(double, madeHigh);
        QFETCH(double, high);
        constexpr size_t kCount = 60001;
        const Values v = someValues(kCount, relu, drift, 11);
        const ActivationRow row = rowOf(v, paramsFor(relu ? 0 : -madeHigh, madeHigh));
        const QuantParams params = paramsFor(relu ? 0 : -high, high);
        const PairSums truth = naive(v, params);
        const auto predicted = predictNoise(row, params);
        QVERIFY(predicted);
        const double n = double(kCount), all = truth.ee / n;
        const auto near = [&](const Number& value, double wanted, const char* name) {
            QVERIFY2(std::fabs(*value - wanted) < 0.09 * all, // few elements tell what came in
                qPrintable(QString("%1: %2 for %3, all %4").arg(name).arg(*value).arg(wanted).arg(all)));
        };
        near(predicted->split.rounding, truth.rounding / n, "rounding");
        near(predicted->split.clipping, truth.clipping / n, "clipping");
        near(predicted->split.inherited, truth.inherited / n, "inherited");
        QVERIFY(std::fabs(predicted->clippedFraction - double(truth.clipped) / n) < 0.002);
        QVERIFY(std::fabs(*predicted->sqnrDb - 10 * std::log10(truth.xx / truth.ee)) < 0.7);
    }

    void predictionOfKernels_data()
    {
        QTest::addColumn<bool>("kernel");
        QTest::addColumn<double>("high");
        for (const bool kernel : { false, true })
            for (const double high : { 0.5, 2.5, 20.0 })
                QTest::addRow("%s, to %g", kernel ? "integer" : "as written", high) << kernel << high;
    }

    /// Both values that a kernel's part is the difference of are clipped alike: how much is left is not known, only
    /// what it is together with what came in.
    void predictionOfKernels()
    {
        QFETCH(bool, kernel);
        QFETCH(double, high);
        const Values v = someValues(20000, false, 0.5, 11);
        ActivationRow row = rowOf(v, paramsFor(-2.5, 2.5));
        const auto plain = predictNoise(row, paramsFor(-high, high));
        QVERIFY(plain);
        if (kernel) {
            row.noise.kernel = 0.8 * *row.noise.inherited;
            row.noise.inherited = 0.2 * *row.noise.inherited;
        }
        const auto predicted = predictNoise(row, paramsFor(-high, high));
        QVERIFY(predicted);
        QCOMPARE(predicted->kernelWithin, kernel);
        QVERIFY(!predicted->split.kernel);
        QVERIFY(std::fabs(*predicted->split.inherited - *plain->split.inherited)
            <= 1e-9 * std::fabs(*plain->split.inherited));
        QVERIFY(std::fabs(*predicted->sqnrDb - *plain->sqnrDb) < 1e-6);
    }

    void predictionKeepsWhatCameIn_data()
    {
        QTest::addColumn<int>("count"); ///< few: most bins of what came in are of one element
        QTest::addColumn<double>("shrunk"); ///< the part of a float value that is left
        QTest::addColumn<double>("spread"); ///< of float values, beside that of what came in
        for (const int count : { 32, 500, 60001 })
            for (const double shrunk : { 0.02, 0.1, 0.5 })
                for (const double spread : { 1.0, 10.0 })
                    QTest::addRow("%d elements, %g of the value left, %g wide", count, shrunk, spread)
                        << count << shrunk << spread;
    }

    /// Most of the values was lost before: no range brings them back.
    void predictionKeepsWhatCameIn()
    {
        QFETCH(int, count);
        QFETCH(double, shrunk);
        QFETCH(double, spread);
        std::mt19937 random(5);
        std::normal_distribution<float> normal;
        Values v;
        for (int i = 0; i < count; ++i) {
            // heavy tails, so that few elements hold much of the error
            const float x = normal(random);
            v.x.push_back(float(spread) * x * std::fabs(x));
            v.a.push_back(float(shrunk) * v.x.back() + 0.3f * normal(random));
        }
        double reach = 0;
        for (const float a : v.a)
            reach = std::max(reach, double(std::fabs(a)));
        for (const double made : { 0.3, 1.0 }) {
            const ActivationRow row = rowOf(v, paramsFor(-made * reach, made * reach));
            const double before = 10 * std::log10(*row.signalPower / naiveNoise(v, row.params));
            for (const double factor : { 0.05, 0.2, 0.5, 1.0, 2.0, 5.0 }) {
                const QuantParams params = paramsFor(-factor * reach, factor * reach);
                const double truth = 10 * std::log10(*row.signalPower / naiveNoise(v, params));
                const auto predicted = predictNoise(row, params);
                QVERIFY(predicted && predicted->sqnrDb);
                const QString at = QStringLiteral("from %1 to %2 of the reach: %3 dB for %4, before %5")
                                       .arg(made)
                                       .arg(factor)
                                       .arg(*predicted->sqnrDb)
                                       .arg(truth)
                                       .arg(before);
                QVERIFY2(std::fabs(*predicted->sqnrDb - truth) < (shrunk < 0.3 ? 0.2 : 0.6), qPrintable(at));
                if (std::fabs(truth - before) > 0.1)
                    QVERIFY2((*predicted->sqnrDb > before) == (truth > before), qPrintable(at));
            }
        }
    }

    void binsMergeInAnyOrder()
    {
        const Values v = someValues(999, false, 1, 5);
        InheritedBins whole(-1, 1), first(-1, 1), second(-1, 1), none;
        for (size_t i = 0; i < v.x.size(); ++i) {
            whole.add(v.a[i], v.a[i] - v.x[i]);
            (i % 3 ? first : second).add(v.a[i], v.a[i] - v.x[i]);
        }
        InheritedBins one = first, other = second;
        one.merge(second);
        one.merge(none);
        other.merge(first);
        none.merge(other);
        QVERIFY(one == whole && other == whole && none == whole);
    }

    void calibratorsAreLooseOrTight()
    {
        Values v = someValues(20000, false, 0.1, 9);
        v.x[17] = v.a[17] = 40; // one far value
        ActivationRow row = rowOf(v, paramsFor(-3, 3));
        for (const float x : v.x)
            row.floatHistogram.add(x);
        Recipe recipe;
        recipe.calibration.percentile = 99.9;
        const auto candidates = rangeCandidates(row, recipe, nullptr);
        QCOMPARE(candidates.size(), size_t(4));
        for (const RangeCandidate& c : candidates) {
            // With as many bins as quantized bins, its defaults, the entropy calibrator has one cut to choose: all.
            const bool widest = c.calibrator.kind == Calibrator::MinMax || c.calibrator.kind == Calibrator::Entropy;
            QVERIFY2(widest ? c.highest == 40 : c.highest < 40, nameIn(kCalibrators, c.calibrator.kind).data());
            const PairSums truth = naive(v, paramsForRange(row, recipe, c.lowest, c.highest));
            QVERIFY(std::fabs(*c.noise.sqnrDb - 10 * std::log10(truth.xx / truth.ee)) < 0.7);
        }
        recipe.symmetricActivations = true;
        QVERIFY(symmetricRange(recipe, "any"));
        QCOMPARE(paramsForRange(row, recipe, -1, 2).zeroPoint[0], 0);
        recipe.tensors["any"].parts[0].symmetric = false;
        QVERIFY(!symmetricRange(recipe, "any"));
    }

    void withoutAQuantizerThereIsNothing()
    {
        const ActivationRow row = rowOf(someValues(100, false, 0, 1), paramsFor(-1, 1));
        QuantParams channels = paramsFor(-1, 1);
        channels.scale = { 1, 2 };
        QVERIFY(!predictNoise(row, channels));
        QVERIFY(!predictNoise(row, {}));
        QVERIFY(!predictNoise({}, paramsFor(-1, 1)));
    }
};

int qs::test::runNoiseSplitTests(int argc, char** argv)
{
    NoiseSplitTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "noise_split_test.moc"
