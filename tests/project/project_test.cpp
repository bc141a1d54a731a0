// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/compare.h"
#include "core/base/files/atomic_file.h"
#include "core/base/issue_text.h"
#include "core/base/work/cancel_scope.h"
#include "core/base/work/memory.h"
#include "core/data/arrays/npz_writer.h"
#include "core/onnx/import.h"
#include "core/onnx/write/export.h"
#include "core/prepare/prepare.h"
#include "core/project/about/model_info.h"
#include "core/project/files/mac_count.h"
#include "core/project/quantize/quantize_model.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/project/snapshot/comparing.h"
#include "core/project/snapshot/loaded_model.h"
#include "core/project/snapshot/samples.h"
#include "tests/support/small_model.h"
#include "tests/support/tensors.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <atomic>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <utility>

using namespace qs;

namespace {

std::string example(const char* name) { return std::string(QS_SOURCE_DIR "/resources/examples/") + name; }

Inputs exampleInputs(size_t limit = 3)
{
    Inputs inputs;
    inputs.floatPath = example("digits_float.onnx");
    inputs.quantPath = example("digits_qdq.onnx");
    inputs.data.spec = example("digits_samples.npz");
    inputs.data.limit = limit;
    inputs.threads = 1;
    return inputs;
}

SnapshotPtr build(const Inputs& inputs, const SnapshotPtr& previous = nullptr)
{
    auto result = buildSnapshot(inputs, previous, {}, {});
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return *result;
}

bool sameModel(const std::optional<LoadedModel>& a, const std::optional<LoadedModel>& b)
{
    return a && b && a->model == b->model && a->plan == b->plan && a->quant == b->quant;
}

} // namespace

class ProjectTests : public QObject {
    Q_OBJECT
private slots:
    void buildsInSteps();
    void reusesUnchangedParts();
    void failureLeavesPrevious();
    void cancels();
    void cancelsWhereAllIsRemembered();
    void longStepsAskToStop();
    void partialSnapshots();
    void reportsProgress();
    void incrementalEqualsFromScratch_data();
    void incrementalEqualsFromScratch();
    void mapsByHand();
    void classesHaveNames();
    void samplesPairWhatIsLeft();
    void modelInfoOfTheExample();
    void dataInputsSkipCarried();
    void memoryLimits();
    void recipesAreIncremental();
    void sharesOfMultiplicationsAddUp();
    void recipesThatFail();
    void warnsOfSwappedFiles();
    void warnsOfLabels_data();
    void warnsOfLabels();
    void warnsOfValuesThatAreNotFinite();
};

void ProjectTests::buildsInSteps()
{
    const SnapshotPtr empty = build({});
    QVERIFY(!empty->floatModel && !empty->quantModel && !empty->data && !empty->alignment && !empty->comparison);
    Inputs inputs;
    inputs.floatPath = example("digits_float.onnx");
    const SnapshotPtr one = build(inputs, empty);
    QVERIFY(one->floatModel && !one->quantModel && !one->alignment);
    inputs.quantPath = example("digits_qdq.onnx");
    const SnapshotPtr two = build(inputs, one);
    QVERIFY(two->alignment && !two->comparison && !two->data);
    QVERIFY(sameModel(one->floatModel, two->floatModel));
    const SnapshotPtr three = build(exampleInputs(), two);
    QVERIFY(three->comparison && three->data);
    QCOMPARE(three->comparison->samples, size_t(3));
    QVERIFY(!three->comparison->partial);
    QVERIFY(sameModel(two->quantModel, three->quantModel));
    QCOMPARE(three->inputs.quantPath, inputs.quantPath);
    QVERIFY(three->timing.runMs > 0);
    // Data without a model wait for it.
    Inputs dataOnly;
    dataOnly.data.spec = example("digits_samples.npz");
    QVERIFY(!build(dataOnly)->data);
}

