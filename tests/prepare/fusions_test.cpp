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
#include <map>
#include <random>

using namespace qs;
using qs::test::SmallModel;

namespace {

Tensor noise(const Shape& shape, unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> values(-1, 1);
    Tensor t = Tensor::allocate(DType::Float32, shape);
    for (float& v : t.fill<float>())
        v = values(random);
    return t;
}

GraphDraft draftOf(const SmallModel& net)
{
    const auto prepared = SmallModel(net).finish();
    return GraphDraft(std::make_shared<Model>(prepared.plan->model()));
}

/// All outputs, one behind the other.
std::vector<double> run(const GraphDraft& draft, const std::vector<Tensor>& inputs)
{
    const auto plan = Plan::make(draft.build().value());
    const auto& outputs = plan->graph().outputs();
    return qs::test::valuesOf(plan, { outputs.begin(), outputs.end() }, inputs);
}

std::map<std::string, int> types(const GraphDraft& draft)
{
    std::map<std::string, int> found;
    for (const DraftNode& node : draft.nodes)
        ++found[node.opType];
    return found;
}

bool near(const std::vector<double>& a, const std::vector<double>& b)
{
    constexpr double kTolerance = 1e-5;
    return !a.empty() && std::ranges::equal(a, b, [](double x, double y) { return std::abs(x - y) <= kTolerance; });
}

constexpr int64_t kBatch = 2, kPositions = 5, kHeads = 2, kSize = 4, kWidth = kHeads * kSize;

/// How exporters write an attention.
struct AttentionForm {
    bool mask = false;
    bool scaleBefore = false; ///< queries and keys, not the product
    bool turnTwice = false; ///< keys: split like queries, then the last two axes exchanged
    bool cross = false; ///< keys and values come from elsewhere
};

SmallModel attention(const AttentionForm& form)
{
    SmallModel m("attention.onnx");
    m.input("x", { kBatch, kPositions, kWidth });
    if (form.cross)
        m.input("other", { kBatch, kPositions, kWidth });
    if (form.mask)
        m.input("mask", { kBatch, 1, kPositions, kPositions });
    m.constant("split", Tensor::of<int64_t>({ 4 }, { 0, 0, kHeads, kSize }));
    m.constant("join", Tensor::of<int64_t>({ 3 }, { 0, 0, kWidth }));
    m.constant("root", Tensor::scalar(std::sqrt(float(kSize))));
    m.constant("half", Tensor::scalar(1 / std::sqrt(std::sqrt(float(kSize)))));
    const std::vector<int64_t> apart { 0, 2, 1, 3 }, turned { 0, 2, 3, 1 }, last { 0, 1, 3, 2 };
    unsigned seed = 1;
    for (const std::string part : { "q", "k", "v" }) {
        m.constant("w" + part, noise({ kWidth, kWidth }, seed)).constant("b" + part, noise({ kWidth }, seed + 1));
        seed += 2;
        m.node("MatMul", { form.cross && part != "q" ? "other" : "x", "w" + part }, { part + "_m" });
        m.node("Add", { part + "_m", "b" + part }, { part + "_b" });
        m.node("Reshape", { part + "_b", "split" }, { part + "_s" });
        const bool once = part == "k" && !form.turnTwice;
        m.node("Transpose", { part + "_s" }, { part + "_t" }, { { "perm", once ? turned : apart } });
    }
    if (form.turnTwice)
        m.node("Transpose", { "k_t" }, { "k_tt" }, { { "perm", last } });
    std::string q = "q_t", k = form.turnTwice ? "k_tt" : "k_t", scores = "qk";
    if (form.scaleBefore) {
        m.node("Mul", { q, "half" }, { "q_h" }).node("Mul", { k, "half" }, { "k_h" });
        q = "q_h";
        k = "k_h";
    }
    m.node("MatMul", { q, k }, { "qk" });
    if (!form.scaleBefore) {
        m.node("Div", { "qk", "root" }, { "scaled" });
        scores = "scaled";
    }
    if (form.mask) {
        m.node("Add", { scores, "mask" }, { "masked" });
        scores = "masked";
    }
    m.node("Softmax", { scores }, { "p" }, { { "axis", int64_t(-1) } });
    m.node("MatMul", { "p", "v_t" }, { "c" }).node("Transpose", { "c" }, { "c_t" }, { { "perm", apart } });
    return m.node("Reshape", { "c_t", "join" }, { "y" }).output("y");
}

} // namespace

