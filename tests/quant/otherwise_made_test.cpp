// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/graph/domains.h"
#include "core/quant/read_back/read_back.h"
#include "core/quant/write/quantizer.h"
#endif
#include "tests/quant/runners.h"
#include "tests/support/small_model.h"

#include <QtTest>

using namespace qs;
using qs::test::SmallModel;

namespace {

/// A product whose weight is stored in blocks, and an attention that remembers keys and values.
GraphDraft attentionNet()
{
    std::vector<float> weights(size_t(32) * 64);
    for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = float(i % 17) * 0.01f - 0.08f;
    SmallModel m("attention.onnx");
    m.input("x", { 1, 2, 32 })
        .constant("w", Tensor::of<float>({ 32, 64 }, weights))
        .constant("last", Tensor::of<int32_t>({ 1 }, { 1 }))
        .constant("total", Tensor::scalar<int32_t>(2))
        .node("MatMul", { "x", "w" }, { "qkv" })
        .node("GroupQueryAttention", { "qkv", "", "", "", "", "last", "total" }, { "y", "keys", "values" },
            { { "num_heads", int64_t(2) }, { "kv_num_heads", int64_t(1) } }, kMicrosoftDomain)
        .node("Softmax", { "y" }, { "z" }, { { "axis", int64_t(-1) } })
        .output("z")
        .output("keys")
        .output("values");
    return GraphDraft(std::make_shared<Model>(std::move(m).finish().plan->model()));
}

} // namespace

class OtherwiseMadeTest : public QObject {
    Q_OBJECT
private slots:
    void whatComesOutOtherwise_data()
    {
        QTest::addColumn<int>("bits"); ///< of the keys and values that the file remembers; 0: floats
        QTest::addColumn<bool>("other"); ///< a node has another attribute in the file
        QTest::addColumn<QStringList>("told");
        const QString caches = QStringLiteral("how to make the caches of codes of the float model: keys and values "
                                              "that 1 attention remembers are %1 in the file and floats here");
        const QString nodes = QStringLiteral("nodes or constants come out otherwise than in the file: 'n_z'");
        QTest::newRow("as the recipe makes it") << 0 << false << QStringList();
        QTest::newRow("codes of 8 bits in caches") << 8 << false << QStringList { caches.arg("int8") };
        QTest::newRow("of 4 bits") << 4 << false << QStringList { caches.arg("int4") };
        QTest::newRow("another node") << 0 << true << QStringList { nodes };
        QTest::newRow("both") << 8 << true << QStringList { caches.arg("int8"), nodes };
    }
    /// A model that the recipe makes in place of the file is another one: what it has not is told once.
    void whatComesOutOtherwise()
    {
        QFETCH(int, bits);
        QFETCH(bool, other);
        QFETCH(QStringList, told);
        const GraphDraft net = attentionNet();
        Recipe recipe;
        recipe.format = RecipeFormat::WeightOnly;
        auto made = quantizeDraft(net, recipe, {});
        QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
        for (DraftNode& node : made->draft.nodes) {
            if (other && node.is("Softmax"))
                node.attributes.set("axis", int64_t(1));
            if (bits == 0 || !node.is("GroupQueryAttention", kMicrosoftDomain))
                continue;
            for (const char* name : { "k_quant_type", "v_quant_type" })
                node.attributes.set(name, std::string("PER_TENSOR"));
            node.attributes.set("kv_cache_bit_width", int64_t(bits));
            node.inputs.resize(14);
            for (const size_t slot : { 12, 13 }) {
                node.inputs[slot] = slot == 12 ? "k_scale" : "v_scale";
                made->draft.setConstant(node.inputs[slot], Tensor::of<float>({ 1 }, { 0.02f }));
            }
        }
        const auto file = made->draft.build();
        QVERIFY(file.ok());
        const auto back = readBack(*file, &net);
        QVERIFY2(back.ok(), back.ok() ? "" : back.issue().what.c_str());
        QStringList otherwise;
        for (const std::string& sentence : back->otherwise)
            otherwise << QString::fromStdString(sentence);
        QCOMPARE(otherwise, told);
        for (const std::string& sentence : back->otherwise)
            QCOMPARE(std::ranges::count(back->undetermined, sentence), 1);
    }
};

int runOtherwiseMadeTests(int argc, char** argv)
{
    OtherwiseMadeTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "otherwise_made_test.moc"
