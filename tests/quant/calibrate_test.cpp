// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/calibrate.h"

#include "core/quant/calibrate/calibration_cache.h"
#include "core/quant/calibrate/calibrators.h"
#include "core/tensor/convert.h"
#include "tests/quant/runners.h"
#include "tests/support/calibrated_tensors.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>
#include <random>

using namespace qs;

class CalibrateTests : public QObject {
    Q_OBJECT
private slots:
    void selectsFloatsOfTheTypes();
    void rangesOfEveryTensor();
    void equalForAnyThreads_data();
    void equalForAnyThreads();
    void anotherCalibratorNeedsNoRun();
    void halfFloats();
    void constantsCountInEveryRun();
    void extremeValuesAreMarked_data();
    void extremeValuesAreMarked();
    void carriedState();
    void statisticsCountAsMemory();
    void refused_data();
    void refused();
    void cancelled();
    void cacheHoldsEverything();
    void cacheKeyFollowsContent();
    void cacheServesEveryCalibrator();
    void damagedCache();
};

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class Samples : public DataSource {
public:
    explicit Samples(std::vector<Tensor> values)
        : m_values(std::move(values))
    {
        m_samples = m_feeds = m_values.size();
    }
    Result<Feed> feed(size_t index) const override { return Feed { { m_values[index] }, index, 1 }; }

private:
    std::vector<Tensor> m_values;
};

std::shared_ptr<const DataSource> samples(std::vector<std::vector<float>> values)
{
    std::vector<Tensor> tensors;
    for (const auto& v : values)
        tensors.push_back(Tensor::of<float>({ int64_t(v.size()) }, v));
    return std::make_shared<Samples>(std::move(tensors));
}

Node node(GraphBuilder& builder, const char* type, std::initializer_list<const char*> inputs, const char* output)
{
    Node n;
    n.name = output;
    n.opType = type;
    n.opset = 17;
    for (const char* input : inputs)
        n.inputs.push_back(builder.value(input));
    n.outputs = { builder.value(output) };
    return n;
}

/// scaled = x * factor; rectified = Relu(scaled); moved = Identity(rectified); sum = moved + x.
std::shared_ptr<const Plan> chain(DType type, const Tensor& factor, Dims dims = { { -1, "N" } })
{
    GraphBuilder builder;
    builder.setType(builder.value("x"), { type, std::move(dims), {} });
    builder.addInput(builder.value("x"));
    builder.setInitializer(builder.value("factor"), factor);
    builder.addNode(node(builder, "Mul", { "x", "factor" }, "scaled"));
    builder.addNode(node(builder, "Relu", { "scaled" }, "rectified"));
    builder.addNode(node(builder, "Identity", { "rectified" }, "moved"));
    builder.addNode(node(builder, "Add", { "moved", "x" }, "sum"));
    builder.addNode(node(builder, "Shape", { "sum" }, "sizes"));
    for (const char* name : { "sum", "sizes" })
        builder.addOutput(builder.value(name));
    auto graph = std::move(builder).finish();
    if (!graph.ok())
        return nullptr;
    auto model = std::make_shared<Model>();
    model->path = "net.onnx";
    model->graph = std::move(*graph);
    return Plan::make(model);
}

std::shared_ptr<const Plan> chain() { return chain(DType::Float32, Tensor::of<float>({ 1 }, { 2 })); }

CalibrationRun runOf(std::shared_ptr<const Plan> plan, std::shared_ptr<const DataSource> data)
{
    CalibrationRun run;
    run.tensors = test::tensorsToCalibrate(*plan);
    run.plan = std::move(plan);
    run.data = std::move(data);
    return run;
}

std::shared_ptr<const DataSource> noise(size_t runs, size_t size)
{
    std::mt19937 engine(5);
    std::normal_distribution<float> normal;
    std::vector<std::vector<float>> values(runs);
    for (auto& run : values)
        for (size_t i = 0; i < size; ++i)
            run.push_back(normal(engine));
    return samples(std::move(values));
}

} // namespace

