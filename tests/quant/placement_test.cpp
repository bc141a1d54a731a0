// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/base/issue_text.h"
#include "core/quant/model/name_collisions.h"
#include "core/quant/params/kept_codes.h"
#include "core/quant/read_back/file_codes.h"
#include "core/quant/read_back/quantizer_differences.h"
#include "core/quant/read_back/read_back.h"
#include "core/quant/read_back/setting_reach.h"
#include "core/quant/recipe/recipe_edit.h"
#include "core/quant/recipe/recipe_json.h"
#include "core/quant/write/quantizer.h"
#include "core/tensor/convert.h"
#endif
#include "tests/quant/runners.h"
#include "tests/support/foreign_model.h"

#include <QtTest>

#include <QRandomGenerator>

#include <algorithm>
#include <random>
#include <set>

using namespace qs;
using qs::test::ForeignFile;

namespace {

/// The file, what was read from it, and what recipes make of the float model.
struct Case {
    GraphDraft net;
    std::vector<RecipeNode> nodes = recipeNodes(net);
    std::shared_ptr<const Model> model;
    QuantizedFile file;
    Result<ReadBack> back = cancelled();
    Recipe recipe; ///< with the file's ranges
    QuantizerHelp help;

    explicit Case(ForeignFile foreign = {}, GraphDraft given = GraphDraft(qs::test::floatNet()))
        : net(std::move(given))
        , model(foreign.made())
        , file(QuantizedFile::read(model, foreign.names))
        , back(readBack(model, &net, foreign.names))
    {
        if (back)
            recipe = withRanges(back->recipe, back->ranges);
        if (auto kept = readCodes(model, recipe.codes))
            help.kept = std::make_shared<const KeptCodes>(*std::move(kept));
    }
    /// Quantizers of the float model; empty where it cannot be quantized.
    QuantizedFile made(const Recipe& edited) const
    {
        QuantizerHelp given = help;
        if (edited.codes.constants.empty())
            given.kept = nullptr;
        const auto quantized = quantizeDraft(net, edited, back->ranges, given);
        const auto built = quantized ? quantized->draft.build() : Result<std::shared_ptr<const Model>>(cancelled());
        return built ? QuantizedFile::read(*built, {}) : QuantizedFile {};
    }
    size_t indexOf(const std::string& node) const
    {
        return size_t(std::ranges::find(nodes, node, &RecipeNode::name) - nodes.begin());
    }
    /// Nodes that read or make it.
    std::set<std::string> around(const std::string& tensor) const
    {
        std::set<std::string> names;
        for (const DraftNode& node : net.nodes)
            if (std::ranges::find(node.inputs, tensor) != node.inputs.end()
                || std::ranges::find(node.outputs, tensor) != node.outputs.end())
                names.insert(node.name);
        return names;
    }
};

ForeignFile trained()
{
    ForeignFile foreign;
    foreign.otherCodes = true;
    return foreign;
}

std::set<std::string> asSet(const std::vector<std::string>& names) { return { names.begin(), names.end() }; }

} // namespace

class PlacementTest : public QObject {
    Q_OBJECT

private slots:
    void fileAsItIs_data()
    {
        QTest::addColumn<bool>("perChannel");
        QTest::addColumn<bool>("floatBias");
        QTest::addColumn<bool>("otherCodes");
        for (bool perChannel : { false, true })
            for (bool floatBias : { false, true })
                for (bool otherCodes : { false, true })
                    QTest::addRow("%s, %s biases, %s codes", perChannel ? "per channel" : "per tensor",
                        floatBias ? "float" : "int32", otherCodes ? "other" : "rounded")
                        << perChannel << floatBias << otherCodes;
    }
    void fileAsItIs()
    {
        QFETCH(bool, perChannel);
        QFETCH(bool, floatBias);
        QFETCH(bool, otherCodes);
        ForeignFile foreign;
        foreign.perChannel = perChannel;
        foreign.floatBias = floatBias;
        foreign.otherCodes = otherCodes;
        const Case c(std::move(foreign));
        QVERIFY2(c.back.ok(), c.back.ok() ? "" : c.back.issue().what.c_str());
        QCOMPARE(c.back->otherQuantizers, std::optional<size_t>(0));
        QCOMPARE(c.file.tensors.size(), size_t(floatBias ? 9 : 12));
        const QuantizerDifferences differences = quantizerDifferences(c.file, c.made(c.recipe));
        QCOMPARE(differences.count(), size_t(0));
        QVERIFY(differences.codes.empty());
        QCOMPARE(c.recipe.codes.constants.size(), size_t(otherCodes ? 6 : 0));
        // Nodes that its quantizers cover are quantized.
        const auto states = nodeStates(c.recipe, { c.recipe, ValueOrigin::Imported }, c.nodes);
        for (size_t n = 0; n < states.size(); ++n)
            QCOMPARE(states[n].quantized, c.nodes[n].opType != "Softmax");
    }

