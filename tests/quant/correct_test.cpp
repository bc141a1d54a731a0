// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/quant/correct/adaround.h"
#include "core/quant/correct/bias_correction.h"
#include "core/quant/correct/equalize.h"
#include "core/quant/correct/flips.h"
#include "core/quant/correct/layers.h"
#include "core/quant/correct/output_error.h"
#include "core/quant/correct/report.h"
#include "core/quant/correct/smooth.h"
#include "core/quant/write/quantizer.h"
#endif
#include "core/engine/run/execution.h"
#include "core/tensor/convert.h"
#include "tests/quant/runners.h"
#include "tests/support/small_model.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace qs;
using qs::test::SmallModel;

namespace {

constexpr uint32_t kSeed = 20240611;

Tensor random(const Shape& shape, std::mt19937& generator, float width = 1)
{
    std::normal_distribution<float> normal(0, width);
    Tensor t = Tensor::allocate(DType::Float32, shape);
    for (float& v : t.fill<float>())
        v = normal(generator);
    return t;
}

/// Channels of axis 0 from tiny to large, as a folded BatchNormalization leaves them.
Tensor unequal(const Shape& shape, std::mt19937& generator)
{
    const Tensor plain = random(shape, generator);
    std::vector<float> values = toFloats(plain);
    const size_t inner = values.size() / size_t(shape[0]);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] *= std::pow(10.0f, static_cast<float>(i / inner % 4) - 2);
    return Tensor::of<float>(shape, values);
}

class Samples final : public DataSource {
public:
    Samples(const Shape& shape, size_t count)
    {
        std::mt19937 generator(kSeed + 1);
        for (size_t i = 0; i < count; ++i)
            m_values.push_back(random(shape, generator));
        m_samples = m_feeds = count;
    }
    Result<Feed> feed(size_t index) const override { return Feed { { m_values[index] }, index, 1 }; }

private:
    std::vector<Tensor> m_values;
};

/// Conv, Relu, depthwise Conv, LeakyRelu, Conv, GlobalAveragePool, Flatten, Gemm: pairs and a triple.
SmallModel convNet(bool clip = false)
{
    std::mt19937 g(kSeed);
    SmallModel m("net.onnx");
    m.input("x", { 1, 3, 7, 5 })
        .constant("w1", unequal({ 8, 3, 3, 3 }, g))
        .constant("b1", random({ 8 }, g))
        .constant("w2", unequal({ 8, 1, 3, 3 }, g))
        .constant("b2", random({ 8 }, g))
        .constant("w3", random({ 6, 8, 1, 1 }, g))
        .constant("w4", random({ 4, 6 }, g))
        .constant("b4", random({ 4 }, g))
        .constant("low", Tensor::scalar(0.0f))
        .constant("high", Tensor::scalar(6.0f))
        .node("Conv", { "x", "w1", "b1" }, { "c1" }, { { "pads", std::vector<int64_t> { 1, 0, 1, 2 } } });
    if (clip)
        m.node("Clip", { "c1", "low", "high" }, { "r1" });
    else
        m.node("Relu", { "c1" }, { "r1" });
    m.node("Conv", { "r1", "w2", "b2" }, { "c2" },
         { { "group", int64_t(8) }, { "strides", std::vector<int64_t> { 2, 1 } } })
        .node("LeakyRelu", { "c2" }, { "r2" }, { { "alpha", 0.1f } })
        .node("Conv", { "r2", "w3" }, { "c3" })
        .node("GlobalAveragePool", { "c3" }, { "pool" })
        .node("Flatten", { "pool" }, { "flat" })
        .node("Gemm", { "flat", "w4", "b4" }, { "y" }, { { "transB", int64_t(1) } })
        .output("y");
    return m;
}

