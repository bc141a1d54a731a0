// SPDX-License-Identifier: GPL-3.0-or-later
// What is told as a command is what was tried, and can be made.
#include "core/base/issue_text.h"
#include "core/prepare/prepare.h"
#include "core/project/about/equalized_chains.h"
#include "core/project/quantize/quantize_model.h"
#include "core/project/search/lacking_ranges.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/project/snapshot/quantized_example.h"
#include "core/quant/model/load_warnings.h"
#include "core/quant/recipe/recipe_edit.h"
#include "core/tensor/convert.h"
#include "tests/project/remedies.h"
#include "tests/support/tensors.h"

#include <QtTest>

#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

std::string example(const char* name) { return std::string(QS_SOURCE_DIR "/resources/examples/") + name; }

SnapshotPtr byRecipe(const Recipe& recipe)
{
    Inputs inputs;
    inputs.floatPath = example("digits_float.onnx");
    inputs.recipe = recipe;
    inputs.data.spec = example("digits_samples.npz");
    inputs.histograms = false;
    inputs.threads = 1;
    auto made = buildSnapshot(inputs, nullptr, {}, {});
    if (!made.ok())
        qFatal("%s", issueText(made.issue()).c_str());
    return *made;
}

/// The fault is in what the recipe of the file has to say then.
Planted uncut(const std::string& network, const std::string& tensor)
{
    Planted p;
    p.network = network;
    p.ranges = [tensor](Ranges& ranges) { ranges.tensors.at(tensor).lowest = -0.5f; };
    return p;
}

/// The recipe of the file with the changes, by the file's ranges alone.
Result<QuantizedDraft> likeTheFile(const PlantedPair& files, std::span<const Remedy> changes, bool keepSoftmax = false,
    const std::string& inFloat = {})
{
    QS_TRY(ReadBack back, readExample(files.floatModel, files.quantModel));
    if (keepSoftmax)
        keepSoftmaxRanges(back, files.floatModel->graph);
    back.ranges.tensors.erase(inFloat);
    const GraphDraft draft(files.floatModel);
    return quantizeDraft(draft, withRemedies(back.recipe, changes, draft), back.ranges);
}

/// Two convolutions and a Relu between them. `factor`: of the first one's channels, which the second takes away.
std::shared_ptr<const Model> twoLayers(float factor)
{
    constexpr int64_t kChannels = 4, kPixels = 6;
    const auto weights = [&](int64_t out, int64_t in, float ofOuts, float ofIns) {
        std::vector<float> values;
        for (int64_t o = 0; o < out; ++o)
            for (int64_t i = 0; i < in; ++i)
                values.push_back(std::sin(float(7 * o + 3 * i + 1)) * (o % 2 ? ofOuts : 1) * (i % 2 ? ofIns : 1));
        return Tensor::of<float>({ out, in, 1, 1 }, values);
    };
    SmallModel m("layers");
    m.input("x", { 1, kChannels, kPixels, kPixels });
    m.constant("a_w", weights(64, kChannels, factor, 1)).node("Conv", { "x", "a_w" }, { "a" });
    m.node("Relu", { "a" }, { "r" });
    m.constant("b_w", weights(kChannels, 64, 1, 1 / factor)).node("Conv", { "r", "b_w" }, { "y" });
    m.output("y");
    return std::make_shared<const Model>(m.finish().plan->model());
}

/// By ranges that are wide enough.
std::shared_ptr<const Model> quantizedModel(const std::shared_ptr<const Model>& floatModel)
{
    Ranges ranges;
    for (const Value& value : floatModel->graph.values()) {
        TensorRange range;
        range.lowest = value.name == "r" ? 0 : -20.f;
        range.highest = 20;
        ranges.tensors[value.name] = range;
    }
    Recipe recipe = quantscopeRecipe();
    recipe.preparation = {};
    const auto made = quantizeDraft(GraphDraft(floatModel), recipe, ranges);
    if (!made.ok())
        qFatal("%s", issueText(made.issue()).c_str());
    auto model = made->draft.build();
    if (!model.ok())
        qFatal("%s", issueText(model.issue()).c_str());
    return *model;
}