class FusionsTest : public QObject {
    Q_OBJECT

private slots:
    void gemm_data()
    {
        QTest::addColumn<std::vector<int64_t>>("left");
        QTest::addColumn<std::vector<int64_t>>("bias");
        QTest::addColumn<int>("gemms");
        QTest::addColumn<int>("reshapes");
        using S = std::vector<int64_t>;
        // What ONNX Runtime 1.31 fuses and what not, tried with its basic level.
        QTest::newRow("matrix") << S { 2, 8 } << S { 5 } << 1 << 0;
        QTest::newRow("one row") << S { 2, 8 } << S { 1, 5 } << 1 << 0;
        QTest::newRow("all rows") << S { 2, 8 } << S { 2, 5 } << 1 << 0;
        QTest::newRow("three axes") << S { 2, 3, 8 } << S { 5 } << 1 << 2;
        QTest::newRow("four axes") << S { 2, 3, 4, 8 } << S { 5 } << 1 << 2;
        QTest::newRow("vector") << S { 8 } << S { 5 } << 1 << 2;
        QTest::newRow("one for all") << S { 2, 8 } << S { 1 } << 0 << 0;
        QTest::newRow("three axes, one row") << S { 2, 3, 8 } << S { 1, 5 } << 0 << 0;
        QTest::newRow("bias of three axes") << S { 2, 8 } << S { 1, 1, 5 } << 0 << 0;
    }
    void gemm()
    {
        QFETCH(std::vector<int64_t>, left);
        QFETCH(std::vector<int64_t>, bias);
        QFETCH(int, gemms);
        QFETCH(int, reshapes);
        const Shape shape(left.begin(), left.end());
        for (const bool biasFirst : { false, true }) {
            SmallModel m("gemm.onnx");
            m.input("x", shape).constant("w", noise({ 8, 5 }, 1));
            m.constant("b", noise(Shape(bias.begin(), bias.end()), 2)).node("MatMul", { "x", "w" }, { "m" });
            if (biasFirst)
                m.node("Add", { "b", "m" }, { "y" }).output("y");
            else
                m.node("Add", { "m", "b" }, { "y" }).output("y");
            GraphDraft draft = draftOf(m);
            const Tensor x = noise(shape, 3);
            const auto before = run(draft, { x });
            const auto report = fuseGemm(draft);
            QVERIFY(report.ok());
            QCOMPARE(int(report->changes), gemms);
            QCOMPARE(types(draft)["Gemm"], gemms);
            QCOMPARE(types(draft)["Reshape"], reshapes);
            QVERIFY(near(before, run(draft, { x })));
            if (gemms > 0)
                QCOMPARE(draft.nodes[reshapes ? 1 : 0].name, std::string("n_m/MatMulAddFusion"));
            for (const DraftNode& node : draft.nodes)
                if (node.is("Gemm")) {
                    const auto& sources = node.cameFrom->derivation->nodes;
                    QCOMPARE(sources.size(), size_t(2));
                    QCOMPARE(sources[0].name + " " + sources[1].name, std::string("n_m n_y"));
                }
        }
    }
    void productThatOthersRead()
    {
        SmallModel m("gemm.onnx");
        m.input("x", { 2, 8 }).constant("w", noise({ 8, 5 }, 1)).constant("b", noise({ 5 }, 2));
        m.node("MatMul", { "x", "w" }, { "m" }).node("Add", { "m", "b" }, { "y" }).output("y").output("m");
        GraphDraft draft = draftOf(m);
        QCOMPARE(fuseGemm(draft)->changes, size_t(0));
    }

