// SPDX-License-Identifier: GPL-3.0-or-later
// What the loop of edits, runs and projects is made of.
#include "core/base/files/atomic_file.h"
#include "core/onnx/import.h"
#include "core/prepare/prepare.h"
#include "core/project/files/project_file.h"
#include "core/project/quantize/quantize_model.h"
#include "core/project/shards/shard_state.h"
#include "core/project/shards/shards.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/project/snapshot/quantized_example.h"
#include "core/quant/model/name_collisions.h"
#include "core/quant/read_back/draft_differences.h"
#include "core/quant/recipe/recipe_edit.h"
#include "core/quant/recipe/recipe_json.h"
#include "core/quant/recipe/recipe_ranges.h"
#include "core/quant/recipe/setting_origins.h"
#include "core/quant/write/quantizer.h"
#include "tests/support/recipe_nodes.h"
#include "tests/support/small_model.h"
#include "tests/support/tensors.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace qs;

namespace {

const std::string kExamples = QS_SOURCE_DIR "/resources/examples/";

std::vector<RecipeNode> someNodes()
{
    return { { "/a/conv", "Conv" }, { "/a/relu", "Relu" }, { "/b/conv", "Conv" }, { "/b/log", "Log" } };
}

RecipeRun namedRun(const std::string& name, RunId parent = 0)
{
    RecipeRun run;
    run.name = name;
    run.parent = parent;
    return run;
}

RunNumbers worth(double db, double accuracy)
{
    RunNumbers numbers;
    numbers.outputSqnrDb = db;
    numbers.accuracy = accuracy;
    numbers.samples = 4;
    numbers.measuredOn = "data: these";
    return numbers;
}

/// The model with the names of two weights exchanged.
Result<std::shared_ptr<const Model>> withNamesExchanged(
    const std::shared_ptr<const Model>& model, const std::string& a, const std::string& b)
{
    GraphDraft draft(model);
    const auto renamed = [&](const std::string& name) {
        return name.starts_with(a + "_") ? b + name.substr(a.size())
            : name.starts_with(b + "_")  ? a + name.substr(b.size())
                                         : name;
    };
    std::vector<std::pair<std::string, Tensor>> constants;
    for (const std::string& name : draft.constants())
        if (renamed(name) != name)
            constants.emplace_back(renamed(name), *draft.constant(name));
    for (const auto& [name, tensor] : constants)
        draft.setConstant(name, tensor);
    for (DraftNode& node : draft.nodes) {
        node.name = renamed(node.name);
        for (auto* names : { &node.inputs, &node.outputs })
            for (std::string& name : *names)
                name = renamed(name);
    }
    return draft.build();
}

/// The same network as another exporter would write it: its own names for all but inputs and outputs.
Result<std::shared_ptr<const Model>> exportedAnew(const std::shared_ptr<const Model>& model)
{
    GraphDraft draft(model);
    std::set<std::string> names;
    for (const std::string& name : draft.constants())
        names.insert(name);
    for (const DraftNode& node : draft.nodes)
        names.insert(node.outputs.begin(), node.outputs.end());
    names.erase(std::string());
    for (const auto* kept : { &draft.inputs(), &draft.outputs() })
        for (const std::string& name : *kept)
            names.erase(name);
    size_t number = 0;
    for (const std::string& name : names)
        QS_CHECK(renameTensor(draft, name, "val_" + std::to_string(++number)));
    for (DraftNode& node : draft.nodes)
        node.name = "node_" + std::to_string(++number);
    return draft.build();
}

} // namespace