/// LayerNormalization read by two products, one of them with a bias, whose Relu feeds a third.
SmallModel attentionLike()
{
    std::mt19937 g(kSeed);
    SmallModel m("net.onnx");
    m.input("x", { 5, 6 })
        .constant("gamma", random({ 6 }, g, 3))
        .constant("beta", random({ 6 }, g))
        .constant("q", random({ 6, 4 }, g))
        .constant("k", random({ 6, 4 }, g))
        .constant("bq", random({ 4 }, g))
        .constant("o", random({ 4, 3 }, g))
        .node("LayerNormalization", { "x", "gamma", "beta" }, { "norm" })
        .node("MatMul", { "norm", "q" }, { "xq" })
        .node("Add", { "bq", "xq" }, { "xqb" })
        .node("MatMul", { "norm", "k" }, { "xk" })
        .node("Relu", { "xqb" }, { "rq" })
        .node("Mul", { "rq", "xk" }, { "both" })
        .node("MatMul", { "both", "o" }, { "y" })
        .output("y");
    return m;
}

GraphDraft draftOf(SmallModel net)
{
    return GraphDraft(std::make_shared<Model>(std::move(net).finish().plan->model()));
}

std::shared_ptr<const Plan> planOf(const GraphDraft& draft)
{
    auto model = draft.build();
    return model ? Plan::make(*model) : nullptr;
}

CalibrationRun runOf(const GraphDraft& draft, const Shape& shape, size_t samples, size_t threads = 1)
{
    CalibrationRun run;
    run.plan = planOf(draft);
    run.data = std::make_shared<Samples>(shape, samples);
    run.work.threads = threads;
    return run;
}

std::vector<float> outputOf(const GraphDraft& draft, const Tensor& x, const std::string& name = "y")
{
    const auto plan = planOf(draft);
    const ValueId id = plan->graph().findValue(name);
    BufferPool pool;
    Execution execution(*Schedule::make(plan, { { id }, {} }), pool);
    if (!execution.bind(std::vector<Tensor> { x }).ok() || !execution.runAll().ok())
        return {};
    return toFloats(execution.get(id));
}

/// Largest difference relative to the largest value.
double difference(const std::vector<float>& a, const std::vector<float>& b)
{
    double most = 0, size = 0;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        most = std::max(most, std::abs(double(a[i]) - double(b[i])));
        size = std::max(size, std::abs(double(a[i])));
    }
    return a.empty() || a.size() != b.size() ? INFINITY : most / size;
}

std::vector<bool> all(const GraphDraft& draft) { return std::vector<bool>(draft.nodes.size(), true); }

Result<Ranges> rangesOf(const GraphDraft& draft, const Shape& shape, const Recipe& recipe)
{
    CalibrationRun run = runOf(draft, shape, 6);
    run.tensors = calibratedTensors(*FloatModel::make(draft, recipe, {}), recipe);
    return calibrate(run, recipe.calibration);
}

const Shape kImage { 1, 3, 7, 5 };

} // namespace

class CorrectTest : public QObject {
    Q_OBJECT

private slots:
    void layersAndTheirChannels()
    {
        const GraphDraft draft = draftOf(convNet());
        const DraftLinks links(draft);
        const auto layers = linearLayers(draft, links);
        QCOMPARE(layers.size(), size_t(4));
        QCOMPARE(layers[1].layout.groups, int64_t(8));
        QVERIFY(layers[2].takesBias && layers[2].bias.empty());
        const WeightLayout transposed { 6, 4, 2, 3, true }; // 4 x 3 x 3
        QCOMPARE(transposed.at(4, 1, 2), size_t((3 * 3 + 1) * 3 + 2));
        const GraphDraft products = draftOf(attentionLike());
        const auto matmuls = linearLayers(products, DraftLinks(products));
        QCOMPARE(matmuls.size(), size_t(3));
        QCOMPARE(matmuls[0].output, std::string("xqb"));
        QVERIFY(!matmuls[1].takesBias);
    }