    void attentions_data()
    {
        QTest::addColumn<bool>("mask");
        QTest::addColumn<bool>("scaleBefore");
        QTest::addColumn<bool>("turnTwice");
        QTest::addColumn<bool>("cross");
        for (int i = 0; i < 16; ++i)
            QTest::addRow("%s, scaled %s, keys turned %s, %s", i & 1 ? "mask" : "no mask", i & 2 ? "before" : "after",
                i & 4 ? "twice" : "once", i & 8 ? "cross" : "self")
                << bool(i & 1) << bool(i & 2) << bool(i & 4) << bool(i & 8);
    }
    void attentions()
    {
        QFETCH(bool, mask);
        QFETCH(bool, scaleBefore);
        QFETCH(bool, turnTwice);
        QFETCH(bool, cross);
        GraphDraft draft = draftOf(attention({ mask, scaleBefore, turnTwice, cross }));
        std::vector<Tensor> inputs { noise({ kBatch, kPositions, kWidth }, 30) };
        if (cross)
            inputs.push_back(noise({ kBatch, kPositions, kWidth }, 31));
        if (mask)
            inputs.push_back(noise({ kBatch, 1, kPositions, kPositions }, 32));
        const auto before = run(draft, inputs);
        const auto report = fuseAttention(draft);
        QVERIFY(report.ok());
        QCOMPARE(report->changes, size_t(1));
        QCOMPARE(types(draft)[cross ? "MultiHeadAttention" : "Attention"], 1);
        QCOMPARE(types(draft)["MatMul"], cross ? 3 : 0);
        QCOMPARE(types(draft)["Softmax"], 0);
        QVERIFY(near(before, run(draft, inputs)));
    }
    void attentionThatOthersReadStays()
    {
        SmallModel m = attention({});
        m.output("p"); // the weights are shown
        GraphDraft draft = draftOf(m);
        QCOMPARE(fuseAttention(draft)->changes, size_t(0));
        QCOMPARE(types(draft)["Softmax"], 1);
    }

    void skipLayerNorm_data()
    {
        QTest::addColumn<bool>("shared");
        QTest::newRow("sum read by the normalization alone") << false;
        QTest::newRow("sum goes on") << true;
    }
    void skipLayerNorm()
    {
        QFETCH(bool, shared);
        SmallModel m("norm.onnx");
        m.input("x", { kBatch, kPositions, kWidth }).constant("gamma", noise({ kWidth }, 1));
        m.constant("beta", noise({ kWidth }, 2)).node("Tanh", { "x" }, { "t" }).node("Add", { "x", "t" }, { "s" });
        m.node("LayerNormalization", { "s", "gamma", "beta" }, { "n" },
            { { "axis", int64_t(-1) }, { "epsilon", 1e-12f } });
        m.node("Add", { "n", shared ? "s" : "x" }, { "y" }).output("y");
        GraphDraft draft = draftOf(m);
        const std::vector<Tensor> inputs { noise({ kBatch, kPositions, kWidth }, 5) };
        const auto before = run(draft, inputs);
        const auto report = fuseSkipLayerNorm(draft);
        QVERIFY(report.ok());
        QCOMPARE(report->changes, size_t(1));
        QCOMPARE(types(draft)["SkipLayerNormalization"], 1);
        for (const DraftNode& node : draft.nodes)
            if (node.is("SkipLayerNormalization", "com.microsoft"))
                QCOMPARE(node.cameFrom->derivation->nodes.back().name, std::string("n_n"));
        QCOMPARE(types(draft)["Add"], 1);
        QVERIFY(near(before, run(draft, inputs)));
    }
};

QTEST_APPLESS_MAIN(FusionsTest)
#include "fusions_test.moc"
