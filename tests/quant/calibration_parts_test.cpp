// SPDX-License-Identifier: GPL-3.0-or-later
// Calibrations in parts against one over all samples: equal in every bit, for every method.
#include "core/quant/calibrate/calibration_parts.h"

#include "core/base/files/atomic_file.h"
#include "core/quant/calibrate/calibrators.h"
#include "tests/quant/runners.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <random>

using namespace qs;

namespace {

/// Runs of growing and of shrinking reach, one of them without any value.
class Waves : public DataSource {
public:
    explicit Waves(size_t runs, unsigned seed = 5)
    {
        std::mt19937 engine(seed);
        std::normal_distribution<float> normal;
        for (size_t i = 0; i < runs; ++i) {
            std::vector<float> values(i == 4 ? 0 : 300);
            const float reach = 1 + float(i % 3) * 0.7f + float(i) / 9;
            for (float& value : values)
                value = reach * normal(engine);
            m_values.push_back(Tensor::of<float>({ int64_t(values.size()) }, values));
        }
        m_samples = m_feeds = runs;
    }
    Result<Feed> feed(size_t index) const override { return Feed { { m_values[index] }, index, 1 }; }

private:
    std::vector<Tensor> m_values;
};

void addNode(GraphBuilder& builder, const char* type, std::initializer_list<const char*> inputs, const char* output)
{
    Node n;
    n.name = output;
    n.opType = type;
    n.opset = 17;
    for (const char* input : inputs)
        n.inputs.push_back(builder.value(input));
    n.outputs = { builder.value(output) };
    builder.addNode(std::move(n));
}

/// A product, what cuts it off, the same under another name; a constant is watched, too.
CalibrationRun runOver(size_t runs, float factor = 2, unsigned seed = 5)
{
    GraphBuilder builder;
    builder.setType(builder.value("x"), { DType::Float32, Dims { { -1, "N" } }, {} });
    builder.addInput(builder.value("x"));
    builder.setInitializer(builder.value("factor"), Tensor::of<float>({ 1 }, { factor }));
    addNode(builder, "Mul", { "x", "factor" }, "scaled");
    addNode(builder, "Relu", { "scaled" }, "rectified");
    addNode(builder, "Identity", { "rectified" }, "moved");
    builder.addOutput(builder.value("moved"));
    auto graph = std::move(builder).finish();
    if (!graph.ok())
        qFatal("the network is none");
    auto model = std::make_shared<Model>();
    model->path = "net.onnx";
    model->graph = std::move(*graph);
    CalibrationRun run;
    run.plan = Plan::make(model);
    run.tensors = { "x", "factor", "scaled", "rectified", "moved" };
    run.data = std::make_shared<Waves>(runs, seed);
    run.work.threads = 2;
    return run;
}

CalibratorOptions optionsOf(Calibrator kind, bool symmetric, size_t stride)
{
    CalibratorOptions options;
    options.kind = kind;
    options.symmetric = symmetric;
    options.percentile = 99;
    options.stride = stride;
    if (kind == Calibrator::Entropy)
        options.bins = 256;
    return options;
}

} // namespace

class CalibrationPartsTests : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    std::string written(const CalibrationPart& part, const char* name) const
    {
        const QString file
            = QString("%1-%2-%3-%4").arg(name).arg(part.extremes ? 2 : 1).arg(part.first).arg(part.count);
        const std::string path = m_folder.filePath(file).toStdString();
        if (!writeFile(path, calibrationPartBytes(part)).ok())
            qFatal("no file can be written");
        return path;
    }
    /// State files of the first round.
    std::vector<std::string> first(
        const CalibrationRun& run, const CollectOptions& needed, size_t count, const char* name) const
    {
        std::vector<std::string> paths;
        for (size_t i = count; i >= 1; --i) {
            const auto part = firstRound(run, needed, i, count);
            if (!part.ok())
                qFatal("%s", part.issue().what.c_str());
            paths.push_back(written(*part, name));
        }
        return paths;
    }
    /// Those of the second one, too.
    std::vector<std::string> both(
        const CalibrationRun& run, const CollectOptions& needed, size_t count, const char* name) const
    {
        std::vector<std::string> paths = first(run, needed, count, name);
        const auto sum = sumOfParts(paths, Rounds::First);
        if (!sum.ok())
            qFatal("%s", sum.issue().what.c_str());
        for (size_t i = 1; i <= count; ++i) {
            const auto part = secondRound(run, needed, *sum, i);
            if (!part.ok())
                qFatal("%s", part.issue().what.c_str());
            paths.insert(paths.begin(), written(*part, name));
        }
        return paths;
    }
    static QString refusal(const std::vector<std::string>& paths)
    {
        const auto sum = sumOfParts(paths, Rounds::Both);
        return sum.ok() ? QString() : QString::fromStdString(sum.issue().what);
    }

