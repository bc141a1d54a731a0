// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/quant/model/opsets.h"
#include "core/quant/write/quantizer.h"
#endif
#include "core/tensor/convert.h"
#include "tests/quant/runners.h"
#include "tests/support/small_model.h"

#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace qs;
using qs::test::SmallModel;

namespace {

Tensor ramp(const Shape& shape, float step = 0.1f)
{
    Tensor t = Tensor::allocate(DType::Float32, shape);
    const auto values = t.fill<float>();
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = (static_cast<float>(i % 11) - 5) * step;
    return t;
}

/// Conv, Relu, MaxPool, Add with a constant.
SmallModel convNet()
{
    SmallModel m("net.onnx");
    m.input("x", { 1, 2, 4, 4 })
        .constant("w", ramp({ 3, 2, 1, 1 }))
        .constant("b", ramp({ 3 }))
        .constant("c", Tensor::scalar(0.5f))
        .node("Conv", { "x", "w", "b" }, { "conv" })
        .node("Relu", { "conv" }, { "relu" })
        .node("MaxPool", { "relu" }, { "pool" }, { { "kernel_shape", std::vector<int64_t> { 2, 2 } } })
        .node("Add", { "pool", "c" }, { "y" })
        .output("y");
    return m;
}

Ranges rangesOf(std::initializer_list<std::pair<const char*, std::pair<float, float>>> list)
{
    Ranges ranges;
    for (const auto& [name, ends] : list) {
        TensorRange range;
        range.lowest = ends.first;
        range.highest = ends.second;
        ranges.tensors[name] = range;
    }
    return ranges;
}

Ranges convRanges()
{
    return rangesOf({ { "x", { -1, 1 } }, { "conv", { -2, 3 } }, { "relu", { 0, 3 } }, { "pool", { 0, 3 } },
        { "y", { 0, 3.5f } } });
}

Result<QuantizedDraft> quantize(SmallModel net, const Recipe& recipe, const Ranges& ranges)
{
    const auto prepared = std::move(net).finish();
    return quantizeDraft(GraphDraft(std::make_shared<Model>(prepared.plan->model())), recipe, ranges);
}

std::vector<std::string> nodeNames(const GraphDraft& draft)
{
    std::vector<std::string> names;
    for (const DraftNode& node : draft.nodes)
        names.push_back(node.name);
    return names;
}

const DraftNode* find(const GraphDraft& draft, const std::string& name)
{
    const auto it = std::ranges::find_if(draft.nodes, [&](const DraftNode& n) { return n.name == name; });
    return it == draft.nodes.end() ? nullptr : &*it;
}

using Names = std::vector<std::string>;

} // namespace

class QuantizerTest : public QObject {
    Q_OBJECT

private slots:
    void pairs()
    {
        const auto made = quantize(convNet(), {}, convRanges());
        QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
        const GraphDraft& draft = made->draft;
        QCOMPARE(nodeNames(draft),
            (Names { "b_DequantizeLinear", "c_DequantizeLinear", "w_DequantizeLinear", "x_QuantizeLinear",
                "x_DequantizeLinear", "n_conv", "relu_QuantizeLinear", "relu_DequantizeLinear", "n_pool",
                "pool_QuantizeLinear", "pool_DequantizeLinear", "n_y", "y_QuantizeLinear", "y_DequantizeLinear" }));
        // The Relu is left to the codes, whose lowest is zero.
        QCOMPARE(find(draft, "n_conv")->outputs, Names { "relu" });
        QCOMPARE(
            find(draft, "n_conv")->inputs, (Names { "x_DequantizeLinear_Output", "w_DequantizeLinear_Output", "b" }));
        // Pooling keeps the parameters of what it reads, a graph output its name.
        QCOMPARE(find(draft, "pool_QuantizeLinear")->inputs, (Names { "pool", "relu_scale", "relu_zero_point" }));
        QCOMPARE(find(draft, "y_QuantizeLinear")->inputs.front(), std::string("y_QuantizeLinear_Input"));
        QCOMPARE(find(draft, "y_DequantizeLinear")->outputs.front(), std::string("y"));
        QCOMPARE(toDoubles(*draft.constant("relu_scale")).front(), double(static_cast<float>(3.0 / 255)));
        QCOMPARE(toInts(*draft.constant("relu_zero_point")).front(), -128);
        QCOMPARE(draft.constant("w_quantized")->dtype(), DType::Int8);
        QCOMPARE(draft.constant("b_quantized")->dtype(), DType::Int32);
        QCOMPARE(draft.constant("b_quantized_scale")->shape(), Shape { 1 });
        QVERIFY(!draft.constant("w") && !draft.constant("b"));
        QVERIFY(draft.build().ok());
    }

