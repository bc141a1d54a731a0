// SPDX-License-Identifier: GPL-3.0-or-later
// What the nodes of a quantized file that another tool made, with names of its own, are in the recipe.
#include "core/onnx/write/export.h"
#include "core/project/snapshot/quantized_example.h"
#include "core/quant/recipe/recipe_edit.h"
#include "tests/support/foreign_model.h"
#include "tests/support/real_build.h"
#include "widgets/session/recipe/recipe_view.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int kPatience = 60'000;

/// Of a model that was never in a file.
GraphDraft draftOf(const std::shared_ptr<const Model>& built)
{
    auto model = std::make_shared<Model>(*built);
    model->path.clear();
    return GraphDraft(std::move(model));
}

std::shared_ptr<const Model> meanNet()
{
    SmallModel m("float.onnx");
    m.input("x", { 1, 2, 4, 4 })
        .constant("w", Tensor::of<float>({ 2, 2, 1, 1 }, { 0.5f, 0.25f, -0.5f, 1 }))
        .node("Conv", { "x", "w" }, { "c" })
        .node("ReduceMean", { "c" }, { "y" }, { { "axes", std::vector<int64_t> { 2, 3 } } })
        .output("y");
    return std::make_shared<Model>(std::move(m).finish().plan->model());
}

/// Its pooling is an operator on codes.
std::shared_ptr<const Model> meanOfCodes()
{
    SmallModel m("foreign.onnx");
    m.input("x", { 1, 2, 4, 4 })
        .constant("w_quantized", Tensor::of<int8_t>({ 2, 2, 1, 1 }, { 64, 32, -64, 127 }))
        .constant("w_scale", Tensor::scalar(1.0f / 128))
        .constant("w_zero_point", Tensor::scalar<int8_t>(0));
    for (const char* name : { "x", "c", "y" })
        m.constant(std::string(name) + "_scale", Tensor::scalar(0.03f))
            .constant(std::string(name) + "_zero_point", Tensor::scalar<uint8_t>(128));
    m.node("QuantizeLinear", { "x", "x_scale", "x_zero_point" }, { "x_quantized" })
        .node("QLinearConv",
            { "x_quantized", "x_scale", "x_zero_point", "w_quantized", "w_scale", "w_zero_point", "c_scale",
                "c_zero_point" },
            { "c_quantized" })
        .node("QLinearGlobalAveragePool", { "c_quantized", "c_scale", "c_zero_point", "y_scale", "y_zero_point" },
            { "y_quantized" }, { { "channels_last", int64_t(0) } }, "com.microsoft")
        .node("DequantizeLinear", { "y_quantized", "y_scale", "y_zero_point" }, { "y" })
        .output("y");
    return std::make_shared<Model>(std::move(m).finish().plan->model());
}

std::shared_ptr<const Model> twiceReshaped()
{
    SmallModel m("float.onnx");
    m.input("x", { 1, 2, 2, 2 })
        .constant("w", Tensor::of<float>({ 2, 2, 1, 1 }, { 0.5f, 0.25f, -0.5f, 1 }))
        .constant("three", Tensor::of<int64_t>({ 3 }, { 1, 8, 1 }))
        .constant("two", Tensor::of<int64_t>({ 2 }, { 1, 8 }))
        .constant("v", Tensor::of<float>({ 8, 1 }, { 1, -1, 0.5f, 0.25f, 1, -0.5f, 0.75f, 1 }))
        .node("Conv", { "x", "w" }, { "c" })
        .node("Reshape", { "c", "three" }, { "first" })
        .node("Reshape", { "first", "two" }, { "second" })
        .node("MatMul", { "second", "v" }, { "y" })
        .output("y");
    return std::make_shared<Model>(std::move(m).finish().plan->model());
}

/// As another exporter has it: one Flatten, with a quantizer behind it.
std::shared_ptr<const Model> flattened()
{
    SmallModel m("foreign.onnx");
    m.input("x", { 1, 2, 2, 2 })
        .constant("qw", Tensor::of<int8_t>({ 2, 2, 1, 1 }, { 64, 32, -64, 127 }))
        .constant("qv", Tensor::of<int8_t>({ 8, 1 }, { 127, -127, 64, 32, 127, -64, 95, 127 }))
        .constant("s", Tensor::scalar(1.0f / 128))
        .constant("z", Tensor::scalar<int8_t>(0))
        .constant("a", Tensor::scalar(0.03f))
        .constant("n", Tensor::scalar<uint8_t>(128))
        .node("DequantizeLinear", { "qw", "s", "z" }, { "dw" })
        .node("DequantizeLinear", { "qv", "s", "z" }, { "dv" })
        .node("QuantizeLinear", { "x", "a", "n" }, { "k1" })
        .node("DequantizeLinear", { "k1", "a", "n" }, { "k2" })
        .node("Conv", { "k2", "dw" }, { "k3" })
        .node("QuantizeLinear", { "k3", "a", "n" }, { "k4" })
        .node("DequantizeLinear", { "k4", "a", "n" }, { "k5" })
        .node("Flatten", { "k5" }, { "k6" })
        .node("QuantizeLinear", { "k6", "a", "n" }, { "k7" })
        .node("DequantizeLinear", { "k7", "a", "n" }, { "k8" })
        .node("MatMul", { "k8", "dv" }, { "k9" })
        .node("QuantizeLinear", { "k9", "a", "n" }, { "k10" })
        .node("DequantizeLinear", { "k10", "a", "n" }, { "y" })
        .output("y");
    return std::make_shared<Model>(std::move(m).finish().plan->model());
}

