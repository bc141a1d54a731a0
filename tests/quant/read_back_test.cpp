// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/quant/read_back/draft_differences.h"
#include "core/quant/read_back/implied_range.h"
#include "core/quant/read_back/read_back.h"
#include "core/quant/write/quantizer.h"
#include "core/tensor/convert.h"
#endif
#include "tests/quant/runners.h"
#include "tests/support/small_model.h"

#include <QtTest>

#include <random>

using namespace qs;
using qs::test::SmallModel;

namespace {

Tensor noise(const Shape& shape, unsigned seed, float size = 0.5f)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, size);
    Tensor t = Tensor::allocate(DType::Float32, shape);
    for (float& v : t.fill<float>())
        v = normal(random);
    return t;
}

/// Products, elementwise and moving operators, a residual, a table.
GraphDraft floatNet()
{
    using Ints = std::vector<int64_t>;
    SmallModel m("net.onnx");
    m.input("x", { 1, 2, 6, 6 })
        .constant("w1", noise({ 4, 2, 3, 3 }, 1))
        .constant("b1", noise({ 4 }, 2))
        .constant("w2", noise({ 4, 4, 1, 1 }, 3))
        .constant("w3", noise({ 4, 5 }, 4))
        .constant("b3", noise({ 5 }, 5))
        .constant("w4", noise({ 5, 5 }, 6))
        .constant("half", Tensor::scalar(0.5f))
        .node("Conv", { "x", "w1", "b1" }, { "c1" }, { { "pads", Ints { 1, 1, 1, 1 } } })
        .node("Relu", { "c1" }, { "r1" })
        .node("Conv", { "r1", "w2" }, { "c2" })
        .node("Add", { "c2", "r1" }, { "a1" })
        .node("MaxPool", { "a1" }, { "m1" }, { { "kernel_shape", Ints { 2, 2 } } })
        .node("Mul", { "m1", "half" }, { "s1" })
        .node("GlobalAveragePool", { "s1" }, { "g1" })
        .node("Flatten", { "g1" }, { "f1" })
        .node("Gemm", { "f1", "w3", "b3" }, { "g2" })
        .node("MatMul", { "g2", "w4" }, { "p1" })
        .node("Tanh", { "p1" }, { "t1" })
        .node("Softmax", { "t1" }, { "y" })
        .output("y");
    return GraphDraft(std::make_shared<Model>(std::move(m).finish().plan->model()));
}

std::vector<int8_t> toCodes(const Tensor& t)
{
    const auto codes = t.data<int8_t>();
    return { codes.begin(), codes.end() };
}

/// The same network with such a node behind the second convolution, and factors that it has taken out of the weight.
GraphDraft withFactors(const std::string& type)
{
    GraphDraft net = floatNet();
    if (type.empty())
        return net;
    const std::vector<float> factors { 0.25f, 0.5f, 2, 4 };
    const bool divides = type == "Div", adds = type == "Add", normalizes = type == "BatchNormalization";
    std::vector<float> w = toFloats(*net.constant("w2")), kept;
    for (size_t i = 0; i < w.size() && !adds; ++i)
        w[i] /= factors[i / 4];
    for (const float factor : factors)
        kept.push_back(divides ? 1 / factor : adds ? 0 : factor);
    net.setConstant("w2", Tensor::of<float>({ 4, 4, 1, 1 }, w));
    net.setConstant("k", Tensor::of<float>(normalizes ? Shape { 4 } : Shape { 4, 1, 1 }, kept));
    net.setConstant("zero", Tensor::of<float>({ 4 }, std::vector<float>(4, 0)));
    net.setConstant("one", Tensor::of<float>({ 4 }, std::vector<float>(4, 1)));
    const auto conv = std::ranges::find_if(net.nodes, [](const DraftNode& n) { return n.outputs[0] == "c2"; });
    DraftNode node;
    node.name = "factors";
    node.opType = type;
    node.inputs = { "c2_plain", "k" };
    if (normalizes)
        node.inputs.insert(node.inputs.end(), { "zero", "zero", "one" });
    node.outputs = { "c2" };
    conv->outputs[0] = "c2_plain";
    net.nodes.insert(conv + 1, std::move(node));
    net.dropUnusedConstants();
    return net;
}