    void typesThatNobodyStates()
    {
        // ONNX knows nothing of ONNX Runtime's own operators: what takes its type from them stays float, until a file
        // states it.
        SmallModel net("net.onnx");
        net.input("x", { 2, 4 }).constant("w", ramp({ 4, 4 })).node("MatMul", { "x", "w" }, { "a" });
        net.node("Gelu", { "a" }, { "g" }, {}, "com.microsoft").node("MatMul", { "g", "w" }, { "b" });
        net.node("Add", { "a", "b" }, { "c" }).node("Add", { "b", "a" }, { "y" }).output("c").output("y");
        const auto prepared = std::move(net).finish();
        GraphDraft draft(std::make_shared<Model>(prepared.plan->model()));
        const Ranges ranges = rangesOf({ { "x", { -1, 1 } }, { "a", { -1, 1 } }, { "g", { -1, 1 } }, { "b", { -1, 1 } },
            { "c", { -1, 1 } }, { "y", { -1, 1 } } });
        for (const bool stated : { false, true }) {
            if (stated)
                draft.types["g"] = { DType::Float32, Dims { Dim { 2 }, Dim { 4 } }, {} };
            const auto made = quantizeDraft(draft, {}, ranges);
            QVERIFY(made.ok());
            QCOMPARE(made->warnings.size(), size_t(stated ? 0 : 1));
            for (const char* name : { "g", "b" })
                QCOMPARE(find(made->draft, name + std::string("_QuantizeLinear")) != nullptr, stated);
            for (const char* name : { "x", "a", "c" })
                QVERIFY(find(made->draft, name + std::string("_QuantizeLinear")));
        }
    }

    void embeddingOnCodes()
    {
        SmallModel net("net.onnx");
        net.input("ids", { 1, 2 }, DType::Int32).input("segments", { 1, 2 }, DType::Int32);
        for (const char* table : { "words", "places", "kinds" })
            net.constant(table, ramp({ 4, 8 }));
        net.constant("gamma", ramp({ 8 })).constant("beta", ramp({ 8 }));
        net.node("EmbedLayerNormalization", { "ids", "segments", "words", "places", "kinds", "gamma", "beta" },
            { "y", "index" }, {}, "com.microsoft");
        net.output("y");
        Recipe recipe;
        recipe.format = RecipeFormat::QOperator;
        const auto made = quantize(std::move(net), recipe, {});
        QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
        QCOMPARE(made->draft.nodes.size(), size_t(1));
        const DraftNode& node = made->draft.nodes.front();
        QCOMPARE(node.opType, std::string("QEmbedLayerNormalization"));
        QCOMPARE(node.inputs.size(), size_t(18)); // indices, five tables, no mask, five scales, five zero points
        QCOMPARE(node.inputs[2], std::string("words_quantized"));
        QCOMPARE(node.inputs[17], std::string("beta_zero_point"));
    }

