// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/data/arrays/npz_writer.h"
#include "core/onnx/import.h"
#include "core/onnx/write/export.h"
#include "core/project/files/genai_folder.h"
#include "core/project/search/weight_prices.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/quant/recipe/recipe_json.h"
#include "core/quant/write/builder_options.h"
#include "tests/support/small_model.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <random>

using namespace qs;
using qs::test::SmallModel;

namespace {

constexpr int64_t kVocabulary = 24, kHidden = 64, kBlock = 16;
constexpr int64_t kPositions = 10;
constexpr size_t kPromptCount = 5;

Tensor drawn(std::mt19937& random, int64_t rows, int64_t columns, double size)
{
    std::normal_distribution<float> normal(0, float(size));
    std::vector<float> values(size_t(rows * columns));
    for (float& v : values)
        v = normal(random);
    return Tensor::of<float>({ rows, columns }, values);
}

/// The first row of each block holds weights far beyond the others.
Tensor withOutliers(const Tensor& matrix)
{
    std::vector<float> values(matrix.data<float>().begin(), matrix.data<float>().end());
    const auto columns = size_t(matrix.dim(1));
    for (size_t r = 0; r < size_t(matrix.dim(0)); r += size_t(kBlock))
        for (size_t c = 0; c < columns; ++c)
            values[r * columns + c] = 8;
    return Tensor::of<float>(matrix.shape(), values);
}

/// What multiplies with them is nothing, so that they matter for scales alone.
Tensor withoutFirsts(const Tensor& table)
{
    std::vector<float> values(table.data<float>().begin(), table.data<float>().end());
    for (size_t i = 0; i < values.size(); i += size_t(kBlock))
        values[i] = 0;
    return Tensor::of<float>(table.shape(), values);
}

/// A decoder of three products, the second of which 4 bits ruin; its scores are of tokens or of nothing in particular.
GraphDraft network(bool tokens)
{
    std::mt19937 random(5);
    SmallModel m("");
    const double size = 1 / std::sqrt(double(kHidden));
    if (tokens) {
        m.input("input_ids", { -1, -1 }, DType::Int64);
        m.constant("embedding", withoutFirsts(drawn(random, kVocabulary, kHidden, 1)));
        m.node("Gather", { "embedding", "input_ids" }, { "word" });
    } else {
        m.input("word", { 1, kPositions, kHidden });
    }
    m.constant("plain.weight", drawn(random, kHidden, kHidden, size));
    m.constant("ruined.weight", withOutliers(drawn(random, kHidden, kHidden, size)));
    m.constant("head.weight", drawn(random, kHidden, kVocabulary, 3 * size));
    m.constant("mask", withoutFirsts(Tensor::of<float>({ kHidden }, std::vector<float>(size_t(kHidden), 1))));
    m.node("MatMul", { "word", "plain.weight" }, { "plain" }).node("Tanh", { "plain" }, { "bent" });
    m.node("Mul", { "bent", "mask" }, { "masked" });
    m.node("MatMul", { "masked", "ruined.weight" }, { "ruined" }).node("Add", { "word", "ruined" }, { "sum" });
    const std::string out = tokens ? "logits" : "features";
    GraphDraft draft(std::make_shared<Model>(
        m.node("MatMul", { "sum", "head.weight" }, { out }).output(out).finish().plan->model()));
    draft.producer = "onnxruntime-genai 0.18.0";
    return draft;
}

struct Case {
    QTemporaryDir folder;

