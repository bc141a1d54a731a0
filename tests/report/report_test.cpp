// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/definitions.h"
#include "core/base/text/elided.h"
#include "core/base/text/one_line.h"
#include "core/report/format.h"
#include "core/report/html/html_parts.h"
#include "core/report/report.h"
#include "core/report/task_text.h"
#include "core/report/text/language_text.h"
#include "core/report/text/text_table.h"

#include <QFile>
#include <QXmlStreamReader>
#include <QtTest>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

using namespace qs;
using nlohmann::json;

namespace {

/// A name with everything that a format has to escape.
const std::string kWildName = "a,\"b\"\n<script>&'\x01\xff\xe4\xb8\xad";

LoadedModel makeModel(const std::string& path, const std::string& output)
{
    GraphBuilder builder("net");
    const ValueId input = builder.value("input");
    builder.setType(input, { DType::Float32, toDims({ 1, 4 }), {} });
    builder.addInput(input);
    Node node;
    node.name = "relu";
    node.opType = "Relu";
    node.opset = 17;
    node.inputs = { input };
    node.outputs = { builder.value(output) };
    builder.addNode(node);
    builder.addOutput(node.outputs[0]);
    auto model = std::make_shared<Model>();
    model->path = path;
    model->graph = std::move(builder).finish().value();
    model->opsetImports[""] = 17;
    model->fileNodes = 1;
    LoadedModel loaded;
    loaded.model = model;
    loaded.plan = Plan::make(model);
    loaded.quant = std::make_shared<QuantView>(
        QuantView::of(model->graph, [plan = loaded.plan](ValueId id) { return plan->constant(id); }));
    return loaded;
}

ActivationRow quantizedRow(ValueId value)
{
    ActivationRow a;
    a.name = a.quantizedName = "input";
    a.floatValue = a.quantValue = value;
    a.quantizer = 0;
    a.params.dtype = DType::Int8;
    a.params.scale = { 0.1f };
    a.params.zeroPoint = { -3 };
    a.accumulated.sqnrDb = 12.345678901234567;
    a.accumulated.rmse = 2;
    a.accumulated.maxAbsError = std::numeric_limits<double>::infinity();
    a.accumulated.cosine = std::nan("");
    a.localSqnrDb = -0.04;
    a.idealSqnrDb = 40;
    a.noise = { 1.0, 3.5, -0.5 };
    a.clippedFraction = 0.502;
    a.range = { -12.5, 13 };
    a.observedRange = { -25, 25.4 };
    for (int i = -40; i < 40; ++i) {
        a.floatHistogram.add(static_cast<float>(i) * 0.7f);
        a.beforeHistogram.add(static_cast<float>(i) * 0.6f);
    }
    return a;
}

Snapshot makeSnapshot()
{
    Snapshot s;
    s.floatModel = makeModel("models/float.onnx", "out");
    s.quantModel = makeModel("models/quant.onnx", "out");
    s.inputs.data.spec = "samples.npz";
    Comparison c;
    c.samples = 2;
    c.activations.push_back(quantizedRow(s.quantModel->graph().inputs()[0]));
    ActivationRow plain;
    plain.name = kWildName;
    plain.quantizedName = "out";
    plain.node = "relu";
    plain.opType = "Relu";
    plain.floatValue = plain.quantValue = s.quantModel->graph().outputs()[0];
    plain.accumulated.exact = true;
    c.activations.push_back(plain);
    WeightRow w;
    w.name = "w";
    w.params.dtype = DType::Int8;
    w.params.axis = 0;
    w.params.scale = { 0.5f, 0.25f };
    w.params.zeroPoint = { 0, 0 };
    w.channelSqnrDb = { 31.5, std::nullopt };
    w.similarity.sqnrDb = 30;
    c.weights.push_back(w);
    OutputRow o;
    o.name = o.quantizedName = "out";
    o.similarity.sqnrDb = std::numeric_limits<double>::quiet_NaN();
    o.top1Agreement = 0.5;
    c.outputs.push_back(o);
    c.accuracy = Accuracy { 2, 1.0, 0.5 };
    c.flipped = { 1 };
    Finding f;
    f.rule = Rule::RangeTooSmall;
    f.severity = Severity::Warning;
    f.title = "Clipping <here>";
    f.summary = "Half of the values are clipped.";
    f.tensor = kWildName;
    f.evidence = { { "clipped", 50.2, "", "%" }, { "calibrator", std::nullopt, "min & max", "" } };
    f.remedy = "Use the observed range.";
    c.findings.push_back(f);
    s.comparison = c;
    Alignment alignment;
    alignment.unmatchedFloat = { s.floatModel->graph().outputs()[0] };
    alignment.whyFloat[alignment.unmatchedFloat[0]] = WhyAlone::RemovedActivation;
    alignment.insideQuant = { { s.quantModel->graph().outputs()[0], NodeId(0) } };
    s.alignment = std::make_shared<const Alignment>(alignment);
    return s;
}

/// Records of a CSV text, as RFC 4180 has them.
std::vector<std::vector<std::string>> parseCsv(const std::string& text)
{
    std::vector<std::vector<std::string>> records(1, std::vector<std::string>(1));
    bool quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
        std::string& cell = records.back().back();
        if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"')
            cell += text[++i];
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && text[i] == ',')
            records.back().emplace_back();
        else if (!quoted && text[i] == '\r')
            continue;
        else if (!quoted && text[i] == '\n')
            records.emplace_back(1);
        else
            cell += text[i];
    }
    records.pop_back();
    return records;
}