    void operatorsOnCodes()
    {
        Recipe recipe;
        recipe.format = RecipeFormat::QOperator;
        recipe.activationType = DType::UInt8;
        const auto made = quantize(convNet(), recipe, convRanges());
        QVERIFY(made.ok());
        QCOMPARE(nodeNames(made->draft),
            (Names { "x_QuantizeLinear", "n_conv_quant", "n_pool", "n_y_quant", "y_DequantizeLinear" }));
        const DraftNode& conv = made->draft.nodes[1];
        QCOMPARE(conv.opType, std::string("QLinearConv"));
        QCOMPARE(conv.inputs,
            (Names { "x_quantized", "x_scale", "x_zero_point", "w_quantized", "w_scale", "w_zero_point", "conv_scale",
                "conv_zero_point", "b_quantized" }));
        QCOMPARE(made->draft.nodes[3].domain, std::string("com.microsoft"));
        QCOMPARE(made->draft.opsets.at("com.microsoft"), int64_t(1));
        QVERIFY(made->draft.build().ok());
    }

    void dynamic()
    {
        Recipe recipe;
        recipe.format = RecipeFormat::Dynamic;
        SmallModel net("net.onnx");
        net.input("x", { 2, 4 })
            .constant("w", ramp({ 3, 4 }))
            .constant("b", ramp({ 3 }))
            .node("Gemm", { "x", "w", "b" }, { "y" }, { { "transB", int64_t(1) } })
            .output("y");
        const auto made = quantize(net, recipe, {});
        QVERIFY(made.ok());
        QVERIFY(find(made->draft, "n_y_MatMul_quant") && find(made->draft, "n_y_Add"));
        QCOMPARE(made->draft.constant("w_quantized")->shape(), (Shape { 4, 3 }));
        QVERIFY(made->draft.build().ok());

        recipe.exclude = { "n_y" };
        const auto kept = quantize(net, recipe, {});
        QVERIFY(kept.ok());
        QCOMPARE(nodeNames(kept->draft), Names { "n_y" });
    }

    /// Codes that have a scale a channel say along which axis where a float node reads them, too.
    void channelsForFloats()
    {
        Recipe recipe;
        recipe.format = RecipeFormat::QOperator;
        recipe.perChannel = true;
        recipe.exclude = { "n_kept" };
        SmallModel net("net.onnx");
        net.input("x", { 1, 2, 4, 4 }).constant("w", ramp({ 3, 2, 1, 1 })).constant("b", ramp({ 3 }));
        for (const char* out : { "conv", "kept" })
            net.node("Conv", { "x", "w", "b" }, { out }).output(out);
        const auto made = quantize(std::move(net), recipe, convRanges());
        QVERIFY(made.ok());
        for (const char* pair : { "w_DequantizeLinear", "b_DequantizeLinear" })
            QCOMPARE(find(made->draft, pair)->attributes.integer("axis", 9), int64_t(0));
        QVERIFY(!find(made->draft, "conv_DequantizeLinear")->attributes.has("axis"));
        QVERIFY(made->draft.build().ok());

        for (const RecipeFormat format : { RecipeFormat::QOperator, RecipeFormat::Dynamic }) {
            recipe.format = format;
            SmallModel products("net.onnx");
            products.input("x", { 1, 2, 3 }).constant("w", ramp({ 3, 4 }));
            for (const char* out : { "y", "kept" })
                products.node("MatMul", { "x", "w" }, { out }).output(out);
            const auto both
                = quantize(std::move(products), recipe, rangesOf({ { "x", { -1, 1 } }, { "y", { -1, 1 } } }));
            QVERIFY(both.ok());
            QCOMPARE(find(both->draft, "w_DequantizeLinear")->attributes.integer("axis", 9), int64_t(-1));
        }
    }

