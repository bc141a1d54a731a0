// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/calibrators.h"

#include "core/kernels/statistics/edge_bins.h"
#include "core/quant/recipe/recipe_ranges.h"
#include "core/tensor/convert.h"
#include "tests/quant/runners.h"

#include <QTest>

#include <bit>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace qs;
using nlohmann::json;

class CalibratorsTests : public QObject {
    Q_OBJECT
private slots:
    void recorded_data();
    void recorded();
    void extremes_data();
    void extremes();
    void theBestCutKeepsOutliersOut();
    void theBestCutHasTheStepsOfTheType();
    void theBestCutIsTheRangeOfFewValues();
    void optionsOutOfRange_data();
    void optionsOutOfRange();
    void forgottenSamples();
    void otherHistogramsAreMissed();
};

namespace {

const json& recordings()
{
    static const json all = [] {
        std::ifstream file(QS_SOURCE_DIR "/tests/data/calibration/histograms.json");
        return json::parse(file);
    }();
    return all;
}

/// As record.py makes it.
std::vector<float> chunk(const json& part, DType type)
{
    auto state = part["seed"].get<uint32_t>();
    std::vector<float> values;
    for (int i = 0; i < part["count"].get<int>(); ++i) {
        int total = 0;
        for (int k = 0; k < 4; ++k) {
            state = 1664525u * state + 1013904223u;
            total += int(state >> 24);
        }
        float v = static_cast<float>((total - 510) / 64.0) * part["factor"].get<float>() + part["offset"].get<float>();
        if (!part["low"].is_null())
            v = std::max(v, part["low"].get<float>());
        values.push_back(type == DType::Float16 ? float16ToFloat(floatToFloat16(v)) : v);
    }
    return values;
}

uint64_t digest(const auto& numbers)
{
    uint64_t h = 0;
    for (const auto v : numbers)
        h = h * 1000003 + v;
    return h;
}

/// One tensor, filled by hand: one run a chunk.
CalibrationData dataOf(const std::vector<std::vector<float>>& runs, DType type, const CollectOptions& collected)
{
    CalibrationData data;
    data.collected = collected;
    data.feeds = runs.size();
    TensorStatistics tensor;
    tensor.name = "x";
    tensor.dtype = type;
    for (const auto& run : runs) {
        tensor.feeds.push_back(valueRange(run));
        tensor.powers.add(run);
    }
    for (const HistogramKind kind : collected.histograms) {
        const ChunkedBins bins = data.bins(tensor, kind);
        if (!bins.valid())
            continue;
        std::vector<uint64_t>& counts = tensor.counts[kind];
        counts.assign(bins.bins(), 0);
        std::vector<uint32_t> scratch;
        for (size_t i = 0; i < runs.size(); ++i) {
            const ChunkedBins::Chunk at = bins.chunks[collected.stride ? i / collected.stride : 0];
            const EdgeBins edges(bins.edgeSets[at.edges], kind.magnitudes);
            edges.count(runs[i], std::span(counts).subspan(at.offset, edges.bins()), scratch);
        }
    }
    data.tensors.push_back(std::move(tensor));
    return data;
}

CalibratorOptions optionsOf(const json& recorded)
{
    CalibratorOptions options;
    options.kind = *valueIn(kCalibrators, recorded["method"].get<std::string>());
    options.symmetric = recorded["symmetric"].get<bool>();
    options.bins = recorded["bins"].get<size_t>();
    options.quantizedBins = recorded.value("quantized", size_t(128));
    options.percentile = recorded.value("percentile", 99.999);
    options.stride = 1;
    return options;
}

} // namespace

void CalibratorsTests::recorded_data()
{
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < recordings()["cases"].size(); ++i) {
        const json& recorded = recordings()["cases"][i];
        const std::string name = recorded["data"].get<std::string>() + " " + recorded["dtype"].get<std::string>() + " "
            + recorded["options"].dump();
        QTest::addRow("%s", name.c_str()) << int(i);
    }
}

