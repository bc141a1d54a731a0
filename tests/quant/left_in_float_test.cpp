// SPDX-License-Identifier: GPL-3.0-or-later
// Why nodes stay in float and files are refused, told by the quantizer, and how ranges grow with samples.
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/quant/model/load_warnings.h"
#include "core/quant/params/weights.h"
#include "core/quant/write/quantizer.h"
#endif
#include "core/quant/calibrate/range_growth.h"
#include "tests/quant/runners.h"
#include "tests/support/small_model.h"
#include "tests/support/tensors.h"

#include <QtTest>

#include <algorithm>
#include <functional>
#include <random>

using namespace qs;
using qs::test::SmallModel;

namespace {

Tensor ones(const Shape& shape, float value = 0.5f)
{
    Tensor t = Tensor::allocate(DType::Float32, shape);
    std::ranges::fill(t.fill<float>(), value);
    return t;
}

/// Conv -> Relu -> MaxPool -> MatMul with a weight -> MatMul of two computed values -> Erf.
std::shared_ptr<Model> net(int64_t opset)
{
    auto model = std::make_shared<Model>(
        SmallModel("net.onnx")
            .input("x", { 1, 2, 4, 4 })
            .constant("w", ones({ 2, 2, 1, 1 }))
            .constant("v", ones({ 2, 2 }))
            .node("Conv", { "x", "w" }, { "c" })
            .node("Relu", { "c" }, { "r" })
            .node("MaxPool", { "r" }, { "p" },
                { { "kernel_shape", std::vector<int64_t> { 2, 2 } }, { "strides", std::vector<int64_t> { 2, 2 } } })
            .node("MatMul", { "p", "v" }, { "m" })
            .node("MatMul", { "m", "p" }, { "n" })
            .node("Erf", { "n" }, { "y" })
            .output("y")
            .finish()
            .plan->model());
    model->opsetImports[""] = opset;
    return model;
}

/// x -> Neg -> y, and an If that nobody reads, in whose branches x goes through nodes of that type.
std::shared_ptr<const Model> branches(const std::string& type)
{
    const auto branch = [&](const std::string& name) {
        GraphBuilder b(name);
        b.allowOuter("x");
        Node inside;
        inside.name = "n_" + name;
        inside.opType = type;
        inside.opset = 17;
        inside.inputs = { b.value("x") };
        if (type == "MatMul")
            inside.inputs.push_back(b.value("x"));
        inside.outputs = { b.value(name + "_out") };
        b.addNode(std::move(inside));
        b.addOutput(b.value(name + "_out"));
        return std::make_shared<const Graph>(std::move(b).finish().value());
    };
    SmallModel m("net.onnx");
    m.input("x", { 2, 2 }).input("go", {}, DType::Bool).node("Neg", { "x" }, { "y" }).output("y");
    m.node("If", { "go" }, { "z" }, { { "then_branch", branch("then") }, { "else_branch", branch("else") } });
    return std::make_shared<Model>(m.output("z").finish().plan->model());
}

Ranges rangesOf(const std::vector<std::string>& names)
{
    Ranges ranges;
    for (const std::string& name : names) {
        TensorRange range;
        range.lowest = -1;
        range.highest = 2;
        ranges.tensors[name] = range;
    }
    return ranges;
}

const std::vector<std::string> kAll { "x", "c", "r", "p", "m", "n", "y" };

struct Case {
    std::function<void(Recipe&)> recipe;
    int64_t opset = 13;
    std::vector<std::string> ranges = kAll;
};

} // namespace

Q_DECLARE_METATYPE(Case)

class LeftInFloatTest : public QObject {
    Q_OBJECT
private slots:
    void refusedFiles_data()
    {
        QTest::addColumn<int>("opset");
        QTest::addColumn<bool>("half");
        QTest::addColumn<bool>("refused");
        QTest::newRow("float32 scales") << 17 << false << false;
        QTest::newRow("float16 scales") << 17 << true << true;
        QTest::newRow("float16 scales, new opset") << 21 << true << false;
    }
    /// A run of a file that ONNX Runtime would not load tells of that, too, unless it knows better.
    void refusedFiles()
    {
        QFETCH(int, opset);
        QFETCH(bool, half);
        QFETCH(bool, refused);
        SmallModel m("q.onnx");
        m.opset(opset).input("x", { 4 }, half ? DType::Float16 : DType::Float32);
        m.constant("s", realTensor(half ? DType::Float16 : DType::Float32, {}, std::vector<float> { 0.5f }))
            .constant("z", Tensor::scalar<uint8_t>(3));
        m.node("QuantizeLinear", { "x", "s", "z" }, { "c" }).node("DequantizeLinear", { "c", "s", "z" }, { "y" });
        const auto file = std::make_shared<const Model>(m.output("y").finish().plan->model());
        const std::vector<std::string> warnings = loadWarnings(file);
        QCOMPARE(warnings.size(), size_t(refused));
        if (refused)
            QVERIFY2(warnings[0].starts_with("q.onnx: ONNX Runtime will not load"), warnings[0].c_str());
        const Issue stopped { IssueKind::BadInput, "it stopped", "q.onnx", "n_y", {}, {} };
        QCOMPARE(!withLoadWarning(stopped, file).remedy.empty(), refused);
        Issue known = stopped;
        known.remedy = "mend it";
        QCOMPARE(withLoadWarning(known, file).remedy, known.remedy);
        Issue other = stopped;
        other.file = "f.onnx";
        QVERIFY(withLoadWarning(other, file).remedy.empty());
    }