    explicit Case(bool tokens = true)
    {
        if (const Status written = write(tokens); !written.ok())
            qFatal("%s", issueText(written.issue()).c_str());
    }
    std::string path(const char* name) const { return folder.filePath(name).toStdString(); }
    Status write(bool tokens) const
    {
        QS_CHECK(exportModel(network(tokens), path("float.onnx")));
        QS_TRY(NpzWriter writer, NpzWriter::create(path("data.npz"), { tokens ? "input_ids" : "word" }, kPromptCount));
        std::mt19937 random(9);
        for (size_t p = 0; p < kPromptCount; ++p) {
            std::vector<int64_t> ids;
            for (int64_t i = 0; i < kPositions; ++i)
                ids.push_back(int64_t(random() % size_t(kVocabulary)));
            QS_CHECK(writer.add(p,
                { tokens ? Tensor::of<int64_t>({ 1, kPositions }, ids)
                         : drawn(random, kPositions, kHidden, 1).reshaped({ 1, kPositions, kHidden }) }));
        }
        return writer.finish();
    }
    Inputs inputs(DType type = DType::Int4) const
    {
        Inputs inputs;
        inputs.floatPath = path("float.onnx");
        inputs.data.spec = path("data.npz");
        inputs.recipe = quantscopeRecipe();
        inputs.recipe->format = RecipeFormat::WeightOnly;
        inputs.recipe->weightType = type;
        inputs.recipe->weightOnly.blockSize = kBlock;
        inputs.compare = false;
        inputs.threads = 2;
        return inputs;
    }
};

SnapshotPtr opened(const Inputs& inputs)
{
    auto snapshot = buildSnapshot(inputs, nullptr, {}, {});
    if (!snapshot.ok())
        qFatal("%s", issueText(snapshot.issue()).c_str());
    return *snapshot;
}

WeightPrices measured(const SnapshotPtr& snapshot, const PriceRequest& request = {})
{
    auto prices = weightPricesOf(*snapshot, request, {}, {});
    if (!prices.ok())
        qFatal("%s", issueText(prices.issue()).c_str());
    return *std::move(prices);
}

/// Of the constants of a written file, those of its nodes included.
uint64_t writtenBytes(const std::string& path)
{
    const auto model = importModel(path);
    uint64_t sum = 0;
    for (const Value& value : (*model)->graph.values())
        sum += value.initializer ? value.initializer->byteCount() : 0;
    return sum;
}

/// Of the file that stands for a point, compared as a file.
Number comparedKl(const Inputs& inputs, const std::string& path)
{
    Inputs asked = inputs;
    asked.recipe.reset();
    asked.quantPath = path;
    asked.compare = true;
    return opened(asked)->comparison->outputs.at(0).language->klMean;
}

const UnitPrice& unitOf(const WeightPrices& prices, const std::string& weight)
{
    const auto found
        = std::ranges::find_if(prices.units, [&](const UnitPrice& unit) { return unit.unit.weight == weight; });
    if (found == prices.units.end())
        qFatal("%s is no unit", weight.c_str());
    return *found;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), 1e-12); }

} // namespace

class WeightPricesTests : public QObject {
    Q_OBJECT
private slots:
    void raisesWhatFourBitsRuin_data();
    void raisesWhatFourBitsRuin();
    void listIsMonotonic();
    void pointsAreFiles_data();
    void pointsAreFiles();
    void alonesAreRecipes();
    void anyThreadsAndBudget();
    void fixedTypesAndPatterns();
    void tablesAreInCodes();
    void layersAreOfTheModel();
    void limits();
    void cancels();
    void genaiFilesGoAlong();
    void saysItToTheBuilder();
    void saysTwoBitsToTheBuilder();
};

void WeightPricesTests::raisesWhatFourBitsRuin_data()
{
    QTest::addColumn<bool>("tokens");
    QTest::newRow("KL") << true;
    QTest::newRow("SQNR") << false;
}

void WeightPricesTests::raisesWhatFourBitsRuin()
{
    QFETCH(bool, tokens);
    const Case files(tokens);
    const WeightPrices prices = measured(opened(files.inputs()));
    QCOMPARE(prices.by, tokens ? PriceLoss::Divergence : PriceLoss::Noise);
    QCOMPARE(prices.units.size(), size_t(3));
    QCOMPARE(prices.ladder.size(), size_t(3));
    // 4 bits a code, a scale for each block and column.
    const auto bytes = uint64_t(kHidden * kHidden), scales = uint64_t(4 * kHidden * kHidden / kBlock);
    const UnitPrice& ruined = unitOf(prices, "ruined.weight");
    QCOMPARE(ruined.bytes, (std::vector<uint64_t> { bytes / 2 + scales, bytes + scales, 4 * bytes }));
    for (const UnitPrice& unit : prices.units) {
        QVERIFY(lossOf(unit.alone[0], prices.by) <= lossOf(ruined.alone[0], prices.by));
        QVERIFY(lossOf(unit.alone[1], prices.by) < lossOf(unit.alone[0], prices.by));
        QVERIFY(lossOf(unit.alone[2], prices.by) < 1e-9);
    }
    // The cheapest first; then that one, and no other, has more bits.
    QVERIFY(prices.pareto.size() > 3);
    QCOMPARE(prices.pareto[0].choice, (StoreChoice { 0, 0, 0 }));
    const size_t worst = size_t(&ruined - prices.units.data());
    StoreChoice first { 0, 0, 0 };
    first[worst] = 1;
    const auto raised = std::ranges::find(prices.pareto, first, &PricePoint::choice);
    QVERIFY(raised != prices.pareto.end());
    for (auto before = prices.pareto.begin(); before != raised; ++before)
        QVERIFY(before->choice[worst] == 0);
    QVERIFY(lossOf(raised->score, prices.by) < 0.5 * lossOf(prices.pareto[0].score, prices.by));
}

