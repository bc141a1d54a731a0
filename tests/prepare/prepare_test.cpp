// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/prepare/prepare.h"
#endif
#include "core/tensor/convert.h"
#include "tests/prepare/running.h"
#include "tests/support/small_model.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace qs;
using qs::test::SmallModel;

namespace {

Tensor noise(const Shape& shape, unsigned seed, float low = -1, float high = 1)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> values(low, high);
    Tensor t = Tensor::allocate(DType::Float32, shape);
    for (float& v : t.fill<float>())
        v = values(random);
    return t;
}

GraphDraft draftOf(SmallModel net)
{
    const auto prepared = std::move(net).finish();
    return GraphDraft(std::make_shared<Model>(prepared.plan->model()));
}

std::vector<double> run(const GraphDraft& draft, const Tensor& x)
{
    const auto plan = Plan::make(draft.build().value());
    return qs::test::valuesOf(plan, { plan->graph().outputs()[0] }, { x });
}

std::vector<std::string> types(const GraphDraft& draft)
{
    std::vector<std::string> found;
    for (const DraftNode& node : draft.nodes)
        found.push_back(node.opType);
    return found;
}

using Types = std::vector<std::string>;

GraphDraft withOpset(const SmallModel& net, int version)
{
    GraphDraft draft = draftOf(net);
    draft.opsets[""] = version;
    return GraphDraft(draft.build().value());
}

bool near(const std::vector<double>& a, const std::vector<double>& b)
{
    constexpr double kTolerance = 1e-5;
    return !a.empty() && std::ranges::equal(a, b, [](double x, double y) { return std::abs(x - y) <= kTolerance; });
}

/// Nodes of the file that a fused node stands for.
QString sourcesOf(const DraftNode& node)
{
    QStringList names;
    if (node.cameFrom && node.cameFrom->derivation)
        for (const SourceNode& source : node.cameFrom->derivation->nodes)
            names << QString::fromStdString(source.name);
    return names.join(' ');
}

SmallModel normNet(bool transposed, bool bias)
{
    SmallModel m("net.onnx");
    m.input("x", { 1, 3, 5, 5 })
        .constant("w", noise(transposed ? Shape { 3, 4, 3, 3 } : Shape { 4, 3, 3, 3 }, 1))
        .constant("gamma", noise({ 4 }, 3))
        .constant("beta", noise({ 4 }, 4))
        .constant("mean", noise({ 4 }, 5))
        .constant("var", noise({ 4 }, 6, 0.1f, 2));
    if (bias)
        m.constant("b", noise({ 4 }, 2));
    const SmallModel::Names inputs = bias ? SmallModel::Names { "x", "w", "b" } : SmallModel::Names { "x", "w" };
    m.node(transposed ? "ConvTranspose" : "Conv", inputs, { "c" })
        .node("BatchNormalization", { "c", "gamma", "beta", "mean", "var" }, { "n" })
        .node("Relu", { "n" }, { "y" })
        .output("y");
    return m;
}

} // namespace

class PrepareTest : public QObject {
    Q_OBJECT

private slots:
    /// Patterns read them by their places.
    void nodesThatLackWhatTheyNeed()
    {
        SmallModel m("m.onnx");
        m.input("x", { 2, 3 }).node("Relu", { "x" }, { "y" }).output("y");
        GraphDraft draft(std::make_shared<Model>(std::move(m).finish().plan->model()));
        DraftNode odd;
        odd.name = "odd";
        odd.opType = "Sqrt";
        odd.outputs = { "root" };
        draft.nodes.push_back(odd);
        const auto reports = prepareGraph(draft);
        QVERIFY(!reports.ok());
        QCOMPARE(reports.issue().node, std::string("odd"));
        draft.nodes.back().domain = "acme"; // of which nothing is known
        QVERIFY(prepareGraph(draft).ok());
    }