void ProjectTests::reusesUnchangedParts()
{
    const SnapshotPtr first = build(exampleInputs());
    Inputs inputs = exampleInputs();
    inputs.quantPath = example("digits_qdq_narrow.onnx");
    const SnapshotPtr second = build(inputs, first);
    QVERIFY(sameModel(first->floatModel, second->floatModel));
    QVERIFY(first->quantModel->model != second->quantModel->model);
    QCOMPARE(first->data, second->data);

    inputs.data.limit = 5;
    const SnapshotPtr third = build(inputs, second);
    QVERIFY(sameModel(second->quantModel, third->quantModel));
    QVERIFY(second->data != third->data);
    QCOMPARE(third->comparison->samples, size_t(5));

    inputs.floatPath = example("digits_qdq.onnx");
    const SnapshotPtr fourth = build(inputs, third);
    QVERIFY(third->floatModel->model != fourth->floatModel->model);
    QVERIFY(third->data != fourth->data);
    QVERIFY(sameModel(third->quantModel, fourth->quantModel));
}

void ProjectTests::failureLeavesPrevious()
{
    const SnapshotPtr first = build(exampleInputs());
    const auto models = std::pair(first->floatModel->model, first->quantModel->model);
    const double sqnr = *first->comparison->outputs[0].similarity.sqnrDb;
    Inputs missing = exampleInputs();
    missing.quantPath = "missing.onnx";
    const auto noModel = buildSnapshot(missing, first, {}, {});
    QVERIFY(!noModel.ok());
    QCOMPARE(noModel.issue().kind, IssueKind::BadInput);
    QCOMPARE(noModel.issue().file, std::string("missing.onnx"));
    Inputs noData = exampleInputs();
    noData.data.spec = "missing.npz";
    QVERIFY(!buildSnapshot(noData, first, {}, {}).ok());
    Inputs noMap = exampleInputs();
    noMap.mapPath = "missing.json";
    QVERIFY(!buildSnapshot(noMap, first, {}, {}).ok());
    QVERIFY(models == std::pair(first->floatModel->model, first->quantModel->model));
    QCOMPARE(*first->comparison->outputs[0].similarity.sqnrDb, sqnr);
    // And it serves the next one.
    QVERIFY(sameModel(first->floatModel, build(exampleInputs(), first)->floatModel));
}

void ProjectTests::cancels()
{
    CancelToken early;
    early.cancel();
    const auto before = buildSnapshot(exampleInputs(), nullptr, {}, early);
    QVERIFY(!before.ok());
    QCOMPARE(before.issue().kind, IssueKind::Cancelled);

    // In the middle of the run.
    CancelToken cancel;
    std::atomic<size_t> seen { 0 };
    const ProgressFn progress = [&](std::string_view phase, size_t done, size_t) {
        if (phase == "run" && done == 3) {
            seen = done;
            cancel.cancel();
        }
    };
    const auto during = buildSnapshot(exampleInputs(200), nullptr, progress, cancel);
    QVERIFY(!during.ok());
    QCOMPARE(during.issue().kind, IssueKind::Cancelled);
    QCOMPARE(seen.load(), size_t(3));
}

/// Nothing is left to run, and the rows of the weights are missing.
void ProjectTests::cancelsWhereAllIsRemembered()
{
    Inputs inputs = exampleInputs();
    inputs.activationCache = uint64_t(64) << 20;
    const SnapshotPtr snapshot = build(inputs);
    CompareOptions options;
    options.pairs = snapshot->caches.pairs;
    QVERIFY(options.pairs && snapshot->comparison->weights.size() > 2);
    const CancelToken cancel;
    const CancelScope scope(cancel);
    const ComparePair pair = comparePairOf(*snapshot);
    QVERIFY(compareModels(pair, *snapshot->data, options, { {}, cancel }).ok());
    cancel.cancel();
    const auto result = compareModels(pair, *snapshot->data, options, { {}, cancel });
    QVERIFY(!result.ok());
    QCOMPARE(result.issue().kind, IssueKind::Cancelled);
}