void CalibrateTests::selectsFloatsOfTheTypes()
{
    const auto plan = chain();
    using Names = std::vector<std::string>;
    QCOMPARE(test::tensorsToCalibrate(*plan), (Names { "x", "scaled", "rectified", "moved", "sum" }));
    QCOMPARE(test::tensorsToCalibrate(*plan, { "Identity", "Shape" }), (Names { "rectified", "moved", "sum" }));
}

void CalibrateTests::rangesOfEveryTensor()
{
    const auto ranges = calibrate(runOf(chain(), samples({ { -1, 2 }, { -3, 0.5f, 1 } })), {});
    QVERIFY(ranges.ok());
    const auto is = [&](const char* name, float low, float high) {
        const TensorRange* range = ranges->find(name);
        return range && range->lowest == low && range->highest == high && !range->extreme;
    };
    QVERIFY(is("x", -3, 2));
    QVERIFY(is("scaled", -6, 4));
    QVERIFY(is("rectified", 0, 4));
    QVERIFY(is("moved", 0, 4));
    QVERIFY(is("sum", -3, 6));
    QCOMPARE(ranges->tensors.size(), size_t(5));
}

void CalibrateTests::equalForAnyThreads_data()
{
    QTest::addColumn<size_t>("threads");
    QTest::addColumn<uint64_t>("keepBytes");
    for (const size_t threads : { 1, 2, 5, 16 })
        for (const uint64_t keep : { uint64_t(0), uint64_t(20000), UINT64_MAX })
            QTest::addRow("%d threads, %llu kept", int(threads), static_cast<unsigned long long>(keep))
                << threads << keep;
}

/// Against counts of a sorted copy of what the chain makes.
void CalibrateTests::equalForAnyThreads()
{
    QFETCH(size_t, threads);
    QFETCH(uint64_t, keepBytes);
    CalibrationRun run = runOf(chain(), noise(12, 3000));
    const auto expected = collectCalibration(run, neededByAll(4));
    run.work.threads = threads;
    run.keepBytes = keepBytes;
    const auto data = collectCalibration(run, neededByAll(4));
    QVERIFY(data.ok() && expected.ok());
    QCOMPARE(data->tensors.size(), size_t(5));
    for (size_t i = 0; i < data->tensors.size(); ++i) {
        const TensorStatistics &tensor = data->tensors[i], &one = expected->tensors[i];
        QCOMPARE(tensor.name, one.name);
        QVERIFY(tensor.feeds == one.feeds && tensor.counts == one.counts && tensor.powers == one.powers);
        QCOMPARE(tensor.counts.size(), size_t(3));
        uint64_t total = 0;
        for (const uint64_t count : tensor.counts.at({ false, 2048 }))
            total += count;
        QCOMPARE(total, uint64_t(12 * 3000));
    }
}

void CalibrateTests::anotherCalibratorNeedsNoRun()
{
    const CalibrationRun run = runOf(chain(), noise(6, 2000));
    const auto data = collectCalibration(run, neededByAll());
    QVERIFY(data.ok());
    for (const auto method : { Calibrator::MinMax, Calibrator::MovingAverage, Calibrator::Percentile,
             Calibrator::Entropy, Calibrator::Mse, Calibrator::Distribution })
        for (const bool symmetric : { false, true }) {
            CalibratorOptions options;
            options.kind = method;
            options.symmetric = symmetric;
            options.percentile = 99;
            const auto kept = rangesFor(*data, options), own = calibrate(run, options);
            QVERIFY(kept.ok() && own.ok());
            QCOMPARE(*kept, *own);
        }
}

void CalibrateTests::halfFloats()
{
    const auto half = [](float v) { return floatToFloat16(v); };
    const auto tensor = [&](std::vector<uint16_t> bits) {
        const Shape shape { int64_t(bits.size()) };
        return Tensor::of<uint16_t>(shape, bits).reinterpreted(DType::Float16);
    };
    const auto plan = chain(DType::Float16, tensor({ half(0.1f) }));
    const auto data = std::make_shared<Samples>(std::vector<Tensor> { tensor({ half(-1), half(2) }) });
    const auto ranges = calibrate(runOf(plan, data), {});
    QVERIFY(ranges.ok());
    const TensorRange& range = *ranges->find("scaled");
    QVERIFY(range.dtype == DType::Float16);
    QCOMPARE(range.highest, float16ToFloat(half(2 * float16ToFloat(half(0.1f)))));
    QCOMPARE(range.lowest, float16ToFloat(half(-float16ToFloat(half(0.1f)))));
}