Ranges floatRanges(unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> end(0.01f, 9);
    Ranges ranges;
    for (const char* name : { "x", "c1", "r1", "c2", "a1", "m1", "s1", "g1", "f1", "g2", "p1", "t1", "y" }) {
        TensorRange range;
        const bool positive = name == std::string("r1") || random() % 4 == 0;
        range.lowest = positive ? 0 : -end(random);
        range.highest = end(random);
        range.average = (range.lowest + range.highest) / 2; // for float8 alone
        range.deviation = (range.highest - range.lowest) / 4;
        ranges.tensors[name] = range;
    }
    return ranges;
}

std::shared_ptr<const Model> built(const GraphDraft& draft)
{
    auto model = draft.build();
    return model ? *model : nullptr;
}

struct OptionSet {
    const char* name;
    void (*change)(Recipe&);
};

const std::vector<OptionSet>& optionSets()
{
    using R = Recipe;
    static const std::vector<OptionSet> sets {
        { "defaults", [](R&) {} },
        { "uint8", [](R& r) { r.activationType = DType::UInt8; } },
        { "uint8 weights", [](R& r) { r.activationType = r.weightType = DType::UInt8; } },
        { "16 bits", [](R& r) { r.activationType = DType::UInt16; } },
        { "per channel", [](R& r) { r.perChannel = true; } },
        { "reduced", [](R& r) { r.reduceRange = true; } },
        { "symmetric", [](R& r) { r.symmetricActivations = true; } },
        { "asymmetric weights", [](R& r) { r.symmetricWeights = false; } },
        { "4 bits", [](R& r) { r.weightType = DType::Int4; } },
        { "float8", // whose scale needs values that differ: not the one of n_s1
            [](R& r) {
                r.activationType = r.weightType = DType::Float8E4M3FN;
                r.exclude = { "n_s1" };
            } },
        { "float8 per channel",
            [](R& r) {
                r.activationType = r.weightType = DType::Float8E4M3FN;
                r.perChannel = true;
                r.exclude = { "n_s1" };
            } },
        { "float8 without a node",
            [](R& r) {
                r.activationType = r.weightType = DType::Float8E4M3FN;
                r.exclude = { "n_c2", "n_s1" };
            } },
        { "pairs for weights", [](R& r) { r.pairsForWeights = true; } },
        { "dedicated pairs", [](R& r) { r.dedicatedPairs = true; } },
        { "float biases", [](R& r) { r.quantizeBias = false; } },
        { "keep removable", [](R& r) { r.keepRemovable = true; } },
        { "exact activations", [](R& r) { r.exactActivations = true; } },
        { "contrib", [](R& r) { r.contribOperators = true; } },
        { "forced", [](R& r) { r.quantizeUnquantizedInputs = true; } },
        { "excluded",
            [](R& r) {
                r.exclude = { "n_c2", "n_g2" };
            } },
        { "relu excluded", [](R& r) { r.exclude = { "n_r1" }; } },
        { "few types",
            [](R& r) {
                r.opTypes = { "Conv", "Gemm" };
            } },
        { "products alone",
            [](R& r) {
                r.opTypes = { "Conv", "MatMul" };
                r.perChannel = true;
            } },
        { "products alone, symmetric",
            [](R& r) {
                r.opTypes = { "Conv", "MatMul" };
                r.symmetricActivations = true;
            } },
        { "more types",
            [](R& r) {
                r.opTypes = { "Conv", "MatMul", "Tanh" };
            } },
        { "quiet products", [](R& r) { r.noOutputTypes = { "Gemm" }; } },
        { "scale of its own",
            [](R& r) {
                r.tensors["c2"].parts.front().scale = 0.0123;
                r.tensors["c2"].parts.front().zeroPoint = -3;
            } },
        { "weight of its own", [](R& r) { r.tensors["w2"].parts.front().type = DType::Int16; } },
        { "mixed precision",
            [](R& r) {
                r.activationType = DType::UInt8;
                r.tensors["a1"].parts.front().type = DType::UInt8;
                r.tensors["a1"].convert.emplace().to.type = DType::UInt16;
            } },
        { "operators", [](R& r) { r.format = RecipeFormat::QOperator; } },
        { "operators per channel",
            [](R& r) {
                r.format = RecipeFormat::QOperator;
                r.activationType = DType::UInt8;
                r.perChannel = true;
            } },
        { "operators excluded",
            [](R& r) {
                r.format = RecipeFormat::QOperator;
                r.exclude = { "n_a1" };
            } },
        { "dynamic", [](R& r) { r.format = RecipeFormat::Dynamic; } },
        { "dynamic as 1.32",
            [](R& r) {
                r.format = RecipeFormat::Dynamic;
                r.ortVersion = OrtVersion::V1_32;
            } },
        { "dynamic per channel",
            [](R& r) {
                r.format = RecipeFormat::Dynamic;
                r.perChannel = true;
            } },
        { "dynamic without Gemm",
            [](R& r) {
                r.format = RecipeFormat::Dynamic;
                r.exclude = { "n_g2" };
            } },
        { "blocks",
            [](R& r) {
                r.format = RecipeFormat::WeightOnly;
                r.weightType = DType::UInt4;
                r.weightOnly.blockSize = 16;
            } },
        { "blocks in pairs",
            [](R& r) {
                r.format = RecipeFormat::WeightOnly;
                r.weightType = DType::Int4;
                r.weightOnly.blockSize = 32;
                r.weightOnly.dequantizeForm = true;
            } },
    };
    return sets;
}

} // namespace