    void normGoesIntoConv_data()
    {
        QTest::addColumn<bool>("transposed");
        QTest::addColumn<bool>("bias");
        QTest::newRow("conv") << false << false;
        QTest::newRow("conv with bias") << false << true;
        QTest::newRow("transposed") << true << true;
    }
    void normGoesIntoConv()
    {
        QFETCH(bool, transposed);
        QFETCH(bool, bias);
        GraphDraft draft = draftOf(normNet(transposed, bias));
        const Tensor x = noise({ 1, 3, 5, 5 }, 9);
        const auto before = run(draft, x);
        const auto report = foldBatchNorm(draft);
        QVERIFY(report.ok());
        QCOMPARE(report->changes, size_t(1));
        QCOMPARE(types(draft), (Types { transposed ? "ConvTranspose" : "Conv", "Relu" }));
        QCOMPARE(draft.nodes[0].outputs[0], std::string("n"));
        QCOMPARE(sourcesOf(draft.nodes[0]), QStringLiteral("n_c n_n"));
        const auto after = run(draft, x);
        QCOMPARE(after.size(), before.size());
        QVERIFY(!after.empty());
        for (size_t i = 0; i < after.size(); ++i)
            QVERIFY(std::abs(after[i] - before[i]) <= 1e-5 * std::max(1.0, std::abs(before[i])));
    }

    void normStays()
    {
        SmallModel net = normNet(false, true);
        net.output("c"); // somebody wants the value before
        GraphDraft draft = draftOf(net);
        QCOMPARE(foldBatchNorm(draft)->changes, size_t(0));
        QCOMPARE(types(draft), (Types { "Conv", "BatchNormalization", "Relu" }));
    }

    void sharedWeightsAreCopied()
    {
        SmallModel net = normNet(false, true);
        net.node("Conv", { "x", "w", "b" }, { "z" }).output("z");
        GraphDraft draft = draftOf(net);
        QCOMPARE(foldBatchNorm(draft)->changes, size_t(1));
        const auto plain = std::ranges::find(draft.nodes, std::string("n_z"), &DraftNode::name);
        QCOMPARE(plain->inputs[1], std::string("w"));
        QVERIFY(draft.nodes[0].inputs[1] != "w");
        QCOMPARE(toDoubles(*draft.constant("w")), toDoubles(noise({ 4, 3, 3, 3 }, 1)));
    }

    void constantsAreFolded()
    {
        SmallModel net("net.onnx");
        net.input("x", { 2, 3 })
            .constant("a", Tensor::of<float>({ 3 }, { 1, 2, 3 }))
            .constant("big", Tensor::of<int64_t>({ 2 }, { 1000, 1000 }))
            .node("Neg", { "a" }, { "minus" })
            .node("Mul", { "minus", "a" }, { "square" })
            .node("Add", { "x", "square" }, { "y" })
            .node("ConstantOfShape", { "big" }, { "large" })
            .output("y")
            .output("large");
        GraphDraft draft = draftOf(net);
        const auto report = foldConstants(draft);
        QVERIFY(report.ok());
        QCOMPARE(types(draft), (Types { "Add", "ConstantOfShape" }));
        QCOMPARE(toDoubles(*draft.constant("square")), (std::vector<double> { -1, -4, -9 }));
        QVERIFY(!draft.constant("minus")); // nobody reads it
    }

    void unusedNodesGo()
    {
        SmallModel net("net.onnx");
        net.input("x", { 2, 3 })
            .node("Identity", { "x" }, { "same" })
            .node("Dropout", { "same" }, { "dropped" })
            .node("Relu", { "dropped" }, { "y" })
            .node("Neg", { "x" }, { "lost" })
            .node("Exp", { "lost" }, { "lost too" })
            .node("Identity", { "y" }, { "z" })
            .output("y")
            .output("z");
        GraphDraft draft = draftOf(net);
        const auto report = removeUnused(draft);
        QVERIFY(report.ok());
        QCOMPARE(report->changes, size_t(4));
        QCOMPARE(types(draft), (Types { "Relu", "Identity" }));
        QCOMPARE(draft.nodes[0].inputs[0], std::string("x"));
        QVERIFY(draft.build().ok());
    }

    void passesCanBeLeftOut()
    {
        GraphDraft draft = draftOf(normNet(false, true));
        const auto reports = prepareGraph(draft, { "fold_batch_norm" });
        QVERIFY(reports.ok());
        QCOMPARE(reports->size(), preparationPasses().size() - 1);
        QCOMPARE(types(draft), (Types { "Conv", "BatchNormalization", "Relu" }));
        QCOMPARE(draft.types.at("c").dims->size(), size_t(4)); // infer_shapes
    }