void CalibrateTests::constantsCountInEveryRun()
{
    CalibrationRun run = runOf(chain(), samples({ { 1 }, { 2 }, { 3 }, { 4 } }));
    run.tensors = { "x", "factor" };
    const auto data = collectCalibration(run, neededByAll(2));
    QVERIFY(data.ok());
    const TensorStatistics& factor = data->tensors[1];
    QCOMPARE(factor.feeds.size(), size_t(4));
    QCOMPARE(factor.feeds[3].high, 2.0f);
    uint64_t total = 0;
    for (const uint64_t count : factor.counts.at({ true, 2048 }))
        total += count;
    QCOMPARE(total, uint64_t(4));
}

void CalibrateTests::extremeValuesAreMarked_data()
{
    QTest::addColumn<std::vector<float>>("values");
    QTest::addColumn<bool>("extreme");
    constexpr float infinity = std::numeric_limits<float>::infinity();
    QTest::newRow("lowest float") << std::vector<float> { 0.5f, std::numeric_limits<float>::lowest() } << true;
    QTest::newRow("infinity") << std::vector<float> { 0.5f, -infinity } << true;
    QTest::newRow("mask added to scores") << std::vector<float> { 3, -8, -10003.5f, -9991 } << true;
    QTest::newRow("mask alone") << std::vector<float> { 0, -10000 } << false;
    QTest::newRow("large sounds") << std::vector<float> { 1, 20, 300, 1500, 7000, -30000 } << false;
    QTest::newRow("all large") << std::vector<float> { 50000, 51000 } << false;
    QTest::newRow("ordinary") << std::vector<float> { -1, 1 } << false;
}

void CalibrateTests::extremeValuesAreMarked()
{
    QFETCH(std::vector<float>, values);
    QFETCH(bool, extreme);
    CalibrationRun run = runOf(chain(), samples({ values, { values.front() } }));
    run.tensors = { "x", "rectified" };
    for (const auto method : { Calibrator::MinMax, Calibrator::Percentile, Calibrator::Entropy, Calibrator::Mse }) {
        CalibratorOptions options;
        options.kind = method;
        const auto ranges = calibrate(run, options);
        QVERIFY(ranges.ok());
        QCOMPARE(ranges->find("x")->extreme, extreme);
        if (method == Calibrator::MinMax)
            QCOMPARE(ranges->find("x")->lowest, *std::ranges::min_element(values));
    }
}

/// sum becomes x again: x is 1, 1, 1 of the state; the file's own input is fed.
void CalibrateTests::statisticsCountAsMemory()
{
    CalibrationRun run = runOf(chain(), noise(4, 100));
    run.work.memoryLimit = 60'000;
    QVERIFY(calibrate(run, {}).ok()); // extremes
    const auto refused = collectCalibration(run, neededByAll());
    QVERIFY(!refused.ok());
    QVERIFY2(refused.issue().what.find("statistics") != std::string::npos, refused.issue().what.c_str());
}

void CalibrateTests::carriedState()
{
    GraphBuilder builder;
    for (const char* name : { "x", "state" }) {
        builder.setType(builder.value(name), { DType::Float32, toDims({ 1 }), {} });
        builder.addInput(builder.value(name));
    }
    builder.addNode(node(builder, "Add", { "x", "state" }, "sum"));
    builder.addOutput(builder.value("sum"));
    auto graph = std::move(builder).finish();
    QVERIFY(graph.ok());
    auto model = std::make_shared<Model>();
    model->graph = std::move(*graph);
    CalibrationRun run = runOf(Plan::make(model), samples({ { 1 }, { 10 }, { 100 } }));
    run.carry = { { "sum", "state" } };
    run.work.threads = 3;
    run.keepBytes = 0;
    const auto data = collectCalibration(run, neededByAll());
    QVERIFY(data.ok());
    const auto ranges = rangesFor(*data, {});
    QCOMPARE(ranges->find("sum")->highest, 111.0f);
    QCOMPARE(ranges->find("sum")->lowest, 1.0f);
    QCOMPARE(ranges->find("state")->highest, 11.0f);
}