/// A convolution and what normalizes it, folded into it or behind it. `trained`: with other weights.
std::shared_ptr<const Model> normalizedLayer(bool folded, bool trained)
{
    constexpr int64_t kChannels = 4, kPixels = 6;
    const std::vector<float> scale { 0.2f, 1.5f, 4, 0.7f };
    std::vector<float> weight;
    for (int64_t i = 0; i < kChannels * kChannels; ++i)
        weight.push_back((std::sin(float(5 * i + 1)) + (trained ? 0.1f * std::cos(float(3 * i)) : 0))
            * (folded ? scale[size_t(i / kChannels)] : 1));
    const auto channels = [](std::vector<float> values) { return Tensor::of<float>({ kChannels }, values); };
    SmallModel m("layer");
    m.input("x", { 1, kChannels, kPixels, kPixels });
    m.constant("w", Tensor::of<float>({ kChannels, kChannels, 1, 1 }, weight)).node("Conv", { "x", "w" }, { "c" });
    if (!folded)
        m.constant("scale", channels(scale))
            .constant("zeros", channels({ 0, 0, 0, 0 }))
            .constant("ones", channels({ 1, 1, 1, 1 }))
            .node("BatchNormalization", { "c", "scale", "zeros", "zeros", "ones" }, { "n" });
    m.node("Relu", { folded ? "c" : "n" }, { "r" }).node("GlobalAveragePool", { "r" }, { "y" }).output("y");
    return std::make_shared<const Model>(m.finish().plan->model());
}

} // namespace

class ToldCommandsTest : public QObject {
    Q_OBJECT
private slots:
    void triedIsTold_data()
    {
        QTest::addColumn<int>("calibrator");
        QTest::addColumn<bool>("symmetric");
        QTest::newRow("a calibrator makes ranges around zero") << int(Calibrator::Distribution) << false;
        QTest::newRow("symmetric codes") << int(Calibrator::MinMax) << true;
        QTest::newRow("symmetric codes, some values cut") << int(Calibrator::Percentile) << true;
    }
    /// What was measured of asymmetric codes is what the options make.
    void triedIsTold()
    {
        QFETCH(int, calibrator);
        QFETCH(bool, symmetric);
        Recipe recipe = quantscopeRecipe();
        recipe.keepRemovable = recipe.exactActivations = false;
        recipe.calibration.kind = Calibrator(calibrator);
        recipe.symmetricActivations = symmetric;
        const SnapshotPtr now = byRecipe(recipe), after = tried(now, 8);
        const auto& all = after->comparison->findings;
        const auto f = std::ranges::find(all, Rule::SymmetricOnSkewed, &Finding::rule);
        QVERIFY(f != all.end());
        QVERIFY(f->measuredGainDb && f->change.kind == RemedyKind::AsymmetricActivations);
        Recipe told = recipe; // as the command line reads the options
        told.symmetricActivations = false;
        size_t ranges = 0;
        for (const Remedy& r : changesOf(*f)) {
            QCOMPARE(r.kind, RemedyKind::AsymmetricActivations);
            QCOMPARE(remedyOptions(std::vector { r }).find("--tensor-range") != std::string::npos, r.low < r.high);
            if (r.low < r.high)
                told = withRange(std::move(told), r.tensor, r.low, r.high);
            ranges += r.low < r.high;
        }
        QVERIFY(symmetric || ranges > 0);
        const double gained = outputDb(*byRecipe(told)) - outputDb(*now);
        QVERIFY2(std::fabs(gained - *f->measuredGainDb) < 0.01,
            qPrintable(QStringLiteral("%1 told, %2 made").arg(*f->measuredGainDb).arg(gained)));
        QVERIFY(symmetric || gained > 1);
    }

