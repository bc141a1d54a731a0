// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/recipe_edit.h"
#include "tests/models/suites.h"
#include "tests/support/recipe_nodes.h"
#include "widgets/models/recipe/node_tree_model.h"
#include "widgets/models/recipe/recipe_fields.h"
#include "widgets/models/recipe/setting_changes.h"
#include "widgets/models/tables/advice_models.h"
#include "widgets/models/tables/run_model.h"

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTest>

#include <numeric>

using namespace qs;

namespace {

constexpr auto kTesterMode = QAbstractItemModelTester::FailureReportingMode::QtTest;

std::vector<RecipeNode> someNodes()
{
    return { { "/stem/conv", "Conv" }, { "/block1/branch/conv_a", "Conv" }, { "/block1/branch/relu", "Relu" },
        { "/block1/add", "Add" }, { "head", "Gemm" } };
}

void refresh(NodeTreeModel& model, const Recipe& recipe)
{
    model.setStates(
        nodeStates(recipe, {}, model.nodes()), std::vector<std::optional<double>>(model.nodes().size(), 12.5));
}

RunNumbers numbersOf(double sqnr, double accuracy)
{
    RunNumbers numbers;
    numbers.outputSqnrDb = sqnr;
    numbers.accuracy = accuracy;
    numbers.quantizedMacShare = 1;
    numbers.fileBytes = 1'234'567;
    numbers.samples = 4;
    numbers.measuredOn = "data: samples\n4\nsimulated";
    return numbers;
}

/// Each node is a unit of its own.
NodeUnits apart(const std::vector<RecipeNode>& nodes)
{
    std::vector<size_t> heads(nodes.size());
    std::iota(heads.begin(), heads.end(), size_t(0));
    return NodeUnits(heads);
}

RunTree someRuns()
{
    RunTree tree;
    RecipeRun first;
    first.name = "imported";
    first.imported = true;
    first.numbers = numbersOf(0.5, 0.5);
    RecipeRun second = first;
    second.name = "Recalibrate";
    second.imported = false;
    second.recipe.perChannel = true;
    second.numbers = numbersOf(27.9, 1);
    second.parent = tree.add(first);
    tree.add(second);
    return tree;
}

} // namespace

class TestRecipeModels : public QObject {
    Q_OBJECT
private slots:
    /// A view asks for every row and its parent, again and again.
    void manyRuns()
    {
        constexpr RunId kRuns = 20'000;
        std::vector<RecipeRun> runs(kRuns);
        for (RunId i = 0; i < kRuns; ++i) {
            runs[i].id = i + 1;
            runs[i].parent = i % 10 == 0 ? 0 : i;
            runs[i].name = "run";
        }
        RunModel model;
        QElapsedTimer timer;
        timer.start();
        model.setRuns(RunTree::of(std::move(runs), 1));
        QCOMPARE(model.rowCount(), int(kRuns / 10));
        for (RunId id = 1; id <= kRuns; ++id) {
            const QModelIndex index = model.indexOf(id);
            QCOMPARE(index.parent(), id % 10 == 1 ? QModelIndex() : model.indexOf(id - 1));
            QCOMPARE(model.index(index.row(), 0, index.parent()), index);
            QVERIFY(index.data().toString().startsWith(QStringLiteral("run")));
        }
        QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
    }

    void nodesStandUnderTheirScopes()
    {
        NodeTreeModel model;
        QAbstractItemModelTester tester(&model, kTesterMode);
        model.setNodes(someNodes(), apart(someNodes()));
        QCOMPARE(model.rowCount(), 3);
        QCOMPARE(model.index(0, 0).data().toString(), QStringLiteral("stem/conv")); // alone in its scope
        const QModelIndex block = model.index(1, 0);
        QCOMPARE(block.data().toString(), QStringLiteral("block1"));
        QCOMPARE(model.rowCount(block), 2);
        QCOMPARE(model.membersOf(block).size(), size_t(3));
        QVERIFY(!model.nodeOf(block));
        const QModelIndex relu = model.indexOf("/block1/branch/relu");
        QCOMPARE(relu.data().toString(), QStringLiteral("relu"));
        QCOMPARE(model.nodeOf(relu), std::optional<size_t>(2));
        model.setGrouping(NodeGrouping::Type);
        QCOMPARE(model.rowCount(), 4);
        QCOMPARE(model.membersOf(model.index(1, 0)).size(), size_t(2)); // Conv
        model.setGrouping(NodeGrouping::Scope);
        model.setNodes({}, {});
        QCOMPARE(model.rowCount(), 0);
    }