/// Counted, not timed: who cancels waits for the next time that somebody asks.
void ProjectTests::longStepsAskToStop()
{
    const CancelToken cancel;
    const CancelScope scope(cancel);
    size_t before = 0;
    const auto asked = [&] { return scope.asked() - std::exchange(before, scope.asked()); };
    const auto model = *importModel(example("digits_float.onnx"));
    const size_t nodes = model->graph.nodes().size();
    QVERIFY(asked() >= nodes);
    QVERIFY(Plan::make(model)->unsupported().empty());
    QVERIFY(asked() >= nodes);
    PlanOptions withKeys;
    withKeys.cache = std::make_shared<LoweringCache>();
    QVERIFY(Plan::make(model, withKeys)->unsupported().empty());
    QVERIFY(asked() >= 2 * nodes);
    GraphDraft draft(model);
    QVERIFY(prepareGraph(draft, {}).ok());
    QVERIFY(asked() >= preparationPasses().size());
    for (const RecipeFormat format : { RecipeFormat::Qdq, RecipeFormat::QOperator }) {
        Recipe recipe = quantscopeRecipe();
        recipe.format = format;
        QuantizeInputs inputs;
        inputs.model = model;
        inputs.recipe = recipe;
        inputs.data = build(exampleInputs())->data;
        asked();
        QVERIFY(quantizeModel(inputs, { {}, cancel, 1 }).ok());
        QVERIFY(asked() >= nodes);
    }
    cancel.cancel();
    QCOMPARE(importModel(example("digits_float.onnx")).issue().kind, IssueKind::Cancelled);
    QCOMPARE(prepareGraph(draft, {}).issue().kind, IssueKind::Cancelled);
    const auto plan = Plan::make(model); // nobody uses it
    QCOMPARE(plan->unsupported().size(), nodes);
}

void ProjectTests::partialSnapshots()
{
    std::mutex mutex;
    std::vector<SnapshotPtr> partial;
    const PartialFn take = [&](SnapshotPtr s) {
        const std::lock_guard lock(mutex);
        partial.push_back(std::move(s));
    };
    // Slow enough for the half second between two: the progress function waits.
    const ProgressFn slow = [](std::string_view phase, size_t, size_t) {
        if (phase == "run")
            QThread::msleep(60);
    };
    const auto result = buildSnapshot(exampleInputs(30), nullptr, slow, {}, take);
    QVERIFY(result.ok());
    QVERIFY(partial.size() > 1);
    QVERIFY(!partial.front()->comparison); // the models, before anything is known of them
    size_t last = 0;
    for (const SnapshotPtr& s : std::span(partial).subspan(1)) {
        QVERIFY(s->comparison && s->comparison->partial);
        QVERIFY(s->comparison->samples > last && s->comparison->samples < 30);
        QVERIFY(sameModel(s->floatModel, (*result)->floatModel));
        QCOMPARE(s->comparison->activations.size(), (*result)->comparison->activations.size());
        last = s->comparison->samples;
    }
    QVERIFY(!(*result)->comparison->partial);
    QCOMPARE((*result)->comparison->samples, size_t(30));
}

void ProjectTests::reportsProgress()
{
    std::set<std::string> phases;
    size_t last = 0, all = 0;
    const auto result = buildSnapshot(exampleInputs(4), nullptr,
        [&](std::string_view phase, size_t done, size_t total) {
            phases.emplace(phase);
            if (phase == "run") {
                last = std::max(last, done);
                all = total;
            }
        },
        {});
    QVERIFY(result.ok());
    QVERIFY(phases.contains("run") && phases.contains("match"));
    QCOMPARE(last, size_t(4));
    QCOMPARE(all, size_t(4));
}

void ProjectTests::incrementalEqualsFromScratch_data()
{
    QTest::addColumn<qulonglong>("cacheBytes");
    QTest::addRow("no values kept") << qulonglong(0);
    QTest::addRow("some kept") << qulonglong(40000);
    QTest::addRow("all kept") << (qulonglong(1) << 28);
}

