// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
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
    GraphDraft net { qs::test::floatNet() };
    std::vector<RecipeNode> nodes = recipeNodes(net);
    std::shared_ptr<const Model> model;
    QuantizedFile file;
    Result<ReadBack> back = cancelled();
    Recipe recipe; ///< with the file's ranges

    explicit Case(ForeignFile foreign = {})
        : model(foreign.made())
        , file(QuantizedFile::read(model, foreign.names))
        , back(readBack(model, &net, foreign.names))
    {
        if (back)
            recipe = withRanges(back->recipe, back->ranges);
    }
    /// Quantizers of the float model; empty where it cannot be quantized.
    QuantizedFile made(const Recipe& edited) const
    {
        const auto quantized = quantizeDraft(net, edited, back->ranges);
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

std::set<std::string> asSet(const std::vector<std::string>& names) { return { names.begin(), names.end() }; }

} // namespace

class PlacementTest : public QObject {
    Q_OBJECT

private slots:
    void fileAsItIs_data()
    {
        QTest::addColumn<bool>("perChannel");
        QTest::addColumn<bool>("floatBias");
        for (bool perChannel : { false, true })
            for (bool floatBias : { false, true })
                QTest::addRow("%s, %s biases", perChannel ? "per channel" : "per tensor", floatBias ? "float" : "int32")
                    << perChannel << floatBias;
    }
    void fileAsItIs()
    {
        QFETCH(bool, perChannel);
        QFETCH(bool, floatBias);
        ForeignFile foreign;
        foreign.perChannel = perChannel;
        foreign.floatBias = floatBias;
        const Case c(std::move(foreign));
        QVERIFY2(c.back.ok(), c.back.ok() ? "" : c.back.issue().what.c_str());
        QCOMPARE(c.back->otherQuantizers, std::optional<size_t>(0));
        QCOMPARE(c.file.tensors.size(), size_t(floatBias ? 9 : 12));
        const QuantizerDifferences differences = quantizerDifferences(c.file, c.made(c.recipe));
        QCOMPARE(differences.count(), size_t(0));
        QVERIFY(differences.codes.empty());
        // Nodes that its quantizers cover are quantized.
        const auto states = nodeStates(c.recipe, { c.recipe, ValueOrigin::Imported }, c.nodes);
        for (size_t n = 0; n < states.size(); ++n)
            QCOMPARE(states[n].quantized, c.nodes[n].opType != "Softmax");
    }

    void kept()
    {
        const Case c;
        const auto again = recipeFromJson(recipeToJson(c.recipe));
        QVERIFY(again.ok() && *again == c.recipe);
        QVERIFY(quantizerDifferences(c.file, c.made(placedByRules(c.recipe))).count() > 0); // the rules do otherwise
    }

    /// Leaving a node out takes what only it reads or makes, and taking it in again gives the file's numbers.
    void oneExclusion()
    {
        const Case c;
        for (const RecipeNode& node : c.nodes) {
            const std::vector<size_t> member { c.indexOf(node.name) };
            const Recipe edited = withNodes(c.recipe, c.nodes, member, false);
            const QuantizerDifferences changed = quantizerDifferences(c.file, c.made(edited));
            QVERIFY2(changed.added.empty() && changed.parameters.empty(), node.name.c_str());
            for (const std::string& tensor : changed.lacking) {
                auto around = c.around(tensor);
                around.erase("n_y"); // reads floats
                QVERIFY2(around == std::set<std::string> { node.name }, (node.name + ": " + tensor).c_str());
            }
            QCOMPARE(!changed.lacking.empty(), node.opType == "Conv" || node.opType == "Gemm");
            const Recipe back = withNodes(edited, c.nodes, member, node.opType != "Softmax");
            QCOMPARE(quantizerDifferences(c.file, c.made(back)).count(), size_t(0));
        }
    }

    /// An override changes its tensor, and the biases whose scales are products with it.
    void oneOverride()
    {
        const Case c;
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
            QCOMPARE(quantizerDifferences(c.file, c.made(back)).count(), size_t(0));
        }
    }

    /// Whatever was edited: the opposite edits give the file's numbers back to the bit.
    void editsAndTheirOpposites()
    {
        const unsigned seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        const Case c;
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