class TestLoop : public QObject {
    Q_OBJECT
private slots:
    /// Projects of older versions name the path of the data, as it was said when they were measured.
    void olderProjectsNamePaths()
    {
        std::vector<RecipeRun> runs(4);
        const char* measured[] = { "j4/prompts.npz\n\n0\n24\nsimulated", "/x/j4/prompts.npz\n\n0\n24\nsimulated",
            "/x/other/prompts.npz\n\n0\n24\nsimulated", "/x/j4/prompts.npz\n\n0\n24\ninteger" };
        for (size_t i = 0; i < runs.size(); ++i) {
            runs[i].id = RunId(i + 1);
            runs[i].numbers = worth(20, 0.5);
            runs[i].numbers->measuredOn = measured[i];
        }
        replacePaths(runs, 2);
        RunTree tree = RunTree::of(runs, 2);
        const auto found
            = [&](size_t run) { return measurementOf(*tree.find(2)->numbers, *tree.find(RunId(run))->numbers); };
        const auto check = [&] {
            return found(1) == Measurement::Same && found(3) == Measurement::OtherData
                && found(4) == Measurement::OtherArithmetic;
        };
        QVERIFY(check());
        QCOMPARE(tree.find(1)->numbers->data, std::string("prompts.npz"));
        tree.nameData("data: 1234\n24\nsimulated");
        QVERIFY(check());
        QCOMPARE(tree.find(1)->numbers->measuredOn, std::string("data: 1234\n24\nsimulated"));
        QCOMPARE(tree.find(4)->numbers->measuredOn, std::string("data: 1234\n24\ninteger"));
    }