    void layerNorm_data()
    {
        QTest::addColumn<int>("version");
        QTest::addColumn<bool>("twoSubs");
        QTest::addColumn<bool>("product");
        QTest::addColumn<bool>("fuses");
        QTest::newRow("power") << 17 << false << false << true;
        QTest::newRow("product") << 17 << false << true << true;
        QTest::newRow("two subtractions") << 17 << true << false << true;
        QTest::newRow("old opset") << 13 << false << false << false;
    }
    void layerNorm()
    {
        QFETCH(int, version);
        QFETCH(bool, twoSubs);
        QFETCH(bool, product);
        QFETCH(bool, fuses);
        const std::vector<int64_t> last { -1 };
        SmallModel net("net.onnx");
        net.input("x", { 3, 5, 8 })
            .constant("two", Tensor::scalar(2.0f))
            .constant("eps", Tensor::scalar(1e-5f))
            .constant("gamma", noise({ 8 }, 1))
            .constant("beta", noise({ 8 }, 2))
            .node("ReduceMean", { "x" }, { "mean" }, { { "axes", last } })
            .node("Sub", { "x", "mean" }, { "d" });
        if (twoSubs)
            net.node("Sub", { "x", "mean" }, { "d2" });
        if (product)
            net.node("Mul", { "d", "d" }, { "square" });
        else
            net.node("Pow", { "d", "two" }, { "square" });
        net.node("ReduceMean", { "square" }, { "variance" }, { { "axes", last } })
            .node("Add", { "variance", "eps" }, { "safe" })
            .node("Sqrt", { "safe" }, { "root" })
            .node("Div", { twoSubs ? "d2" : "d", "root" }, { "n" })
            .node("Mul", { "n", "gamma" }, { "scaled" })
            .node("Add", { "scaled", "beta" }, { "y" })
            .output("y");
        const GraphDraft before = withOpset(net, version);
        GraphDraft draft = before;
        const auto report = fuseLayerNorm(draft);
        QVERIFY(report.ok());
        QCOMPARE(report->changes, size_t(fuses));
        QCOMPARE(report->keepFloat.size(), fuses ? size_t(0) : before.nodes.size());
        if (!fuses) {
            QCOMPARE(draft.nodes.size(), before.nodes.size());
            return;
        }
        QCOMPARE(types(draft), Types { "LayerNormalization" });
        QCOMPARE(draft.nodes.front().name, std::string("n_y"));
        QCOMPARE(sourcesOf(draft.nodes.front()).split(' ').size(), qsizetype(before.nodes.size()));
        QVERIFY(sourcesOf(draft.nodes.front()).endsWith(QStringLiteral("n_scaled n_y")));
        QVERIFY(near(run(before, noise({ 3, 5, 8 }, 3)), run(draft, noise({ 3, 5, 8 }, 3))));
    }

    /// What the inner values of the pattern are also read for keeps it as it is.
    void layerNormStays()
    {
        SmallModel net("net.onnx");
        net.input("x", { 2, 4 })
            .constant("two", Tensor::scalar(2.0f))
            .constant("eps", Tensor::scalar(1e-5f))
            .constant("gamma", noise({ 4 }, 1))
            .node("ReduceMean", { "x" }, { "mean" }, { { "axes", std::vector<int64_t> { 1 } } })
            .node("Sub", { "x", "mean" }, { "d" })
            .node("Pow", { "d", "two" }, { "square" })
            .node("ReduceMean", { "square" }, { "variance" }, { { "axes", std::vector<int64_t> { 1 } } })
            .node("Add", { "variance", "eps" }, { "safe" })
            .node("Sqrt", { "safe" }, { "root" })
            .node("Div", { "d", "root" }, { "n" })
            .node("Mul", { "n", "gamma" }, { "y" })
            .node("Relu", { "d" }, { "z" })
            .output("y")
            .output("z");
        GraphDraft draft = draftOf(net);
        const auto report = fuseLayerNorm(draft);
        QVERIFY(report.ok() && report->changes == 0 && report->keepFloat.empty());
    }

