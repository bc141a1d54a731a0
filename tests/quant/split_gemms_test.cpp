// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/quant/recipe/recipe_edit.h"
#include "core/quant/write/ort_script.h"
#include "core/quant/write/quantizer.h"
#endif
#include "tests/quant/runners.h"
#include "tests/support/small_model.h"

#include <QtTest>

#include <algorithm>

using namespace qs;
using qs::test::SmallModel;

namespace {

using Names = std::vector<std::string>;

/// A product, two Gemms that are product and sum, and one that is more.
GraphDraft gemms()
{
    SmallModel net("net.onnx");
    const Tensor w = Tensor::of<float>({ 2, 2 }, { 1, -2, 3, 0.5f });
    net.input("x", { 3, 2 }).constant("w", w).constant("b", Tensor::of<float>({ 2 }, { 1, 2 }));
    net.node("MatMul", { "x", "w" }, { "a" }).node("Gemm", { "a", "w", "b" }, { "g" });
    net.node("Gemm", { "g", "w", "b" }, { "h" }, { { "transB", int64_t(1) } });
    net.node("Gemm", { "h", "w", "b" }, { "y" }, { { "alpha", 2.0f } }).output("y");
    return GraphDraft(std::make_shared<Model>(std::move(net).finish().plan->model()));
}

Recipe dynamicRecipe(Names include, Names exclude)
{
    Recipe recipe;
    recipe.format = RecipeFormat::Dynamic;
    recipe.include = std::move(include);
    recipe.exclude = std::move(exclude);
    return recipe;
}

/// Names of the products on codes.
Names quantizedProducts(const QuantizedDraft& made)
{
    Names names;
    for (const DraftNode& node : made.draft.nodes)
        if (node.opType == "MatMulInteger")
            names.push_back(node.name);
    return names;
}

std::string listed(const char* option, const Names& names)
{
    std::string text = std::string("    ") + option + "=[";
    for (const std::string& name : names)
        text += (&name == names.data() ? "\"" : ", \"") + name + "\"";
    return text + "],\n";
}

} // namespace

Q_DECLARE_METATYPE(Names)

class SplitGemmsTest : public QObject {
    Q_OBJECT
private slots:
    void choosesByEitherName_data();
    void choosesByEitherName();
    void saysWhyItStays();
    void editsNodes();
};

void SplitGemmsTest::choosesByEitherName_data()
{
    QTest::addColumn<Names>("include");
    QTest::addColumn<Names>("exclude");
    QTest::addColumn<Names>("products");
    QTest::addColumn<QString>("script");
    const Names none, all { "n_a_quant", "n_g_MatMul_quant", "n_h_MatMul_quant" };
    const auto row = [&](const char* name, const Names& include, const Names& exclude, const Names& products,
                         const std::string& script) {
        QTest::newRow(name) << include << exclude << products << QString::fromStdString(script);
    };
    row("all", none, none, all, "");
    row("one, as the float model calls it", { "n_g" }, none, { "n_g_MatMul_quant" },
        listed("nodes_to_quantize", { "n_g_MatMul" }));
    row("one, as ONNX Runtime calls it", { "n_g_MatMul" }, none, { "n_g_MatMul_quant" },
        listed("nodes_to_quantize", { "n_g_MatMul" }));
    row("a pattern that names nothing", { "n_[gh]", "n_a" }, none, {}, "");
    row("with others", { "n_h", "n_a" }, none, { "n_a_quant", "n_h_MatMul_quant" },
        listed("nodes_to_quantize", { "n_a", "n_h_MatMul" }));
    row("by glob", { "n_?" }, none, all, listed("nodes_to_quantize", { "n_a", "n_g_MatMul", "n_h_MatMul" }));
    row("all but one", none, { "n_g" }, { "n_a_quant", "n_h_MatMul_quant" },
        listed("nodes_to_exclude", { "n_g_MatMul" }));
    row("all but one, as ONNX Runtime calls it", none, { "n_g_MatMul" }, { "n_a_quant", "n_h_MatMul_quant" },
        listed("nodes_to_exclude", { "n_g_MatMul" }));
    row("one of two", { "n_g", "n_h" }, { "n_g" }, { "n_h_MatMul_quant" },
        listed("nodes_to_quantize", { "n_h_MatMul" }));
}

void SplitGemmsTest::choosesByEitherName()
{
    QFETCH(Names, include);
    QFETCH(Names, exclude);
    QFETCH(Names, products);
    QFETCH(QString, script);
    const Recipe recipe = dynamicRecipe(include, exclude);
    const auto made = quantizeDraft(gemms(), recipe, {});
    QCOMPARE(made.ok(), !products.empty()); // else a pattern named nothing
    const auto text = ortScript(gemms(), recipe, {}, { "s.py", "a.onnx", "b.onnx" });
    QCOMPARE(text.ok(), made.ok());
    if (!made.ok())
        return;
    QCOMPARE(quantizedProducts(*made), products);
    QVERIFY(text->text.find(script.toStdString()) != std::string::npos);
    const auto model = FloatModel::make(gemms(), recipe, {});
    QVERIFY(model.ok());
    QCOMPARE(size_t(std::ranges::count(model->chosen, true)), products.size());
}

void SplitGemmsTest::saysWhyItStays()
{
    const auto made = quantizeDraft(gemms(), dynamicRecipe({}, { "n_g" }), {});
    QVERIFY(made.ok());
    const auto cause = [&](const char* node) {
        const auto left = std::ranges::find(made->left, std::string(node), &LeftInFloat::node);
        return left == made->left.end() ? std::string() : std::string(nameIn(kFloatCauses, left->reason.cause));
    };
    QCOMPARE(cause("n_g"), std::string("excluded"));
    QCOMPARE(cause("n_y"), std::string("no_rule"));
}

void SplitGemmsTest::editsNodes()
{
    const auto nodes = recipeNodes(gemms());
    const Recipe all = dynamicRecipe({}, {});
    const auto states = [&](const Recipe& recipe) {
        std::string text;
        for (const NodeState& state : nodeStates(recipe, {}, nodes))
            text += state.quantized ? '1' : '0';
        return text;
    };
    QCOMPARE(states(all), std::string("1110"));
    const std::vector<size_t> gemm { 1 };
    const Recipe without = withNodes(all, nodes, gemm, false);
    QCOMPARE(without.exclude, Names { "n_g" });
    QCOMPARE(states(without), std::string("1010"));
    QVERIFY(withNodes(without, nodes, gemm, true) == all);
    const Recipe none = withType(all, nodes, "Gemm", false);
    QCOMPARE(states(none), std::string("1000"));
    QCOMPARE(states(withType(none, nodes, "Gemm", true)), std::string("1111")); // asked for, also what has no rule
}

int runSplitGemmsTests(int argc, char** argv)
{
    SplitGemmsTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "split_gemms_test.moc"