    void rangesThatAreLacking_data()
    {
        QTest::addColumn<QString>("network");
        QTest::addColumn<QString>("uncut"); ///< whose range does not cut as the activation does; float8: all
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("node");
        QTest::addColumn<QString>("tensor");
        QTest::addColumn<QString>("lacking");
        const int keep = int(RemedyKind::KeepActivations), exclude = int(RemedyKind::ExcludeNode);
        QTest::newRow("a Relu that its clamped range stands for") << "cnn"
                                                                  << "r1" << keep << "n_r1"
                                                                  << "r1"
                                                                  << "";
        QTest::newRow("a node that hands on its input's scale") << "residual"
                                                                << "" << exclude << "n_pool"
                                                                << "pool"
                                                                << "pool";
        QTest::newRow("a node with a range of its own") << "residual"
                                                        << "" << exclude << "n_sum"
                                                        << "sum"
                                                        << "";
        QTest::newRow("a Relu that stays, float8") << "cnn"
                                                   << "float8" << keep << "n_r1"
                                                   << "r1"
                                                   << "c1";
        QTest::newRow("another change") << "cnn"
                                        << "" << int(RemedyKind::PerChannel) << "n_c1"
                                        << "c1_w"
                                        << "";
    }
    /// A command without data says them, and is carried out.
    void rangesThatAreLacking()
    {
        QFETCH(QString, network);
        QFETCH(QString, uncut);
        QFETCH(int, kind);
        QFETCH(QString, node);
        QFETCH(QString, tensor);
        QFETCH(QString, lacking);
        Planted p;
        p.network = network.toStdString();
        const bool float8 = uncut == "float8";
        if (float8)
            p.recipe = [](Recipe& r) {
                r.activationType = r.weightType = DType::Float8E4M3FN;
                r.calibration.kind = Calibrator::Distribution;
            };
        else if (!uncut.isEmpty())
            p = ::uncut(p.network, uncut.toStdString());
        const PlantedPair files = plantedPair(p);
        const SnapshotPtr s = snapshotOf(files);
        std::vector<Remedy> changes { { RemedyKind(kind), node.toStdString(), tensor.toStdString(), 0, 0, 0 } };
        const LackingRanges found = lackingRanges(*s, changes);
        QCOMPARE(found.needData, float8); // whose scales come from deviations
        QCOMPARE(found.ranges.size(), size_t(lacking.isEmpty() || float8 ? 0 : 1));
        QCOMPARE(likeTheFile(files, changes).ok(), lacking.isEmpty());
        if (found.ranges.empty())
            return;
        QCOMPARE(found.ranges[0].kind, RemedyKind::SetRange);
        QCOMPARE(QString::fromStdString(found.ranges[0].tensor), lacking);
        changes.push_back(found.ranges[0]);
        const auto made = likeTheFile(files, changes);
        QVERIFY2(made.ok(), made.ok() ? "" : issueText(made.issue()).c_str());
        QVERIFY(lackingRanges(*s, changes).ranges.empty()); // said already
    }

    void parametersGoWithTheirNode_data()
    {
        QTest::addColumn<bool>("quantized"); ///< nodes of type Constant are
        QTest::addColumn<bool>("alone"); ///< the node alone reads it
        QTest::addColumn<bool>("excluded");
        QTest::newRow("for it alone") << true << true << true;
        QTest::newRow("for others, too") << true << false << false;
        QTest::newRow("in float already") << false << true << false;
    }
    /// A node that stays float reads what a Constant makes as it is.
    void parametersGoWithTheirNode()
    {
        QFETCH(bool, quantized);
        QFETCH(bool, alone);
        QFETCH(bool, excluded);
        SmallModel m("net");
        m.input("x", { 2 }).node("Constant", {}, { "k" }, { { "value_float", 0.5f } });
        m.node("Mul", { "x", "k" }, { "a" }).node("Add", { "a", alone ? "x" : "k" }, { "y" }).output("y");
        Recipe recipe;
        recipe.opTypes = { "Mul", "Add" };
        if (quantized)
            recipe.opTypes.push_back("Constant");
        const GraphDraft draft(std::make_shared<const Model>(m.finish().plan->model()));
        const auto exclude = withRemedy(recipe, { RemedyKind::ExcludeNode, "n_a", "a", 0, 0, 0 }, draft).exclude;
        QVERIFY(std::ranges::count(exclude, "n_a") == 1);
        QCOMPARE(std::ranges::count(exclude, "n_k") == 1, excluded);
    }