    void checkBoxesHaveThreeStates()
    {
        NodeTreeModel model;
        QAbstractItemModelTester tester(&model, kTesterMode);
        model.setNodes(someNodes(), apart(someNodes()));
        Recipe recipe;
        refresh(model, recipe);
        const QModelIndex block = model.index(1, 0);
        QCOMPARE(block.data(Qt::CheckStateRole).toInt(), int(Qt::Checked));
        QCOMPARE(block.siblingAtColumn(1).data().toString(), QStringLiteral("3 of 3"));
        recipe = test::withNode(recipe, model.nodes(), 1, false);
        refresh(model, recipe);
        QCOMPARE(block.data(Qt::CheckStateRole).toInt(), int(Qt::PartiallyChecked));
        const QModelIndex conv = model.indexOf("/block1/branch/conv_a");
        QCOMPARE(conv.data(Qt::CheckStateRole).toInt(), int(Qt::Unchecked));
        QCOMPARE(conv.siblingAtColumn(1).data().toString(), QStringLiteral("float"));
        QVERIFY(conv.data(Qt::ToolTipRole).toString().contains(QStringLiteral("set here")));
        recipe = withExclusion(recipe, "/block1/*", true);
        refresh(model, recipe);
        QCOMPARE(block.data(Qt::CheckStateRole).toInt(), int(Qt::Unchecked));
        QCOMPARE(model.quantizedCount(), size_t(2));
    }

    /// What the recipe asks for and the quantizer could not do does not count as quantized.
    void whatStaysInFloatIsNotQuantized()
    {
        NodeTreeModel model;
        QAbstractItemModelTester tester(&model, kTesterMode);
        model.setNodes(someNodes(), apart(someNodes()));
        std::vector<NodeState> states = nodeStates({}, {}, model.nodes());
        states[1].staysFloat = true;
        model.setStates(states, std::vector<std::optional<double>>(states.size(), 12.5));
        QCOMPARE(model.quantizedCount(), size_t(4));
        QCOMPARE(model.index(1, 1).data().toString(), QStringLiteral("2 of 3"));
        const QModelIndex conv = model.indexOf("/block1/branch/conv_a");
        QCOMPARE(conv.data(Qt::CheckStateRole).toInt(), int(Qt::Checked)); // the wish stays
        QCOMPARE(conv.siblingAtColumn(1).data().toString(), QStringLiteral("stays float"));
        QVERIFY(!conv.data(NodeTreeModel::QuantizedRole).toBool());
        QVERIFY(conv.data(Qt::ToolTipRole).toString().contains(QStringLiteral("stays in float")));
    }