void CalibratorsTests::recorded()
{
    QFETCH(int, index);
    const json& recorded = recordings()["cases"][size_t(index)];
    const DType type = recorded["dtype"] == "float16" ? DType::Float16 : DType::Float32;
    std::vector<std::vector<float>> runs;
    for (const json& part : recordings()["data"][recorded["data"].get<std::string>()])
        runs.push_back(chunk(part, type));
    const CalibratorOptions options = optionsOf(recorded["options"]);
    const HistogramKind kind { options.kind == Calibrator::Percentile && *options.symmetric, *options.bins };
    const CalibrationData data = dataOf(runs, type, { { kind }, std::nullopt, false, 1 });
    const TensorStatistics& tensor = data.tensors.front();
    const auto ranges = rangesFor(data, options);
    QVERIFY(ranges.ok());
    const TensorRange& range = *ranges->find("x");
    if (recorded.contains("fails")) {
        // What ONNX Runtime cannot do is not recorded; a range there is.
        QVERIFY(std::isfinite(range.lowest) && range.lowest <= range.highest);
        return;
    }
    const ChunkedBins bins = data.bins(tensor, kind);
    QVERIFY(bins.valid());
    QCOMPARE(bins.bins(), recorded["bins"].get<size_t>());
    std::vector<uint32_t> bits;
    for (const float edge : bins.edges())
        bits.push_back(std::bit_cast<uint32_t>(edge));
    QCOMPARE(QString::number(digest(bits)), QString::fromStdString(recorded["edges"]));
    QCOMPARE(QString::number(digest(tensor.counts.at(kind))), QString::fromStdString(recorded["counts"]));
    QCOMPARE(range.lowest, recorded["low"].get<float>());
    QCOMPARE(range.highest, recorded["high"].get<float>());
    QVERIFY(range.shape.empty() && range.dtype == type);
    if (recorded.contains("average")) {
        QCOMPARE(*range.average, recorded["average"].get<float>());
        QCOMPARE(*range.deviation, recorded["deviation"].get<float>());
    }
}

void CalibratorsTests::extremes_data()
{
    QTest::addColumn<CalibratorOptions>("options");
    QTest::addColumn<float>("lowest");
    QTest::addColumn<float>("highest");
    // Runs: -1..2, -3..4, -0.5..8, 1..1.5
    CalibratorOptions options;
    QTest::newRow("min-max") << options << -3.0f << 8.0f;
    options.symmetric = true;
    QTest::newRow("symmetric") << options << -8.0f << 8.0f;
    options = {};
    options.kind = Calibrator::MovingAverage;
    QTest::newRow("mean of one chunk") << options << -0.875f << 3.875f;
    options.stride = 2;
    options.averagingConstant = 0.5;
    // Chunks: (-2, 3), (0.25, 4.75)
    QTest::newRow("moving average over chunks") << options << -0.875f << 3.875f;
    options.averagingConstant = 0.25;
    QTest::newRow("slower") << options << -1.4375f << 3.4375f;
    options = {};
    options.stride = 1;
    QTest::newRow("chunks of one") << options << -3.0f << 8.0f;
    options = {};
    options.maxIntermediateOutputs = 3;
    QTest::newRow("only the last is remembered") << options << 1.0f << 1.5f;
}

void CalibratorsTests::extremes()
{
    QFETCH(CalibratorOptions, options);
    QFETCH(float, lowest);
    QFETCH(float, highest);
    const CalibrationData data = dataOf({ { -1, 2 }, { -3, 4 }, { -0.5f, 8 }, { 1, 1.5f } }, DType::Float32, {});
    const auto ranges = rangesFor(data, options);
    QVERIFY(ranges.ok());
    QCOMPARE(ranges->find("x")->lowest, lowest);
    QCOMPARE(ranges->find("x")->highest, highest);
    QCOMPARE(ranges->find("x")->shape, Shape { 1 });
}