    void softmaxKeepsItsScale_data()
    {
        QTest::addColumn<bool>("kept");
        QTest::newRow("as the quantizer gives it") << false;
        QTest::newRow("as the file has it") << true;
    }
    /// Of operators on codes it is 1/256, also where a quantizer is left of it.
    void softmaxKeepsItsScale()
    {
        QFETCH(bool, kept);
        Planted p;
        p.network = "attention";
        p.recipe = [](Recipe& r) {
            r.format = RecipeFormat::QOperator;
            r.weightType = DType::Int8;
        };
        const PlantedPair files = plantedPair(p);
        const std::vector<Remedy> float32 { { RemedyKind::ExcludeNode, "n_scaled", "scaled", 0, 0, 0 } };
        const auto made = likeTheFile(files, float32, kept, "scaled");
        QVERIFY2(made.ok(), made.ok() ? "" : issueText(made.issue()).c_str());
        const Tensor* scale = made->draft.constant("p_scale");
        QVERIFY(scale);
        QCOMPARE(toFloats(*scale)[0] == 1.0f / 256, kept);
        const auto plain = likeTheFile(files, {}, kept);
        QVERIFY(plain.ok() && plain->draft.constant("p_scale"));
        QCOMPARE(toFloats(*plain->draft.constant("p_scale"))[0], 1.0f / 256);
    }

    void layersHoldTogether_data()
    {
        QTest::addColumn<float>("factor");
        QTest::addColumn<QStringList>("kept");
        QTest::addColumn<QString>("refused"); ///< part of the sentence; empty: none
        QTest::newRow("all as in the file") << 3.f << QStringList { "a_w", "b_w" } << "";
        QTest::newRow("none as in the file") << 3.f << QStringList {} << "";
        QTest::newRow("one of two") << 3.f << QStringList { "b_w" } << "--exclude 'n_y'";
        QTest::newRow("the other one") << 3.f << QStringList { "a_w" } << "--exclude 'n_a'";
        QTest::newRow("no factors") << 1.f << QStringList { "b_w" } << "";
    }
    /// Equalized ones fit each other as the file has them, and no other form.
    void layersHoldTogether()
    {
        QFETCH(float, factor);
        QFETCH(QStringList, kept);
        QFETCH(QString, refused);
        const auto chains = equalizedChains(twoLayers(1), quantizedModel(twoLayers(factor)));
        QCOMPARE(chains.size(), size_t(factor == 1 ? 0 : 1));
        FileCodes wanted { "q.onnx", { { "a_w", {} }, { "b_w", {} } } };
        CodeOrigins made;
        for (const QString& name : kept)
            made.kept.insert(name.toStdString());
        const Status status = checkChains(chains, wanted, made);
        QCOMPARE(status.ok(), refused.isEmpty());
        if (!status.ok())
            QVERIFY2(issueText(status.issue()).find(refused.toStdString()) != std::string::npos,
                issueText(status.issue()).c_str());
    }

    void weightsOfTheFloatModel_data()
    {
        QTest::addColumn<bool>("foldedFloat");
        QTest::addColumn<bool>("foldedFile");
        QTest::addColumn<bool>("taken"); ///< codes of the file
        QTest::newRow("normalized in the file alone") << true << false << false;
        QTest::newRow("normalized in both") << false << false << true;
        QTest::newRow("folded in both") << true << true << true;
    }
    /// Trained codes are the file's; those that a normalization still follows there are no weights of a float model
    /// that has it folded.
    void weightsOfTheFloatModel()
    {
        QFETCH(bool, foldedFloat);
        QFETCH(bool, foldedFile);
        QFETCH(bool, taken);
        const auto floatModel = normalizedLayer(foldedFloat, false);
        const auto back = readExample(floatModel, quantizedModel(normalizedLayer(foldedFile, true)));
        QVERIFY2(back.ok(), back.ok() ? "" : issueText(back.issue()).c_str());
        QCOMPARE(back->recipe.codes.constants.contains("w"), taken);
        const bool told = std::ranges::any_of(back->undetermined,
            [](const std::string& line) { return line.find("BatchNormalization") != std::string::npos; });
        QCOMPARE(told, !taken);
    }

