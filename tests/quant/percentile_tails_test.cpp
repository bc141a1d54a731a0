// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/percentile_tails.h"

#include "core/kernels/statistics/edge_bins.h"
#include "core/quant/calibrate/calibrators.h"
#include "tests/quant/runners.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace qs;

class PercentileTailsTests : public QObject {
    Q_OBJECT
private slots:
    void largestOfAStream_data();
    void largestOfAStream();
    void cutsAsTheHistogram_data();
    void cutsAsTheHistogram();
    void tooManyToKeep();
};

namespace {

constexpr uint32_t kSeed = 77;

std::vector<float> values(const QString& kind, size_t count, uint32_t seed)
{
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    std::vector<float> x;
    for (size_t i = 0; i < count; ++i) {
        const float v = normal(engine);
        if (kind == "rectified")
            x.push_back(std::clamp(3 * v, 0.0f, 6.0f));
        else if (kind == "saturated")
            x.push_back(1 / (1 + std::exp(-8 * v)));
        else if (kind == "steps")
            x.push_back(std::round(4 * v) / 4);
        else if (kind == "negative")
            x.push_back(-std::fabs(v) - 3);
        else if (kind == "rising")
            x.push_back(static_cast<float>(i));
        else
            x.push_back(v * std::fabs(v));
    }
    return x;
}

const QStringList kKinds { "heavy", "rectified", "saturated", "steps", "negative", "rising" };

} // namespace

void PercentileTailsTests::largestOfAStream_data()
{
    QTest::addColumn<QString>("kind");
    for (const QString& kind : kKinds)
        QTest::newRow(qPrintable(kind)) << kind;
}

void PercentileTailsTests::largestOfAStream()
{
    QFETCH(QString, kind);
    const std::vector<float> x = values(kind, 50000, kSeed);
    for (const ValueSide side : { ValueSide::Upper, ValueSide::Lower, ValueSide::Magnitude })
        for (const size_t keep : { 1, 64, 700, 40000 }) {
            LargestValues largest(side, keep);
            for (size_t at = 0, size = 1; at < x.size(); at += size, size = size * 3 % 9001)
                largest.add(std::span(x).subspan(at, std::min(size, x.size() - at)));
            std::vector<float> sides(x.size() + kValuesAboveSpare);
            QCOMPARE(valuesAboveReference(x, side, -INFINITY, sides.data()), x.size());
            sides.resize(x.size());
            const auto from
                = [&](float v) { return size_t(std::ranges::count_if(sides, [&](float s) { return s >= v; })); };
            QVERIFY(from(largest.floor()) >= std::min(keep, x.size()));
            std::ranges::sort(sides, std::greater<>());
            for (size_t i = 0; i < sides.size() && sides[i] > largest.floor(); i += 1 + i / 7)
                QCOMPARE(largest.countFrom(sides[i]), from(sides[i]));
        }
}

void PercentileTailsTests::cutsAsTheHistogram_data()
{
    QTest::addColumn<QString>("kind");
    QTest::addColumn<size_t>("count");
    for (const QString& kind : kKinds)
        for (const size_t count : { 7, 100, 12345, 100000 })
            QTest::newRow(qPrintable(QString("%1 %2").arg(kind).arg(count))) << kind << count;
}

void PercentileTailsTests::cutsAsTheHistogram()
{
    QFETCH(QString, kind);
    QFETCH(size_t, count);
    const std::vector<float> x = values(kind, count, kSeed);
    CalibrationData data;
    data.feeds = 1;
    data.tensors.resize(1);
    TensorStatistics& tensor = data.tensors.front();
    tensor.name = "x";
    tensor.feeds = { valueRange(x) };
    int cuts = 0;
    for (const bool magnitudes : { true, false })
        for (const size_t bins : { 2048, 100, 3 })
            for (const double percentile : { 0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0 }) {
                const PercentileCut cut { magnitudes, bins, percentile };
                const HistogramKind kind_ { magnitudes, bins };
                const ChunkedBins edges = data.bins(tensor, kind_);
                PercentileTails tails(cut, static_cast<double>(count));
                if (tails.tooLong())
                    continue;
                tails.add(x);
                const auto interval = tails.interval(edges.edges());
                if (!interval)
                    continue; // the histogram takes its place
                ++cuts;
                CalibratorOptions options;
                options.kind = Calibrator::Percentile;
                options.percentile = percentile;
                options.symmetric = magnitudes;
                options.bins = bins;
                data.collected = { { kind_ }, std::nullopt, false, 0 };
                tensor.counts[kind_].assign(edges.bins(), 0);
                EdgeBins(edges.edges(), magnitudes).countReference(x, tensor.counts[kind_]);
                const auto counted = rangesFor(data, options);
                tensor.counts.clear();
                tensor.cut = interval;
                data.collected = { {}, cut, false, 0 };
                const auto found = rangesFor(data, options);
                QVERIFY(counted.ok() && found.ok());
                QVERIFY2(*counted == *found,
                    qPrintable(QString("magnitudes %1, %2 bins, percentile %3, seed %4")
                                   .arg(magnitudes)
                                   .arg(bins)
                                   .arg(percentile)
                                   .arg(kSeed)));
            }
    QVERIFY(cuts > 5);
}

void PercentileTailsTests::tooManyToKeep()
{
    QVERIFY(PercentileTails({ true, 2048, 99 }, 1e8).tooLong());
    QVERIFY(!PercentileTails({ true, 2048, 99.999 }, 1e8).tooLong());
}

int runPercentileTailsTests(int argc, char** argv)
{
    PercentileTailsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "percentile_tails_test.moc"