    void reasons_data();
    void reasons();
    void bodies_data();
    void bodies();
    void convolutionOfOneAxis();
    void learningCurve();
};

void LeftInFloatTest::reasons_data()
{
    QTest::addColumn<Case>("given");
    QTest::addColumn<QString>("node");
    QTest::addColumn<QString>("cause"); ///< empty: it is quantized
    QTest::addColumn<QString>("word");
    const auto row = [](const char* name, Case given, const char* node, const char* cause, const char* word) {
        QTest::newRow(name) << given << node << cause << word;
    };
    const auto as = [](RecipeFormat format) { return [format](Recipe& r) { r.format = format; }; };
    const auto qdq = as(RecipeFormat::Qdq), codes = as(RecipeFormat::QOperator), dynamic = as(RecipeFormat::Dynamic),
               blocks = as(RecipeFormat::WeightOnly);
    row("quantized", { qdq }, "n_c", "", "");
    row("Relu whose work the quantizer does", { qdq }, "n_r", "", "");
    row("excluded", { [](Recipe& r) { r.exclude = { "n_c" }; } }, "n_c", "excluded", "excludes");
    row("not included", { [](Recipe& r) { r.include = { "n_m" }; } }, "n_c", "excluded", "includes other");
    row("type not asked for", { [](Recipe& r) { r.opTypes = { "MatMul" }; } }, "n_c", "op_type", "Conv");
    row("no rule", { qdq }, "n_y", "no_rule", "Erf");
    row("old opset", { qdq, 11 }, "n_p", "opset", "opset 12");
    row("old opset, codes", { codes, 11 }, "n_p", "opset", "opset 12");
    row("new opset", { qdq, 12 }, "n_p", "", "");
    row("behind floats", { [](Recipe& r) {
        r.exclude = { "n_c", "n_r", "n_m", "n_n" };
    } },
        "n_p", "rule", "behind codes");
    row("no range", { codes, 13, { "x", "r", "p", "m", "n", "y" } }, "n_c", "range", "'c'");
    row("computed factor", { dynamic }, "n_n", "rule", "constant");
    row("computed factor, blocks", { blocks }, "n_n", "rule", "constant");
    row("constant factor, dynamic", { dynamic }, "n_m", "", "");
    row("no rule of the dynamic form", { dynamic }, "n_p", "no_rule", "dynamic");
    row("extreme", { [](Recipe& r) { r.keepExtremeConstants = true; } }, "n_m", "", "");
}

void LeftInFloatTest::reasons()
{
    QFETCH(Case, given);
    QFETCH(QString, node);
    QFETCH(QString, cause);
    QFETCH(QString, word);
    Recipe recipe;
    given.recipe(recipe);
    if (recipe.format == RecipeFormat::WeightOnly) {
        recipe.weightType = DType::Int4;
        recipe.weightOnly.blockSize = 16;
    }
    const auto made = quantizeDraft(GraphDraft(net(given.opset)), recipe, rangesOf(given.ranges));
    QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
    const auto left = std::ranges::find(made->left, node.toStdString(), &LeftInFloat::node);
    QCOMPARE(left == made->left.end(), cause.isEmpty());
    if (cause.isEmpty())
        return;
    QCOMPARE(QString::fromStdString(std::string(nameIn(kFloatCauses, left->reason.cause))), cause);
    const QString text = QString::fromStdString(left->reason.text);
    QVERIFY2(text.contains(word) && !text.endsWith('.'), qPrintable(text));
    QCOMPARE(std::ranges::count(made->left, node.toStdString(), &LeftInFloat::node), 1);
}