void WeightPricesTests::listIsMonotonic()
{
    const Case files;
    const WeightPrices prices = measured(opened(files.inputs()));
    for (size_t i = 1; i < prices.pareto.size(); ++i) {
        QVERIFY(prices.pareto[i].bytes > prices.pareto[i - 1].bytes);
        QVERIFY(lossOf(prices.pareto[i].score, prices.by) < lossOf(prices.pareto[i - 1].score, prices.by));
    }
    QCOMPARE(prices.references.size(), size_t(3));
    QCOMPARE(prices.pareto.front().bytes, prices.references[0].bytes);
    QCOMPARE(prices.pareto.back().bytes, prices.references[2].bytes);
    QVERIFY(prices.stop.has_value());
    PriceRequest few;
    few.steps = 1;
    QCOMPARE(measured(opened(files.inputs()), few).steps, size_t(1));
    few.search = false;
    const WeightPrices none = measured(opened(files.inputs()), few);
    QVERIFY(!none.stop && none.pareto.size() <= 3);
}

void WeightPricesTests::pointsAreFiles_data()
{
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("algorithm");
    const int usual = int(WeightOnlyAlgorithm::Default);
    QTest::newRow("signed") << int(DType::Int4) << usual;
    QTest::newRow("with zero points") << int(DType::UInt4) << usual;
    QTest::newRow("k-quant") << int(DType::UInt4) << int(WeightOnlyAlgorithm::KQuant);
    QTest::newRow("hqq") << int(DType::UInt4) << int(WeightOnlyAlgorithm::Hqq);
    QTest::newRow("gptq") << int(DType::UInt4) << int(WeightOnlyAlgorithm::Gptq);
}

/// Written as a file, by the recipe that was saved and read again, each point has the bytes and the KL that were told.
void WeightPricesTests::pointsAreFiles()
{
    QFETCH(int, type);
    QFETCH(int, algorithm);
    const Case files;
    Inputs inputs = files.inputs(DType(type));
    inputs.recipe->weightOnly.algorithm = WeightOnlyAlgorithm(algorithm);
    const SnapshotPtr snapshot = opened(inputs);
    const WeightPrices prices = measured(snapshot);
    QVERIFY(prices.pareto.size() > 2);
    for (const PricePoint& point : prices.pareto) {
        const auto made = pricedModel(*snapshot, prices, point, {}, {});
        QVERIFY2(made.ok(), made.ok() ? "" : issueText(made.issue()).c_str());
        const std::string path = files.path("point.onnx");
        QVERIFY(exportModel(made->draft, path).ok());
        QCOMPARE(writtenBytes(path), point.bytes);
        const auto kl = comparedKl(inputs, path);
        QVERIFY2(kl && near(*kl, *point.score.klMean()), qPrintable(QString::number(kl.value_or(-1))));
        const auto again = recipeFromJson(recipeToJson(made->recipe));
        QVERIFY(again.ok());
        inputs.recipe = *again;
        const SnapshotPtr byRecipe = opened(inputs);
        QCOMPARE(constantBytes(byRecipe->quantization->draft), point.bytes);
        inputs.recipe = snapshot->inputs.recipe;
    }
}

void WeightPricesTests::alonesAreRecipes()
{
    const Case files;
    Inputs inputs = files.inputs();
    const WeightPrices prices = measured(opened(inputs));
    for (const UnitPrice& unit : prices.units)
        for (size_t store = 0; store < 2; ++store) {
            inputs.recipe->include = { unit.unit.name };
            inputs.recipe->weightType = *prices.ladder[store];
            inputs.compare = true;
            const SnapshotPtr snapshot = opened(inputs);
            QVERIFY(near(*snapshot->comparison->outputs.at(0).language->klMean, *unit.alone[store].klMean()));
            QCOMPARE(
                storedBytes(snapshot->quantization->prepared, snapshot->quantization->draft).codes, unit.bytes[store]);
        }
}