    void unitsAreOneRowWithParts()
    {
        NodeTreeModel model;
        QAbstractItemModelTester tester(&model, kTesterMode);
        const std::vector<RecipeNode> nodes { { "/stem/conv", "Conv" }, { "/stem/act/relu", "Relu" },
            { "/head/gemm", "Gemm" } };
        const NodeUnits units({ 0, 0, 2 });
        QCOMPARE(units.whole(std::vector<size_t> { 1 }), (std::vector<size_t> { 0, 1 }));
        for (const NodeGrouping grouping : { NodeGrouping::Scope, NodeGrouping::Type }) {
            model.setGrouping(grouping);
            model.setNodes(nodes, units);
            refresh(model, {});
            const QModelIndex unit = model.unitIndexOf("/stem/act/relu");
            QCOMPARE(model.unitIndexOf("/stem/conv"), unit);
            QVERIFY(unit.data().toString().contains(QStringLiteral("conv + ")));
            QCOMPARE(model.membersOf(unit), (std::vector<size_t> { 0, 1 }));
            QCOMPARE(model.nodeOf(unit), std::optional<size_t>(1)); // whose output is the unit's
            QCOMPARE(model.rowCount(unit), 2);
            QSignalSpy asked(&model, &NodeTreeModel::changeRequested);
            QVERIFY(model.setData(unit, Qt::Unchecked, Qt::CheckStateRole));
            QCOMPARE(asked[0][0].value<std::vector<size_t>>(), (std::vector<size_t> { 0, 1 }));
            QCOMPARE(asked[0][2].toString(), QStringLiteral("/stem/conv + /stem/act/relu"));
            QVERIFY(model.setData(model.indexOf("/stem/act/relu"), Qt::Unchecked, Qt::CheckStateRole));
            QCOMPARE(asked[1][0].value<std::vector<size_t>>(), (std::vector<size_t> { 1 }));
            const Recipe part = test::withNode({}, model.nodes(), 1, false);
            refresh(model, part);
            QCOMPARE(unit.data(Qt::CheckStateRole).toInt(), int(Qt::PartiallyChecked));
            QCOMPARE(unit.siblingAtColumn(1).data().toString(), QStringLiteral("1 of 2"));
        }
    }

    void checkingAsksForAnEdit()
    {
        NodeTreeModel model;
        model.setNodes(someNodes(), apart(someNodes()));
        refresh(model, {});
        QSignalSpy asked(&model, &NodeTreeModel::changeRequested);
        QVERIFY(model.setData(model.index(1, 0), Qt::Unchecked, Qt::CheckStateRole));
        QCOMPARE(asked.size(), 1);
        QCOMPARE(asked[0][0].value<std::vector<size_t>>().size(), size_t(3));
        QCOMPARE(asked[0][1].toBool(), false);
        QCOMPARE(asked[0][2].toString(), QStringLiteral("block1"));
        QCOMPARE(model.index(1, 0).data(Qt::CheckStateRole).toInt(), int(Qt::Checked)); // not changed yet
    }

    void runsFormATree()
    {
        RunModel model;
        QAbstractItemModelTester tester(&model, kTesterMode);
        RunTree tree = someRuns();
        model.setRuns(tree);
        QCOMPARE(model.rowCount(), 1);
        const QModelIndex root = model.index(0, 0);
        QCOMPARE(model.rowCount(root), 1);
        const QModelIndex child = model.index(0, 0, root);
        QVERIFY(child.data(RunModel::BestRole).toBool());
        QVERIFY(child.data().toString().endsWith(QStringLiteral("★")));
        QCOMPARE(
            child.siblingAtColumn(model.columnOf(RunModel::Key::Sqnr)).data().toString(), QStringLiteral("27.9 dB"));
        QCOMPARE(
            child.siblingAtColumn(model.columnOf(RunModel::Key::Size)).data().toString(), QStringLiteral("1.23 MB"));
        QSignalSpy renamed(&model, &RunModel::renamed), noted(&model, &RunModel::annotated);
        QVERIFY(model.setData(child, QStringLiteral("mended"), Qt::EditRole));
        QVERIFY(!model.setData(child, QStringLiteral(" "), Qt::EditRole));
        QVERIFY(model.setData(
            child.siblingAtColumn(model.columnOf(RunModel::Key::Note)), QStringLiteral("why"), Qt::EditRole));
        QCOMPARE(renamed.size(), 1);
        QCOMPARE(noted.size(), 1);
        QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
        tree.rename(model.idOf(child), "mended");
        model.setRuns(tree);
        QCOMPARE(resets.size(), 0);
        tree.remove(model.idOf(child));
        model.setRuns(tree);
        QCOMPARE(model.rowCount(model.index(0, 0)), 0);
    }

    void differencesOfRunsHaveADirection()
    {
        const RunTree tree = someRuns();
        const auto changes = numberChanges(tree.runs()[0], tree.runs()[1]);
        QCOMPARE(changes[0].before, QStringLiteral("0.5 dB"));
        QCOMPARE(changes[0].after, QStringLiteral("27.9 dB"));
        QCOMPARE(changes[0].better, 1);
        QCOMPARE(changes[1].title, QStringLiteral("Accuracy"));
        QCOMPARE(numberChanges(tree.runs()[1], tree.runs()[0])[0].better, -1);
        QCOMPARE(settingChanges(tree.runs()[0].recipe, tree.runs()[1].recipe).size(), size_t(1));
    }