void CalibrateTests::refused_data()
{
    QTest::addColumn<std::vector<std::vector<float>>>("values");
    QTest::addColumn<std::string>("tensor");
    QTest::addColumn<size_t>("stride");
    QTest::addColumn<QString>("mentions");
    using Values = std::vector<std::vector<float>>;
    const Values good { { 1, 2 }, { 3, 4 } };
    QTest::newRow("no samples") << Values {} << std::string("x") << size_t(0) << "no samples";
    QTest::newRow("unknown tensor") << good << std::string("nowhere") << size_t(0) << "nowhere";
    QTest::newRow("integers") << good << std::string("sizes") << size_t(0) << "int64";
    QTest::newRow("not a number") << Values { { 1 }, { 2, kNan } } << std::string("x") << size_t(0) << "sample 1";
    QTest::newRow("stride") << good << std::string("x") << size_t(3) << "stride of 3";
}

void CalibrateTests::refused()
{
    QFETCH(std::vector<std::vector<float>>, values);
    QFETCH(std::string, tensor);
    QFETCH(size_t, stride);
    QFETCH(QString, mentions);
    CalibrationRun run = runOf(chain(), samples(values));
    run.tensors = { tensor };
    CalibratorOptions options;
    options.stride = stride;
    const auto ranges = calibrate(run, options);
    QVERIFY(!ranges.ok());
    QVERIFY(!ranges.issue().remedy.empty());
    const QString sentence = QString::fromStdString(ranges.issue().what + " " + ranges.issue().tensor);
    QVERIFY2(sentence.contains(mentions), qPrintable(sentence));
}

void CalibrateTests::cancelled()
{
    const CalibrationRun run = runOf(chain(), noise(3, 10));
    run.work.cancel.cancel();
    const auto ranges = calibrate(run, {});
    QVERIFY(!ranges.ok() && ranges.issue().kind == IssueKind::Cancelled);
}

void CalibrateTests::cacheHoldsEverything()
{
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const auto data = samples({ { 1, -2.5f, 0 }, { infinity, 3 }, { 7, 7 }, { -2000, 0.5f } });
    for (const CollectOptions& options :
        { neededByAll(), neededByAll(2), CollectOptions {}, neededBy({ Calibrator::Percentile }) }) {
        const auto found = collectCalibration(runOf(chain(), data), options);
        QVERIFY(found.ok());
        const CalibrationKey key { { 1, 2 }, Hash128 { 3, 4 } };
        const std::string bytes = calibrationBytes(*found, key);
        const auto read = parseCalibration(bytes, key, "c");
        QVERIFY(read.ok());
        QVERIFY(calibrationBytes(*read, key) == bytes);
        QVERIFY(read->collected == found->collected);
        for (size_t i = 0; i < read->tensors.size(); ++i) {
            const TensorStatistics &a = read->tensors[i], &b = found->tensors[i];
            QVERIFY(a.name == b.name && a.feeds == b.feeds && a.powers == b.powers && a.counts == b.counts
                && a.cut == b.cut && a.extreme() == b.extreme());
        }
    }
}

void CalibrateTests::cacheKeyFollowsContent()
{
    CalibrationRun run = runOf(chain(), noise(3, 20));
    const auto key = [](const CalibrationRun& of) { return calibrationKey(of)->value(); };
    const CalibrationKey first = key(run);
    const auto differs = [&](const CalibrationRun& of) {
        const CalibrationKey now = key(of);
        return std::pair(now.model != first.model, now.samples != first.samples);
    };
    run.work.threads = 4;
    run.keepBytes = 0;
    QVERIFY(differs(run) == std::pair(false, false));
    run.data = noise(3, 21);
    QVERIFY(differs(run) == std::pair(false, true));
    QVERIFY(
        differs(runOf(chain(DType::Float32, Tensor::of<float>({ 1 }, { 3 })), noise(3, 20))) == std::pair(true, false));
    run.data = nullptr;
    QVERIFY(key(run).model == first.model && !key(run).samples);
}