    void constantsNamedAnew_data()
    {
        QTest::addColumn<bool>("normalized");
        QTest::newRow("a folded BatchNormalization") << true;
        QTest::newRow("as they are") << false;
    }
    /// ONNX Runtime's preprocessing names weights and biases that it folds anew; nodes and values keep their names.
    void constantsNamedAnew()
    {
        QFETCH(bool, normalized);
        SmallModel m("f.onnx");
        m.input("x", { 1, 4, 6, 6 }).constant("w", Tensor::of<float>({ 4, 4, 3, 3 }, normals(144, 1)));
        for (const char* name : { "factor", "shift", "mean", "variance" })
            m.constant(name, Tensor::of<float>({ 4 }, { 0.8f, 1.5f, 0.6f, 1.2f }));
        m.constant("v", Tensor::of<float>({ 3, 4, 1, 1 }, normals(12, 3)));
        m.constant("b", Tensor::of<float>({ 3 }, normals(3, 4)));
        m.node("Conv", { "x", "w" }, { "c" });
        if (normalized)
            m.node("BatchNormalization", { "c", "factor", "shift", "mean", "variance" }, { "n" });
        m.node("Relu", { normalized ? "n" : "c" }, { "r" }).node("Conv", { "r", "v", "b" }, { "y" });
        const auto model = std::make_shared<const Model>(m.output("y").finish().plan->model());
        GraphDraft draft(model);
        QVERIFY(prepareGraph(draft, {}).ok());
        for (DraftNode& node : draft.nodes)
            for (size_t slot = 1; slot < node.inputs.size(); ++slot) {
                std::string& name = node.inputs[slot];
                const Tensor constant = *draft.constant(name);
                draft.removeConstant(name);
                name = "ConvBnFusion_" + name;
                draft.setConstant(name, constant);
            }
        Recipe recipe;
        recipe.activationType = DType::UInt8;
        Ranges ranges;
        for (const char* name : { "x", "c", "n", "r", "y" })
            ranges.tensors[name] = { .lowest = name[0] == 'r' ? 0.f : -4.f, .highest = 4, .shape = { 1 } };
        const auto made = quantizeDraft(draft, recipe, ranges);
        QVERIFY(made.ok());
        const auto file = made->draft.build();
        QVERIFY(file.ok());
        const auto read = readExample(model, *file);
        QVERIFY(read.ok() && read->possible);
        QVERIFY(read->recipe.exclude.empty());
        QCOMPARE(read->differences, std::optional<size_t>(0));
        QuantizeInputs inputs;
        inputs.model = model;
        inputs.recipe = read->recipe;
        inputs.ranges = read->ranges;
        const auto again = quantizeModel(inputs, {});
        QVERIFY2(again.ok(), again.ok() ? "" : issueText(again.issue()).c_str());
        for (const DraftNode& node : again->draft.nodes)
            if (node.is("Conv"))
                QVERIFY2(!again->draft.constant(node.inputs[1]), node.name.c_str()); // made of codes
    }

    void smoothedAsPlaced_data()
    {
        QTest::addColumn<QStringList>("tensors"); ///< that the file has quantizers of
        QTest::addColumn<bool>("quantized"); ///< what the product reads
        QTest::newRow("all") << QStringList { "x", "w", "b", "y" } << true;
        QTest::newRow("none of the product") << QStringList { "y" } << false;
    }
    /// Quantizers stand as in a file, which does not name what a new Mul makes.
    void smoothedAsPlaced()
    {
        QFETCH(QStringList, tensors);
        QFETCH(bool, quantized);
        constexpr int64_t kIn = 8, kOut = 4;
        SmallModel m("product");
        m.input("x", { 1, kIn }).constant("w", Tensor::of<float>({ kIn, kOut }, normals(kIn * kOut, 5)));
        m.constant("b", Tensor::of<float>({ kOut }, normals(kOut, 6))).node("Gemm", { "x", "w", "b" }, { "y" });
        m.output("y");
        QuantizeInputs inputs;
        inputs.model = std::make_shared<const Model>(m.finish().plan->model());
        std::vector<Tensor> samples;
        for (unsigned i = 0; i < 4; ++i)
            samples.push_back(Tensor::of<float>({ 1, kIn }, normals(kIn, i)));
        inputs.data = std::make_shared<FixedData>(std::move(samples));
        inputs.recipe.smoothQuant = true;
        inputs.recipe.placement.nodes = { "n_y" };
        for (const QString& name : tensors)
            inputs.recipe.placement.tensors.push_back(name.toStdString());
        const auto made = quantizeModel(inputs, {});
        QVERIFY2(made.ok(), made.ok() ? "" : issueText(made.issue()).c_str());
        const auto mul = std::ranges::find(made->draft.nodes, "Mul", &DraftNode::opType);
        QVERIFY(mul != made->draft.nodes.end());
        const bool codes = std::ranges::any_of(made->draft.nodes,
            [&](const DraftNode& n) { return n.opType == "QuantizeLinear" && n.inputs[0] == mul->outputs[0]; });
        QCOMPARE(codes, quantized);
    }