class ReadBackTest : public QObject {
    Q_OBJECT

private slots:
    /// Files whose quantizers can be none: no recipe, and the node named.
    void impossibleQuantizers()
    {
        const GraphDraft net = floatNet();
        const auto made = quantizeDraft(net, {}, floatRanges(1));
        QVERIFY(made.ok());
        const auto refused = [&](const auto& change) {
            GraphDraft draft = made->draft;
            change(draft);
            const auto model = built(draft);
            const auto back = model ? readBack(model, &net) : Result<ReadBack>(ReadBack {});
            return !back.ok() && back.issue().kind == IssueKind::BadInput && !back.issue().node.empty();
        };
        const auto nodeOf = [](GraphDraft& draft, const char* type) {
            return std::ranges::find(draft.nodes, type, &DraftNode::opType);
        };
        for (const char* type : { "QuantizeLinear", "DequantizeLinear" })
            for (size_t slot : { 0, 1 })
                QVERIFY(refused([&](GraphDraft& draft) { nodeOf(draft, type)->inputs[slot].clear(); }));
        for (const Tensor& codes : { Tensor::of<int64_t>({ 5, 5 }, std::vector<int64_t>(25, 1)),
                 Tensor::of<double>({ 5, 5 }, std::vector<double>(25, 1)), noise({ 5, 5 }, 1) })
            QVERIFY(refused([&](GraphDraft& draft) { draft.setConstant("w4_quantized", codes); }));
        QVERIFY(refused([&](GraphDraft& draft) { draft.setConstant("w4_scale", noise({ 0 }, 1)); }));
        QVERIFY(!refused([](GraphDraft&) {}));
    }

    void sameFileAgain_data()
    {
        QTest::addColumn<int>("set");
        for (size_t i = 0; i < optionSets().size(); ++i)
            QTest::newRow(optionSets()[i].name) << int(i);
    }
    void sameFileAgain()
    {
        QFETCH(int, set);
        const GraphDraft net = floatNet();
        Recipe recipe;
        optionSets()[size_t(set)].change(recipe);
        for (unsigned seed = 1; seed <= 3; ++seed) {
            const auto first = quantizeDraft(net, recipe, floatRanges(seed));
            QVERIFY2(first.ok(), first.ok() ? "" : first.issue().what.c_str());
            const auto back = readBack(built(first->draft), &net);
            QVERIFY2(back.ok(), back.ok() ? "" : back.issue().what.c_str());
            QCOMPARE(back->recipe.format, recipe.format);
            const auto again = quantizeDraft(net, back->recipe, back->ranges);
            QVERIFY2(again.ok(), again.ok() ? "" : again.issue().what.c_str());
            const DraftDifferences differences = draftDifferences(first->draft, again->draft);
            QVERIFY2(differences.count() == 0 && back->differences == size_t(0),
                qPrintable(QString("seed %1, %2 differences").arg(seed).arg(differences.count())));
            QVERIFY(first->draft.opsets == again->draft.opsets);
            // A wrong setting with enough of their own for single tensors makes the same file, and recalibrates
            // otherwise.
            QCOMPARE(back->recipe.symmetricActivations, recipe.symmetricActivations);
            QVERIFY2(back->recipe.tensors.empty() || !recipe.tensors.empty(),
                qPrintable(QString("seed %1: %2").arg(seed).arg(back->recipe.tensors.size())));
        }
    }