void LeftInFloatTest::bodies_data()
{
    QTest::addColumn<int>("format");
    QTest::addColumn<QString>("type"); ///< of the nodes inside
    QTest::addColumn<QString>("said");
    QTest::addColumn<bool>("refused");
    constexpr int qdq = int(RecipeFormat::Qdq), onCodes = int(RecipeFormat::QOperator);
    QTest::newRow("qdq, as ONNX Runtime's tools") << qdq << "MatMul"
                                                  << "stay float in the qdq format" << false;
    QTest::newRow("qdq, nothing inside to quantize") << qdq << "Neg"
                                                     << "" << false;
    QTest::newRow("qdq, no bodies") << qdq << ""
                                    << "" << false;
    QTest::newRow("on codes") << onCodes << "MatMul"
                              << "in the dynamic format alone" << true;
    QTest::newRow("on codes, no bodies") << onCodes << ""
                                         << "" << false;
}

/// Recipe::subgraphs (EnableSubgraph) where the format does not enter them.
void LeftInFloatTest::bodies()
{
    QFETCH(int, format);
    QFETCH(QString, type);
    QFETCH(QString, said);
    QFETCH(bool, refused);
    Recipe recipe;
    recipe.format = RecipeFormat(format);
    recipe.subgraphs = true;
    const bool flat = type.isEmpty();
    const auto made = quantizeDraft(flat ? GraphDraft(net(17)) : GraphDraft(branches(type.toStdString())), recipe,
        rangesOf(flat ? std::vector<std::string> { "x", "c", "r", "p", "m", "n", "y" } : std::vector<std::string> {}));
    QCOMPARE(made.ok(), !refused);
    std::string text = refused ? made.issue().what : std::string();
    for (size_t i = 0; !refused && i < made->warnings.size(); ++i)
        text += made->warnings[i];
    QVERIFY2(
        said.isEmpty() ? text.find("bodies") == std::string::npos : text.find(said.toStdString()) != std::string::npos,
        text.c_str());
}

/// What no convolution can be is not quantized; the bias of a weight with one axis was written behind its shape.
void LeftInFloatTest::convolutionOfOneAxis()
{
    const auto model = std::make_shared<Model>(SmallModel("flat.onnx")
                                                   .input("x", { 1, 2, 4, 4 })
                                                   .constant("w", ones({ 4 }))
                                                   .constant("b", ones({ 2 }))
                                                   .node("Conv", { "x", "w", "b" }, { "y" })
                                                   .output("y")
                                                   .finish()
                                                   .plan->model());
    Recipe recipe;
    recipe.format = RecipeFormat::Dynamic;
    const auto made = quantizeDraft(GraphDraft(model), recipe, {});
    QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
    QCOMPARE(made->left.size(), size_t(1));
    QVERIFY2(made->left[0].reason.text.find("1 axis") != std::string::npos, made->left[0].reason.text.c_str());
}

void LeftInFloatTest::learningCurve()
{
    constexpr uint32_t kSeed = 5;
    qInfo("seed %u", kSeed);
    std::mt19937 random(kSeed);
    std::normal_distribution<double> normal;
    constexpr size_t kSamples = 50, kTensors = 7;
    std::vector<std::vector<std::pair<double, double>>> tensors(kTensors);
    RangeCurve curve(kSamples);
    for (auto& extremes : tensors) {
        for (size_t s = 0; s < kSamples; ++s) {
            const double a = normal(random), b = normal(random);
            extremes.emplace_back(std::min(a, b), std::max(a, b));
        }
        curve.add(extremes);
    }
    const auto share = [&](size_t n) {
        double sum = 0;
        for (const auto& extremes : tensors) {
            const auto width = [&](size_t count) {
                double low = 0, high = 0;
                for (size_t s = 0; s < count; ++s) {
                    low = std::min(low, extremes[s].first);
                    high = std::max(high, extremes[s].second);
                }
                return high - low;
            };
            sum += width(n) / width(kSamples);
        }
        return sum / kTensors;
    };
    QCOMPARE(curve.steps().size(), size_t(7)); // 1, 2, 4, 8, 16, 32, 50
    for (const RangeGrowth& step : curve.steps())
        QVERIFY(std::abs(step.meanShare - share(step.samples)) < 1e-12);
    QVERIFY(std::abs(curve.meanShare(25) - share(25)) < 1e-12);
    const size_t settled = curve.settledAfter();
    QVERIFY(settled > 1 && share(settled) >= 0.99 && share(settled - 1) < 0.99);
    QCOMPARE(RangeCurve(3).settledAfter(), size_t(0));
    QVERIFY(RangeCurve(3).steps().empty());
}

int runLeftInFloatTests(int argc, char** argv)
{
    LeftInFloatTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "left_in_float_test.moc"