    void scaledMagnitudesAreThoseOfTheScaledWeight()
    {
        std::mt19937 g(kSeed + 11);
        std::lognormal_distribution<double> factor(0, 2);
        for (const bool inputsFirst : { false, true })
            for (const int64_t taps : { 1, 9 })
                for (const int64_t groups : { 1, 3, 12 }) {
                    const WeightLayout layout { 24, 12, groups, taps, inputsFirst };
                    std::vector<float> weight = toFloats(random({ layout.count() }, g));
                    weight[5] = NAN;
                    weight[7] = INFINITY;
                    std::vector<double> outputs(24), inputs(12);
                    std::ranges::generate(outputs, [&] { return factor(g); });
                    std::ranges::generate(inputs, [&] { return factor(g); });
                    const auto scaled = scaledWeight(weight, layout, outputs, inputs);
                    const auto largest = tapMagnitudes(weight, layout);
                    QCOMPARE(int64_t(largest.size()) * taps, layout.count());
                    QVERIFY(
                        scaledMagnitudes(largest, layout, outputs, inputs, true) == outputMagnitudes(scaled, layout));
                    QVERIFY(
                        scaledMagnitudes(largest, layout, outputs, inputs, false) == inputMagnitudes(scaled, layout));
                }
    }

    void equalizationKeepsTheFunction()
    {
        const GraphDraft before = draftOf(convNet());
        GraphDraft after = before;
        const EqualizeReport report = equalizeLayers(after, all(before));
        QCOMPARE(report.pairs, size_t(3));
        QVERIFY(report.clips.empty());
        std::mt19937 g(kSeed + 7);
        for (int i = 0; i < 4; ++i) {
            const Tensor x = random(kImage, g);
            const double off = difference(outputOf(before, x), outputOf(after, x));
            QVERIFY2(off < 1e-5, qPrintable(QString("seed %1: %2").arg(kSeed).arg(off)));
        }
        const auto layers = linearLayers(after, DraftLinks(after));
        for (size_t l = 0; l + 1 < layers.size(); ++l) {
            const auto made = outputMagnitudes(toFloats(*after.constant(layers[l].weight)), layers[l].layout);
            const auto read = inputMagnitudes(toFloats(*after.constant(layers[l + 1].weight)), layers[l + 1].layout);
            for (size_t c = 0; c < made.size(); ++c)
                QVERIFY(std::abs(made[c] / read[c] - 1) < 0.01f);
        }
    }

    void clipsAndExcludedNodesStopEqualization()
    {
        GraphDraft clipped = draftOf(convNet(true));
        const EqualizeReport report = equalizeLayers(clipped, all(clipped));
        QCOMPARE(report.pairs, size_t(2));
        QCOMPARE(report.clips, std::vector<std::string> { "n_r1" });
        QVERIFY(toFloats(*clipped.constant("w1")) == toFloats(*draftOf(convNet(true)).constant("w1")));

        GraphDraft opened = draftOf(convNet(true)); // the Clip is from 0 on
        const EqualizeReport through = equalizeLayers(opened, all(opened), true);
        QCOMPARE(through.pairs, size_t(3));
        QVERIFY(through.clips.empty());
        QCOMPARE(through.replaced, std::vector<std::string> { "n_r1" });
        QCOMPARE(std::ranges::find(opened.nodes, "n_r1", &DraftNode::name)->opType, std::string("Relu"));
        std::mt19937 g(kSeed + 8);
        const Tensor small = random(kImage, g);
        QVERIFY(difference(outputOf(draftOf(convNet()), small), outputOf(opened, small)) < 1e-5);

        GraphDraft draft = draftOf(convNet());
        std::vector<bool> chosen = all(draft);
        chosen[2] = false; // the depthwise layer
        QCOMPARE(equalizeLayers(draft, chosen).pairs, size_t(1));
        QVERIFY(toFloats(*draft.constant("w2")) == toFloats(*draftOf(convNet()).constant("w2")));
    }