    void unitsAreSaidOnce()
    {
        QCOMPARE(
            changeText({ {}, QStringLiteral("0.5 dB"), QStringLiteral("27.9 dB") }), QStringLiteral("0.5 → 27.9 dB"));
        QCOMPARE(changeText({ {}, QStringLiteral("999 kB"), QStringLiteral("1.02 MB") }),
            QStringLiteral("999 kB → 1.02 MB"));
        QCOMPARE(
            changeText({ {}, QStringLiteral("27.9 dB"), QStringLiteral("exact") }), QStringLiteral("27.9 dB → exact"));
        QCOMPARE(changeText({ {}, QStringLiteral("exact"), QStringLiteral("exact") }), QStringLiteral("exact"));
    }

    void numbersOfOtherDataAreNoGain()
    {
        const RunTree tree = someRuns();
        RecipeRun before = tree.runs()[0];
        const RecipeRun& after = tree.runs()[1];
        before.numbers->measuredOn = "data: others\n8\nsimulated";
        const auto changes = numberChanges(before, after);
        QCOMPARE(changes[0].title, QStringLiteral("Output SQNR"));
        QCOMPARE(changes[0].before, QStringLiteral("other data"));
        QCOMPARE(changes[0].after, QStringLiteral("27.9 dB"));
        QCOMPARE(changes[0].better, 0);
        QVERIFY(changes[0].note.contains(toQt(before.name)));
        QCOMPARE(changes[1].before, QStringLiteral("other data"));
        before.numbers->measuredOn = after.numbers->measuredOn + "\nlogits:classes";
        QVERIFY(numberChanges(before, after)[0].before != QStringLiteral("0.5 dB"));
        before.numbers->measuredOn = "data: samples\n4\ninteger";
        QCOMPARE(numberChanges(before, after)[0].before, QStringLiteral("other arithmetic"));
        RecipeRun unlabelled = after; // no accuracy there: that of other data says nothing of it
        unlabelled.numbers->measuredOn = "unlabelled.npz";
        unlabelled.numbers->accuracy.reset();
        for (const NumberChange& change : numberChanges(after, unlabelled))
            QVERIFY(change.title != QStringLiteral("Accuracy"));
    }

    void runsOfOtherDataAreMarked()
    {
        RunTree tree = someRuns();
        RunNumbers other = *tree.runs()[0].numbers;
        other.measuredOn = "data: others\n4\nsimulated";
        tree.measured(tree.runs()[0].id, other);
        RunModel model;
        model.setRuns(tree);
        const QModelIndex first = model.indexOf(tree.runs()[0].id), current = model.indexOf(tree.current());
        QVERIFY(first.data(RunModel::OtherwiseRole).toBool());
        QVERIFY(!current.data(RunModel::OtherwiseRole).toBool());
        QVERIFY(first.data().toString().startsWith(QStringLiteral("other data")));
        QCOMPARE(first.data(Qt::EditRole).toString(), QStringLiteral("imported"));
        QVERIFY(!current.data().toString().contains(QStringLiteral("other data")));
    }

    /// What another exporter wrote larger does not become better by an edit.
    void sizesOfOtherWritersAreNotJudged()
    {
        const RunTree tree = someRuns();
        RecipeRun before = tree.runs()[0], after = tree.runs()[1];
        before.numbers->fileBytes = 150'000;
        after.numbers->fileBytes = 90'000;
        for (const bool loaded : { false, true }) {
            before.imported = loaded;
            after.imported = false;
            const auto changes = numberChanges(before, after);
            QCOMPARE(changes.back().title, QStringLiteral("File size"));
            QCOMPARE(changes.back().better, loaded ? 0 : 1);
            QCOMPARE(changes.back().note.isEmpty(), !loaded);
        }
    }