    void eightBitsThatRun_data()
    {
        QTest::addColumn<int>("algorithm");
        QTest::addColumn<int>("then");
        QTest::addColumn<bool>("all");
        using enum WeightOnlyAlgorithm;
        QTest::newRow("hqq, one weight") << int(Hqq) << int(Default) << false;
        QTest::newRow("hqq, all weights") << int(Hqq) << int(Default) << true;
        QTest::newRow("k-quant, all weights") << int(KQuant) << int(KQuant) << true;
    }
    /// No kernel has the real zero points of hqq with 8 bits.
    void eightBitsThatRun()
    {
        QFETCH(int, algorithm);
        QFETCH(int, then);
        QFETCH(bool, all);
        Recipe recipe;
        recipe.format = RecipeFormat::WeightOnly;
        recipe.weightType = DType::UInt4;
        recipe.weightOnly.algorithm = WeightOnlyAlgorithm(algorithm);
        Remedy r { RemedyKind::EightBitWeight, all ? "" : "n", all ? "" : "w", 0, 0, 0 };
        r.plainBlocks = algorithm != then;
        const GraphDraft draft(twoLayers(1));
        const Recipe mended = withRemedy(recipe, r, draft);
        QCOMPARE(int(mended.weightOnly.algorithm), then);
        QCOMPARE(all ? mended.weightType : *mended.weightOnly.nodes.at("n").type, DType::UInt8);
        if (all)
            QCOMPARE(remedyOptions(std::vector { r }),
                std::string(r.plainBlocks ? "--format weight-only --algorithm default " : "") + "--weight-type uint8");
    }

    void mendedBlocksRun_data()
    {
        QTest::addColumn<int>("algorithm");
        QTest::newRow("real zero points") << int(WeightOnlyAlgorithm::Hqq);
        QTest::newRow("whole zero points") << int(WeightOnlyAlgorithm::Default);
    }
    /// In the file itself, too; and what asks for such a form all the same is warned.
    void mendedBlocksRun()
    {
        QFETCH(int, algorithm);
        Planted p;
        p.network = "attention";
        p.recipe = [algorithm](Recipe& r) {
            r.format = RecipeFormat::WeightOnly;
            r.weightType = DType::UInt4;
            r.weightOnly.blockSize = 16;
            r.weightOnly.algorithm = WeightOnlyAlgorithm(algorithm);
        };
        const PlantedPair files = plantedPair(p);
        const SnapshotPtr s = snapshotOf(files);
        const auto& row = s->comparison->weights.front();
        const auto draft = mendedFile(
            *s, std::vector<Remedy> { { RemedyKind::EightBitWeight, row.node, row.name, 0, 0, row.channelAxis } });
        QVERIFY2(draft.ok(), draft.ok() ? "" : issueText(draft.issue()).c_str());
        size_t wide = 0;
        for (const DraftNode& node : draft->nodes)
            if (node.opType == "MatMulNBits" && node.attributes.integer("bits", 4) == 8) {
                ++wide;
                QVERIFY(draft->constant(node.inputs[3]) && draft->constant(node.inputs[3])->dtype() == DType::UInt8);
            }
        QCOMPARE(wide, size_t(1));
        QVERIFY(loadWarnings(*draft).empty());
        Recipe eight;
        p.recipe(eight);
        eight.weightType = DType::UInt8;
        const auto asked = quantizeDraft(GraphDraft(files.floatModel), eight, {});
        QVERIFY(asked.ok());
        QCOMPARE(loadWarnings(asked->draft).size(), size_t(WeightOnlyAlgorithm(algorithm) == WeightOnlyAlgorithm::Hqq));
    }
};

QTEST_GUILESS_MAIN(ToldCommandsTest)
#include "told_commands_test.moc"