/// Fills what makeSnapshot() leaves out.
void fillSamples(Comparison& c)
{
    c.inputs.push_back({ kWildName, InputMoments { 0.5, 1, -25, 2 }, { {}, {} }, std::pair(-1.0, 1.0), "<odd>" });
    c.duplicates = { { 0, 1 } };
    c.coverage = CalibrationCoverage { 100, 0.25, 2, 1, kWildName, 0.5 };
    c.rangeGrowth = { { 1, 0.5, 0 }, { 2, 1, 1 } };
    c.outputs[0].sampleSqnrDb = { 3.5, std::nullopt };
    c.floatClass = { 1, 2 };
    c.quantClass = { 1, 0 };
    c.floatMargin = { 1, std::nan("") };
    c.quantMargin = { 0.5, -1 };
}

WeightLaboratory makeLaboratory()
{
    WeightLaboratory laboratory;
    WeightLab lab;
    lab.channels = { { -1, 2, 0.1, std::nullopt, std::nullopt, std::nullopt }, { 0, 0, 0, 0.5, 3, 30.0 } };
    lab.trials.push_back({ DType::Int4, true, false, 20.0, false, { 20.0, std::nullopt }, 20.0 });
    lab.equalized = EqualizedTrial { 1.5, { 1, 2 }, lab.trials };
    laboratory.weights = { lab };
    laboratory.preview = { {}, 1, { kWildName } };
    return laboratory;
}

Ladder makeLadder()
{
    Ladder ladder;
    LadderRow row;
    row.step = LadderStep::Device;
    row.name = kWildName;
    row.rule = "at least 40 dB";
    ladder.rows = { row };
    ladder.firstApart = 0;
    return ladder;
}

/// A document in which nothing is left out.
TaskRow exampleTask(TaskKind kind)
{
    TaskRow task;
    task.what.kind = kind;
    task.agreement = 0.75;
    task.differing = 1;
    task.samples = { { 1.0, {}, {}, false }, { 0.5, {}, {}, true } };
    if (kind == TaskKind::Sequence) {
        task.parts = 8;
        task.commonStart = 3.5;
        task.counts = { { 2, 2 }, { 2, 1 } };
        task.samples[1].firstDifference = 1;
    } else if (kind == TaskKind::Mask) {
        task.parts = 64;
        task.partAgreement = 0.9;
        task.counts = { { 40, 10, 0 }, { 36, 6, 0 } };
    } else if (kind == TaskKind::Boxes) {
        task.what.form = BoxForm::Yolov8;
        task.told = true;
        task.boxes = { 2, 4, 4, 3, 0, 2.4, 0.15 };
        task.samples[1].boxes = { 1, 2, 2, 1, 0, 0.8, 0.1 };
    }
    return task;
}

TokenBlame exampleBlame()
{
    return { 2, 7, 5, 6, 0.5, -0.25,
        { { "/layers.0", BlameKind::Layer, {}, -0.5, -0.25 },
            { "/layers.0/<m>", BlameKind::Node, "/layers.0", -0.5, -0.25 },
            { "head", BlameKind::Node, {}, -0.25, -0.5, 0.125, -0.625 } } };
}