void WeightPricesTests::anyThreadsAndBudget()
{
    const Case files;
    const SnapshotPtr snapshot = opened(files.inputs());
    std::optional<WeightPrices> first;
    for (const size_t threads : { 1, 3 })
        for (const uint64_t bytes : { uint64_t(0), uint64_t(60'000), uint64_t(1) << 30 }) {
            PriceInputs inputs;
            inputs.model = snapshot->floatFile->model;
            inputs.prepared = &snapshot->quantization->prepared;
            inputs.recipe = *snapshot->inputs.recipe;
            inputs.data = snapshot->data;
            inputs.runs.cacheBytes = bytes;
            WorkContext work;
            work.threads = threads;
            const auto prices = measureWeightPrices(inputs, work);
            QVERIFY(prices.ok());
            if (!first)
                first = *prices;
            QCOMPARE(prices->pareto.size(), first->pareto.size());
            for (size_t i = 0; i < first->pareto.size(); ++i) {
                QCOMPARE(prices->pareto[i].choice, first->pareto[i].choice);
                QCOMPARE(prices->pareto[i].score.divergence, first->pareto[i].score.divergence);
            }
        }
}

/// A node's own type stays, and others than those that are asked for keep the fewest bits.
void WeightPricesTests::fixedTypesAndPatterns()
{
    const Case files;
    Inputs inputs = files.inputs();
    inputs.recipe->weightOnly.nodes["n_plain"].type = DType::Int8;
    PriceRequest request;
    request.only = { "n_r*" };
    const WeightPrices prices = measured(opened(inputs), request);
    QCOMPARE(prices.units.size(), size_t(1));
    QCOMPARE(prices.units[0].unit.name, std::string("n_ruined"));
    const auto bytes = uint64_t(kHidden * kHidden), scales = 4 * bytes / uint64_t(kBlock);
    const WeightPrices all = measured(opened(files.inputs()));
    QCOMPARE(prices.references[0].bytes, all.references[0].bytes + bytes / 2);
    QCOMPARE(prices.references[2].bytes - prices.references[0].bytes, 4 * bytes - bytes / 2 - scales);
    request.only = { "there is none" };
    QVERIFY(!weightPricesOf(*opened(inputs), request, {}, {}).ok());
    inputs.recipe->exclude = { "n_*" };
    const auto none = weightPricesOf(*opened(inputs), {}, {}, {});
    QVERIFY(!none.ok() && none.issue().kind == IssueKind::BadInput);
    inputs.recipe = quantscopeRecipe();
    const auto other = weightPricesOf(*opened(inputs), {}, {}, {});
    QVERIFY(!other.ok() && other.issue().kind == IssueKind::BadUse);
}

/// What is no unit stays in codes beside all units in float, but not beside one alone.
void WeightPricesTests::tablesAreInCodes()
{
    const Case files;
    Inputs inputs = files.inputs();
    inputs.recipe->opTypes = { "MatMul", "Gather" };
    PriceRequest request;
    request.only = { "n_ruined" };
    const WeightPrices prices = measured(opened(inputs), request);
    const UnitPrice& unit = prices.units.at(0);
    QVERIFY(lossOf(unit.alone[2], prices.by) < 1e-9);
    QVERIFY(lossOf(unit.alone[2], prices.by) < lossOf(unit.alone[1], prices.by));
    QVERIFY(lossOf(prices.references[2].score, prices.by) > 1e-6);
}

void WeightPricesTests::layersAreOfTheModel()
{
    const Case files;
    GraphDraft draft = network(true);
    for (DraftNode& node : draft.nodes)
        if (node.is("MatMul"))
            node.name = (node.name == "n_plain" ? "/layers.0/" : "/layers.1/") + node.name;
    const auto units = PricedUnits::make(draft, *files.inputs().recipe, nullptr, { "/layers.0/*" }, 1);
    QVERIFY(units.ok());
    QCOMPARE(units->units().size(), size_t(1));
    QCOMPARE(units->units()[0].layer, std::string("/layers.0"));
}

void WeightPricesTests::limits()
{
    const Case files;
    const SnapshotPtr snapshot = opened(files.inputs());
    const WeightPrices prices = measured(snapshot);
    const PricePoint& second = prices.pareto[1];
    QCOMPARE(chosenPoint(prices, { .maxBytes = second.bytes })->choice, second.choice);
    QCOMPARE(chosenPoint(prices, { .maxKl = *second.score.klMean() })->choice, second.choice);
    PriceRequest request;
    request.budget.maxBytes = prices.pareto[0].bytes - 1;
    const auto few = weightPricesOf(*snapshot, request, {}, {});
    QVERIFY(!few.ok() && few.issue().kind == IssueKind::BadInput);
    request.budget = { .minSqnrDb = 20.0 };
    QVERIFY(!weightPricesOf(*snapshot, request, {}, {}).ok());
    const Case features(false);
    request.budget = { .maxKl = 0.1 };
    QVERIFY(!weightPricesOf(*opened(features.inputs()), request, {}, {}).ok());
}

void WeightPricesTests::cancels()
{
    const Case files;
    const SnapshotPtr snapshot = opened(files.inputs());
    CancelToken cancel;
    const ProgressFn stop = [&](std::string_view phase, size_t, size_t) {
        if (phase == "steps")
            cancel.cancel();
    };
    const auto result = weightPricesOf(*snapshot, {}, stop, cancel);
    QVERIFY(!result.ok() && result.issue().kind == IssueKind::Cancelled);
}

void WeightPricesTests::genaiFilesGoAlong()
{
    const Case files;
    QVERIFY(QDir(files.folder.path()).mkdir("out"));
    const std::string out = files.path("out/model.onnx"), from = files.path("float.onnx");
    QVERIFY(genaiFolder(from, out).copies.empty());
    const auto write = [&](const char* name, const char* text) {
        QFile file(files.folder.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    };
    write("genai_config.json", R"({"model": {"decoder": {"filename": "model.onnx"}}})");
    write("tokenizer.json", "{}");
    const GenaiFolder folder = genaiFolder(from, out);
    QCOMPARE(folder.copies.size(), size_t(2));
    QCOMPARE(folder.copies[0].second, files.path("out/genai_config.json"));
    QVERIFY(folder.warnings.empty());
    QCOMPARE(genaiFolder(from, files.path("out/other.onnx")).warnings.size(), size_t(1));
    QVERIFY(genaiFolder(from, files.path("model.onnx")).copies.empty());
    write("out/genai_config.json", "{}");
    QCOMPARE(genaiFolder(from, out).copies.size(), size_t(1));
}

void WeightPricesTests::saysItToTheBuilder()
{
    const Case files;
    Inputs inputs = files.inputs();
    inputs.recipe->weightOnly.nodes["n_ruined"].type = DType::Int8;
    inputs.recipe->exclude = { "n_plain" };
    const SnapshotPtr snapshot = opened(inputs);
    const auto options = builderOptions(snapshot->quantization->prepared, *inputs.recipe);
    QVERIFY(options.ok());
    const auto json = nlohmann::json::parse(options->text);
    const auto& weights = json["target_options"]["quant_config"]["weights"];
    QCOMPARE(weights["type"].get<std::string>(), std::string("int4"));
    QCOMPARE(weights["block_size"].get<int64_t>(), kBlock);
    const auto expected = nlohmann::json::parse(
        R"([{"match": {"name": "n_ruined"}, "type": "int8"}, {"match": {"name": "n_plain"}, "exclude": true}])");
    QCOMPARE(weights["overrides"].dump(), expected.dump());
    const auto& extra = json["extra_options"];
    QCOMPARE(extra["int4_nodes_to_exclude"].get<std::string>(), std::string("n_plain"));
    QCOMPARE(extra["int4_is_symmetric"].get<std::string>(), std::string("true"));
    QVERIFY(!extra.contains("matmul_mixed_precision")); // the node is in no group that it knows
    QVERIFY(QString::fromStdString(options->unsaid).contains("groups of nodes alone"));
    QVERIFY(!builderOptions(snapshot->quantization->prepared, quantscopeRecipe()).ok());
}

/// The builder begins with 4 bits then, so weights of 4 bits are no exception.
void WeightPricesTests::saysTwoBitsToTheBuilder()
{
    const Case files;
    Inputs inputs = files.inputs(DType::UInt2);
    inputs.recipe->weightOnly.nodes["n_ruined"].type = DType::UInt8;
    inputs.recipe->weightOnly.nodes["n_plain"].type = DType::UInt4;
    const SnapshotPtr snapshot = opened(inputs);
    const auto options = builderOptions(snapshot->quantization->prepared, *inputs.recipe);
    QVERIFY(options.ok());
    const auto json = nlohmann::json::parse(options->text);
    const auto& weights = json["target_options"]["quant_config"]["weights"];
    QCOMPARE(weights["type"].get<std::string>(), std::string("uint4"));
    QCOMPARE(weights["overrides"].dump(), std::string(R"([{"match":{"name":"n_ruined"},"type":"int8"}])"));
    QVERIFY(QString::fromStdString(options->unsaid).contains("no 2 bits"));
}

QTEST_APPLESS_MAIN(WeightPricesTests)
#include "weight_prices_test.moc"