    /// What was made for one product, no other operator on codes takes.
    void channelsForOneProduct()
    {
        Recipe recipe;
        recipe.format = RecipeFormat::QOperator;
        recipe.perChannel = true;
        SmallModel net("net.onnx");
        net.input("x", { 4, 4 }).constant("w", ramp({ 4, 4 })).constant("b", ramp({ 4 }));
        net.node("Gemm", { "x", "w", "b" }, { "a" });
        net.node("Gemm", { "x", "w" }, { "turned" }, { { "transB", int64_t(1) } });
        net.node("MatMul", { "x", "w" }, { "same" }).node("Transpose", { "w" }, { "t" });
        net.node("Add", { "x", "w" }, { "sum" }).node("Add", { "x", "b" }, { "biased" });
        for (const char* out : { "a", "turned", "same", "t", "sum", "biased" })
            net.output(out);
        Ranges ranges;
        for (const char* name : { "x", "a", "turned", "same", "t", "sum", "biased" })
            ranges.tensors[name] = rangesOf({ { name, { -1, 1 } } }).tensors[name];
        const auto made = quantize(std::move(net), recipe, ranges);
        QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
        for (const char* quantized : { "n_a_quant", "n_same_quant", "n_turned", "n_t", "n_sum", "n_biased" })
            QVERIFY2(find(made->draft, quantized), quantized);
        const auto floats = made->left;
        const auto why = std::ranges::find(floats, std::string("n_sum"), &LeftInFloat::node);
        QVERIFY(why != floats.end());
        QCOMPARE(why->reason.text,
            std::string("the codes of 'w' were made for another product, with a scale for each of its channels"));
    }

    /// ONNX Runtime loads such products and does not run them.
    void channelsBeyondMatrices_data()
    {
        QTest::addColumn<bool>("perChannel");
        QTest::addColumn<int>("axes");
        QTest::addColumn<int>("warnings");
        QTest::newRow("a matrix") << true << 2 << 0;
        QTest::newRow("three axes") << true << 3 << 1;
        QTest::newRow("per tensor") << false << 3 << 0;
    }
    void channelsBeyondMatrices()
    {
        QFETCH(bool, perChannel);
        QFETCH(int, axes);
        QFETCH(int, warnings);
        for (const RecipeFormat format : { RecipeFormat::QOperator, RecipeFormat::Dynamic, RecipeFormat::Qdq }) {
            Recipe recipe;
            recipe.format = format;
            recipe.perChannel = perChannel;
            SmallModel net("net.onnx");
            net.input("x", { 2, 3, 4 }).constant("w", ramp(axes == 3 ? Shape { 2, 4, 5 } : Shape { 4, 5 }));
            net.node("MatMul", { "x", "w" }, { "y" }).output("y");
            const auto made = quantize(std::move(net), recipe, rangesOf({ { "x", { -1, 1 } }, { "y", { -1, 1 } } }));
            QVERIFY(made.ok());
            QCOMPARE(int(made->warnings.size()), format == RecipeFormat::Qdq ? 0 : warnings);
        }
    }

    void reluStays_data()
    {
        QTest::addColumn<bool>("symmetric");
        QTest::addColumn<bool>("keep");
        QTest::newRow("symmetric activations") << true << false;
        QTest::newRow("asked to keep it") << false << true;
    }
    void reluStays()
    {
        QFETCH(bool, symmetric);
        QFETCH(bool, keep);
        Recipe recipe;
        recipe.symmetricActivations = symmetric;
        recipe.keepRemovable = keep;
        const auto made = quantize(convNet(), recipe, convRanges());
        QVERIFY(made.ok());
        QVERIFY(find(made->draft, "n_relu"));
        // Its input takes the range of its output: what the Relu cuts needs no codes.
        QCOMPARE(toDoubles(*made->draft.constant("conv_scale")), toDoubles(*made->draft.constant("relu_scale")));
    }

    void excludedNodesSeeQuantizedNeighbours()
    {
        Recipe recipe;
        recipe.exclude = { "n_p*" };
        const auto made = quantize(convNet(), recipe, convRanges());
        QVERIFY(made.ok());
        QCOMPARE(find(made->draft, "n_pool")->inputs.front(), std::string("relu_DequantizeLinear_Output"));
        QCOMPARE(find(made->draft, "pool_QuantizeLinear")->inputs[1], std::string("pool_scale"));
    }