    void kept()
    {
        const Case c(trained());
        const auto again = recipeFromJson(recipeToJson(c.recipe));
        QVERIFY(again.ok() && *again == c.recipe);
        QVERIFY(quantizerDifferences(c.file, c.made(placedByRules(c.recipe))).count() > 0); // the rules do otherwise
    }

    /// Leaving a node out takes what only it reads or makes, and taking it in again gives the file's numbers.
    void oneExclusion()
    {
        const Case c(trained());
        for (const RecipeNode& node : c.nodes) {
            const std::vector<size_t> member { c.indexOf(node.name) };
            const Recipe edited = withNodes(c.recipe, c.nodes, member, false);
            const QuantizerDifferences changed = quantizerDifferences(c.file, c.made(edited));
            QVERIFY2(changed.added.empty() && changed.parameters.empty() && changed.codes.empty(), node.name.c_str());
            for (const std::string& tensor : changed.lacking) {
                auto around = c.around(tensor);
                around.erase("n_y"); // reads floats
                QVERIFY2(around == std::set<std::string> { node.name }, (node.name + ": " + tensor).c_str());
            }
            QCOMPARE(!changed.lacking.empty(), node.opType == "Conv" || node.opType == "Gemm");
            const Recipe back = withNodes(edited, c.nodes, member, node.opType != "Softmax");
            const QuantizerDifferences left = quantizerDifferences(c.file, c.made(back));
            QVERIFY(left.count() == 0 && left.codes.empty());
        }
    }

    /// An override changes its tensor, and the biases whose scales are products with it.
    void oneOverride()
    {
        const Case c(trained());
        const std::map<std::string, std::set<std::string>> biases { { "x", { "b1" } }, { "w1", { "b1" } },
            { "r1", { "b2" } }, { "w2", { "b2" } }, { "f1", { "b3" } }, { "w3", { "b3" } } };
        for (const auto& [name, tensor] : c.file.tensors) {
            if (tensor.role == QuantRole::Bias)
                continue;
            const Recipe edited = withScale(c.recipe, name, 0.25, 0);
            const QuantizerDifferences changed = quantizerDifferences(c.file, c.made(edited));
            std::set<std::string> expected { name };
            if (const auto bias = biases.find(name); bias != biases.end())
                expected.insert(bias->second.begin(), bias->second.end());
            QCOMPARE(asSet(changed.parameters), expected);
            QVERIFY(changed.lacking.empty() && changed.added.empty() && changed.codes.empty());
            const Recipe back = withoutOverride(edited, c.recipe, name);
            const QuantizerDifferences left = quantizerDifferences(c.file, c.made(back));
            QVERIFY(left.count() == 0 && left.codes.empty());
        }
    }

    /// Codes hold for the constants and parameters that they were read with, and nothing else.
    void codesThatHoldNoLonger()
    {
        const Case c(trained());
        const auto codes = [&](const Recipe& recipe, const GraphDraft& net) {
            return quantizeDraft(net, recipe, c.back->ranges, c.help)->codes;
        };
        const std::set<std::string> all { "b1", "b2", "b3", "w1", "w2", "w3" };
        QCOMPARE(codes(c.recipe, c.net).kept, all);
        const CodeOrigins wider = codes(withTensorType(c.recipe, "w2", DType::Int16), c.net);
        QCOMPARE(wider.anew, std::set<std::string> { "w2" }); // its scale is the file's, and so is that of the bias
        const CodeOrigins coarser = codes(withScale(c.recipe, "w2", 0.25, 0), c.net);
        QCOMPARE(coarser.anew, (std::set<std::string> { "b2", "w2" }));
        QCOMPARE(coarser.kept, (std::set<std::string> { "b1", "b3", "w1", "w3" }));
        GraphDraft changed = c.net; // as corrections do
        std::vector<float> values = toFloats(*c.net.constant("w3"));
        values[1] += 0.01f;
        changed.setConstant("w3", Tensor::of<float>({ 5, 4 }, values));
        QCOMPARE(codes(c.recipe, changed).anew, std::set<std::string> { "w3" });
        QCOMPARE(quantizerDifferences(c.file, c.made(recomputedCodes(c.recipe))).codes.size(), all.size());
        Recipe wrong = c.recipe;
        wrong.codes.constants["w1"].value = "no such value";
        QVERIFY(!readCodes(c.model, wrong.codes).ok());
    }