/// One look serves what is asked for later, with the samples or without any.
void CalibrateTests::cacheServesEveryCalibrator()
{
    const QTemporaryDir folder;
    const std::string path = folder.filePath("c").toStdString();
    CalibrationRun run = runOf(chain(), noise(3, 500));
    CalibrationRun fewer = run;
    fewer.tensors.pop_back();
    const auto cached = [&](const CalibrationRun& of, const CalibratorOptions& options) {
        return cachedCalibration(of, neededBy(options), path);
    };
    const auto first = cached(fewer, {});
    QVERIFY(first.ok() && !first->found && first->data.tensors.size() == fewer.tensors.size());
    run.data = nullptr;
    const auto lacking = cached(run, {});
    QVERIFY(!lacking.ok() && lacking.issue().tensor == run.tensors.back());
    run.data = noise(3, 500);
    QVERIFY(!cached(run, {})->found);
    QVERIFY(cached(fewer, {})->found); // what others looked at stays, but is not theirs
    QCOMPARE(cached(fewer, {})->data.tensors.size(), fewer.tensors.size());

    std::vector<CalibratorOptions> all(7);
    all[1].kind = Calibrator::MovingAverage;
    all[2].kind = all[3].kind = all[4].kind = Calibrator::Percentile;
    all[3].percentile = 97;
    all[4].symmetric = false;
    all[5].kind = Calibrator::Entropy;
    all[6].kind = Calibrator::Mse;
    for (const bool samples : { true, false })
        for (const CalibratorOptions& options : all) {
            run.data = samples ? noise(3, 500) : nullptr;
            const auto found = cached(run, options);
            QVERIFY(found.ok() && found->found);
            run.data = noise(3, 500);
            QVERIFY(rangesFor(found->data, options)->tensors == calibrate(run, options)->tensors);
        }
    CalibratorOptions other { Calibrator::Entropy };
    other.bins = 512;
    run.data = nullptr;
    const auto without = cached(run, other);
    QVERIFY(!without.ok() && without.issue().remedy == "give --data");
    run.data = noise(3, 500);
    QVERIFY(!cached(run, other)->found);
    for (const CalibratorOptions& options : { other, all[3] })
        QVERIFY(cached(run, options)->found);
    run.data = noise(4, 500);
    QVERIFY(!cached(run, {})->found);
}

void CalibrateTests::damagedCache()
{
    const auto data = collectCalibration(runOf(chain(), noise(2, 50)), neededByAll());
    const CalibrationKey key { { 3, 4 }, Hash128 { 5, 6 } };
    const std::string bytes = calibrationBytes(*data, key);
    const auto issueOf = [&](const std::string& changed, const CalibrationKey& with) {
        const auto read = parseCalibration(changed, with, "c.calib");
        return read.ok() ? QString("read") : QString::fromStdString(read.issue().what);
    };
    QVERIFY(issueOf(bytes, { { 3, 5 }, key.samples }).contains("another model"));
    QVERIFY(issueOf(bytes, { key.model, Hash128 { 5, 7 } }).contains("other samples"));
    QCOMPARE(issueOf(bytes, { key.model, std::nullopt }), QString("read"));
    QVERIFY(issueOf("", key).contains("no calibration"));
    QVERIFY(issueOf("QSCALIB9" + bytes.substr(8), key).contains("another version"));
    for (size_t i = 8; i < bytes.size(); i += 1 + i / 50) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ 0x10);
        QVERIFY(issueOf(changed, key).contains("damaged"));
        QVERIFY(issueOf(bytes.substr(0, i), key).contains("damaged"));
    }
    QVERIFY(!loadCalibration("/nowhere/at/all", key).ok());
}

int runCalibrateTests(int argc, char** argv)
{
    CalibrateTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "calibrate_test.moc"