    void perChannel()
    {
        Recipe recipe;
        recipe.perChannel = true;
        const auto made = quantize(convNet(), recipe, convRanges());
        QVERIFY(made.ok());
        QCOMPARE(made->draft.constant("w_scale")->shape(), Shape { 3 });
        QCOMPARE(find(made->draft, "w_DequantizeLinear")->attributes.integer("axis", -1), int64_t(0));
        QCOMPARE(made->draft.constant("b_quantized_zero_point")->shape(), Shape { 3 });
    }

    void overrides()
    {
        Recipe recipe;
        TensorOverride& pool = recipe.tensors["relu"];
        pool.parts.front().scale = 0.25;
        pool.parts.front().zeroPoint = -100;
        recipe.tensors["w"].parts.front().type = DType::UInt8;
        const auto made = quantize(convNet(), recipe, convRanges());
        QVERIFY(made.ok());
        QCOMPARE(toDoubles(*made->draft.constant("relu_scale")).front(), 0.25);
        QCOMPARE(toInts(*made->draft.constant("relu_zero_point")).front(), -100);
        QCOMPARE(made->draft.constant("w_quantized")->dtype(), DType::UInt8);
    }

    void mixedPrecision()
    {
        Recipe recipe;
        TensorOverride& relu = recipe.tensors["relu"];
        relu.parts.front().type = DType::UInt8;
        relu.convert = QuantConversion {};
        relu.convert->to.type = DType::UInt16;
        const auto made = quantize(convNet(), recipe, convRanges());
        QVERIFY(made.ok());
        QCOMPARE(made->draft.opsets.at(""), int64_t(21)); // the first with 16-bit pairs
        QCOMPARE(find(made->draft, "n_pool")->inputs.front(), std::string("relu_convert_DequantizeLinear_Output"));
        QCOMPARE(find(made->draft, "pool_QuantizeLinear")->inputs[1], std::string("relu_scale_convert"));
    }

    void unknownTypesAreTold()
    {
        Recipe recipe;
        recipe.opTypes = { "Conv", "Gemm", "Erf" }; // Gemm: not here, but in ONNX Runtime's list
        const auto made = quantize(convNet(), recipe, convRanges());
        QVERIFY(made.ok());
        QCOMPARE(made->warnings.size(), size_t(1));
        QVERIFY(made->warnings[0].find("'Erf'") != std::string::npos);
        recipe.opTypes = { "Conv", "Konv" };
        const auto misspelt = quantize(convNet(), recipe, convRanges());
        QVERIFY(!misspelt.ok() && misspelt.issue().what.find("'Konv'") != std::string::npos);
    }

    void bodiesAreRaised()
    {
        const auto branch = [](const std::string& name, const std::string& type) {
            GraphBuilder b(name);
            b.allowOuter("x");
            Node node;
            node.name = "n_" + name;
            node.opType = type;
            node.opset = 13;
            node.inputs = { b.value("x") };
            node.outputs = { b.value(name) };
            if (type == "ReduceMean")
                node.attributes.set("axes", std::vector<int64_t> { 1 });
            b.addNode(std::move(node));
            b.addOutput(b.value(name));
            return std::make_shared<const Graph>(std::move(b).finish().value());
        };
        const auto kept = branch("kept", "Neg");
        GraphBuilder b("net");
        for (const char* name : { "go", "x" })
            b.addInput(b.value(name));
        b.setType(b.value("x"), { DType::Float32, toDims({ 2, 4 }), {} });
        Node choice;
        choice.name = "n_y";
        choice.opType = "If";
        choice.opset = 13;
        choice.inputs = { b.value("go") };
        choice.outputs = { b.value("y") };
        choice.captures = { b.value("x") };
        choice.attributes.set("then_branch", branch("mean", "ReduceMean"));
        choice.attributes.set("else_branch", kept);
        b.addNode(std::move(choice));
        b.addOutput(b.value("y"));
        auto model = std::make_shared<Model>();
        model->graph = std::move(b).finish().value();
        model->opsetImports[""] = 13;
        GraphDraft draft(model);
        QVERIFY(raiseOpset(draft, 21).ok());
        const auto built = draft.build();
        QVERIFY(built.ok());
        const Attributes& attributes = (*built)->graph.nodes().front().attributes;
        const auto body
            = [&](const char* name) { return std::get<std::shared_ptr<const Graph>>(*attributes.find(name)); };
        QVERIFY(body("else_branch") == kept);
        const auto raised = body("then_branch");
        const Node& mean = raised->nodes().front();
        QVERIFY(!mean.attributes.has("axes") && mean.inputs.size() == 2);
        QCOMPARE(toInts(*raised->value(mean.inputs[1]).initializer), std::vector<int64_t> { 1 });
        QCOMPARE(mean.opset, int64_t(21));
    }