    /// A bias belongs to the weight whose codes are kept, whatever the scale of the input is now.
    void biasesOfOtherInputScales()
    {
        const Case c(trained());
        const Recipe edited = withScale(c.recipe, "x", 0.25, 0);
        QVERIFY(quantizeDraft(c.net, edited, c.back->ranges, c.help)->codes.kept.contains("b1"));
        const auto valuesIn = [](const QuantizedFile& file) {
            const FileTensor& bias = *file.find("b1");
            return std::pair(toFloats(realOf(bias.codes, bias.params, DType::Float32)), bias.params.scale);
        };
        const auto [before, scaleBefore] = valuesIn(c.file);
        const auto [now, scale] = valuesIn(c.made(edited));
        QVERIFY(scale.front() > 2 * scaleBefore.front());
        const std::vector<float> ours = toFloats(*c.net.constant("b1"));
        double furthest = 0;
        for (size_t i = 0; i < now.size(); ++i) {
            const double step = scale[scale.size() > 1 ? i : 0];
            QVERIFY(std::abs(now[i] - before[i]) <= 0.5001 * step);
            furthest = std::max(furthest, std::abs(double(before[i]) - ours[i]) / step);
        }
        QVERIFY2(furthest > 0, "the file's biases are others than the float model's");
        const Recipe both = withTensorType(edited, "w1", DType::Int16); // the weight is the float model's again
        QVERIFY(quantizeDraft(c.net, both, c.back->ranges, c.help)->codes.anew.contains("b1"));
    }

    /// Training changes biases, too; they stay with their weights.
    void floatBiases()
    {
        ForeignFile foreign = trained();
        foreign.floatBias = true;
        const Case c(std::move(foreign));
        const auto bias = [&](const Recipe& recipe) {
            const auto made = quantizeDraft(c.net, recipe, c.back->ranges, c.help);
            return made->draft.constant("b2") ? toFloats(*made->draft.constant("b2")) : std::vector<float> {};
        };
        const std::vector<float> file = toFloats(*c.model->graph.value(c.model->graph.findValue("p/b2")).initializer);
        const std::vector<float> ours = toFloats(*c.net.constant("b2"));
        QVERIFY(file != ours);
        QCOMPARE(bias(c.recipe), file);
        const Recipe without = withNodes(c.recipe, c.nodes, std::vector { c.indexOf("n_c2") }, false);
        QCOMPARE(bias(without), ours);
        QCOMPARE(bias(withNodes(without, c.nodes, std::vector { c.indexOf("n_c2") }, true)), file);
        QCOMPARE(bias(withTensorType(c.recipe, "w2", DType::Int16)), ours); // beside a weight that is computed anew
    }

    /// Also where it stays in float here, and the file has codes of it.
    void codesOfFloatBiases()
    {
        const Case c(trained());
        Recipe recipe = c.recipe;
        recipe.quantizeBias = false;
        recipe.codes = {};
        const FileCodes found = fileCodes(c.file, c.made(recipe), c.net);
        for (const std::string name : { "b1", "b2", "b3" })
            QVERIFY2(found.constants.contains(name), name.c_str());
        recipe.codes = found;
        const auto kept = readCodes(c.model, found);
        QVERIFY(kept.ok());
        QuantizerHelp help;
        help.kept = std::make_shared<const KeptCodes>(*kept);
        const auto made = quantizeDraft(c.net, recipe, c.back->ranges, help);
        QVERIFY2(made.ok(), made.ok() ? "" : issueText(made.issue()).c_str());
        const FileTensor& bias = *c.file.find("b2");
        QVERIFY(made->draft.constant("b2"));
        QCOMPARE(toFloats(*made->draft.constant("b2")), toFloats(realOf(bias.codes, bias.params, DType::Float32)));
        QVERIFY(made->codes.kept.contains("b2"));
    }

    /// What the file has of "r1_b" is no tensor that the quantizer made of "r1".
    void floatBiasesNamedAfterOthers()
    {
        ForeignFile foreign = trained();
        foreign.floatBias = true;
        GraphDraft net(qs::test::floatNet());
        QVERIFY(renameTensor(net, "b2", "r1_b").ok());
        const Case c(std::move(foreign), std::move(net));
        const auto made = quantizeDraft(c.net, c.recipe, c.back->ranges, c.help);
        QVERIFY2(made.ok(), made.ok() ? "" : issueText(made.issue()).c_str());
        QVERIFY(made->draft.constant("r1_b"));
        QCOMPARE(toFloats(*made->draft.constant("r1_b")),
            toFloats(*c.model->graph.value(c.model->graph.findValue("p/b2")).initializer));
        for (const std::string& warning : made->warnings)
            QVERIFY2(warning.find("r1_b") == std::string::npos, warning.c_str());
    }