std::string nameOf(const RecipeView& view, std::optional<size_t> node)
{
    return node ? view.nodes()[*node].name : std::string();
}

} // namespace

class TestForeignFile : public QObject {
    Q_OBJECT
private slots:
    /// Both Reshapes have the elements that the file quantizes: it is the second that the product reads.
    void quantizersStandWhereTheyAreRead()
    {
        const auto back = readExample(twiceReshaped(), flattened());
        QVERIFY(back);
        QVERIFY(back->possible);
        QVERIFY(back->ranges.tensors.contains("second"));
        QVERIFY(!back->ranges.tensors.contains("first"));
    }

    void nodesAreThoseThatMakeTheSameTensor_data()
    {
        QTest::addColumn<bool>("misleading");
        QTest::newRow("names of its own") << false;
        QTest::newRow("a name of another node") << true;
    }

    /// Not the next one with a known name.
    void nodesAreThoseThatMakeTheSameTensor()
    {
        QFETCH(bool, misleading);
        QTemporaryDir folder;
        Inputs inputs;
        inputs.floatPath = folder.filePath(QStringLiteral("float.onnx")).toStdString();
        inputs.quantPath = folder.filePath(QStringLiteral("foreign.onnx")).toStdString();
        inputs.data.spec = "random:8";
        ForeignFile foreign;
        GraphDraft file = draftOf(foreign.made());
        for (DraftNode& node : file.nodes)
            if (node.outputs.front() == "t6") // the pool
                node.name = misleading ? "n_c1" : "n_g1";
        QVERIFY(exportModel(draftOf(floatNet()), inputs.floatPath).ok());
        QVERIFY(exportModel(file, inputs.quantPath).ok());
        Session session(realBuild());
        const RecipeView view(session);
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(inputs);
        QVERIFY(settled.wait(kPatience));
        const SnapshotPtr snapshot = session.snapshot();
        QVERIFY(snapshot->alignment && snapshot->quantModel);
        const Graph& graph = snapshot->quantModel->graph();
        for (const char* output : { "t1", "t2", "t3", "t4", "t5", "t6", "t8", "out" }) {
            const ValueId value = graph.findValue(output);
            QVERIFY2(value.valid(), output);
            Place place;
            place.side = Side::Quantized;
            place.node = graph.value(value).producer;
            QCOMPARE(nameOf(view, view.nodeOf(place)), "n_" + foreign.names.at(output));
            place.node = {};
            place.value = value;
            QCOMPARE(nameOf(view, view.nodeOf(place)), "n_" + foreign.names.at(output));
        }
    }

    /// A mean over the picture has no rule in a recipe, and the file pools codes: that is not "left in float".
    void whatARecipeCannotSayIsOfTheFile()
    {
        QTemporaryDir folder;
        Inputs inputs;
        inputs.floatPath = folder.filePath(QStringLiteral("float.onnx")).toStdString();
        inputs.quantPath = folder.filePath(QStringLiteral("foreign.onnx")).toStdString();
        inputs.data.spec = "random:8";
        QVERIFY(exportModel(draftOf(meanNet()), inputs.floatPath).ok());
        QVERIFY(exportModel(draftOf(meanOfCodes()), inputs.quantPath).ok());
        Session session(realBuild());
        const RecipeView view(session);
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(inputs);
        QVERIFY(settled.wait(kPatience));
        QTRY_VERIFY_WITH_TIMEOUT(view.mark("n_c") == NodeMark::Quantized, kPatience); // when the recipe is read
        QVERIFY(view.mark("n_y") == NodeMark::OfFile);
        QCOMPARE(nodeMarkText(NodeMark::OfFile), QStringLiteral("as in the file"));
        QVERIFY(view.isOfFile(std::vector { *view.find("n_y") }));
        QVERIFY(!view.isOfFile(std::vector { *view.find("n_y"), *view.find("n_c") }));
        session.setAutoRun(false);
        const size_t excluded = *view.find("n_c"); // by the user: it is not as in the file
        session.recipe().apply(QStringLiteral("Exclude"),
            withNodes(session.recipe().recipe(), view.nodes(), std::vector { excluded }, false));
        QVERIFY(view.mark("n_c") == NodeMark::FloatInDraft);
        QVERIFY(!view.states()[excluded].quantized && !view.states()[excluded].ofFile);
        QVERIFY(view.states()[*view.find("n_y")].ofFile);
    }
};

QTEST_GUILESS_MAIN(TestForeignFile)
#include "test_foreign_file.moc"