    void extremeConstantsStayFloat()
    {
        SmallModel net("net.onnx");
        net.input("x", { 2, 4 })
            .constant("w", ramp({ 4, 4 }))
            .constant("mask", Tensor::of<float>({ 4 }, { 0, 0, -3.4e38f, 0 }))
            .node("MatMul", { "x", "w" }, { "scores" })
            .node("Add", { "scores", "mask" }, { "masked" })
            .node("Softmax", { "masked" }, { "y" })
            .output("y");
        const Ranges ranges = rangesOf(
            { { "x", { -1, 1 } }, { "scores", { -2, 2 } }, { "masked", { -3.4e38f, 2 } }, { "y", { 0, 1 } } });
        Recipe recipe;
        recipe.keepExtremeConstants = true;
        const auto made = quantize(net, recipe, ranges);
        QVERIFY(made.ok());
        QCOMPARE(find(made->draft, "n_masked")->inputs[1], std::string("mask"));
        QCOMPARE(find(made->draft, "n_y")->inputs[0], std::string("masked"));
        QVERIFY(!made->warnings.empty());
        const auto theirs = quantize(net, {}, ranges);
        QVERIFY(theirs.ok());
        QVERIFY(theirs->draft.constant("mask_quantized"));
    }

    void sharedBiasGetsACopy()
    {
        SmallModel net("net.onnx");
        net.input("x", { 1, 2, 4, 4 })
            .constant("w", ramp({ 2, 2, 1, 1 }))
            .constant("b", ramp({ 2 }))
            .node("Conv", { "x", "w", "b" }, { "c1" })
            .node("Conv", { "c1", "w", "b" }, { "y" })
            .output("y");
        const auto made = quantize(net, {}, rangesOf({ { "x", { -1, 1 } }, { "c1", { -2, 3 } }, { "y", { 0, 3 } } }));
        QVERIFY(made.ok());
        QCOMPARE(find(made->draft, "n_y")->inputs[2], std::string("b0"));
        QVERIFY(made->draft.constant("b_quantized") && made->draft.constant("b0_quantized"));
    }