    void settingsDifferInWords_data()
    {
        QTest::addColumn<Recipe>("before");
        QTest::addColumn<Recipe>("after");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("whole");
        const auto row
            = [](const char* name, const Recipe& before, const Recipe& after, const char* text, const char* whole) {
                  QTest::newRow(name) << before << after << QString::fromUtf8(text)
                                      << QString::fromUtf8(*whole ? whole : text);
              };
        const Recipe plain;
        Recipe excludes, channels, own, codes, percentile;
        excludes.exclude = { "a", "b", "c", "d", "e" };
        row("a long list", plain, excludes, "Excluded 5: a, b, c …", "Excluded 5: a, b, c, d, e");
        Recipe fewer = excludes;
        fewer.exclude.pop_back();
        row("one left the list", excludes, fewer, "No longer excluded 1: e", "");
        channels.perChannel = true;
        row("a choice", plain, channels, "Weights: granularity: per tensor → per channel", "");
        own.tensors["x.y"].parts.front().type = DType::UInt16;
        row("a tensor", plain, own, "Own settings (1): x.y", "");
        Recipe other = own;
        other.tensors["x.y"].parts.front().type = DType::Int16;
        row("a tensor's other setting", own, other, "Other own settings (1): x.y", "");
        codes.codes.constants = { { "w", { "w_q", "1" } } };
        row("codes", codes, plain, "Codes computed anew (1): w", "");
        percentile.reduceRange = true;
        percentile.noOutputTypes = { "Conv" };
        row("what the form does not have", plain, percentile, "no_output_types: added (1): Conv", "");
    }

    void settingsDifferInWords()
    {
        QFETCH(Recipe, before);
        QFETCH(Recipe, after);
        QFETCH(QString, text);
        QFETCH(QString, whole);
        const auto changes = settingChanges(before, after);
        QVERIFY(!changes.empty());
        QCOMPARE(changes.back().text, text);
        QCOMPARE(changes.back().whole, whole);
        QVERIFY(settingChanges(after, after).empty());
    }

    void adviceIsATable()
    {
        SensitivityModel model;
        QAbstractItemModelTester tester(&model, kTesterMode);
        Sensitivity found;
        found.quantized = { 100, 10, 0, 0 };
        found.units = { { "conv_2", "Conv", { 100, 5, 0, 0 }, { 100, 1, 0, 0 }, 0.4 } };
        model.setSensitivity(&found);
        QCOMPARE(model.rowCount(), 1);
        QCOMPARE(
            model.index(0, model.columnOf(SensitivityModel::Key::Gain)).data().toString(), QStringLiteral("+10.0 dB"));
        QCOMPARE(
            model.index(0, model.columnOf(SensitivityModel::Key::Macs)).data().toString(), QStringLiteral("40.0 %"));
        model.setSensitivity(nullptr);
        QCOMPARE(model.rowCount(), 0);
        FoundRecipeModel recipes;
        QAbstractItemModelTester other(&recipes, kTesterMode);
        recipes.setFound({ { "entropy, per channel", {}, numbersOf(20, 1) } });
        QCOMPARE(recipes.index(0, recipes.columnOf(FoundRecipeModel::Key::Sqnr)).data().toString(),
            QStringLiteral("20.0 dB"));
    }

    void everyFieldReadsWhatItWrites()
    {
        for (const RecipeField& field : recipeFields()) {
            Recipe recipe;
            for (qsizetype i = 0; i < field.choices.size(); ++i) {
                field.set(recipe, double(i));
                QCOMPARE(field.get(recipe), double(i));
                QCOMPARE(field.text(recipe), field.choices[i]);
            }
            if (field.choices.isEmpty()) {
                field.set(recipe, field.line().limits.most);
                QCOMPARE(field.get(recipe), field.line().limits.most);
            }
            QVERIFY2(!(recipe == Recipe {}) || field.get(recipe) == field.get(Recipe {}), field.path().c_str());
            field.copy(recipe, Recipe {});
            QVERIFY2(recipe == Recipe {}, field.path().c_str());
        }
    }
};

int runRecipeModels(int argc, char** argv)
{
    TestRecipeModels tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "test_recipe_models.moc"