/// Few codes are worth more clipping than many.
void CalibratorsTests::theBestCutHasTheStepsOfTheType()
{
    std::vector<float> values;
    for (int i = 1; i < 5000; ++i) // long tails
        values.push_back(static_cast<float>((i % 2 ? 1 : -1) * std::log(5000.0 / i)));
    Recipe recipe;
    recipe.calibration.kind = Calibrator::Mse;
    const CalibrationData data = dataOf({ values }, DType::Float32, neededBy(recipe));
    const auto found = [&] { return *rangesFor(data, recipe)->find("x"); };
    const auto byHand = [&](int steps) {
        CalibratorOptions options = recipe.calibration;
        options.mseLevels = steps;
        return *rangesFor(data, options)->find("x");
    };
    const auto same
        = [](const TensorRange& a, const TensorRange& b) { return a.lowest == b.lowest && a.highest == b.highest; };
    recipe.activationType = DType::UInt8;
    QVERIFY(same(found(), byHand(255)));
    recipe.activationType = DType::UInt16;
    QVERIFY(same(found(), byHand(65535)));
    QVERIFY(!same(found(), byHand(255)));
    recipe.tensors["x"].parts.front().type = DType::UInt4; // of its own
    QVERIFY(same(found(), byHand(15)));
    QVERIFY(found().highest < byHand(255).highest);
    recipe.calibration.mseLevels = 255; // asked for
    QVERIFY(same(found(), byHand(255)));
}

/// A million values in -1..1 and one of 30: a step of 31/255 costs more than the one value.
void CalibratorsTests::theBestCutKeepsOutliersOut()
{
    std::vector<float> x;
    for (int i = 0; i < 1000000; ++i)
        x.push_back(static_cast<float>(std::sin(i * 0.37)));
    x.push_back(30);
    Histogram histogram;
    histogram.add(x);
    const Interval cut = leastSquaresCut(histogram, 255);
    QVERIFY(cut.low >= -1.01f && cut.low < -0.9f);
    auto error = [&](double low, double high) {
        const double step = (high - low) / 255;
        double sum = 0;
        for (const float v : x) {
            const double in = std::clamp(double(v), low, high), code = low + std::round((in - low) / step) * step;
            sum += (v - code) * (v - code);
        }
        return sum;
    };
    const double best = error(cut.low, cut.high);
    for (const double high : { 1.0, 1.5, 3.0, 8.0, 20.0, 30.0 })
        QVERIFY2(best <= error(cut.low, high) * 1.02, qPrintable(QString::number(high)));
}

void CalibratorsTests::theBestCutIsTheRangeOfFewValues()
{
    Histogram zeros, one;
    zeros.add(std::vector<float>(5, 0.0f));
    one.add(std::vector<float>(5, -2.5f));
    QCOMPARE(leastSquaresCut(zeros, 255), (Interval { 0, 0 }));
    QCOMPARE(leastSquaresCut(one, 255).low, -2.5f);
}

void CalibratorsTests::optionsOutOfRange_data()
{
    QTest::addColumn<CalibratorOptions>("options");
    CalibratorOptions options;
    options.percentile = 100.5;
    QTest::newRow("percentile") << options;
    options = {};
    options.averagingConstant = -0.1;
    QTest::newRow("averaging constant") << options;
    options = {};
    options.bins = 1;
    QTest::newRow("bins") << options;
    options = {};
    options.kind = Calibrator::Entropy;
    options.quantizedBins = 200;
    QTest::newRow("quantized bins") << options;
    options = {};
    options.stride = 3;
    QTest::newRow("stride") << options;
}

void CalibratorsTests::optionsOutOfRange()
{
    QFETCH(CalibratorOptions, options);
    const auto ranges = rangesFor(dataOf({ { 1 }, { 2 } }, DType::Float32, {}), options);
    QVERIFY(!ranges.ok());
    QCOMPARE(ranges.issue().kind, IssueKind::BadUse);
    QVERIFY(!ranges.issue().remedy.empty());
}

void CalibratorsTests::forgottenSamples()
{
    CalibratorOptions options;
    options.maxIntermediateOutputs = 2;
    const auto ranges = rangesFor(dataOf({ { 1 }, { 2 } }, DType::Float32, {}), options);
    QVERIFY(!ranges.ok());
    QVERIFY(ranges.issue().what.find("no sample is left") != std::string::npos);
}

void CalibratorsTests::otherHistogramsAreMissed()
{
    CalibratorOptions options;
    options.kind = Calibrator::Percentile;
    CalibrationData data = dataOf({ { 1, 2, 3 } }, DType::Float32, neededByAll());
    QVERIFY(rangesFor(data, options).ok());
    options.bins = 100;
    QVERIFY(!data.covers(options));
    QVERIFY(!rangesFor(data, options).ok());
}

int runCalibratorsTests(int argc, char** argv)
{
    CalibratorsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "calibrators_test.moc"