    void refusals_data()
    {
        QTest::addColumn<int>("which");
        QTest::addColumn<QString>("named");
        QTest::newRow("no range") << 0 << "no calibrated range";
        QTest::newRow("range that is no number") << 1 << "no number";
        QTest::newRow("unknown node") << 2 << "nothing";
        QTest::newRow("unknown tensor") << 3 << "not in the model";
        QTest::newRow("int8 and uint8") << 4 << "cannot be combined";
        QTest::newRow("scale alone") << 5 << "without a zero point";
        QTest::newRow("zero point outside") << 6 << "does not allow";
        QTest::newRow("16 bits on codes") << 7 << "8-bit";
        QTest::newRow("scale beyond float32") << 8 << "no number of its type";
        QTest::newRow("scale that vanishes") << 9 << "no number of its type";
        QTest::newRow("lowest end above the calibrated highest") << 10 << "lowest end is not below";
    }
    void refusals()
    {
        QFETCH(int, which);
        QFETCH(QString, named);
        Recipe recipe;
        Ranges ranges = convRanges();
        if (which == 0)
            ranges.tensors.erase("x");
        if (which == 1)
            ranges.tensors["x"].highest = INFINITY;
        if (which == 2)
            recipe.exclude = { "nothing" };
        if (which == 3)
            recipe.tensors["nothing"];
        if (which == 4)
            recipe.weightType = DType::UInt8;
        if (which >= 5 && which < 10)
            recipe.tensors["x"].parts.front().scale = 0.1;
        if (which >= 6 && which < 10)
            recipe.tensors["x"].parts.front().zeroPoint = which < 8 ? 300 : 0;
        if (which == 8 || which == 9)
            recipe.tensors["x"].parts.front().scale = which == 8 ? 1e39 : 1e-60;
        if (which == 10)
            recipe.tensors["x"].parts.front().lowest = 1.5;
        if (which == 7) {
            recipe.format = RecipeFormat::QOperator;
            recipe.activationType = DType::UInt16;
        }
        const auto made = quantize(convNet(), recipe, ranges);
        QVERIFY(!made.ok());
        QVERIFY2(made.issue().what.find(named.toStdString()) != std::string::npos
                || made.issue().remedy.find(named.toStdString()) != std::string::npos,
            made.issue().what.c_str());
    }

    /// A damaged file's recipe has them.
    void typesThatAreNoneOfCodes()
    {
        for (const DType type : { DType::Int64, DType::Float8E5M2, DType::Bool, DType::Undefined }) {
            Recipe recipe;
            recipe.tensors["x"].parts.front().type = type;
            const auto made = quantize(convNet(), recipe, convRanges());
            QVERIFY(!made.ok());
            QVERIFY(made.issue().what.find("no recipe can ask for codes") != std::string::npos);
        }
    }

    void nodesThatLackWhatTheyNeed_data()
    {
        QTest::addColumn<QString>("type");
        QTest::addColumn<int>("inputs");
        QTest::newRow("Relu of nothing") << QStringLiteral("Relu") << 0;
        QTest::newRow("Conv without weights") << QStringLiteral("Conv") << 1;
        QTest::newRow("Where with two") << QStringLiteral("Where") << 2;
        QTest::newRow("Softmax without output") << QStringLiteral("Softmax") << -1;
    }

    void nodesThatLackWhatTheyNeed()
    {
        QFETCH(QString, type);
        QFETCH(int, inputs);
        SmallModel net = convNet();
        const auto model = std::make_shared<Model>(std::move(net).finish().plan->model());
        for (const RecipeFormat format :
            { RecipeFormat::Qdq, RecipeFormat::QOperator, RecipeFormat::Dynamic, RecipeFormat::WeightOnly }) {
            GraphDraft draft(model);
            DraftNode odd;
            odd.name = "odd";
            odd.opType = type.toStdString();
            odd.inputs.assign(size_t(std::max(inputs, inputs < 0 ? 1 : 0)), "x");
            if (inputs >= 0)
                odd.outputs = { "odd_out" };
            draft.nodes.push_back(odd);
            Recipe recipe;
            recipe.format = format;
            const auto made = quantizeDraft(draft, recipe, convRanges());
            QVERIFY(!made.ok());
            QCOMPARE(made.issue().node, std::string("odd"));
        }
    }

    void quantizedAlready()
    {
        SmallModel net("net.onnx");
        net.input("x", { 1 }).qdq<int8_t>("x", "y", 0.1f, 0).output("y");
        const auto made = quantize(net, {}, {});
        QVERIFY(!made.ok());
        QVERIFY(made.issue().what.find("already") != std::string::npos);
    }
};

int runQuantizerTests(int argc, char** argv)
{
    QuantizerTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "quantizer_test.moc"