    void gelu_data()
    {
        QTest::addColumn<int>("form");
        QTest::addColumn<int>("version");
        for (int form = 0; form < 6; ++form)
            QTest::addRow("form %d", form) << form << 20;
        QTest::newRow("old opset") << 0 << 17;
    }
    /// 0: erf, x first; 1: erf, halved x first; 2: erf, halved sum first; 3 to 5: the same by tanh.
    void gelu()
    {
        QFETCH(int, form);
        QFETCH(int, version);
        SmallModel net("net.onnx");
        net.input("x", { 2, 40 })
            .constant("one", Tensor::scalar(1.0f))
            .constant("half", Tensor::scalar(0.5f))
            .constant("three", Tensor::scalar(3.0f))
            .constant("root", Tensor::scalar(form == 1 ? 0.70710678f : 1.41421356f))
            .constant("outer", Tensor::scalar(0.7978845608f))
            .constant("cubic", Tensor::scalar(0.044715f));
        if (form < 3) {
            net.node(form == 1 ? "Mul" : "Div", { "x", "root" }, { "t" }).node("Erf", { "t" }, { "e" });
        } else {
            if (form == 3)
                net.node("Pow", { "x", "three" }, { "c" });
            else
                net.node("Mul", { "x", "x" }, { "s" }).node("Mul", { "x", "s" }, { "c" });
            net.node("Mul", { "cubic", "c" }, { "k" })
                .node("Add", { "x", "k" }, { "sum" })
                .node("Mul", { "sum", "outer" }, { "t" })
                .node("Tanh", { "t" }, { "e" });
        }
        net.node("Add", { "e", "one" }, { "a" });
        if (form % 3 == 0)
            net.node("Mul", { "x", "a" }, { "p" }).node("Mul", { "p", "half" }, { "y" });
        else if (form % 3 == 1)
            net.node("Mul", { "x", "half" }, { "p" }).node("Mul", { "p", "a" }, { "y" });
        else
            net.node("Mul", { "half", "a" }, { "p" }).node("Mul", { "p", "x" }, { "y" });
        net.output("y");
        const GraphDraft before = withOpset(net, version);
        GraphDraft draft = before;
        const auto report = fuseGelu(draft);
        QVERIFY(report.ok());
        if (version < 20) {
            QCOMPARE(report->keepFloat.size(), before.nodes.size());
            return;
        }
        QCOMPARE(types(draft), Types { "Gelu" });
        QVERIFY(near(run(before, noise({ 2, 40 }, 3, -6, 6)), run(draft, noise({ 2, 40 }, 3, -6, 6))));
    }

    void attentionStaysFloatBetweenItsProducts_data()
    {
        QTest::addColumn<int>("form");
        QTest::newRow("divided, masked") << 0;
        QTest::newRow("multiplied") << 1;
        QTest::newRow("masked by Where") << 2;
        QTest::newRow("factors scaled") << 3;
        QTest::newRow("no second product") << 4;
        QTest::newRow("no first product") << 5;
    }
    void attentionStaysFloatBetweenItsProducts()
    {
        QFETCH(int, form);
        SmallModel net("net.onnx");
        net.input("q", { 2, 3, 8 })
            .input("k", { 2, 8, 3 })
            .input("v", { 2, 3, 8 })
            .input("mask", { 2, 3, 3 })
            .input("shown", { 2, 3, 3 }, DType::Bool)
            .constant("eight", Tensor::scalar(8.0f))
            .constant("least", Tensor::scalar(-1e4f));
        std::vector<std::string> expected;
        if (form == 3)
            net.node("Mul", { "q", "eight" }, { "qs" }).node("Mul", { "eight", "k" }, { "ks" });
        if (form == 5)
            net.node("Relu", { "mask" }, { "s" });
        else
            net.node("MatMul", { form == 3 ? "qs" : "q", form == 3 ? "ks" : "k" }, { "s" });
        std::string scores = "s";
        const auto step = [&](const char* type, const std::vector<std::string>& inputs, const char* out) {
            net.node(type, inputs, { out });
            expected.emplace_back(std::string("n_") + out);
            scores = out;
        };
        if (form == 0)
            step("Div", { "s", "eight" }, "d");
        if (form == 1)
            step("Mul", { "eight", "s" }, "d");
        if (form == 0)
            step("Add", { "d", "mask" }, "m");
        if (form == 2)
            step("Where", { "shown", "s", "least" }, "m");
        net.node("Softmax", { scores }, { "p" });
        expected.emplace_back("n_p");
        if (form == 3)
            expected.insert(expected.begin(), { "n_qs", "n_ks" });
        net.node(form == 4 ? "Add" : "MatMul", { "p", form == 4 ? "mask" : "v" }, { "y" }).output("y");
        GraphDraft draft = draftOf(std::move(net));
        const auto report = keepAttention(draft);
        QVERIFY(report.ok());
        QCOMPARE(report->changes, size_t(0));
        QCOMPARE(report->keepFloat, form < 4 ? expected : std::vector<std::string>());
    }
};

QTEST_GUILESS_MAIN(PrepareTest)
#include "prepare_test.moc"