LanguageRow exampleLanguage()
{
    return { 3, 30, 0, 1.5, 1.75, 0.1, 0.3, 0.4, GuessPlace { 2, 5, 0.4, true },
        FreeRun { 4, 3, { { 0, 4, { 7, 8, 9 }, { 7, 8, 9 } }, { 1, 4, { 5, 10, 2 }, { 5, 11, 2 } } },
            { { 1, 1, 10, 11, 0.125 } } } };
}

json wholeDocument()
{
    Snapshot s = makeSnapshot();
    const ValueId input = s.quantModel->graph().inputs()[0];
    Comparison& c = *s.comparison;
    fillSamples(c);
    s.classNames = std::make_shared<const ClassNames>(ClassNames { "one", "two", "three" });
    const auto alignment = std::make_shared<Alignment>(*s.alignment);
    alignment->links.push_back({ input, input, 0.9, true });
    s.alignment = alignment;
    c.profile = ArithmeticProfile::IntegerAvx2;
    c.saturation.push_back({ NodeId(0), "relu", "Relu", 24, { 4, 0 } });
    c.network = NetworkVerdict { {}, { { input, 0.5 }, ValueDistance { input, 0.5 } } };
    c.network->step.roundings.push_back({ "w", "w_low", "relu", Precision::Float16, 1e-4 });
    c.activations[0].implementation = ImplementationShares { 0.1, 0 };
    c.outputs[0].implementation = Similarity {};
    for (const TaskKind kind : { TaskKind::Classes, TaskKind::Sequence, TaskKind::Mask, TaskKind::Boxes }) {
        c.outputs.push_back(c.outputs[0]);
        c.outputs.back().task = exampleTask(kind);
    }
    c.floatNodes.push_back({ NodeId(0), "relu", "Relu", { FloatCause::Rule, "not behind codes" }, 0.5, false });
    c.calibration = CalibrationSummary {};
    c.findings[0].change = { RemedyKind::SetRange, {}, kWildName, -1, 1, 0 };
    const WeightLaboratory laboratory = makeLaboratory();
    const Ladder ladder = makeLadder();
    ReportInfo info;
    info.laboratory = info.otherLaboratory = &laboratory;
    info.ladder = &ladder;
    info.other = &s;
    FileFacts facts;
    facts.time = RunTime { 1, 1, 1, 9, 2 };
    const std::vector<FileFacts> files { facts, facts, facts };
    info.files = &files;
    ElementDifferences elements;
    elements.rows.push_back({ "x", "x", "x", true, 4, 1, 0.5, ElementPlace { 0, { 0, 3 }, 0, 0.5 } });
    info.elements = &elements;
    const TokenBlame blame = exampleBlame();
    info.blame = &blame;
    c.outputs[2].language = exampleLanguage();
    return json::parse(compareJson(s, info));
}

/// But those of evidence, which each rule has of its own.
void collectKeys(const json& value, std::set<std::string>& keys)
{
    if (value.is_object())
        for (const auto& [key, item] : value.items())
            keys.insert(key);
    if (value.is_structured())
        for (const auto& [key, item] : value.items())
            if (key != "evidence")
                collectKeys(item, keys);
}

} // namespace