    /// Beside a float weight with a pair of its own, too.
    void codesBehindPairs()
    {
        const Case c(trained());
        Recipe recipe = c.recipe;
        recipe.pairsForWeights = true;
        QVERIFY(quantizerDifferences(c.file, c.made(recipe)).codes.empty());
    }

    /// Whatever was edited: the opposite edits give the file's numbers back to the bit.
    void editsAndTheirOpposites()
    {
        const unsigned seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        const Case c(trained());
        std::vector<std::string> tensors;
        for (const auto& [name, tensor] : c.file.tensors)
            if (tensor.role != QuantRole::Bias)
                tensors.push_back(name);
        constexpr int kRounds = 20, kEdits = 8;
        for (int round = 0; round < kRounds; ++round) {
            Recipe recipe = c.recipe;
            std::vector<size_t> nodes;
            std::vector<std::string> edited;
            for (int edit = 0; edit < kEdits; ++edit) {
                if (random() % 2 == 0) {
                    nodes.push_back(random() % (c.nodes.size() - 1)); // without the Softmax, which is float
                    recipe = withNodes(recipe, c.nodes, std::vector { nodes.back() }, false);
                } else {
                    edited.push_back(tensors[random() % tensors.size()]);
                    recipe = random() % 2 ? withScale(recipe, edited.back(), 0.1, 0)
                                          : withRange(recipe, edited.back(), -1, double(random() % 9 + 1));
                }
            }
            std::ranges::shuffle(nodes, random);
            for (const size_t node : nodes)
                recipe = withNodes(recipe, c.nodes, std::vector { node }, true);
            for (const std::string& tensor : edited)
                recipe = withoutOverride(recipe, c.recipe, tensor);
            const QuantizerDifferences left = quantizerDifferences(c.file, c.made(recipe));
            QVERIFY2(left.count() == 0 && left.codes.empty(), qPrintable(QString("seed %1").arg(seed)));
        }
    }

    /// What is quantized beyond the file follows the rules and leaves the rest alone.
    void oneNodeMore()
    {
        const Case c;
        Recipe edited = withNodes(c.recipe, c.nodes, std::vector { c.indexOf("n_y") }, true);
        TensorOverride& y = edited.tensors["y"];
        y.parts.front().lowest = 0;
        y.parts.front().highest = 1;
        const QuantizerDifferences changed = quantizerDifferences(c.file, c.made(edited));
        QCOMPARE(changed.added, std::vector<std::string> { "y" });
        QVERIFY(changed.lacking.empty() && changed.parameters.empty());
    }

    void sentences()
    {
        ForeignFile foreign;
        foreign.secondScale = true;
        const Case c(std::move(foreign));
        QVERIFY(c.back.ok());
        QVERIFY(std::ranges::any_of(c.back->undetermined, [](const std::string& s) {
            return s.find("further quantizers") != std::string::npos && s.find("'r1'") != std::string::npos;
        }));
    }

    /// Weights that have a scale of their own (those of a foreign file) take what is asked of all: once a setting for
    /// all changed nothing about them.
    void settingsForAllReachWhatAFileGave()
    {
        const Case c;
        const auto weightsOf = [&](const Recipe& recipe) {
            std::vector<QuantOverride> parts;
            for (const auto& [name, override] : recipe.tensors)
                if (c.net.constant(name))
                    parts.insert(parts.end(), override.parts.begin(), override.parts.end());
            return parts;
        };
        QVERIFY(std::ranges::any_of(weightsOf(c.recipe), [](const auto& part) { return part.scale.has_value(); }));
        const Recipe reduced = withReducedWeights(c.recipe, c.net);
        QVERIFY(reduced.reduceRange);
        QVERIFY(std::ranges::none_of(weightsOf(reduced), [](const auto& part) { return part.scale.has_value(); }));
        QVERIFY(!quantizerDifferences(c.file, c.made(reduced)).parameters.empty());
        const Recipe one = withReducedWeight(c.recipe, "w1");
        QVERIFY(!one.reduceRange && one.tensors.at("w1").parts.front().reduceRange == true);
        QVERIFY(!one.tensors.at("w1").parts.front().scale);
        const Recipe unsignedWeights = withWeightType(c.recipe, c.net, DType::UInt8);
        QVERIFY(std::ranges::none_of(weightsOf(unsignedWeights), [](const auto& p) { return p.type || p.scale; }));
    }