private slots:
    void equalOneRun_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<size_t>("stride");
        QTest::addColumn<size_t>("parts");
        for (const auto& [kind, name] :
            { std::pair(Calibrator::MinMax, "minmax"), std::pair(Calibrator::MovingAverage, "moving average"),
                std::pair(Calibrator::Percentile, "percentile"), std::pair(Calibrator::Entropy, "entropy"),
                std::pair(Calibrator::Distribution, "distribution"), std::pair(Calibrator::Mse, "mse") })
            for (const size_t stride : { 0, 4 })
                for (const size_t parts : { 1, 3, 7, 30 })
                    QTest::addRow("%s, stride %d, %d parts", name, int(stride), int(parts))
                        << int(kind) << stride << parts;
    }
    void equalOneRun()
    {
        QFETCH(int, kind);
        QFETCH(size_t, stride);
        QFETCH(size_t, parts);
        const CalibrationRun run = runOver(20);
        for (const bool symmetric : { false, true }) {
            const CalibratorOptions options = optionsOf(Calibrator(kind), symmetric, stride);
            const CollectOptions needed = neededBy(options);
            const auto sum = sumOfParts(both(run, needed, parts, "equal"), Rounds::Both);
            QVERIFY2(sum.ok(), sum.ok() ? "" : sum.issue().what.c_str());
            const auto one = collectCalibration(run, neededOfParts(needed));
            QVERIFY(one.ok());
            QVERIFY(sum->data.collected == one->collected);
            QCOMPARE(sum->data.tensors.size(), one->tensors.size());
            for (size_t t = 0; t < one->tensors.size(); ++t) {
                const TensorStatistics &a = sum->data.tensors[t], &b = one->tensors[t];
                QCOMPARE(a.name, b.name);
                QVERIFY(a.feeds == b.feeds && a.powers == b.powers && a.counts == b.counts);
                QVERIFY(a.gap.below == b.gap.below && a.gap.above == b.gap.above);
            }
            const auto ranges = rangesFor(sum->data, options), whole = calibrate(run, options);
            QVERIFY(ranges.ok() && whole.ok());
            QCOMPARE(*ranges, *whole);
        }
    }

    void bytesComeBack()
    {
        const CalibrationRun run = runOver(6);
        const CollectOptions needed = neededBy(optionsOf(Calibrator::Entropy, false, 0));
        const auto part = firstRound(run, needed, 2, 3);
        QVERIFY(part.ok());
        const std::string bytes = calibrationPartBytes(*part);
        const auto again = parseCalibrationPart(bytes, "part");
        QVERIFY(again.ok());
        QCOMPARE(calibrationPartBytes(*again), bytes);
        for (size_t size = 0; size < bytes.size(); size += 1 + size / 7)
            QVERIFY(!parseCalibrationPart(bytes.substr(0, size), "part").ok());
        for (size_t at = 0; at < bytes.size(); at += 1 + at / 5) {
            std::string damaged = bytes;
            damaged[at] = char(damaged[at] ^ 16);
            QVERIFY(!parseCalibrationPart(damaged, "part").ok());
        }
    }

    void refused()
    {
        const CollectOptions entropy = neededBy(optionsOf(Calibrator::Entropy, false, 0));
        const auto all = both(runOver(6), entropy, 2, "a"); // counts 2, 1, extremes 2, 1
        QCOMPARE(refusal(all), QString());
        QVERIFY(refusal({}).contains("none of the state files"));
        QVERIFY(refusal({ all[0], all[1] }).contains("none of the state files"));
        QVERIFY(refusal({ all[0], all[1], all[2] }).contains("shard 1 of 2 is missing"));
        QVERIFY(refusal({ all[0], all[2], all[3] }).contains("shard 1 of 2 is missing"));
        QVERIFY(refusal({ all[2], all[3], all[2] }).contains("as is"));
        const auto three = first(runOver(6), entropy, 3, "three");
        QVERIFY(refusal({ all[3], three[1], three[0] }).contains("of 3 shards"));
        QVERIFY(refusal({ all[3], first(runOver(6, 3), entropy, 2, "model")[0] }).contains("another model"));
        const auto data = both(runOver(6, 2, 6), entropy, 2, "data");
        QVERIFY(refusal({ all[3], data[2] }).contains("other data"));
        QVERIFY(refusal({ data[0], data[1], all[2], all[3] }).contains("other extremes"));
        const CollectOptions mse = neededBy(optionsOf(Calibrator::Mse, false, 0));
        QVERIFY(refusal({ all[3], first(runOver(6), mse, 2, "mse")[0] }).contains("other options"));
        const auto sum = sumOfParts({ all[2], all[3] }, Rounds::First);
        QVERIFY(sum.ok());
        QVERIFY(!secondRound(runOver(6, 2, 6), entropy, *sum, 1).ok());
        QVERIFY(!secondRound(runOver(6, 3), entropy, *sum, 1).ok());
        QVERIFY(!secondRound(runOver(6), mse, *sum, 1).ok());
    }
};

int runCalibrationPartsTests(int argc, char** argv)
{
    CalibrationPartsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "calibration_parts_test.moc"