class ReportTest : public QObject {
    Q_OBJECT
private slots:
    /// docs/metrics.md names all that a document holds, and says of it what the program says.
    void documentation()
    {
        QFile file(QStringLiteral(QS_SOURCE_DIR "/docs/metrics.md"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const std::string page = file.readAll().toStdString();
        const auto holds = [&](const std::string& text) { return page.find(text) != std::string::npos; };
        std::set<std::string> keys;
        collectKeys(wholeDocument(), keys);
        QVERIFY(keys.size() > 100);
        for (const std::string& key : keys)
            QVERIFY2(holds("`" + key + "`"), key.c_str());
        for (const Definition* definition : definition::kAll) {
            QVERIFY2(keys.contains(std::string(definition->key)), definition->key.data());
            QVERIFY2(
                holds(sentencesOf(*definition)) && holds(std::string(definition->formula)), definition->key.data());
        }
        for (const RuleInfo& rule : ruleTable()) {
            std::string line = "| `" + std::string(rule.id) + "` | ";
            line += std::string(severityName(rule.severity)) + " | " + std::string(rule.explanation) + " |";
            QVERIFY2(holds(line), line.c_str());
        }
    }

    void tasksOfOutputs()
    {
        const json d = wholeDocument();
        const json& outputs = d["outputs"];
        QVERIFY(outputs[0]["task"] == json::parse(R"({"kind":"values","told":false,"agreement":null})"));
        QCOMPARE(outputs[1]["task"]["differing_samples"].get<int>(), 1);
        QVERIFY(outputs[2]["task"]["by_position"] == json::parse("[1.0,0.5]"));
        QVERIFY(outputs[3]["task"]["by_class"] == json::parse(R"([{"class":0,"iou":0.9},{"class":1,"iou":0.6}])"));
        const json& boxes = outputs[4]["task"];
        QVERIFY(boxes["told"].get<bool>() && boxes["form"] == "yolov8");
        QCOMPARE(boxes["missed"].get<double>(), 1.0);
        QCOMPARE(boxes["matched_share"].get<double>(), 0.75);
        QVERIFY(std::abs(boxes["mean_iou"].get<double>() - 0.8) < 1e-12);
        const json& second = d["sample_details"][1]["tasks"];
        QVERIFY(second[0].is_null() && second[2]["first_difference"] == 1 && second[4]["missed"] == 1);
        QCOMPARE(text::taskAgreement(exampleTask(TaskKind::Boxes)), std::string("75.0 % of boxes"));
        QCOMPARE(text::sampleDifference(exampleTask(TaskKind::Boxes), exampleTask(TaskKind::Boxes).samples[1]),
            std::string("1 missed, 1 extra"));
        for (const TaskKind kind : { TaskKind::Sequence, TaskKind::Mask, TaskKind::Boxes })
            QVERIFY(!text::taskSentence(exampleTask(kind)).empty());
    }

    void languageModels()
    {
        const json d = wholeDocument();
        const json& language = d["language"];
        QVERIFY(language["decode"] == "free" && language["prompt_tokens"] == 4 && language["new_tokens"] == 3);
        QVERIFY(language["first_flip"]
            == json::parse(R"([{"prompt":1,"position":1,"float_id":10,"quantized_id":11,"float_margin":0.125}])"));
        QVERIFY(language["worst"] == json::parse(R"({"prompt":2,"position":5,"kl":0.4,"flipped":true})"));
        QVERIFY(language["continuations"][0]["position"].is_null() && language["continuations"][0]["prompt"] == 0);
        QVERIFY(language["continuations"][1] == json::parse(R"({"prompt":1,"prompt_tokens":4,"position":1,
            "float_ids":[5,10,2],"quantized_ids":[5,11,2],"float_text":null,"quantized_text":null})"));
        const std::string sentence = text::languageSentence(exampleLanguage());
        QVERIFY2(sentence.ends_with(
                     "worst flip 2:5 (KL 0.400); continued by each model itself, 1 of 2 prompts part within 3 tokens: "
                     "prompt 1 at 1 (float margin 0.125)"),
            sentence.c_str());
        QVERIFY(d["blamed"]
            == json::parse(
                R"({"prompt":2,"position":7,"float_id":5,"quantized_id":6,"float_text":null,"quantized_text":null,
            "float_difference":0.5,"quantized_difference":-0.25,"total":-0.75})"));
        QVERIFY(d["blame"][1] == json::parse(R"({"unit":"/layers.0/<m>","kind":"node","parent":"/layers.0",
            "forward":-0.5,"backward":-0.25,"alone":null,"restored":null})"));
        QVERIFY(d["blame"][2]["alone"] == 0.125 && d["blame"][2]["restored"] == -0.625);
        const Snapshot s = makeSnapshot();
        const TokenBlame blame = exampleBlame();
        ReportInfo info;
        info.blame = &blame;
        const std::string table = compareTable(s, info), page = compareHtml(s, info);
        QVERIFY(table.find("token 5 stands above token 6") != std::string::npos);
        QVERIFY(page.find("/layers.0/&lt;m&gt;") != std::string::npos);
    }

    void jsonKeysAndNulls()
    {
        const std::string text = compareJson(makeSnapshot(), { 123, false });
        QVERIFY(text.find("NaN") == std::string::npos && text.find("Infinity") == std::string::npos);
        const json d = json::parse(text);
        QCOMPARE(d["schema_version"].get<int>(), 1);
        QCOMPARE(d["float"]["nodes"].get<int>(), 1);
        QCOMPARE(d["quantized"]["form"].get<std::string>(), std::string("float"));
        QCOMPARE(d["samples"].get<int>(), 2);
        QCOMPARE(d["arithmetic"].get<std::string>(), std::string("simulated"));
        QVERIFY(d["outputs"][0]["sqnr_db"].is_null());
        QCOMPARE(d["outputs"][0]["top1_agreement"].get<double>(), 0.5);
        QVERIFY(d["accuracy"] == json::parse(R"({"labels":2,"float":1.0,"quantized":0.5,"flipped":[1]})"));
        const json& a = d["activations"][0];
        for (const char* key : { "name", "quantized_name", "node", "op_type", "match", "dtype", "scale", "zero_point",
                 "axis", "sqnr_db", "local_sqnr_db", "qdq_sqnr_db", "node_sqnr_db", "increase_db", "ideal_sqnr_db",
                 "rmse", "max_abs_error", "mean_error", "cosine", "noise", "clipped_fraction", "range",
                 "observed_range", "implementation", "exact" })
            QVERIFY2(a.contains(key), key);
        QCOMPARE(a["sqnr_db"].get<double>(), 12.345678901234567);
        QCOMPARE(float(a["scale"][0].get<double>()), 0.1f);
        QVERIFY(a["cosine"].is_null() && a["max_abs_error"].is_null() && a["implementation"].is_null());
        QVERIFY(a["range"] == json::parse("[-12.5,13]"));
        const json& plain = d["activations"][1];
        QVERIFY(plain["sqnr_db"].is_null() && plain["exact"].get<bool>());
        QCOMPARE(plain["dtype"].get<std::string>(), std::string("float32"));
        QVERIFY(
            plain["scale"] == json::array() && plain["zero_point"] == json::array() && plain["range"] == json::array());
        for (const char* part : { "rounding", "clipping", "inherited", "weights", "kernel", "inputs" })
            QVERIFY2(plain["noise"].contains(part) && plain["noise"][part].is_null(), part);
        QVERIFY(d["weights"][0]["channel_sqnr_db"] == json::parse("[31.5,null]"));
        QCOMPARE(d["weights"][0]["axis"].get<int>(), 0);
        QVERIFY(d["unmatched"] == json::parse(R"({"float":["out"],"quantized":[]})"));
        QVERIFY(d["unmatched_why"]
            == json::parse(R"({"float":[{"value":"out","why":"removed_activation"}],"quantized":[]})"));
        QVERIFY(d["inside"]["float"] == json::array());
        QCOMPARE(d["inside"]["quantized"][0]["value"].get<std::string>(), std::string("out"));
        QCOMPARE(d["inside"]["quantized"][0]["node"].get<std::string>(), std::string("relu"));
        QVERIFY(d["findings"][0]["evidence"] == json::parse(R"({"clipped":50.2,"calibrator":"min & max"})"));
        QCOMPARE(d["peak_memory_bytes"].get<int>(), 123);
        for (const char* key : { "load", "match", "run", "report" })
            QVERIFY(d["time_ms"][key].is_number());
        Snapshot unlabelled = makeSnapshot();
        unlabelled.comparison->accuracy.reset();
        QVERIFY(json::parse(compareJson(unlabelled, {}))["accuracy"].is_null());
    }

    /// Names out of files: no formula for a spreadsheet, nothing that acts on a terminal or a page.
    void namesDoNothing()
    {
        for (const char* name : { "=1+2", "+1", "-1", "@sum(a1)", "\t=1", "\x1b[2J", "\xe2\x80\xaetxt", "\xc2\x9b" }) {
            Snapshot s = makeSnapshot();
            s.comparison->outputs[0].name = name;
            const auto records = parseCsv(compareCsv(s));
            const auto column = std::ranges::find(records[0], "name") - records[0].begin();
            const std::string cell = records[1][size_t(column)];
            QVERIFY2(cell.find_first_of("=+-@\t\x1b") != 0, cell.c_str());
            for (const std::string& text :
                { compareCsv(s), compareJson(s, {}), compareTable(s, {}), compareHtml(s, {}) })
                for (const char* acts : { "\x1b", "\xe2\x80\xae", "\xc2\x9b" })
                    QVERIFY2(text.find(acts) == std::string::npos, name);
            QCOMPARE(json::parse(compareJson(s, {}))["outputs"][0]["name"].get<std::string>(), std::string(name));
        }
    }

    void csvRoundTrip()
    {
        const Snapshot s = makeSnapshot();
        const json d = json::parse(compareJson(s, {}));
        const auto records = parseCsv(compareCsv(s));
        QCOMPARE(records.size(), size_t(5)); // header, output, two activations, weight
        for (const auto& record : records)
            QCOMPARE(record.size(), records[0].size());
        const auto cell = [&](size_t row, const std::string& column) {
            const auto it = std::find(records[0].begin(), records[0].end(), column);
            return it == records[0].end() ? std::string("no column") : records[row][size_t(it - records[0].begin())];
        };
        QCOMPARE(records[0][0], std::string("kind"));
        QCOMPARE(cell(1, "kind"), std::string("output"));
        QCOMPARE(cell(2, "kind"), std::string("activation"));
        QCOMPARE(cell(4, "kind"), std::string("weight"));
        QCOMPARE(cell(3, "name"), visible(d["activations"][1]["name"].get<std::string>()));
        QCOMPARE(cell(3, "exact"), std::string("true"));
        QCOMPARE(cell(2, "match.method"), std::string("name"));
        QCOMPARE(std::stod(cell(2, "sqnr_db")), 12.345678901234567);
        QCOMPARE(std::stod(cell(2, "noise.inherited")), -0.5);
        QCOMPARE(cell(2, "implementation.off_by_one"), std::string());
        QCOMPARE(cell(3, "sqnr_db"), std::string());
        QCOMPARE(cell(2, "scale"), std::string("no column"));
        QCOMPARE(cell(1, "top1_agreement"), std::string("0.5"));
    }

    /// In the table, findings alike are told of by the worst; with all details, each by itself.
    void findingsAlikeAreOneEntry()
    {
        Snapshot s = makeSnapshot();
        std::vector<Finding>& found = s.comparison->findings;
        for (const char* node : { "second", "third", "fourth" }) {
            Finding f = found.front();
            f.node = f.tensor = node;
            found.push_back(f);
        }
        const std::string brief = compareTable(s, {}), full = compareTable(s, { 0, true });
        QVERIFY2(brief.find("and 3 more like it: second, third, fourth") != std::string::npos, brief.c_str());
        QVERIFY(full.find("more like it") == std::string::npos);
        const auto entries = [](const std::string& text) {
            size_t count = 0;
            for (size_t at = text.find("range_too_small: "); at != std::string::npos;
                 at = text.find("range_too_small: ", at + 1))
                ++count;
            return count;
        };
        QCOMPARE(entries(brief), size_t(1));
        QCOMPARE(entries(full), size_t(4));
        QCOMPARE(json::parse(compareJson(s, {}))["findings"].size(), size_t(4));
    }

    void table()
    {
        const std::string brief = compareTable(makeSnapshot(), {});
        const std::string full = compareTable(makeSnapshot(), { 0, true });
        for (const char* part : { "float.onnx against quant.onnx", "2 samples", "range_too_small", "12.3", "exact",
                 "accuracy (2 labels): float 100 %, quantized 50.0 %; 1 sample with another class: sample 1\n",
                 "25.0 %", "without a partner" })
            QVERIFY2(brief.find(part) != std::string::npos, part);
        QVERIFY(full.size() >= brief.size());
        QVERIFY(brief.find('\x01') == std::string::npos);
    }

    void htmlIsWellFormedAndClosed()
    {
        const std::string page = compareHtml(makeSnapshot(), {});
        QXmlStreamReader reader(QByteArray::fromStdString(page));
        int tables = 0;
        int boxes = 0;
        QString scripts;
        while (!reader.atEnd()) {
            reader.readNext();
            if (!reader.isStartElement())
                continue;
            tables += reader.name() == u"table";
            boxes += reader.attributes().value(QStringLiteral("class")).toString().startsWith(QStringLiteral("box "));
            for (const char* attribute : { "src", "href", "srcset", "data" })
                QVERIFY(!reader.attributes().hasAttribute(QString::fromLatin1(attribute)));
            if (reader.name() == u"script")
                scripts += reader.readElementText();
        }
        QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
        QCOMPARE(tables, 5);
        QVERIFY(boxes >= 2);
        QVERIFY(!scripts.contains(QStringLiteral("a,")));
        for (const char* outside : { "http", "url(", "@import", "//www" })
            QVERIFY2(page.find(outside) == std::string::npos, outside);
        QVERIFY(page.find("prefers-color-scheme:dark") != std::string::npos);
        QVERIFY(page.find("\xe2\x88\x92"
                          "25")
            != std::string::npos); // true minus
        QVERIFY(page.find("nan") == std::string::npos && page.find("inf\"") == std::string::npos);
    }

    void samplesWeightsAndLadderAsHtml()
    {
        Snapshot s = makeSnapshot();
        fillSamples(*s.comparison);
        const WeightLaboratory laboratory = makeLaboratory();
        const Ladder ladder = makeLadder();
        ReportInfo info;
        info.laboratory = &laboratory;
        info.ladder = &ladder;
        const std::string page = compareHtml(s, info);
        QXmlStreamReader reader(QByteArray::fromStdString(page));
        int tables = 0;
        while (!reader.atEnd())
            if (reader.readNext() == QXmlStreamReader::StartElement)
                tables += reader.name() == u"table";
        QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
        QCOMPARE(tables, 10);
        QVERIFY(page.find("nan") == std::string::npos);
        const json d = json::parse(compareJson(s, info));
        QCOMPARE(d["inputs"][0]["channels"].size(), size_t(2));
        QCOMPARE(d["learning_curve"][1]["settled_share"], json(1.0));
        QCOMPARE(d["weights"][0]["laboratory"]["trials"][0]["dtype"], json("int4"));
        QCOMPARE(d["ladder"]["ends_at"]["step"], json("integer -> device"));
        const std::string table = compareTable(s, info);
        for (const char* part : { "<odd>", "25.0 % of the values", "1 sample equals", "agreement ends" })
            QVERIFY2(table.find(part) != std::string::npos, part);
    }

    void emptyComparison()
    {
        Snapshot s = makeSnapshot();
        s.comparison = Comparison {};
        s.alignment = std::make_shared<const Alignment>();
        QXmlStreamReader reader(QByteArray::fromStdString(compareHtml(s, {})));
        while (!reader.atEnd())
            reader.readNext();
        QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
        QVERIFY(!compareTable(s, {}).empty());
        QCOMPARE(parseCsv(compareCsv(s)).size(), size_t(1));
        QVERIFY(json::parse(compareJson(s, {}))["activations"] == json::array());
    }

    void numbers()
    {
        QCOMPARE(text::number(0.02391), std::string("0.0239"));
        QCOMPARE(text::number(19.74), std::string("19.7"));
        QCOMPARE(text::number(3.1e-7), std::string("3.10e-07"));
        QCOMPARE(text::number(0.0), std::string("0"));
        QCOMPARE(text::number(std::nullopt), std::string("-"));
        QCOMPARE(text::decibelUnit(-5.44), std::string("-5.4 dB"));
        QCOMPARE(text::decibel(-0.01), std::string("0.0"));
        QCOMPARE(text::decibelUnit(std::nullopt, true), std::string("exact"));
        QCOMPARE(text::percent(0.502), std::string("50.2 %"));
        QCOMPARE(text::percent(1.0), std::string("100 %"));
        QVERIFY(text::cancels({ 0.0, -0.102, 0.0, 1.102, {} }) && !text::cancels({ 0.0004, -0.0004, 0.0, 1.0, {} }));
        QCOMPARE(text::count(1234567), std::string("1,234,567"));
        QCOMPARE(text::count(12), std::string("12"));
        QCOMPARE(text::milliseconds(1234), std::string("1.2 s"));
        QCOMPARE(elided("abcdefghij", 7), std::string("ab...ij"));
        QCOMPARE(html::colourStep(-5), 8);
        QCOMPARE(html::colourStep(50), 0);
        QCOMPARE(html::shown("-"), std::string("\xe2\x80\x93"));
        QCOMPARE(html::escaped("<&>\"\x02\xc0"), std::string("&lt;&amp;&gt;&quot;\xef\xbf\xbd\xef\xbf\xbd"));
    }
};

QTEST_APPLESS_MAIN(ReportTest)
#include "report_test.moc"
