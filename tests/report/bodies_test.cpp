// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/npz_writer.h"
#include "core/onnx/write/export.h"
#include "core/project/about/file_facts.h"
#include "core/project/about/model_info.h"
#include "core/project/quantize/quantize_model.h"
#include "core/project/shards/shards.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/report/iterations.h"
#include "tests/support/body_parts.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace qs;
using namespace qs::test;

namespace {

/// Behind an If that depends on `rate`: a product in one branch, another in the other.
Part rated(Part net, const std::string& from, const std::string& to, unsigned slowSeed)
{
    const auto branch = [&](const std::string& name, unsigned seed) {
        return Part()
            .outer({ from })
            .constant(name + "_w", noise({ 3, 3 }, seed))
            .op("MatMul", { from, name + "_w" }, { name + "_p" })
            .op("Tanh", { name + "_p" }, { name + "_out" })
            .output({ name + "_out" })
            .graph();
    };
    net.input("rate", DType::Int64, Dims {})
        .constant("fast", Tensor::scalar<int64_t>(16000))
        .op("Equal", { "rate", "fast" }, { "is_fast" })
        .op("If", { "is_fast" }, { to },
            { { "then_branch", branch("fast_branch", 31) }, { "else_branch", branch("slow_branch", slowSeed) } },
            { from });
    return net;
}

/// y = last state of a recurrent cell over the rows of what the branch makes of x.
constexpr unsigned kSlowSeed = 32;

GraphDraft network(unsigned slowSeed = kSlowSeed)
{
    Part net;
    net.input("x", DType::Float32, Dims { { -1, "" }, { 1, "" }, { 3, "" } })
        .input("start", DType::Float32, toDims({ 1, 3 }))
        .constant("w", noise({ 3, 3 }, 4));
    return rated(std::move(net), "x", "mixed", slowSeed)
        .op("Scan", { "start", "mixed" }, { "y", "all" }, { { "body", cell() }, { "num_scan_inputs", int64_t(1) } },
            { "w" })
        .output({ "y", "all" })
        .draft();
}

std::string written(const QTemporaryDir& folder, const char* name, const GraphDraft& draft)
{
    const std::string path = folder.filePath(name).toStdString();
    return exportModel(draft, path).ok() ? path : std::string();
}

/// `rates`: one a sample.
std::string dataFile(const QTemporaryDir& folder, const std::vector<int64_t>& rates, int64_t rows = 4)
{
    const std::string path = folder.filePath("data.npz").toStdString();
    auto writer = NpzWriter::create(path, { "x", "start", "rate" }, rates.size());
    for (size_t i = 0; i < rates.size(); ++i)
        if (!writer->add(i, { noise({ rows, 1, 3 }, unsigned(i)), noise({ 1, 3 }, 50), Tensor::scalar(rates[i]) }).ok())
            return {};
    return writer->finish().ok() ? path : std::string();
}

Recipe dynamicRecipe(bool inBodies)
{
    Recipe recipe;
    recipe.format = RecipeFormat::Dynamic;
    recipe.subgraphs = inBodies;
    return recipe;
}

const ActivationRow* rowOf(const Snapshot& s, const std::string& name)
{
    const auto it = std::ranges::find(s.comparison->activations, name, &ActivationRow::name);
    return it == s.comparison->activations.end() ? nullptr : &*it;
}

/// The float model of a file quantized; a folded one where inputs are fixed.
GraphDraft quantized(const std::string& path, const Recipe& recipe)
{
    QuantizeInputs inputs;
    inputs.model = loadModel(path)->model;
    inputs.recipe = recipe;
    return quantizeModel(inputs, {})->draft;
}

bool mentions(const std::vector<std::string>& texts, const std::string& part)
{
    return std::ranges::any_of(texts, [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

} // namespace

class BodiesTests : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        m_float = written(m_folder, "float.onnx", network());
        QVERIFY(!m_float.empty());
    }
    void codesStandWhereTheValuesAre();
    void valuesInsideAreCompared();
    void foldedFileAgainstTheIf();
    void branchesThatNobodyTakes_data();
    void branchesThatNobodyTakes();
    void infoLooksInside();
    void otherBranchesStayTogether();
    void longLoopsStayTogether();
    void hintsNameTheOptions();
    void operatorsOnCodesRefuseBodies();
    void shardsAddUp();

private:
    std::shared_ptr<const Snapshot> compared(const std::string& quantizedPath, const std::string& data)
    {
        Inputs inputs;
        inputs.floatPath = m_float;
        inputs.quantPath = quantizedPath;
        inputs.data.spec = data;
        auto made = buildSnapshot(inputs, {}, {}, {});
        return made.ok() ? *made : nullptr;
    }
    QTemporaryDir m_folder;
    std::string m_float;
};

/// As ONNX Runtime's EnableSubgraph does it.
void BodiesTests::codesStandWhereTheValuesAre()
{
    const GraphDraft draft = quantized(m_float, dynamicRecipe(true));
    const auto holds = [](const Graph& graph, const std::string& name) { return graph.findValue(name).valid(); };
    const auto bodyOf = [&](const std::string& type, const std::string& attribute) {
        const auto node = std::ranges::find(draft.nodes, type, &DraftNode::opType);
        return *node->attributes.get<std::shared_ptr<const Graph>>(attribute);
    };
    QVERIFY(draft.constant("w_quantized") && !draft.constant("w")); // outside of the cell that multiplies with it
    QVERIFY(std::ranges::any_of(
        draft.nodes, [](const DraftNode& node) { return node.is("DynamicQuantizeLinear") && node.inputs[0] == "x"; }));
    const auto branch = bodyOf("If", "then_branch"), cell = bodyOf("Scan", "body");
    const ValueId codes = branch->findValue("fast_branch_w_quantized");
    QVERIFY(codes.valid() && branch->value(codes).initializer);
    QVERIFY(!holds(*branch, "x") && holds(*branch, "x_quantized"));
    QVERIFY(cell->findNode("h_QuantizeLinear").valid() && cell->findNode("n_p_quant").valid());
    QVERIFY(!cell->value(cell->findValue("w_quantized")).initializer);
    const GraphDraft plain = quantized(m_float, dynamicRecipe(false));
    QVERIFY(plain.constant("w") && !plain.constant("w_quantized"));
}

void BodiesTests::valuesInsideAreCompared()
{
    const std::string path = written(m_folder, "bodies.onnx", quantized(m_float, dynamicRecipe(true)));
    const auto s = compared(path, dataFile(m_folder, { 16000, 16000, 16000 }));
    QVERIFY(s);
    for (const std::string name : { "fast_branch_p", "mixed", "n_y/0/p", "n_y/3/p", "n_y/2/q", "n_y/1/next", "y" }) {
        const ActivationRow* row = rowOf(*s, name);
        QVERIFY2(row, name.c_str());
        const bool state = name == "n_y/1/next"; // its codes are made as the next iteration's h
        QVERIFY2(row->quantizedName.starts_with(state ? "n_y/2/h" : name), row->quantizedName.c_str());
        QVERIFY(row->accumulated.sqnrDb && *row->accumulated.sqnrDb > 20);
    }
    QVERIFY(!rowOf(*s, "slow_branch_p"));
    const auto named = [&](const std::string& part) {
        return std::ranges::any_of(s->comparison->weights, [&](const WeightRow& row) { return row.name == part; });
    };
    QVERIFY(named("fast_branch_w") && named("w"));
    const auto rows = iterationRows(*s);
    const auto next = std::ranges::find(rows, std::string("s"), &IterationRow::inner);
    QVERIFY(next != rows.end());
    QCOMPARE(next->loop, std::string("n_y"));
    QCOMPARE(next->byIteration.size(), size_t(4));
    double lowest = 1e9, highest = -1e9;
    for (size_t i = 0; i < 4; ++i) {
        QCOMPARE(next->names[i], "n_y/" + std::to_string(i) + "/s");
        QVERIFY(next->byIteration[i].has_value());
        QCOMPARE(*next->byIteration[i], *rowOf(*s, next->names[i])->accumulated.sqnrDb);
        lowest = std::min(lowest, *next->byIteration[i]);
        highest = std::max(highest, *next->byIteration[i]);
    }
    QVERIFY(*next->sqnrDb >= lowest && *next->sqnrDb <= highest);
    QCOMPARE(*next->changeDb, *next->byIteration[3] - *next->byIteration[0]);
    QCOMPARE(s->floatFile->graph().nodes().size(), size_t(3)); // recipes are applied to what the file holds
}

void BodiesTests::foldedFileAgainstTheIf()
{
    Recipe recipe = dynamicRecipe(false);
    recipe.preparation.enabled = true;
    recipe.preparation.fixedInputs = { "rate=16000" };
    recipe.preparation.fixedShapes = { "x=4x1x3" };
    const GraphDraft draft = quantized(m_float, recipe);
    QVERIFY(std::ranges::none_of(draft.nodes, [](const DraftNode& node) { return node.is("If"); }));
    QVERIFY(draft.isInput("rate"));
    const std::string path = written(m_folder, "folded.onnx", draft);
    const auto s = compared(path, dataFile(m_folder, { 16000, 16000 }));
    QVERIFY(s);
    const Graph& folded = s->quantFile->graph();
    QVERIFY(folded.value(folded.findValue("x")).type.dims == toDims({ 4, 1, 3 })); // the file says so
    const ActivationRow* row = rowOf(*s, "fast_branch_p");
    QVERIFY(row);
    QVERIFY(*row->accumulated.sqnrDb > 20);
}

void BodiesTests::branchesThatNobodyTakes_data()
{
    QTest::addColumn<unsigned>("slowSeed"); // of the weight in the else_branch of the quantized file
    QTest::addColumn<std::vector<int>>("rates");
    QTest::addColumn<std::string>("untaken"); // the weight in it
    QTest::addColumn<bool>("told");
    const std::vector<int> fast { 16000, 16000 }, slow { 8000, 8000 }, both { 16000, 8000 };
    QTest::newRow("then") << kSlowSeed << fast << std::string("slow_branch_w") << false;
    QTest::newRow("else") << kSlowSeed << slow << std::string("fast_branch_w") << false;
    QTest::newRow("both") << kSlowSeed << both << std::string() << false;
    QTest::newRow("then, the other is wrong") << 99u << fast << std::string("slow_branch_w") << true;
    QTest::newRow("else, which is wrong") << 99u << slow << std::string("fast_branch_w") << true;
    QTest::newRow("both, one is wrong") << 99u << both << std::string() << true;
}

/// Their weights are compared, and nothing else.
void BodiesTests::branchesThatNobodyTakes()
{
    QFETCH(unsigned, slowSeed);
    QFETCH(std::vector<int>, rates);
    QFETCH(std::string, untaken);
    QFETCH(bool, told);
    const std::string other = written(m_folder, "other.onnx", network(slowSeed));
    const std::string path = written(m_folder, "bodies.onnx", quantized(other, dynamicRecipe(true)));
    const auto s = compared(path, dataFile(m_folder, { rates.begin(), rates.end() }));
    QVERIFY(s);
    const Comparison& c = *s->comparison;
    const auto row = std::ranges::find_if(c.weights, [](const WeightRow& w) { return !w.untaken.empty(); });
    QCOMPARE(row == c.weights.end() ? std::string() : row->name, untaken);
    QCOMPARE(mentions(s->warnings, "no sample takes the "), !untaken.empty());
    if (row != c.weights.end()) {
        const std::string branch
            = untaken == "slow_branch_w" ? "the else_branch of 'n_mixed'" : "the then_branch of 'n_mixed'";
        QCOMPARE(row->untaken, branch);
        QVERIFY(mentions(s->warnings, branch + ": of what is inside only weights are compared, 1 that"));
    }
    const auto finding = std::ranges::find(c.findings, Rule::WeightsDiffer, &Finding::rule);
    QCOMPARE(finding != c.findings.end(), told);
    if (!told)
        return;
    QVERIFY(finding->weight);
    QCOMPARE(c.weights[*finding->weight].name, std::string("slow_branch_w"));
    QCOMPARE(finding->severity, Severity::Error);
    QCOMPARE(finding->summary.find("No sample takes the else_branch of 'n_mixed', where it is.") != std::string::npos,
        untaken == "slow_branch_w");
}

void BodiesTests::infoLooksInside()
{
    const std::string path = written(m_folder, "bodies.onnx", quantized(m_float, dynamicRecipe(true)));
    const ModelInfo plain = modelInfo(*loadModel(m_float)), codes = modelInfo(*loadModel(path));
    QCOMPARE(plain.form, QuantForm::Float);
    QCOMPARE(codes.form, QuantForm::Dynamic);
    QCOMPARE(codes.weightTypes, std::set<std::string> { "int8" });
    QCOMPARE(codes.parameters, plain.parameters + 3); // the scale of each weight, which a Mul reads
    QCOMPARE(plain.innerTypes.at("MatMul"), size_t(4)); // one of them of two computed factors
    QCOMPARE(codes.innerTypes.at("MatMulInteger"), size_t(3));
    const auto s = compared(path, dataFile(m_folder, { 16000, 16000 }));
    QVERIFY(s);
    const Snapshot* const shown = s.get();
    const std::vector<FileFacts> facts = fileFacts({ &shown, 1 }); // with the branch that is not taken
    QCOMPARE(facts[0].parameters, plain.parameters);
    QCOMPARE(facts[1].parameters, codes.parameters);
    QVERIFY(!mentions(s->warnings, "has no quantization"));
}

void BodiesTests::otherBranchesStayTogether()
{
    const std::string path = written(m_folder, "bodies.onnx", quantized(m_float, dynamicRecipe(true)));
    const auto s = compared(path, dataFile(m_folder, { 16000, 8000 }));
    QVERIFY(s);
    QVERIFY(!rowOf(*s, "fast_branch_p") && rowOf(*s, "mixed"));
    QVERIFY(
        mentions(s->warnings, "what is inside 'n_mixed' (If) is not compared: its condition depends on what 'rate'"));
    QVERIFY(rowOf(*s, "n_y/0/p")); // both branches make as many rows
}

void BodiesTests::longLoopsStayTogether()
{
    const std::string path = written(m_folder, "bodies.onnx", quantized(m_float, dynamicRecipe(true)));
    const auto s = compared(path, dataFile(m_folder, { 16000, 16000 }, 70));
    QVERIFY(s);
    QVERIFY(rowOf(*s, "fast_branch_p") && rowOf(*s, "y") && !rowOf(*s, "n_y/0/p"));
    QVERIFY(mentions(s->warnings, "what is inside 'n_y' (Scan) is not compared: it runs 70 times"));
    QVERIFY(iterationRows(*s).empty());
}

void BodiesTests::hintsNameTheOptions()
{
    Inputs inputs;
    inputs.floatPath = m_float;
    inputs.recipe = quantscopeRecipe();
    inputs.data.spec = dataFile(m_folder, { 16000, 16000 });
    const auto s = buildSnapshot(inputs, {}, {}, {});
    QVERIFY(s.ok());
    QVERIFY(mentions((*s)->warnings, "--fix-input rate=16000 puts its nodes in the place of the If"));
    QVERIFY(mentions((*s)->warnings, "'n_y' (Scan) stays float; --format dynamic --enable-subgraph"));
    inputs.recipe->preparation.fixedInputs = { "rate=16000" };
    const auto fixed = buildSnapshot(inputs, {}, {}, {});
    QVERIFY(fixed.ok());
    QVERIFY(!mentions((*fixed)->warnings, "--fix-input"));
    const ActivationRow* row = rowOf(**fixed, "fast_branch_p");
    QVERIFY(row);
    QVERIFY(row->quantizer.has_value()); // the branch is quantized, statically
    for (const char* wrong : { "rate", "rate=fast", "speed=1", "x=true" }) {
        inputs.recipe->preparation.fixedInputs = { wrong };
        const auto refused = buildSnapshot(inputs, {}, {}, {});
        QVERIFY2(!refused.ok(), wrong);
        QVERIFY(refused.issue().what.find("--fix-input") != std::string::npos && !refused.issue().remedy.empty());
    }
}

void BodiesTests::operatorsOnCodesRefuseBodies()
{
    QuantizeInputs inputs;
    inputs.model = loadModel(m_float)->model;
    inputs.recipe.subgraphs = true;
    inputs.recipe.format = RecipeFormat::QOperator; // Q/DQ leaves bodies as they are, as ONNX Runtime does
    inputs.ranges = Ranges {};
    const auto made = quantizeModel(inputs, {});
    QVERIFY(!made.ok());
    QVERIFY(made.issue().what.find("in the dynamic format alone") != std::string::npos);
}

void BodiesTests::shardsAddUp()
{
    const std::string path = written(m_folder, "bodies.onnx", quantized(m_float, dynamicRecipe(true)));
    const std::string data = dataFile(m_folder, { 16000, 16000, 16000 });
    std::vector<std::string> states;
    for (size_t i = 1; i <= 2; ++i) {
        Inputs inputs;
        inputs.floatPath = m_float;
        inputs.quantPath = path;
        inputs.data.spec = data;
        inputs.shard = Shard { i, 2 };
        const auto part = buildSnapshot(inputs, {}, {}, {});
        QVERIFY(part.ok());
        const SnapshotPtr parts[] { *part };
        states.push_back(m_folder.filePath(QString::number(i) + ".qstate").toStdString());
        QVERIFY(writeShardState(states.back(), parts).ok());
    }
    const auto merged = mergeShards(states, {});
    QVERIFY2(merged.ok(), merged.ok() ? "" : merged.issue().what.c_str());
    const Snapshot& all = *merged->front();
    const auto whole = compared(path, data);
    QVERIFY(whole && rowOf(all, "n_y/2/p"));
    QCOMPARE(rowOf(all, "n_y/2/p")->accumulated.sqnrDb, rowOf(*whole, "n_y/2/p")->accumulated.sqnrDb);
    QCOMPARE(iterationRows(all).size(), iterationRows(*whole).size());
}

QTEST_GUILESS_MAIN(BodiesTests)
#include "bodies_test.moc"
