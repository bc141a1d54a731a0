// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/prepare/prepare.h"
#endif
#include "core/engine/execution.h"
#include "core/tensor/convert.h"
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
    const auto schedule = Schedule::make(plan, { { plan->graph().outputs()[0] }, {} });
    if (!schedule)
        return {};
    BufferPool pool(uint64_t(1) << 30);
    Execution execution(*schedule, pool);
    const std::vector<Tensor> inputs { x };
    if (!execution.bind(inputs).ok() || !execution.runAll({}).ok())
        return {};
    return toDoubles(execution.get(plan->graph().outputs()[0]));
}

std::vector<std::string> types(const GraphDraft& draft)
{
    std::vector<std::string> found;
    for (const DraftNode& node : draft.nodes)
        found.push_back(node.opType);
    return found;
}

using Types = std::vector<std::string>;

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
        QCOMPARE(reports->size(), size_t(3));
        QCOMPARE(types(draft), (Types { "Conv", "BatchNormalization", "Relu" }));
        QCOMPARE(draft.types.at("c").dims->size(), size_t(4)); // infer_shapes
    }
};

QTEST_GUILESS_MAIN(PrepareTest)
#include "prepare_test.moc"