void ProjectTests::incrementalEqualsFromScratch()
{
    QFETCH(const qulonglong, cacheBytes);
    SnapshotPtr now = build(exampleInputs(6));
    size_t round = 0;
    for (const ArithmeticProfile profile : { ArithmeticProfile::Simulated, ArithmeticProfile::Integer,
             ArithmeticProfile::IntegerAvx2, ArithmeticProfile::Simulated })
        for (const char* quant : { "digits_qdq_narrow.onnx", "digits_qdq.onnx" }) {
            Inputs inputs = exampleInputs(6);
            inputs.quantPath = example(quant);
            inputs.threads = ++round % 2 + 1;
            inputs.profile = profile;
            inputs.nodeAlone = round % 3 == 0;
            const SnapshotPtr scratch = build(inputs);
            inputs.activationCache = cacheBytes;
            now = build(inputs, now);
            QCOMPARE(now->caches.activations != nullptr, cacheBytes > 0);
            QCOMPARE(now->comparison->activations.size(), scratch->comparison->activations.size());
            for (size_t i = 0; i < now->comparison->activations.size(); ++i) {
                const ActivationRow &a = now->comparison->activations[i], &b = scratch->comparison->activations[i];
                QCOMPARE(a.name, b.name);
                QVERIFY(a.accumulated.sqnrDb == b.accumulated.sqnrDb && a.noise.clipping == b.noise.clipping);
                QVERIFY(a.nodeSqnrDb == b.nodeSqnrDb && a.implementation.has_value() == b.implementation.has_value());
                QVERIFY(a.errorHistogram == b.errorHistogram);
            }
            QCOMPARE(now->comparison->findings.size(), scratch->comparison->findings.size());
        }
}