    void readsTheOptions()
    {
        const GraphDraft net = floatNet();
        Recipe recipe;
        recipe.activationType = DType::UInt8;
        recipe.perChannel = recipe.reduceRange = true;
        recipe.exclude = { "n_c2" };
        const auto made = quantizeDraft(net, recipe, floatRanges(4));
        QVERIFY(made.ok());
        const auto back = readBack(built(made->draft), &net);
        QVERIFY(back.ok());
        QVERIFY(back->recipe == recipe);
        // The method of calibration is in no file.
        QCOMPARE(back->undetermined.size(), size_t(1));
    }

    /// A node makes it, so that it is quantized while running like any activation.
    void constantsOfNodes_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<bool>("stored"); // in the quantized file, whose float model had been prepared
        for (const DType type : { DType::Int8, DType::UInt8, DType::UInt16 })
            for (const bool stored : { false, true })
                QTest::addRow("%s%s", std::string(dtypeName(type)).c_str(), stored ? ", stored" : "")
                    << int(type) << stored;
    }
    void constantsOfNodes()
    {
        QFETCH(int, type);
        QFETCH(bool, stored);
        const auto netWith = [](bool initializer) {
            SmallModel m("net.onnx");
            m.input("x", { 1, 5 }).constant("w4", noise({ 5, 5 }, 6));
            if (initializer)
                m.constant("half", Tensor::scalar(0.5f));
            else
                m.node("Constant", {}, { "half" }, { { "value", Tensor::scalar(0.5f) } });
            m.node("MatMul", { "x", "w4" }, { "p1" }).node("Mul", { "p1", "half" }, { "y" }).output("y");
            return GraphDraft(std::make_shared<Model>(std::move(m).finish().plan->model()));
        };
        const GraphDraft net = netWith(false);
        Ranges ranges = floatRanges(8);
        ranges.tensors["half"] = { .lowest = 0.5f, .highest = 0.5f, .shape = { 1 } };
        Recipe recipe;
        recipe.activationType = DType(type);
        const auto made = quantizeDraft(netWith(stored), recipe, ranges);
        QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
        const auto back = readBack(built(made->draft), &net);
        QVERIFY(back.ok());
        QVERIFY(back->possible);
        if (!stored)
            QCOMPARE(back->differences, std::optional<size_t>(0));
        QVERIFY(back->ranges.find("half"));
        recipe = back->recipe;
        recipe.activationType = DType::Int16; // what is made like the file may differ from it
        const auto other = quantizeDraft(net, recipe, back->ranges);
        QVERIFY2(other.ok(), other.ok() ? "" : other.issue().what.c_str());
    }

    void withoutTheFloatModel()
    {
        Recipe recipe;
        recipe.activationType = DType::UInt8;
        recipe.perChannel = true;
        const Ranges ranges = floatRanges(5);
        const auto made = quantizeDraft(floatNet(), recipe, ranges);
        QVERIFY(made.ok());
        const auto back = readBack(built(made->draft));
        QVERIFY(back.ok());
        QCOMPARE(back->recipe.activationType, DType::UInt8);
        QVERIFY(back->recipe.perChannel && !back->differences);
        const TensorRange* x = back->ranges.find("x");
        QVERIFY(x && std::abs(x->highest - ranges.find("x")->highest) < 0.05f);
    }

    void otherCodesAreTold()
    {
        const GraphDraft net = floatNet();
        auto made = quantizeDraft(net, {}, floatRanges(6));
        QVERIFY(made.ok());
        made->draft.setConstant("w4_quantized", Tensor::of<int8_t>({ 5, 5 }, std::vector<int8_t>(25, 7)));
        const auto back = readBack(built(made->draft), &net);
        QVERIFY(back.ok());
        QCOMPARE(back->differences, std::optional<size_t>(0)); // they are taken from the file
        QCOMPARE(back->recipe.codes.constants.size(), size_t(1));
        QCOMPARE(back->recipe.codes.constants.at("w4").value, std::string("w4_quantized"));
        QVERIFY(back->undetermined.front().find("'w4'") != std::string::npos);
    }

    /// A Mul that the float model lacks, and a weight with the inverse factors: these codes are no codes of its weight.
    void smoothedWeights()
    {
        const GraphDraft net = floatNet();
        GraphDraft other = net;
        std::vector<float> factors { 0.25f, 0.5f, 1, 2, 4 }, w = toFloats(*net.constant("w4"));
        for (size_t i = 0; i < w.size(); ++i)
            w[i] /= factors[i / 5];
        other.setConstant("w4", Tensor::of<float>({ 5, 5 }, w));
        other.setConstant("factors", Tensor::of<float>({ 5 }, factors));
        const auto product = std::ranges::find_if(other.nodes, [](const DraftNode& n) { return n.outputs[0] == "p1"; });
        DraftNode mul = *std::ranges::find_if(other.nodes, [](const DraftNode& n) { return n.outputs[0] == "s1"; });
        mul.name = "smooth";
        mul.inputs = { "g2", "factors" };
        mul.outputs = { "g2_smooth" };
        product->inputs[0] = "g2_smooth";
        other.nodes.insert(product, std::move(mul));
        Ranges ranges = floatRanges(6);
        ranges.tensors["g2_smooth"] = ranges.tensors["g2"];
        Recipe recipe;
        recipe.exclude = { "smooth" };
        auto made = quantizeDraft(other, recipe, ranges);
        QVERIFY(made.ok());
        const auto back = readBack(built(made->draft), &net);
        QVERIFY(back.ok());
        QVERIFY(!back->recipe.codes.constants.contains("w4") && !back->recipe.tensors.contains("w4"));
        QVERIFY(std::ranges::any_of(back->undetermined, [](const std::string& s) {
            return s.find("SmoothQuant") != std::string::npos && s.find("'w4'") != std::string::npos;
        }));
    }

    void foldedFactors_data()
    {
        QTest::addColumn<QString>("inFile"); // what stands behind the product
        QTest::addColumn<QString>("inFloat");
        QTest::addColumn<bool>("ofFile"); // the codes are taken from the file
        QTest::newRow("a normalization that the file keeps") << "BatchNormalization"
                                                             << "" << false;
        QTest::newRow("a factor that the file keeps") << "Mul"
                                                      << "" << false;
        QTest::newRow("a divisor that the file keeps") << "Div"
                                                       << "" << false;
        QTest::newRow("a factor that the file has folded") << ""
                                                           << "Mul" << false;
        QTest::newRow("a normalization in both, other codes") << "BatchNormalization"
                                                              << "BatchNormalization" << true;
        QTest::newRow("a factor and its inverse, other codes") << "Mul"
                                                               << "Div" << true;
        QTest::newRow("a sum that the file has beside it, other codes") << "Add"
                                                                        << "" << true;
        QTest::newRow("nothing, other codes") << ""
                                              << "" << true;
    }
    void foldedFactors()
    {
        QFETCH(const QString, inFile);
        QFETCH(const QString, inFloat);
        QFETCH(const bool, ofFile);
        const GraphDraft net = withFactors(inFloat.toStdString()), other = withFactors(inFile.toStdString());
        Ranges ranges = floatRanges(6);
        ranges.tensors["c2_plain"] = ranges.tensors["c2"];
        Recipe recipe;
        if (!inFile.isEmpty())
            recipe.exclude = { "factors" };
        auto made = quantizeDraft(other, recipe, ranges);
        QVERIFY(made.ok());
        if (ofFile) {
            std::vector<int8_t> codes = toCodes(*made->draft.constant("w2_quantized"));
            std::ranges::reverse(codes);
            made->draft.setConstant("w2_quantized", Tensor::of<int8_t>({ 4, 4, 1, 1 }, codes));
        }
        const auto back = readBack(built(made->draft), &net);
        QVERIFY(back.ok());
        QCOMPARE(back->recipe.codes.constants.contains("w2"), ofFile);
        QCOMPARE(std::ranges::any_of(back->undetermined,
                     [](const std::string& s) {
                         return s.find("BatchNormalization") != std::string::npos
                             && s.find("'w2'") != std::string::npos;
                     }),
            !ofFile);
        if (ofFile)
            return;
        const auto again = quantizeDraft(net, back->recipe, back->ranges); // its own weight
        QVERIFY(again.ok());
        const float scale = again->draft.constant("w2_scale")->data<float>()[0];
        const std::vector<float> own = toFloats(*net.constant("w2"));
        const std::vector<int8_t> codes = toCodes(*again->draft.constant("w2_quantized"));
        for (size_t i = 0; i < own.size(); ++i)
            QVERIFY(std::fabs(own[i] - scale * float(codes[i])) <= 0.51f * scale);
    }

    void otherNames()
    {
        SmallModel m("q.onnx");
        m.input("in", { 2, 2 })
            .qdq<uint8_t>("in", "in_dq", 0.5f, 3)
            .weight("k", { 2, 2 }, { 1, 2, 3, -127 }, { 0.25f });
        m.node("MatMul", { "in_dq", "k" }, { "out" }).qdq<uint8_t>("out", "out_dq", 0.75f, 0).output("out_dq");
        SmallModel f("f.onnx");
        f.input("x", { 2, 2 }).constant("w", Tensor::of<float>({ 2, 2 }, { 0.25f, 0.5f, 0.75f, -31.75f }));
        f.node("MatMul", { "x", "w" }, { "y" }).output("y");
        const GraphDraft net(std::make_shared<Model>(std::move(f).finish().plan->model()));
        const auto model = std::make_shared<Model>(std::move(m).finish().plan->model());
        const auto back = readBack(model, &net, { { "in", "x" }, { "k", "w" }, { "out", "y" } });
        QVERIFY(back.ok());
        const auto made = quantizeDraft(net, back->recipe, back->ranges);
        QVERIFY(made.ok());
        QVERIFY(made->draft.constant("x_scale") && made->draft.constant("w_quantized"));
        QCOMPARE(made->draft.constant("x_scale")->data<float>()[0], 0.5f);
        QCOMPARE(int(made->draft.constant("x_zero_point")->data<uint8_t>()[0]), 3);
        QCOMPARE(made->draft.constant("y_scale")->data<float>()[0], 0.75f);
        QCOMPARE(int(made->draft.constant("w_quantized")->data<int8_t>()[3]), -127);
        const auto wrong = readBack(model, &net, { { "in", "nothing" } });
        QVERIFY(!wrong.ok() && wrong.issue().tensor == "nothing");
    }

    void floatModelsHaveNoRecipe()
    {
        const auto back = readBack(built(floatNet()));
        QVERIFY(!back.ok());
        QVERIFY(back.issue().what.find("not quantized") != std::string::npos);
    }

    void impliedRanges_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<bool>("half");
        QTest::addColumn<bool>("symmetric");
        for (DType type : { DType::Int8, DType::UInt8, DType::Int16, DType::UInt16 })
            for (bool half : { false, true })
                for (bool symmetric : { false, true })
                    QTest::addRow("%s%s%s", std::string(dtypeName(type)).c_str(), half ? " half" : "",
                        symmetric ? " symmetric" : "")
                        << int(type) << half << symmetric;
    }
    /// Whatever scale a range gives, a range is found that gives it again.
    void impliedRanges()
    {
        QFETCH(int, type);
        QFETCH(bool, half);
        QFETCH(bool, symmetric);
        ScaleRules rules;
        rules.type = DType(type);
        rules.real = half ? DType::Float16 : DType::Float32;
        rules.symmetric = symmetric;
        std::mt19937 random(7);
        std::uniform_real_distribution<double> ends(0, 20);
        for (int i = 0; i < 3000; ++i) {
            const double low = random() % 3 == 0 ? 0 : -ends(random), high = random() % 5 == 0 ? 0 : ends(random);
            const ScaleZero wanted = scaleAndZeroPoint(roundedTo(rules.real, low), roundedTo(rules.real, high), rules);
            const auto range = impliedRange(wanted, rules);
            QVERIFY2(range, qPrintable(QString("%1 .. %2").arg(low).arg(high)));
            QVERIFY(scaleAndZeroPoint(range->lowest, range->highest, rules) == wanted);
        }
    }
};

int runReadBackTests(int argc, char** argv)
{
    ReadBackTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "read_back_test.moc"