    void smoothingKeepsTheFunction_data()
    {
        QTest::addColumn<bool>("folding");
        QTest::addColumn<int>("added");
        QTest::newRow("folded") << true << 1; // before the third product
        QTest::newRow("with new nodes") << false << 2;
    }
    void smoothingKeepsTheFunction()
    {
        QFETCH(bool, folding);
        QFETCH(int, added);
        const GraphDraft before = draftOf(attentionLike());
        GraphDraft after = before;
        const auto report = smoothInputs(after, all(before), 0.5, folding, runOf(before, { 5, 6 }, 4));
        QVERIFY2(report.ok(), report.ok() ? "" : report.issue().what.c_str());
        QCOMPARE(report->inputs, size_t(2));
        QCOMPARE(report->added.size(), size_t(added));
        QCOMPARE(after.nodes.size(), before.nodes.size() + size_t(added));
        QVERIFY(toFloats(*after.constant("q")) != toFloats(*before.constant("q")));
        std::mt19937 g(kSeed + 7);
        const Tensor x = random({ 5, 6 }, g);
        QVERIFY(difference(outputOf(before, x), outputOf(after, x)) < 1e-5);
    }

    void smoothedChannelsShareTheLoad()
    {
        // With alpha 1 every channel of the smoothed value reaches as far as any other.
        GraphDraft draft = draftOf(attentionLike());
        QVERIFY(smoothInputs(draft, all(draft), 1, true, runOf(draft, { 5, 6 }, 1)).ok());
        const CalibrationRun run = runOf(draft, { 5, 6 }, 1);
        const auto norm = outputOf(draft, run.data->feed(0)->inputs[0], "norm");
        for (size_t c = 0; c < 6; ++c) {
            float most = 0;
            for (size_t r = 0; r < 5; ++r)
                most = std::max(most, std::abs(norm[r * 6 + c]));
            QVERIFY(std::abs(most - 1) < 1e-4f);
        }
    }