    /// A state that says more samples than its file has room for makes no room for them.
    void shardsOfNothing()
    {
        const QTemporaryDir dir;
        const std::string path = dir.filePath("s.qstate").toStdString();
        Inputs inputs;
        inputs.floatPath = kExamples + "digits_float.onnx";
        inputs.quantPath = kExamples + "digits_qdq.onnx";
        inputs.data.spec = kExamples + "digits_samples.npz";
        inputs.data.limit = 3;
        inputs.threads = 1;
        inputs.shard = Shard { 1, 1 };
        const auto built = buildSnapshot(inputs, nullptr, {}, {});
        QVERIFY(built.ok());
        const SnapshotPtr snapshot = *built;
        QVERIFY(writeShardState(path, std::span(&snapshot, 1)).ok());
        QVERIFY(mergeShards({ path }, {}).ok());
        for (const size_t samples : { size_t(100'000), size_t(1) << 40, size_t(1) << 62 }) {
            auto state = readShardState(path);
            QVERIFY(state.ok());
            state->header.samples = samples;
            const std::string forged = dir.filePath("forged.qstate").toStdString();
            QVERIFY(writeFile(forged, shardStateBytes(*state)).ok());
            const auto merged = mergeShards({ forged }, {});
            QVERIFY(!merged.ok());
            QCOMPARE(merged.issue().kind, IssueKind::BadInput);
        }
    }

    void copiesInStepsOfUndo()
    {
        const auto steps = [](const std::string& patch) {
            return stepsFromJson(R"({"index": 0, "first": {"recipe": {}, "links": {"pairs": []}}, "steps": [)"
                                 R"({"text": "t", "patch": [)"
                + patch + "]}]}");
        };
        QVERIFY(steps(R"({"op": "replace", "path": "/links/pairs", "value": []})").ok());
        QVERIFY(!steps(R"({"op": "copy", "from": "/links", "path": "/links/apart"})").ok());
        QVERIFY(!steps(R"({"op": "add", "path": "/a)" + std::string(100, '/') + R"(", "value": 1})").ok());
    }

    void stepsInProjects_data()
    {
        QTest::addColumn<size_t>("index"); ///< of the present one of five states
        QTest::addColumn<size_t>("bytes"); ///< that their names take, each
        QTest::addColumn<size_t>("first"); ///< state that is kept
        QTest::addColumn<size_t>("last");
        QTest::newRow("all") << size_t(3) << size_t(1) << size_t(0) << size_t(4);
        QTest::newRow("the nearest to undo") << size_t(4) << kMostStepBytes / 3 << size_t(2) << size_t(4);
        QTest::newRow("those to undo before the others") << size_t(2) << kMostStepBytes / 3 << size_t(0) << size_t(2);
        QTest::newRow("then the nearest to redo") << size_t(1) << kMostStepBytes / 3 << size_t(0) << size_t(2);
        QTest::newRow("none, as they are too large") << size_t(1) << kMostStepBytes + 1 << size_t(1) << size_t(1);
    }
    /// What is kept leads from the first state to the last, and the present one is the same.
    void stepsInProjects()
    {
        QFETCH(size_t, index);
        QFETCH(size_t, bytes);
        QFETCH(size_t, first);
        QFETCH(size_t, last);
        Project project;
        for (size_t i = 0; i < 5; ++i) {
            auto state = std::make_shared<WorkState>();
            state->recipe.calibration.percentile = 90 + double(i);
            project.steps.states.push_back(state);
            if (i > 0)
                project.steps.texts.push_back(std::to_string(i) + std::string(bytes - 1, '.'));
        }
        project.steps.index = index;
        project.otherwise = { "one", "two" };
        const auto read = projectFromJson(projectToJson(project, "/a/p.qscope"), "/a/p.qscope");
        QVERIFY2(read.ok(), read.ok() ? "" : read.issue().what.c_str());
        QCOMPARE(read->otherwise, project.otherwise);
        QCOMPARE(read->steps.empty(), first == last);
        QCOMPARE(read->steps.texts.size(), last - first);
        for (size_t i = first; i <= last && first < last; ++i) {
            QVERIFY(*read->steps.states[i - first] == *project.steps.states[i]);
            if (i < last)
                QCOMPARE(read->steps.texts[i - first], project.steps.texts[i]);
        }
        QCOMPARE(first + read->steps.index, first == last ? first : index);
    }

    /// Projects of earlier versions have none, and what is damaged takes nothing else away.
    void projectsWithoutSteps()
    {
        Project project;
        project.inputs.floatPath = "/a/f.onnx";
        const std::string text = projectToJson(project, "/a/p.qscope");
        QVERIFY(text.find("\"undo\"") == std::string::npos && text.find("\"otherwise\"") == std::string::npos);
        std::string damaged = text;
        damaged.insert(damaged.find('{') + 1, R"("undo": {"index": 7, "first": 3, "steps": []},)");
        for (const std::string& one : { text, damaged }) {
            const auto read = projectFromJson(one, "/a/p.qscope");
            QVERIFY2(read.ok(), read.ok() ? "" : read.issue().what.c_str());
            QCOMPARE(read->inputs.floatPath, project.inputs.floatPath);
            QVERIFY(read->steps.empty() && read->otherwise.empty());
        }
    }

    void nodesAreLeftOutAndTakenBack()
    {
        const auto nodes = someNodes();
        const Recipe start;
        const RecipeBase base { start, ValueOrigin::Preset };
        Recipe r = test::withNode(start, nodes, 0, false);
        QVERIFY(r.exclude == std::vector<std::string> { "/a/conv" });
        QVERIFY(test::withNode(r, nodes, 0, true) == start);
        r = withExclusion(start, "/a/*", true);
        auto states = nodeStates(r, base, nodes);
        QVERIFY(!states[0].quantized && !states[1].quantized && states[2].quantized && !states[3].quantized);
        QVERIFY(states[0].origin == ValueOrigin::ByPattern);
        QCOMPARE(states[0].by, std::string("/a/*"));
        r = test::withNode(r, nodes, 0, true); // the rest of the pattern stays out, by name
        states = nodeStates(r, base, nodes);
        QVERIFY(states[0].quantized && !states[1].quantized);
        QVERIFY(triState(states, std::vector<size_t> { 0, 1 }) == TriState::Some);
        r = withType(start, nodes, "Conv", false);
        QVERIFY(!nodeStates(r, base, nodes)[2].quantized);
        QVERIFY(withType(r, nodes, "Conv", true) == start);
        r = test::withNode(start, nodes, 3, true); // of a type that nobody quantizes by default
        QVERIFY(nodeStates(r, base, nodes)[3].quantized);
    }

    void aTensorFollowsACalibrator()
    {
        const Recipe start;
        CalibratorOptions percentile;
        percentile.kind = Calibrator::Percentile;
        percentile.percentile = 99;
        Recipe r = withCalibrator(withRange(start, "t", -1, 2), "t", percentile);
        QVERIFY(!r.tensors.at("t").parts.front().lowest);
        QVERIFY(*tensorOrigins(r, { start, ValueOrigin::Preset }, "t").calibrator == ValueOrigin::Override);
        const auto read = recipeFromJson(recipeToJson(r));
        QVERIFY(read.ok() && *read == r);
        QVERIFY(withCalibrator(r, "t", std::nullopt) == start);
        QVERIFY(!withRange(r, "t", 0, 1).tensors.at("t").calibrator);
        QVERIFY(!withScale(r, "t", 1, 0).tensors.at("t").calibrator);
        QVERIFY(covers({ neededBy(r), 0, {} }, r));
        QVERIFY(!covers({ neededBy(start), 0, {} }, r));
        QVERIFY(!recipeFromJson(R"({"tensors":{"t":{"calibrator":{"percentile":101}}}})").ok());

        // What one collection has to hold for two calibrators of one kind.
        Recipe two = withCalibrator(r, "u", percentile);
        two.tensors.at("u").calibrator->percentile = 98;
        QVERIFY(covers({ neededBy(two), 0, {} }, two));
    }

    /// The link gives what calibrating everything so gives, for this tensor alone; and it follows other data.
    void aLinkIsResolvedFromWhatWasSeen()
    {
        Inputs inputs;
        inputs.floatPath = kExamples + "digits_float.onnx";
        inputs.data.spec = kExamples + "digits_samples.npz";
        inputs.data.limit = 20;
        inputs.recipe = quantscopeRecipe();
        inputs.compare = false;
        const auto built = [&](const Recipe& recipe, const SnapshotPtr& previous = nullptr) {
            inputs.recipe = recipe;
            return buildSnapshot(inputs, previous, {}, {}).value();
        };
        CalibratorOptions percentile;
        percentile.kind = Calibrator::Percentile;
        percentile.percentile = 97;
        Recipe everywhere = quantscopeRecipe();
        everywhere.calibration = percentile;
        const SnapshotPtr plain = built(quantscopeRecipe()), all = built(everywhere);
        const std::string tensor = plain->quantization->ranges.tensors.rbegin()->first;
        const Recipe linked = withCalibrator(quantscopeRecipe(), tensor, percentile);
        for (const SnapshotPtr& previous : { SnapshotPtr(), plain, all }) {
            const SnapshotPtr made = built(linked, previous);
            QCOMPARE(made->quantization->ranges.tensors.size(), plain->quantization->ranges.tensors.size());
            for (const auto& [name, range] : made->quantization->ranges.tensors) {
                const SnapshotPtr& like = name == tensor ? all : plain;
                QVERIFY2(range == like->quantization->ranges.tensors.at(name), name.c_str());
            }
        }
        inputs.data.limit = 3;
        QVERIFY(built(linked)->quantization->ranges.tensors.at(tensor)
            == built(everywhere)->quantization->ranges.tensors.at(tensor));
        inputs.recipe = withCalibrator(quantscopeRecipe(), plain->floatModel->draft->constants().front(), percentile);
        const auto refused = buildSnapshot(inputs, nullptr, {}, {});
        QVERIFY(!refused.ok() && refused.issue().kind == IssueKind::BadInput);
    }

    /// Where edits follow, one pass over the network serves every calibrator, and a second time all their options.
    void anotherCalibratorRunsNothing()
    {
        Inputs inputs;
        inputs.floatPath = kExamples + "digits_float.onnx";
        inputs.data.spec = kExamples + "digits_samples.npz";
        inputs.recipe = quantscopeRecipe();
        inputs.compare = false;
        inputs.threads = 1;
        SnapshotPtr last;
        std::set<std::string> phases;
        const ProgressFn note = [&](std::string_view phase, size_t, size_t) { phases.emplace(phase); };
        const auto runs = [&](Calibrator calibrator, double percentile) {
            inputs.recipe->calibration.kind = calibrator;
            inputs.recipe->calibration.percentile = percentile;
            phases.clear();
            inputs.activationCache = uint64_t(1) << 26;
            last = buildSnapshot(inputs, last, note, {}).value();
            const int found = int(phases.contains("ranges")) + int(phases.contains("histograms"));
            inputs.activationCache = 0;
            const SnapshotPtr anew = buildSnapshot(inputs, nullptr, {}, {}).value();
            return last->quantization->ranges.tensors == anew->quantization->ranges.tensors ? found : -1;
        };
        QCOMPARE(runs(Calibrator::MinMax, 99.999), 1);
        for (const Calibrator calibrator : { Calibrator::Percentile, Calibrator::MovingAverage, Calibrator::Entropy,
                 Calibrator::Mse, Calibrator::MinMax })
            QCOMPARE(runs(calibrator, 99.999), 0);
        QVERIFY(runs(Calibrator::Percentile, 99) > 0);
        for (const double percentile : { 98.0, 99.99, 99.999, 50.0 })
            QCOMPARE(runs(Calibrator::Percentile, percentile), 0);
        QCOMPARE(runs(Calibrator::Mse, 99), 0);
    }

    void tensorsHaveRangesOfTheirOwn()
    {
        const Recipe start;
        const RecipeBase base { start, ValueOrigin::Preset };
        Recipe r = withRange(start, "t", -1, 2);
        QVERIFY(*tensorOrigins(r, base, "t").range == ValueOrigin::Override);
        QVERIFY(!tensorOrigins(r, base, "u").any());
        r = withScale(r, "t", 0.5, 3);
        QVERIFY(!r.tensors["t"].parts[0].lowest);
        QVERIFY(withoutOverride(r, start, "t") == start);
        QVERIFY(withTensorType(withTensorType(start, "t", DType::UInt8), "t", std::nullopt) == start);
        QVERIFY(SettingOrigins(r, base).of("per_channel") == ValueOrigin::Default);
        r.perChannel = true;
        QVERIFY(SettingOrigins(r, base).of("per_channel") == ValueOrigin::Override);
    }

    void runsBranch()
    {
        RunTree tree;
        const RunId root = tree.add(namedRun("start"));
        tree.measured(root, worth(20, 0.5));
        const RunId left = tree.add(namedRun("left", root));
        tree.measured(left, worth(25, 0.5));
        tree.branch(root);
        const RunId right = tree.add(namedRun("right", tree.current()));
        tree.measured(right, worth(19, 0.75));
        QVERIFY((tree.childrenOf(root) == std::vector<RunId> { left, right }));
        QCOMPARE(tree.best(), right);
        const RunDifference d = runDifference(*tree.find(root), *tree.find(left));
        QCOMPARE(*d.outputSqnrDb, 5.0);
        QVERIFY(!d.fileBytes);
        tree.remove(root);
        QCOMPARE(tree.find(left)->parent, RunId(0));
        QVERIFY(tree.add(namedRun("next")) > right);
    }

    void projectsComeBack()
    {
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("w.qscope")).toStdString();
        const std::string model = folder.filePath(QStringLiteral("m.onnx")).toStdString();
        QVERIFY(QFile::copy(QString::fromStdString(kExamples + "digits_float.onnx"), QString::fromStdString(model)));
        Project project;
        project.inputs.floatPath = model;
        project.inputs.data.spec = "random:4:2";
        project.inputs.data.limit = 3;
        project.inputs.recipe = withRange(quantscopeRecipe(), "t", 1e-7, 0.1);
        project.inputs.tasks
            = { { { "a \"b\"", { TaskKind::Boxes, BoxForm::Detr } }, { "c", {} } }, { 0.1, 0.2, 0.9 } };
        project.base = { quantscopeRecipe(), ValueOrigin::Preset };
        project.runs.measured(project.runs.add(namedRun("ünïcode \"x\"")), worth(1.0 / 3, 0.1));
        project.layout = "as the window likes it";
        QVERIFY(markFiles(project).ok());
        QVERIFY(writeProject(project, path).ok());
        const auto back = readProject(path);
        QVERIFY(back.ok());
        QCOMPARE(back->inputs.floatPath, model);
        QVERIFY(back->inputs.recipe == project.inputs.recipe);
        QVERIFY(back->runs == project.runs);
        QVERIFY(back->inputs.tasks == project.inputs.tasks);
        QCOMPARE(back->layout, project.layout);
        QVERIFY(back->files == project.files);
        QVERIFY(changedFiles(*back).empty());
        QFile file(QString::fromStdString(path));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.readAll().contains("\"float\": \"m.onnx\"")); // the folder may be moved
        QVERIFY(QFile::resize(QString::fromStdString(model), 100));
        QCOMPARE(changedFiles(*back).size(), size_t(1));
        QCOMPARE(changedFiles(*back).front().file, model);
        RunTree forgotten = back->runs;
        forgotten.forgetNumbers(false);
        QVERIFY(std::ranges::none_of(forgotten.runs(), [](const RecipeRun& run) { return run.numbers.has_value(); }));
        const OtherQuantized others[]
            = { { model, std::nullopt }, { {}, withRange(quantscopeRecipe(), "t", -1, 2) }, {} };
        for (const OtherQuantized& other : others) {
            project.inputs.other = other;
            const auto again = projectFromJson(projectToJson(project, path), path);
            QVERIFY(again.ok());
            QVERIFY(again->inputs.other == other);
        }
        QVERIFY(!projectFromJson("{\"schema_version\": 1, \"inputs\": {\"other\": 5}}", path).ok());
        QVERIFY(!projectFromJson("{", path).ok());
        const std::string deep(400'000, '[');
        for (const std::string& text :
            { deep, R"({"schema_version": )" + deep, R"({"schema_version": 1, "recipe": )" + deep,
                std::string(R"({"schema_version": 1, "inputs": {"data": {"limit": -1}}})"),
                std::string(R"({"schema_version": 1, "inputs": {"data": {"limit": 1e300}}})"),
                std::string(R"({"schema_version": 1, "inputs": {"data": {"shapes": {"x": [1e300]}}}})"),
                std::string(R"({"schema_version": 1, "runs": [{"id": -1}]})") })
            QVERIFY(!projectFromJson(text, path).ok());
        QVERIFY(!projectFromJson("{\"schema_version\": 99}", path).ok());
        QVERIFY(!projectFromJson("{\"schema_version\": 1, \"runs\": [{\"id\": \"x\"}]}", path).ok());
        QVERIFY(!readProject(path + ".gone").ok());
    }

    /// What is edited is what was loaded: the same numbers, but by the recipe.
    void anImportedFileIsItsRecipe()
    {
        Inputs inputs;
        inputs.floatPath = kExamples + "digits_float.onnx";
        inputs.quantPath = kExamples + "digits_qdq.onnx";
        inputs.data.spec = kExamples + "digits_samples.npz";
        const auto file = buildSnapshot(inputs, nullptr, {}, {});
        QVERIFY(file.ok());
        const auto read = readExample((*file)->floatModel->model, (*file)->quantModel->model);
        QVERIFY(read.ok());
        inputs.quantPath.clear();
        inputs.recipe = recipeWithRanges(*read);
        const auto made = buildSnapshot(inputs, *file, {}, {});
        QVERIFY(made.ok());
        const Comparison &a = *(*file)->comparison, &b = *(*made)->comparison;
        QCOMPARE(a.activations.size(), b.activations.size());
        for (size_t i = 0; i < a.activations.size(); ++i)
            QVERIFY(a.activations[i].accumulated.rmse == b.activations[i].accumulated.rmse);
        QVERIFY(a.outputs[0].similarity.sqnrDb == b.outputs[0].similarity.sqnrDb);
        inputs.recipe = recalibrated(*inputs.recipe, (*made)->quantization->prepared);
        QVERIFY(!(*inputs.recipe == recipeWithRanges(*read)));
        QVERIFY(buildSnapshot(inputs, *made, {}, {}).ok());
    }

    /// Converters number constants anew, so a weight may be called as another one of the float file.
    void namesOfOtherWeightsDoNotMislead()
    {
        const auto floatModel = importModel(kExamples + "digits_float.onnx");
        const auto quantized = importModel(kExamples + "digits_qdq.onnx");
        QVERIFY(floatModel.ok() && quantized.ok());
        const auto exchanged = withNamesExchanged(*quantized, "onnx::Conv_63", "onnx::Conv_66");
        QVERIFY(exchanged.ok());
        const auto plain = readExample(*floatModel, *quantized), read = readExample(*floatModel, *exchanged);
        QVERIFY(plain.ok() && read.ok());
        QVERIFY(read->recipe.exclude == plain->recipe.exclude);
        QVERIFY(read->recipe.tensors.empty());
        QVERIFY(read->ranges.tensors == plain->ranges.tensors);
    }

    void preparedFilesAreMadeAgain_data()
    {
        QTest::addColumn<bool>("gemm");
        QTest::addColumn<int>("type"); // of activations, in place of the file's
        QTest::newRow("products and sums") << false << int(DType::UInt8);
        QTest::newRow("one Gemm") << true << int(DType::UInt8);
        QTest::newRow("one Gemm, other codes") << true << int(DType::UInt16);
    }
    /// ONNX Runtime's preprocessing makes one Gemm of a product and the sum behind it, with values of its own.
    void preparedFilesAreMadeAgain()
    {
        QFETCH(bool, gemm);
        QFETCH(int, type);
        test::SmallModel m("f.onnx");
        m.input("x", { 2, 3, 4 })
            .constant("w", Tensor::of<float>({ 4, 5 }, test::normals(20, 1)))
            .constant("b", Tensor::of<float>({ 5 }, test::normals(5, 2)));
        m.node("MatMul", { "x", "w" }, { "p" }).node("Add", { "p", "b" }, { "s" }).node("Tanh", { "s" }, { "y" });
        const auto model = std::make_shared<const Model>(m.output("y").finish().plan->model());
        GraphDraft draft(model);
        if (gemm)
            QCOMPARE(fuseGemm(draft)->changes, size_t(1));
        Recipe recipe;
        recipe.activationType = DType::UInt8;
        Ranges ranges;
        for (const DraftNode& node : draft.nodes)
            for (const std::string& name : { node.inputs[0], node.outputs[0] })
                ranges.tensors[name] = { .lowest = -2, .highest = 3, .shape = { 1 } };
        const auto made = quantizeDraft(draft, recipe, ranges);
        QVERIFY(made.ok());
        const auto file = made->draft.build();
        QVERIFY(file.ok());
        const auto read = readExample(model, *file);
        QVERIFY(read.ok() && read->possible);
        QCOMPARE(read->recipe.preparation.enabled && read->recipe.preparation.fuseGemm, gemm);
        QuantizeInputs inputs;
        inputs.model = model;
        inputs.recipe = read->recipe;
        inputs.recipe.activationType = DType(type);
        inputs.ranges = read->ranges;
        const auto again = quantizeModel(inputs, {});
        QVERIFY2(again.ok(), again.ok() ? "" : again.issue().what.c_str());
        if (DType(type) == recipe.activationType)
            QCOMPARE(draftDifferences(made->draft, again->draft).count(), size_t(0));
    }

    /// A node that preparation takes away is no mistyped name.
    void excludedNodesMayBeTakenAway()
    {
        test::SmallModel m("f.onnx");
        m.input("x", { 2, 4 }).constant("w", Tensor::of<float>({ 4, 4 }, test::normals(16, 1)));
        m.node("Identity", { "x" }, { "i" }).node("MatMul", { "i", "w" }, { "y" });
        QuantizeInputs inputs;
        inputs.model = std::make_shared<const Model>(m.output("y").finish().plan->model());
        inputs.recipe.preparation.enabled = true;
        inputs.ranges.emplace();
        for (const char* name : { "x", "i", "y" })
            inputs.ranges->tensors[name] = { .lowest = -2, .highest = 3, .shape = { 1 } };
        inputs.recipe.exclude = { "n_i" };
        const auto made = quantizeModel(inputs, {});
        QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
        QVERIFY(
            std::ranges::count(made->warnings, std::string("'n_i' is excluded, but preparation took it away")) == 1);
        inputs.recipe.exclude = { "n_j" };
        QVERIFY(!quantizeModel(inputs, {}).ok());
    }

    void anotherExportHasTheSameRecipe_data()
    {
        QTest::addColumn<int>("format");
        QTest::newRow("qdq") << int(RecipeFormat::Qdq);
        QTest::newRow("qoperator") << int(RecipeFormat::QOperator);
        QTest::newRow("dynamic") << int(RecipeFormat::Dynamic);
    }

    /// Quantizers are found by what they are of where no name is known.
    void anotherExportHasTheSameRecipe()
    {
        QFETCH(int, format);
        Inputs inputs;
        inputs.floatPath = kExamples + "digits_float.onnx";
        inputs.data.spec = kExamples + "digits_samples.npz";
        inputs.recipe = Recipe {};
        inputs.recipe->format = RecipeFormat(format);
        const auto made = buildSnapshot(inputs, nullptr, {}, {});
        QVERIFY(made.ok());
        const auto anew = exportedAnew((*made)->floatModel->model);
        QVERIFY(anew.ok());
        const auto quantized = (*made)->quantModel->model;
        const auto own = readExample((*made)->floatModel->model, quantized), other = readExample(*anew, quantized);
        QVERIFY(own.ok() && other.ok());
        QVERIFY(own->possible && other->possible);
        QCOMPARE(other->recipe.exclude.size(), own->recipe.exclude.size());
        QVERIFY(other->recipe.opTypes == own->recipe.opTypes);
        QCOMPARE(other->otherQuantizers.value_or(0), own->otherQuantizers.value_or(0));
        QVERIFY(other->ranges.tensors.size() >= own->ranges.tensors.size());
    }
};

QTEST_GUILESS_MAIN(TestLoop)
#include "loop_test.moc"