void ProjectTests::mapsByHand()
{
    QTemporaryDir folder;
    QFile file(folder.filePath("map.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"pairs":[{"float":"/pool/MaxPool_output_0","quantized":"/pool/MaxPool_output_0"}]})");
    file.close();
    const SnapshotPtr first = build(exampleInputs());
    Inputs inputs = exampleInputs();
    inputs.mapPath = file.fileName().toStdString();
    const SnapshotPtr mapped = build(inputs, first);
    const auto manual = std::ranges::count(mapped->alignment->values, MatchMethod::Manual, &ValuePair::method);
    QCOMPARE(manual, std::ptrdiff_t(1));
    // Without the map it is as before.
    const SnapshotPtr back = build(exampleInputs(), mapped);
    QCOMPARE(std::ranges::count(back->alignment->values, MatchMethod::Manual, &ValuePair::method), std::ptrdiff_t(0));
}

void ProjectTests::classesHaveNames()
{
    const QTemporaryDir folder;
    Inputs inputs = exampleInputs();
    const SnapshotPtr none = build(inputs);
    QVERIFY(none->classNames->empty());
    inputs.classNamesPath = folder.filePath("names.txt").toStdString();
    QVERIFY(!buildSnapshot(inputs, none, {}, {}).ok());
    QVERIFY(writeFile(inputs.classNamesPath, "zero\none\n").ok());
    QVERIFY(!buildSnapshot(inputs, none, {}, {}).ok()); // of ten classes
    QVERIFY(writeFile(inputs.classNamesPath, "{\"0\": \"zero\", \"2\": \"two\"}").ok());
    const SnapshotPtr named = build(inputs, none);
    QVERIFY(*named->classNames == ClassNames({ "zero", "", "two" }));
    QVERIFY(named->comparison->floatClass == none->comparison->floatClass);
    QVERIFY(!(named->inputs.asked() == none->inputs.asked()));
    QCOMPARE(build(inputs, named)->classNames, named->classNames);
    QVERIFY(build(exampleInputs(), named)->classNames->empty());
}

/// Neither names nor structure pair a square that one file computes by Pow and the other by Mul.
void ProjectTests::samplesPairWhatIsLeft()
{
    QTemporaryDir folder;
    const auto written = [&](const char* name, test::SmallModel model) {
        const test::Prepared made = model.node("Exp", { "square_" + std::string(name) }, { "e" }).output("e").finish();
        const std::string path = folder.filePath(QString::fromLatin1(name)).toStdString() + ".onnx";
        const std::shared_ptr<const Model> source(made.plan, &made.plan->model());
        const auto bytes = exportToBytes(GraphDraft(source));
        return bytes.ok() && writeFile(path, *bytes).ok() ? path : std::string();
    };
    Inputs inputs;
    inputs.floatPath = written("float",
        test::SmallModel({})
            .input("x", { 2, 4 })
            .constant("two", Tensor::scalar(2.f))
            .node("Pow", { "x", "two" }, { "square_float" }));
    inputs.quantPath = written("quantized",
        test::SmallModel({})
            .input("x", { 2, 4 })
            .qdq<int8_t>("x", "x_dq", 1.f / 127, 0)
            .node("Mul", { "x_dq", "x_dq" }, { "square_quantized" }));
    QVERIFY(!inputs.floatPath.empty() && !inputs.quantPath.empty());
    const SnapshotPtr without = build(inputs);
    const auto byNumbers = [](const Snapshot& s) {
        return std::ranges::count(s.alignment->values, MatchMethod::Numeric, &ValuePair::method);
    };
    QCOMPARE(byNumbers(*without), std::ptrdiff_t(0));
    inputs.data.spec = "random:2";
    const SnapshotPtr with = build(inputs, without), fresh = build(inputs);
    QCOMPARE(byNumbers(*fresh), std::ptrdiff_t(1));
    QCOMPARE(byNumbers(*with), std::ptrdiff_t(1));
    QVERIFY(sameModel(with->floatModel, without->floatModel)); // only what the data change is made again
}

void ProjectTests::modelInfoOfTheExample()
{
    const ModelInfo f = modelInfo(*loadModel(example("digits_float.onnx")));
    QCOMPARE(f.nodes, size_t(15));
    QCOMPARE(f.nodeTypes.at("Conv"), size_t(5));
    QCOMPARE(f.form, QuantForm::Float);
    QCOMPARE(f.inputs.size(), size_t(1));
    QCOMPARE(f.inputs[0].name, std::string("image"));
    // Convolutions with biases (16x1x3x3, two of 16x16x3x3, 16x1x3x3, 32x16x1x1) and the linear layer 10x32.
    QCOMPARE(f.parameters, int64_t(16 * 9 + 16 + 2 * (16 * 16 * 9 + 16) + 16 * 9 + 16 + 32 * 16 + 32 + 320 + 10));
    QVERIFY(f.unsupported.empty() && f.granularity.empty());
    QCOMPARE(f.outputs[0].type.dims->at(0).symbol, std::string("N")); // as the file names it
    QVERIFY(!f.macs); // the batch is dynamic
    QCOMPARE(f.macsOfOne.value_or(0), int64_t((16 * 9 + 2 * 16 * 16 * 9) * 64 + (16 * 9 + 32 * 16) * 16 + 320));
    const ModelInfo q = modelInfo(*loadModel(example("digits_qdq.onnx")));
    QCOMPARE(q.form, QuantForm::Qdq);
    QCOMPARE(q.parameters, f.parameters);
    QCOMPARE(q.activationTypes, std::set<std::string> { "uint8" });
    QCOMPARE(q.weightTypes, std::set<std::string> { "int8" });
    QVERIFY(q.granularity.contains("per_channel"));
}

void ProjectTests::dataInputsSkipCarried()
{
    const LoadedModel model = *loadModel(example("digits_float.onnx"));
    const auto inputs = dataInputs(model.graph());
    QCOMPARE(inputs.size(), size_t(1));
    QCOMPARE(inputs[0].dtype, DType::Float32);
    QVERIFY(dataInputs(model.graph(), { { "scores", "image" } }).empty());
}

void ProjectTests::memoryLimits()
{
    QCOMPARE(memoryLimitOrDefault(123), uint64_t(123));
    QVERIFY(memoryLimitOrDefault(0) > (uint64_t(1) << 28));
    QVERIFY(peakMemoryBytes() > (uint64_t(1) << 20));
    Inputs inputs = exampleInputs();
    inputs.memoryLimit = 1000;
    const auto result = buildSnapshot(inputs, nullptr, {}, {});
    QVERIFY(!result.ok());
    QVERIFY(issueText(result.issue()).find("memory limit") != std::string::npos);
}

/// Edits and undone edits of a recipe give what a fresh start gives, and run no more than they must.
void ProjectTests::recipesAreIncremental()
{
    Inputs inputs = exampleInputs(20);
    inputs.quantPath.clear();
    inputs.recipe = Recipe {};
    const auto dB = [](const SnapshotPtr& s) { return *s->comparison->outputs.at(0).similarity.sqnrDb; };
    std::vector<Inputs> edits { inputs };
    const auto edit = [&](auto&& change) {
        Inputs next = edits.back();
        change(*next.recipe);
        edits.push_back(next);
    };
    edit([](Recipe& r) { r.exclude = { "re:[Cc]onv" }; });
    edit([](Recipe& r) { r.perChannel = true; });
    edit([](Recipe& r) { r.calibration.kind = Calibrator::MovingAverage; });
    edit([](Recipe& r) { r.exclude.clear(); });
    edit([](Recipe& r) { r.format = RecipeFormat::QOperator; });
    const std::vector<Inputs> there = edits;
    edits.insert(edits.end(), there.rbegin(), there.rend());
    SnapshotPtr now;
    std::vector<double> fresh;
    for (size_t i = 0; i < edits.size(); ++i) {
        const SnapshotPtr before = now;
        now = build(edits[i], before);
        if (i < there.size())
            fresh.push_back(dB(build(edits[i])));
        QCOMPARE(dB(now), fresh[i < there.size() ? i : edits.size() - 1 - i]);
        QVERIFY(now->quantization && now->quantModel);
        if (!before)
            continue;
        QVERIFY(sameModel(now->floatModel, before->floatModel));
        QVERIFY(now->quantization->kept == before->quantization->kept); // calibrated once
        if (edits[i].recipe == before->inputs.recipe)
            QVERIFY(sameModel(now->quantModel, before->quantModel));
    }
    QVERIFY(fresh[0] != fresh[1] && fresh[1] != fresh[2]);
}

/// What computes on codes and what is left in float are shares of one whole: no operator is in one of them alone.
void ProjectTests::sharesOfMultiplicationsAddUp()
{
    QTemporaryDir folder;
    std::mt19937 random(5);
    test::SmallModel m({});
    m.input("x", { 1, 3, 6, 6 }).constant("w", test::normalFloats(random, { 4, 3, 3, 3 }, 1));
    m.constant("up", test::normalFloats(random, { 4, 2, 2, 2 }, 1));
    m.node("Conv", { "x", "w" }, { "c" }).node("ConvTranspose", { "c", "up" }, { "y" });
    const test::Prepared made = m.output("y").finish();
    Inputs inputs;
    inputs.floatPath = folder.filePath("float.onnx").toStdString();
    QVERIFY(
        exportModel(GraphDraft(std::shared_ptr<const Model>(made.plan, &made.plan->model())), inputs.floatPath).ok());
    inputs.data.spec = "random:4";
    inputs.threads = 1;
    inputs.recipe = quantscopeRecipe();
    const SnapshotPtr s = build(inputs);
    QVERIFY(s->comparison && s->comparison->floatNodes.size() == 1);
    const Number share = macCount(*s->quantModel, &*s->comparison).codeShare;
    QVERIFY(share && *share > 0.1 && *share < 0.9);
    QCOMPARE(*share + *s->comparison->floatNodes[0].macShare, 1.0);
}

void ProjectTests::recipesThatFail()
{
    Inputs inputs = exampleInputs();
    inputs.quantPath.clear();
    inputs.recipe = Recipe {};
    const SnapshotPtr good = build(inputs);
    inputs.recipe->exclude = { "no such node" };
    const auto bad = buildSnapshot(inputs, good, {}, {});
    QVERIFY(!bad.ok());
    QVERIFY(issueText(bad.issue()).find("no such node") != std::string::npos);
    inputs.recipe = Recipe {};
    inputs.data.spec.clear();
    QVERIFY(!buildSnapshot(inputs, good, {}, {}).ok()); // nothing to calibrate with
}

void ProjectTests::warnsOfSwappedFiles()
{
    Inputs inputs = exampleInputs();
    QVERIFY(build(inputs)->warnings.empty());
    std::swap(inputs.floatPath, inputs.quantPath);
    const SnapshotPtr swapped = build(inputs);
    QCOMPARE(swapped->warnings.size(), size_t(2));
    QVERIFY(swapped->warnings[0].find("digits_qdq.onnx: is quantized itself") != std::string::npos);
    QVERIFY(swapped->warnings[1].find("digits_float.onnx: has no quantization") != std::string::npos);
    QVERIFY(std::ranges::none_of(
        swapped->comparison->findings, [](const Finding& f) { return f.rule == Rule::WeightsDiffer; }));
}

void ProjectTests::warnsOfLabels_data()
{
    QTest::addColumn<std::vector<int64_t>>("labels");
    QTest::addColumn<QStringList>("warnings");
    const auto row = [](const char* name, const std::vector<int64_t>& labels, const QStringList& warnings) {
        QTest::newRow(name) << labels << warnings;
    };
    row("as they should be", { 0, 9, 3 }, {});
    row("one sample has none", { 0, -1, 3 }, { "1 of 3 samples have no label" });
    row("none has any", { -1, -1, -1 }, { "3 of 3 samples have no label" });
    row("from 1", { 1, 10, 3 },
        { "from 1 to 10, but the model has 10 classes, from 0 to 9; they seem to count from 1" });
    row("of another model", { 0, 42, 11 },
        { "from 0 to 42, but the model has 10 classes, from 0 to 9; the 2 samples" });
    row("both", { -7, 10, 0 }, { "1 of 3 samples have no label", "from 0 to 10, but the model has 10 classes" });
}

void ProjectTests::warnsOfLabels()
{
    QFETCH(std::vector<int64_t>, labels);
    QFETCH(QStringList, warnings);
    QTemporaryDir folder;
    Inputs inputs = exampleInputs(0);
    inputs.data.limit.reset();
    inputs.data.spec = folder.filePath("labelled.npz").toStdString();
    auto npz = NpzWriter::create(inputs.data.spec, { "image", "labels" }, labels.size());
    QVERIFY(npz.ok());
    const Tensor image = Tensor::of<float>({ 1, 8, 8 }, std::vector<float>(64, 0.5f));
    for (size_t s = 0; s < labels.size(); ++s)
        QVERIFY(npz->add(s, { image, Tensor::scalar(labels[s]) }).ok());
    QVERIFY(npz->finish().ok());
    const auto made = build(inputs)->warnings;
    QCOMPARE(int(made.size()), int(warnings.size()));
    for (size_t i = 0; i < made.size(); ++i)
        QVERIFY2(QString::fromStdString(made[i]).contains(warnings[int(i)]), made[i].c_str());
}

void ProjectTests::warnsOfValuesThatAreNotFinite()
{
    QTemporaryDir folder;
    Inputs inputs = exampleInputs(0);
    inputs.data.limit.reset();
    inputs.data.spec = folder.filePath("image.npy").toStdString();
    std::vector<float> pixels(2 * 64, 0.5f);
    pixels[70] = std::numeric_limits<float>::quiet_NaN();
    QByteArray header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 8, 8), }";
    header = header.leftJustified(117, ' ') + '\n';
    QFile file(QString::fromStdString(inputs.data.spec));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray("\x93NUMPY\x01\x00", 8) + char(header.size()) + '\0' + header);
    file.write(reinterpret_cast<const char*>(pixels.data()), qint64(pixels.size() * sizeof(float)));
    file.close();
    const SnapshotPtr snapshot = build(inputs);
    QCOMPARE(snapshot->warnings.size(), size_t(1));
    QVERIFY(snapshot->warnings[0].find("'image' has values that are not finite") != std::string::npos);
}

QTEST_APPLESS_MAIN(ProjectTests)
#include "project_test.moc"
