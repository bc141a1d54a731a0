// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/sensitivity/exclusion_search.h"
#include "core/analysis/sensitivity/unit_blocks.h"
#include "core/graph/draft.h"
#include "tests/analysis/runners.h"

#include <QtTest>

#include <numeric>

using namespace qs;

namespace {

using Units = std::vector<size_t>;

/// A float model of Relus by hand: node i is called names[i] and reads the outputs of inputs[i] (-1: the graph's
/// input). More than one input: an Add.
GraphDraft networkOf(const std::vector<std::string>& names, const std::vector<std::vector<int>>& inputs)
{
    GraphBuilder builder("network");
    const ValueType type { DType::Float32, toDims({ 1, 4 }), {} };
    const auto value = [&](int node) {
        const ValueId id = builder.value(node < 0 ? "x" : "v" + std::to_string(node));
        builder.setType(id, type);
        return id;
    };
    builder.addInput(value(-1));
    for (size_t i = 0; i < names.size(); ++i) {
        Node node;
        node.name = names[i];
        node.opType = inputs[i].size() > 1 ? "Add" : "Relu";
        node.opset = 17;
        for (const int in : inputs[i])
            node.inputs.push_back(value(in));
        node.outputs = { value(int(i)) };
        builder.addNode(node);
    }
    builder.addOutput(value(int(names.size()) - 1));
    auto model = std::make_shared<Model>();
    model->graph = std::move(builder).finish().value();
    return GraphDraft(model);
}

std::vector<QuantizedUnit> unitsNamed(const std::vector<std::string>& names)
{
    std::vector<QuantizedUnit> units;
    for (const std::string& name : names)
        units.push_back({ name, "Relu", { name }, 1 });
    return units;
}

std::vector<Units> blocksOf(const std::vector<std::string>& names, const std::vector<std::vector<int>>& inputs)
{
    std::vector<Units> blocks;
    for (const UnitBlock& block : unitBlocks(networkOf(names, inputs), UnitKind::Node, unitsNamed(names)))
        blocks.push_back(block.units);
    return blocks;
}

} // namespace

class ExclusionTests : public QObject {
    Q_OBJECT
private slots:
    void scopesAreBlocks()
    {
        const std::vector<std::string> names { "/a/one", "/a/two", "/b/c/one", "/b/c/two", "/b/d" };
        const auto blocks = blocksOf(names, { { -1 }, { 0 }, { 1 }, { 2 }, { 3 } });
        QVERIFY(std::ranges::find(blocks, Units { 0, 1 }) != blocks.end());
        QVERIFY(std::ranges::find(blocks, Units { 2, 3, 4 }) != blocks.end());
        QVERIFY(std::ranges::find(blocks, Units { 2, 3 }) != blocks.end());
        QCOMPARE(blocks.size(), size_t(3));
    }

    void residualStretchesAreBlocks()
    {
        // 0, then 1 - 2 beside a shortcut joined by 3, then 4 - 5 joined by 6, then 7.
        const std::vector<std::string> names { "n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7" };
        const auto blocks = blocksOf(names, { { -1 }, { 0 }, { 1 }, { 0, 2 }, { 3 }, { 4 }, { 3, 5 }, { 6 } });
        QCOMPARE(blocks, (std::vector<Units> { { 1, 2, 3 }, { 4, 5, 6 } }));
    }

    void chainsAreCut()
    {
        std::vector<std::string> names;
        std::vector<std::vector<int>> inputs;
        for (int i = 0; i < 14; ++i) {
            names.push_back("n" + std::to_string(i));
            inputs.push_back({ i - 1 });
        }
        QCOMPARE(
            blocksOf(names, inputs), (std::vector<Units> { { 0, 1, 2, 3, 4, 5 }, { 6, 7, 8, 9, 10, 11 }, { 12, 13 } }));
        QVERIFY(unitBlocks(networkOf(names, inputs), UnitKind::Type, unitsNamed(names)).empty());
    }

    /// Units 0 and 1 make noise only together (each hides the other), unit 2 a little: single steps would never leave
    /// 0 or 1 out.
    void blocksAreTakenWhereUnitsDoNotPay()
    {
        const auto noiseOf = [](const Units& units) {
            const auto out = [&](size_t unit) { return std::ranges::find(units, unit) != units.end(); };
            return (out(0) && out(1) ? 0.0 : 10.0) + (out(2) ? 0.0 : 1.0);
        };
        const auto scoreOf = [&](const Units& units) {
            OutputScore score;
            score.signal = 100;
            score.noise = noiseOf(units);
            return score;
        };
        size_t measured = 0;
        ExclusionCosts costs;
        costs.units = { 0.4, 0.4, 0.4 };
        costs.measure = [&](const std::vector<Units>& choices) -> Result<std::vector<OutputScore>> {
            std::vector<OutputScore> scores;
            for (const Units& units : choices)
                scores.push_back(scoreOf(units));
            measured += choices.size();
            return scores;
        };
        std::vector<ExclusionMove> moves;
        for (const Units& units : { Units { 0 }, Units { 1 }, Units { 2 }, Units { 0, 1 } })
            moves.push_back({ units, scoreOf(units) });
        const auto found = searchExclusions(scoreOf({}), moves, costs);
        QVERIFY(found.ok());
        QCOMPARE(found->size(), size_t(2));
        QCOMPARE(found->at(0).units, (Units { 0, 1 }));
        QCOMPARE(found->at(1).units, (Units { 0, 1, 2 }));
        QCOMPARE(found->at(1).score.noise, 0.0);
        QVERIFY(measured <= 8);
    }

    void nothingIsLeftOutThatDoesNotHelp()
    {
        ExclusionCosts costs;
        costs.units = { 1, 1 };
        costs.measure = [&](const std::vector<Units>& choices) -> Result<std::vector<OutputScore>> {
            return std::vector<OutputScore>(choices.size(), OutputScore { 1, 2, 0, 0 });
        };
        // It seemed to help alone, but measured again it does not.
        const auto found = searchExclusions({ 1, 1, 0, 0 }, { { { 0 }, { 1, 0.5, 0, 0 } } }, costs);
        QVERIFY(found.ok() && found->empty());
    }
};

int qs::test::runExclusionTests(int argc, char** argv)
{
    ExclusionTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "exclusion_test.moc"