    void ownSettingsGo_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<bool>("ofActivation"); ///< that something of its own goes; of the weight, else
        for (const char* path : { "activation_type", "symmetric_activations" })
            QTest::newRow(path) << QString(path) << true;
        for (const char* path : { "weight_type", "per_channel", "symmetric_weights", "reduce_range" })
            QTest::newRow(path) << QString(path) << false;
        QTest::newRow("format") << QString("format") << false;
    }
    /// What is given for all tensors reaches those of which a file's recipe says what they were, and nothing else goes.
    void ownSettingsGo()
    {
        QFETCH(QString, path);
        QFETCH(bool, ofActivation);
        const Case c;
        Recipe given = c.recipe;
        TensorOverride& activation = given.tensors["r1"] = {};
        activation.parts = { { .type = DType::UInt8, .scale = 0.05, .zeroPoint = 0, .symmetric = false } };
        activation.convert.emplace().to.type = DType::UInt16;
        TensorOverride& weight = given.tensors["w1"] = {};
        weight.parts = { { .scale = 0.05, .zeroPoint = 0, .symmetric = true, .reduceRange = true } };
        weight.axis = 1;
        const Recipe left = withoutOwn(given, c.net, path.toStdString());
        QCOMPARE(left.tensors.at("r1") == activation, !ofActivation);
        QCOMPARE(left.tensors.at("w1") == weight, ofActivation || path == "format");
        const QuantOverride &a = left.tensors.at("r1").parts.front(), &w = left.tensors.at("w1").parts.front();
        QCOMPARE(a.highest.has_value(), ofActivation); // its range stays
        QCOMPARE(a.type.has_value(), path != "activation_type");
        QCOMPARE(left.tensors.at("r1").convert.has_value(), path != "activation_type");
        QCOMPARE(a.symmetric.has_value(), path != "symmetric_activations");
        QCOMPARE(w.symmetric.has_value(), path != "symmetric_weights");
        QCOMPARE(w.reduceRange.has_value(), path != "reduce_range");
        given.tensors["w1"].parts = { { .scale = 0.05, .zeroPoint = 0 } };
        QCOMPARE(withoutOwn(given, c.net, path.toStdString()).tensors.contains("w1"), path != "per_channel");
    }

    /// Another type keeps the range that a scale and zero point said.
    void activationTypesKeepRanges()
    {
        const Case c;
        Recipe given = withScale(c.recipe, "r1", 0.05, 0);
        given.tensors["r1"].parts.front().type = DType::UInt8;
        const Recipe typed = withActivationType(given, c.net, DType::Int8);
        const QuantOverride& part = typed.tensors.at("r1").parts.front();
        QVERIFY(!part.type && !part.scale && !part.zeroPoint);
        QCOMPARE(part.lowest.value(), 0.0);
        QCOMPARE(part.highest.value(), 255 * 0.05);
        QCOMPARE(typed.activationType, DType::Int8);
    }

    void reach()
    {
        const Case c;
        const QuantizedNames names { { "x", "r1", "r2", "g1", "f1", "g2" }, { "w1", "w2", "w3" } };
        const RecipeBase base { c.recipe, ValueOrigin::Imported };
        const SettingReach ranges = settingReach(c.recipe, base, names, "calibration.method");
        QVERIFY(ranges.idle());
        QCOMPARE(ranges.fromFile, size_t(6));
        QVERIFY(settingReach(c.recipe, base, names, "weight_type").idle());
        QVERIFY(!settingReach(c.recipe, base, names, "activation_type").idle());
        QCOMPARE(settingReach(c.recipe, base, names, "format").tensors, size_t(0));
        const Recipe free = recalibrated(c.recipe, c.net);
        QCOMPARE(settingReach(free, base, names, "calibration.method").own, size_t(0));
        QVERIFY(settingReach(free, base, names, "weight_type").idle()); // the weights are the file's still
        QCOMPARE(settingReach(recomputedWeights(free, c.net), base, names, "per_channel").own, size_t(0));
        QuantizedNames more = names; // that no recipe says
        more.activations.emplace_back("mean_of_codes");
        QVERIFY(settingReach(c.recipe, base, more, "calibration.method").idle());
        QCOMPARE(settingReach(c.recipe, base, more, "calibration.method").tensors, size_t(6));
        const Recipe one = withRange(c.recipe, "r1", 0, 3);
        QCOMPARE(settingReach(one, base, names, "calibration.method").fromFile, size_t(5));
    }
};

int runPlacementTests(int argc, char** argv)
{
    PlacementTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "placement_test.moc"