    void flipsNeverRaiseTheError_data()
    {
        QTest::addColumn<int>("size");
        QTest::addColumn<int>("rows");
        for (int size : { 1, 2, 7, 31, 32, 33, 65 })
            for (int rows : { 1, 5, 200 })
                QTest::addRow("%d x %d", rows, size) << size << rows;
    }
    void flipsNeverRaiseTheError()
    {
        QFETCH(int, size);
        QFETCH(int, rows);
        std::mt19937 g(kSeed + uint32_t(size * 1000 + rows));
        const auto n = size_t(size);
        std::vector<float> x = toFloats(random({ rows, size }, g));
        for (size_t i = 0; i < x.size(); ++i)
            x[i] += 0.7f * x[i - i % n]; // correlated
        const auto gram = gramMatrix(x, n);
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < n; ++j) {
                double sum = 0;
                for (size_t r = 0; r < size_t(rows); ++r)
                    sum += double(x[r * n + i]) * double(x[r * n + j]) / rows;
                if (i != j)
                    QVERIFY(std::abs(sum - double(gram[i * n + j])) < 1e-4);
            }
        std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
        std::vector<float> error(n), steps(n);
        for (size_t i = 0; i < n; ++i) {
            error[i] = uniform(g);
            steps[i] = i % 5 == 3 ? 0.0f : error[i] > 0 ? -1.0f : 1.0f;
        }
        const auto flips = chooseFlips(gram, error, steps);
        std::vector<float> now = error;
        for (size_t i = 0; i < n; ++i) {
            QVERIFY(!flips[i] || steps[i] != 0);
            now[i] += flips[i] ? steps[i] : 0.0f;
        }
        const double best = outputError(gram, now);
        QVERIFY(best <= outputError(gram, error));
        for (size_t i = 0; i < n; ++i) { // no other single choice is better
            std::vector<float> other = now;
            other[i] += flips[i] ? -steps[i] : steps[i];
            QVERIFY(outputError(gram, other) >= best - 1e-3 * std::max(best, 1e-3));
        }
    }

    void roundingKeepsScales_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<bool>("perChannel");
        for (DType type : { DType::Int8, DType::UInt8, DType::Int4 })
            for (bool perChannel : { false, true })
                QTest::addRow("%s%s", std::string(dtypeName(type)).c_str(), perChannel ? " per channel" : "")
                    << int(type) << perChannel;
    }
    void roundingKeepsScales()
    {
        QFETCH(int, type);
        QFETCH(bool, perChannel);
        Recipe recipe;
        recipe.activationType = DType::UInt8;
        recipe.weightType = DType(type);
        recipe.perChannel = perChannel;
        const GraphDraft before = draftOf(convNet());
        const auto ranges = rangesOf(before, kImage, recipe);
        QVERIFY(ranges.ok());
        const auto nearest = quantizeDraft(before, recipe, *ranges);
        QVERIFY(nearest.ok());
        GraphDraft one = before, two = before;
        const auto report = adaRound(one, nearest->draft, {}, runOf(before, kImage, 6, 1));
        QVERIFY2(report.ok(), report.ok() ? "" : report.issue().what.c_str());
        QCOMPARE(report->layers, size_t(4));
        QVERIFY(report->changed > 0 && report->skipped.empty());
        QVERIFY(adaRound(two, nearest->draft, {}, runOf(before, kImage, 6, 2)).ok());
        const auto rounded = quantizeDraft(one, recipe, *ranges);
        QVERIFY(rounded.ok());
        size_t moved = 0;
        for (const char* name : { "w1", "w2", "w3", "w4" }) {
            const std::string w = name;
            QVERIFY(toFloats(*one.constant(w)) == toFloats(*two.constant(w))); // whatever the threads
            for (const char* what : { "_scale", "_zero_point" })
                QVERIFY(toDoubles(*rounded->draft.constant(w + what)) == toDoubles(*nearest->draft.constant(w + what)));
            const auto old = toInts(*nearest->draft.constant(w + "_quantized"));
            const auto now = toInts(*rounded->draft.constant(w + "_quantized"));
            for (size_t i = 0; i < old.size(); ++i) {
                QVERIFY(std::abs(old[i] - now[i]) <= 1);
                moved += old[i] != now[i];
            }
        }
        QCOMPARE(moved, report->changed);
    }

    void roundingServesTheOutput()
    {
        Recipe recipe;
        recipe.activationType = DType::UInt16;
        recipe.weightType = DType::Int4;
        recipe.perChannel = true;
        const GraphDraft before = draftOf(convNet());
        const auto ranges = rangesOf(before, kImage, recipe);
        const auto nearest = quantizeDraft(before, recipe, *ranges);
        QVERIFY(nearest.ok());
        GraphDraft after = before;
        QVERIFY(adaRound(after, nearest->draft, {}, runOf(before, kImage, 6)).ok());
        const auto rounded = quantizeDraft(after, recipe, *ranges);
        const auto outputs = OutputError::make(runOf(before, kImage, 6));
        QVERIFY(outputs.ok() && rounded.ok());
        const auto old = outputs->sqnr(nearest->draft), now = outputs->sqnr(rounded->draft);
        QVERIFY(old.ok() && now.ok() && *old && *now);
        QVERIFY2(**now > **old, qPrintable(QString("%1 -> %2").arg(**old).arg(**now)));
        const auto same = outputs->sqnr(before);
        QVERIFY(same.ok() && std::isinf(**same));
    }

    void plantedShiftsAreRemoved()
    {
        // The same model with wrong biases in the first layer; the third has none.
        const GraphDraft draft = draftOf(convNet());
        GraphDraft wrong = draft;
        std::vector<float> bias = toFloats(*draft.constant("b1"));
        for (size_t c = 0; c < bias.size(); ++c)
            bias[c] += 0.25f * static_cast<float>(c) - 0.5f;
        wrong.setConstant("b1", Tensor::of<float>({ 8 }, bias));
        GraphDraft corrected = draft;
        const auto report = correctBiases(corrected, wrong, all(draft), {}, runOf(draft, kImage, 5));
        QVERIFY2(report.ok(), report.ok() ? "" : report.issue().what.c_str());
        QCOMPARE(report->layers, size_t(4));
        const auto old = toFloats(*draft.constant("b1")), now = toFloats(*corrected.constant("b1"));
        for (size_t c = 0; c < old.size(); ++c)
            QVERIFY(std::abs((old[c] - now[c]) - (bias[c] - old[c])) < 1e-5f);
        // Layers after it saw the correction.
        const auto last = toFloats(*corrected.constant("b4")), given = toFloats(*draft.constant("b4"));
        for (size_t c = 0; c < last.size(); ++c)
            QVERIFY(std::abs(last[c] - given[c]) < 1e-4f);
    }

    void biasesOfQuantizedModels_data()
    {
        QTest::addColumn<bool>("attention");
        QTest::newRow("convolutions") << false;
        QTest::newRow("products") << true;
    }
    void biasesOfQuantizedModels()
    {
        QFETCH(bool, attention);
        Recipe recipe;
        recipe.activationType = DType::UInt16;
        recipe.weightType = DType::Int4;
        const GraphDraft before = draftOf(attention ? attentionLike() : convNet());
        const Shape shape = attention ? Shape { 5, 6 } : kImage;
        const auto ranges = rangesOf(before, shape, recipe);
        QVERIFY(ranges.ok());
        const auto nearest = quantizeDraft(before, recipe, *ranges);
        QVERIFY(nearest.ok());
        GraphDraft one = before, two = before;
        const auto report = correctBiases(one, nearest->draft, all(before), {}, runOf(before, shape, 6, 1));
        QVERIFY2(report.ok(), report.ok() ? "" : report.issue().what.c_str());
        QCOMPARE(report->feeds, size_t(6));
        QVERIFY(report->changed > 0);
        QVERIFY(correctBiases(two, nearest->draft, all(before), {}, runOf(before, shape, 6, 2)).ok());
        QVERIFY(one.constants() == two.constants());
        for (const std::string& name : one.constants())
            QVERIFY(toDoubles(*one.constant(name)) == toDoubles(*two.constant(name)));
        QVERIFY(quantizeDraft(one, recipe, *ranges).ok());

        std::vector<bool> none(before.nodes.size(), false);
        GraphDraft kept = before;
        const auto nothing = correctBiases(kept, nearest->draft, none, {}, runOf(before, shape, 2));
        QVERIFY(nothing.ok());
        QCOMPARE(nothing->changed, size_t(0));
    }

    void cancelledSteps()
    {
        GraphDraft draft = draftOf(convNet());
        const Recipe recipe;
        const auto quantized = quantizeDraft(draft, recipe, *rangesOf(draft, kImage, recipe));
        QVERIFY(quantized.ok());
        const CalibrationRun run = runOf(draft, kImage, 3);
        run.work.cancel.cancel();
        const auto kindOf = [](const auto& result) { return result.ok() ? IssueKind::Internal : result.issue().kind; };
        QCOMPARE(kindOf(adaRound(draft, quantized->draft, {}, run)), IssueKind::Cancelled);
        QCOMPARE(kindOf(correctBiases(draft, quantized->draft, all(draft), {}, run)), IssueKind::Cancelled);
        QCOMPARE(kindOf(smoothInputs(draft, all(draft), 0.5, true, run)), IssueKind::Cancelled);
    }

    void lines()
    {
        CorrectionReport report { "bias correction", "52 biases changed", 18.24, 21.5, {}, 0 };
        QCOMPARE(
            correctionLine(report), std::string("bias correction: output SQNR 18.2 -> 21.5 dB, 52 biases changed"));
        report.before.reset();
        QCOMPARE(correctionLine(report), std::string("bias correction: 52 biases changed"));
    }
};

int runCorrectTests(int argc, char** argv)
{
    CorrectTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "correct_test.moc"
