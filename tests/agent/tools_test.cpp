// SPDX-License-Identifier: GPL-3.0-or-later
// What an agent can ask for, with the bundled example, whose quantized model was calibrated badly.
#include "core/agent/tools/agent_resources.h"
#include "core/agent/tools/agent_tool.h"
#include "core/base/issue_text.h"

#include <QDir>
#include <QFile>
#include <QFloat16>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace qs;

namespace {

QByteArray contentOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class AgentToolsTest : public QObject {
    Q_OBJECT
private slots:
    void init();
    void schemas();
    void wrongArguments_data();
    void wrongArguments();
    void nothingOpen();
    void mends();
    void shows();
    void explains();
    void undoes();
    void edits_data();
    void edits();
    void emptyEdits();
    void namesArguments_data();
    void namesArguments();
    void costs();
    void writes();
    void keepsInputs_data();
    void keepsInputs();
    void resources();
    void sessions();
    void floatAlone();
    void continues();
    void blames();
    void refusesLanguage_data();
    void refusesLanguage();
    void cancels();

private:
    /// null where the tool fails; then `m_fault` says why.
    AgentJson ask(const char* tool, const AgentJson& arguments = AgentJson::object(), const WorkContext& work = {});
    AgentJson opened()
    {
        return ask("open",
            { { "float", "digits_float.onnx" }, { "quantized", "digits_qdq_narrow.onnx" },
                { "data", "digits_samples.npz" }, { "limit", 40 } });
    }
    /// The bundled language model with its int4 counterpart.
    AgentJson openedVerses()
    {
        const QDir examples(QS_SOURCE_DIR "/resources/examples");
        for (const char* name : { "verses_float.onnx", "verses_int4.onnx", "verses_prompts.npz", "tokenizer.json" })
            QFile::copy(examples.filePath(name), m_folder->filePath(name));
        return ask("open",
            { { "float", "verses_float.onnx" }, { "quantized", "verses_int4.onnx" },
                { "data", "verses_prompts.npz" } });
    }
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<AgentDesk> m_desk;
    std::string m_fault;
};

void AgentToolsTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    const QDir examples(QS_SOURCE_DIR "/resources/examples");
    for (const char* name : { "digits_float.onnx", "digits_qdq.onnx", "digits_qdq_narrow.onnx", "digits_samples.npz" })
        QVERIFY(QFile::copy(examples.filePath(name), m_folder->filePath(name)));
    auto folders = AllowedFolders::of({ m_folder->path().toStdString() });
    QVERIFY(folders.ok());
    m_desk = std::make_unique<AgentDesk>(*folders, RunSettings { 2, 0, 0 });
    m_fault.clear();
}

AgentJson AgentToolsTest::ask(const char* name, const AgentJson& arguments, const WorkContext& work)
{
    const AgentTool* const tool = toolNamed(name);
    Status fits = checkArguments(*tool, arguments);
    auto answer
        = fits.ok() ? callTool(*tool, *m_desk, ToolArguments(arguments), work) : Result<AgentJson>(fits.issue());
    m_fault = answer.ok() ? std::string() : issueText(answer.issue());
    return answer.ok() ? *answer : AgentJson(nullptr);
}

void AgentToolsTest::schemas()
{
    QCOMPARE(agentTools().size(), size_t(12));
    for (const AgentTool& tool : agentTools()) {
        const AgentJson schema = schemaOf(tool);
        QCOMPARE(schema["type"], AgentJson("object"));
        QCOMPARE(schema["additionalProperties"], AgentJson(false));
        QVERIFY(!tool.help.empty() && !tool.title.empty());
        for (const auto& [name, argument] : schema["properties"].items())
            QVERIFY2(argument.contains("type") && !argument["description"].get<std::string>().empty(), name.c_str());
    }
    QVERIFY(!toolNamed("none"));
}

void AgentToolsTest::wrongArguments_data()
{
    QTest::addColumn<QByteArray>("tool");
    QTest::addColumn<QByteArray>("arguments");
    QTest::addColumn<QByteArray>("word");
    QTest::newRow("no object") << QByteArray("open") << QByteArray("[1]") << QByteArray("no object");
    QTest::newRow("missing") << QByteArray("open") << QByteArray("{}") << QByteArray("'float' of open is missing");
    QTest::newRow("unknown") << QByteArray("undo") << QByteArray(R"({"up": 1})") << QByteArray("no argument 'up'");
    QTest::newRow("text") << QByteArray("open") << QByteArray(R"({"float": 1})") << QByteArray("give a text");
    QTest::newRow("word") << QByteArray("sensitivity") << QByteArray(R"({"by": "x"})") << QByteArray("one of node");
    QTest::newRow("part") << QByteArray("compare") << QByteArray(R"({"limit": 1.5})") << QByteArray("whole number");
    QTest::newRow("negative") << QByteArray("compare") << QByteArray(R"({"offset": -1})") << QByteArray("whole number");
    QTest::newRow("large") << QByteArray("compare") << QByteArray(R"({"limit": 18446744073709551615})")
                           << QByteArray("whole number");
    QTest::newRow("truth") << QByteArray("undo") << QByteArray(R"({"redo": 1})") << QByteArray("true or false");
    QTest::newRow("list") << QByteArray("explain") << QByteArray(R"({"tensor": "x", "at": [-1]})")
                          << QByteArray("list of whole numbers");
    QTest::newRow("object") << QByteArray("edit_recipe") << QByteArray(R"({"changes": []})") << QByteArray("an object");
    QTest::newRow("sizes") << QByteArray("open") << QByteArray(R"({"float": "x", "shapes": {"a": 3}})")
                           << QByteArray("object of lists");
    QTest::newRow("null") << QByteArray("undo") << QByteArray(R"({"steps": null})") << QByteArray("whole number");
}

void AgentToolsTest::wrongArguments()
{
    QFETCH(QByteArray, tool);
    QFETCH(QByteArray, arguments);
    QFETCH(QByteArray, word);
    QVERIFY(ask(tool.constData(), AgentJson::parse(arguments.toStdString())).is_null());
    QVERIFY2(m_fault.find(word.toStdString()) != std::string::npos, m_fault.c_str());
}

void AgentToolsTest::nothingOpen()
{
    for (const char* tool :
        { "compare", "findings", "tensor", "edit_recipe", "undo", "sensitivity", "decode", "blame" }) {
        QVERIFY(ask(tool).is_null());
        QVERIFY2(m_fault.find("call open first") != std::string::npos, m_fault.c_str());
    }
}

void AgentToolsTest::mends()
{
    const AgentJson open = opened();
    QVERIFY2(open.is_object(), m_fault.c_str());
    QCOMPARE(open["session"], AgentJson("s1"));
    QCOMPARE(open["quantized"]["form"], AgentJson("qdq"));
    QCOMPARE(open["data"]["samples"], AgentJson(40));
    const AgentJson bad = ask("compare");
    QVERIFY2(bad.is_object(), m_fault.c_str());
    QVERIFY(bad["now"]["output_sqnr_db"].get<double>() < 0);
    QCOMPARE(bad["worst_activations"]["rows"].size(), size_t(5));
    QCOMPARE(bad["findings"]["first"][0]["rule"], AgentJson("input_mismatch"));
    const AgentJson causes = ask("findings", { { "severity", "error" } });
    QCOMPARE(causes["findings"][0]["index"], AgentJson(0));
    const AgentJson edit = ask("edit_recipe", { { "apply_finding", 0 } });
    QVERIFY2(edit.is_object(), m_fault.c_str());
    QCOMPARE(edit["step"], AgentJson(1));
    QVERIFY(edit["changed"].size() > 5);
    QVERIFY(ask("edit_recipe", { { "apply_finding", 0 } }).is_null()); // of another step
    QVERIFY2(m_fault.find("another step") != std::string::npos, m_fault.c_str());
    const AgentJson good = ask("compare");
    QVERIFY(good["now"]["output_sqnr_db"].get<double>() > 30);
    QCOMPARE(good["before"], bad["now"]);
    QVERIFY(ask("edit_recipe", { { "apply_finding", 99 } }).is_null());
}

void AgentToolsTest::shows()
{
    opened();
    const AgentJson list = ask("tensor", { { "limit", 2 }, { "offset", 1 } });
    QCOMPARE(list["activations"].size(), size_t(2));
    QCOMPARE(list["next_offset"], AgentJson(3));
    QVERIFY(list["activations"][0]["sqnr_db"] <= list["activations"][1]["sqnr_db"]);
    const AgentJson weights = ask("tensor", { { "kind", "weights" }, { "contains", "classifier" } });
    QVERIFY(weights["total"].get<int>() > 0);
    const AgentJson one = ask("tensor", { { "name", "scores" }, { "sample", 3 }, { "offset", 8 } });
    QCOMPARE(one["activation"]["name"], AgentJson("scores"));
    QCOMPARE(one["values"]["float"].size(), size_t(2));
    QCOMPARE(one["values"]["total"], AgentJson(10));
    QVERIFY(!one["values"].contains("next_offset"));
    QVERIFY(ask("tensor", { { "name", "score" } }).is_null());
    QVERIFY2(m_fault.find("'scores'") != std::string::npos, m_fault.c_str());
    QVERIFY(ask("tensor", { { "name", "scores" }, { "sample", 4000 } }).is_null());
    QVERIFY2(m_fault.find("there is no sample 4000: the data hold") != std::string::npos, m_fault.c_str());
}

void AgentToolsTest::explains()
{
    opened();
    const AgentJson one = ask("explain", { { "tensor", "scores" }, { "at", { 0, 8 } }, { "limit", 2 } });
    QVERIFY2(one.is_object(), m_fault.c_str());
    QCOMPARE(one["kind"], AgentJson("dequantize"));
    QVERIFY(one["difference"].is_object());
    const AgentJson real = ask("explain",
        { { "tensor", "scores" }, { "at", { 0, 8 } }, { "model", "float" }, { "limit", 3 }, { "offset", 2 } });
    QVERIFY2(real.is_object(), m_fault.c_str());
    QCOMPARE(real["terms"].size(), size_t(3));
    QCOMPARE(real["next_offset"], AgentJson(5));
    QVERIFY(real["terms_total"].get<int>() > 5);
    QVERIFY(ask("explain", { { "tensor", "scores" }, { "at", { 0 } } }).is_null());
}

void AgentToolsTest::undoes()
{
    opened();
    const AgentJson bad = ask("compare");
    QVERIFY(ask("undo").is_null());
    ask("edit_recipe", { { "changes", { { "per_channel", false } } }, { "text", "one\nscale" } });
    const AgentJson second = ask("edit_recipe", { { "changes", { { "calibration", { { "method", "entropy" } } } } } });
    QCOMPARE(second["undo_steps"], AgentJson(2));
    const AgentJson history = ask("edit_recipe");
    QCOMPARE(history["history"][1]["text"], AgentJson("one scale"));
    QCOMPARE(history["recipe"]["calibration"]["method"], AgentJson("entropy"));
    QVERIFY(ask("undo", { { "steps", 3 } }).is_null());
    QCOMPARE(ask("undo", { { "steps", 2 } })["step"], AgentJson(0));
    QCOMPARE(ask("compare")["now"], bad["now"]);
    QCOMPARE(ask("undo", { { "redo", true } })["step"], AgentJson(1));
    ask("edit_recipe", { { "reset", "quantscope" } });
    QVERIFY(ask("undo", { { "redo", true } }).is_null()); // a new edit took its place
}

void AgentToolsTest::edits_data()
{
    QTest::addColumn<QByteArray>("changes");
    QTest::addColumn<QByteArray>("word");
    QTest::newRow("unknown") << QByteArray(R"({"no_such": 1})") << QByteArray("no_such");
    QTest::newRow("type") << QByteArray(R"({"per_channel": "yes"})") << QByteArray("per_channel");
    QTest::newRow("range") << QByteArray(R"({"calibration": {"percentile": 101}})") << QByteArray("percentile");
    QTest::newRow("no object") << QByteArray(R"({"calibration": 3})") << QByteArray("calibration");
    QTest::newRow("a file elsewhere") << QByteArray(R"({"codes": {"file": "/etc/passwd"}})") << QByteArray("outside");
    QTest::newRow("a file above") << QByteArray(R"({"codes": {"file": "../x.onnx"}})") << QByteArray("outside");
    for (const char* where : { "exclude", "include" }) {
        QTest::addRow("no node to %s", where)
            << QByteArray(R"({")") + where + R"(": ["/no/such/*"]})" << QByteArray("nothing is named '/no/such/*'");
        QTest::addRow("how to find one to %s", where)
            << QByteArray(R"({")") + where + R"(": ["/no/such"]})" << QByteArray("call tensor without a name");
    }
    QTest::newRow("no tensor") << QByteArray(R"({"tensors": {"no_such": {"type": "int16"}}})") << QByteArray("no_such");
    QTest::newRow("nothing") << QByteArray("{}") << QByteArray("says that already");
}

void AgentToolsTest::edits()
{
    QFETCH(QByteArray, changes);
    QFETCH(QByteArray, word);
    QVERIFY(ask("open", { { "float", "digits_float.onnx" }, { "data", "digits_samples.npz" } }).is_object());
    QVERIFY(ask("edit_recipe", { { "changes", AgentJson::parse(changes.toStdString()) } }).is_null());
    QVERIFY2(m_fault.find(word.toStdString()) != std::string::npos, m_fault.c_str());
    QCOMPARE(ask("edit_recipe")["undo_steps"], AgentJson(0));
}

/// Of a file that is open, whose first edit is made of the recipe that it was read to have.
void AgentToolsTest::emptyEdits()
{
    opened();
    QVERIFY(ask("edit_recipe", { { "changes", AgentJson::object() } }).is_null());
    QVERIFY2(m_fault.find("says that already") != std::string::npos, m_fault.c_str());
    QCOMPARE(ask("edit_recipe")["undo_steps"], AgentJson(0));
}

void AgentToolsTest::namesArguments_data()
{
    QTest::addColumn<QString>("given");
    QTest::addColumn<QString>("said");
    QTest::newRow("an argument") << "raise --new-tokens"
                                 << "raise new_tokens";
    QTest::newRow("sizes") << "give its sizes with --shape x=1x3x8x8"
                           << "give its sizes with shapes {\"x\": [1, 3, 8, 8]}";
    QTest::newRow("a field of recipes") << "use --method minmax or --no-per-channel, or --exclude it"
                                        << "use calibration.method minmax or per_channel false, or exclude it";
    QTest::newRow("options of commands") << "leave out --decode and --blame, or give a language model"
                                         << "open a language model";
    QTest::newRow("nothing of an agent's") << "use --no-such-option"
                                           << "use --no-such-option";
    QTest::newRow("no option") << "a--b, 3 -- 4 and node '--'"
                               << "a--b, 3 -- 4 and node '--'";
}

void AgentToolsTest::namesArguments()
{
    QFETCH(QString, given);
    QFETCH(QString, said);
    QCOMPARE(QString::fromStdString(inAgentWords(given.toStdString())), said);
}

void AgentToolsTest::costs()
{
    opened();
    const AgentJson all = ask("sensitivity", { { "by", "type" } });
    QVERIFY2(all.is_object(), m_fault.c_str());
    QVERIFY(all["units"]["rows"].size() > 3);
    QCOMPARE(all["pareto"]["rows"][0]["excluded_count"], AgentJson(0));
    const AgentJson rest = ask("sensitivity", { { "by", "type" }, { "limit", 1 }, { "offset", 1 } });
    QCOMPARE(rest["units"]["rows"][0], all["units"]["rows"][1]);
}

void AgentToolsTest::writes()
{
    opened();
    QVERIFY(ask("quantize", { { "path", "out.onnx" } }).is_null()); // the file itself
    ask("edit_recipe", { { "reset", "quantscope" } });
    const AgentJson model = ask("quantize", { { "path", "out.onnx" } });
    QVERIFY2(model.is_object(), m_fault.c_str());
    QCOMPARE(model["bytes"].get<qint64>(), QFile(m_folder->filePath("out.onnx")).size());
    for (const char* form : { "html", "json", "csv", "markdown", "junit", "sarif", "recipe" }) {
        const AgentJson written = ask("export", { { "format", form }, { "path", std::string("out.") + form } });
        QVERIFY2(written.is_object(), m_fault.c_str());
        QVERIFY(QFile(m_folder->filePath(QString("out.") + form)).size() > 10);
    }
    QVERIFY(ask("open", { { "float", "digits_float.onnx" }, { "recipe_file", "out.recipe" } }).is_object());
    QVERIFY(ask("export", { { "format", "recipe" }, { "path", "out.html" } }).is_object()); // its own file
}

void AgentToolsTest::keepsInputs_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<bool>("overwrite");
    QTest::newRow("float") << "digits_float.onnx" << true;
    QTest::newRow("quantized") << "digits_qdq_narrow.onnx" << true;
    QTest::newRow("data") << "digits_samples.npz" << true;
    QTest::newRow("other file") << "digits_qdq.onnx" << false;
    QTest::newRow("link to the float model") << "link" << true;
    QTest::newRow("other spelling") << "./digits_float.onnx" << true;
}

void AgentToolsTest::keepsInputs()
{
    QFETCH(QString, path);
    QFETCH(bool, overwrite);
    QFile::link(m_folder->filePath("digits_float.onnx"), m_folder->filePath("link"));
    const QByteArray before = contentOf(m_folder->filePath(path));
    opened();
    ask("open", { { "float", "digits_qdq.onnx" } }); // also what was read in an earlier session
    ask("open", { { "float", "digits_float.onnx" }, { "data", "digits_samples.npz" } });
    const AgentJson arguments { { "path", path.toStdString() }, { "overwrite", overwrite } };
    QVERIFY(ask("quantize", arguments).is_null());
    AgentJson report = arguments;
    report["format"] = "json";
    QVERIFY(ask("export", report).is_null());
    QCOMPARE(contentOf(m_folder->filePath(path)), before);
}

void AgentToolsTest::resources()
{
    QCOMPARE(agentResources(*m_desk).size(), size_t(1));
    opened();
    QVERIFY(!readResource(*m_desk, "quantscope://s1/report.html", {}).ok());
    ask("compare");
    for (const AgentResource& resource : agentResources(*m_desk)) {
        const auto read = readResource(*m_desk, resource.uri, {});
        QVERIFY2(read.ok() && read->text.size() > 10, resource.uri.c_str());
        QCOMPARE(read->mimeType, resource.mimeType);
    }
    const auto report = readResource(*m_desk, "quantscope://s1/report.json", {});
    QCOMPARE(AgentJson::parse(report->text)["samples"], AgentJson(40));
    for (const char* uri :
        { "", "quantscope://", "quantscope://s9/report.html", "quantscope://s1/report.x", "file:///etc" })
        QVERIFY(!readResource(*m_desk, uri, {}).ok());
}

void AgentToolsTest::sessions()
{
    for (int i = 0; i < 10; ++i)
        QVERIFY(ask("open", { { "float", "digits_float.onnx" } }).is_object());
    QCOMPARE(m_desk->sessions().size(), AgentDesk::kMostSessions);
    QVERIFY(ask("edit_recipe", { { "session", "s1" } }).is_null());
    QCOMPARE(ask("edit_recipe", { { "session", "s5" } })["session"], AgentJson("s5"));
    QCOMPARE(ask("edit_recipe")["session"], AgentJson("s5"));
}

void AgentToolsTest::floatAlone()
{
    QVERIFY(ask("open", { { "float", "digits_float.onnx" } }).is_object());
    QVERIFY(ask("compare").is_null());
    QVERIFY2(m_fault.find("open the models again with data") != std::string::npos, m_fault.c_str());
    QVERIFY(ask("open", { { "float", "digits_float.onnx" }, { "data", "digits_samples.npz" }, { "limit", 8 } })
                .is_object());
    QVERIFY2(ask("compare").is_object(), m_fault.c_str());
    QVERIFY(ask("open",
        { { "float", "digits_float.onnx" }, { "quantized", "digits_qdq.onnx" }, { "recipe", AgentJson::object() } })
                .is_null());
    QVERIFY(ask("open", { { "float", "digits_samples.npz" } }).is_null());
    QVERIFY(ask("open", { { "float", "none.onnx" } }).is_null());
}

void AgentToolsTest::continues()
{
    QVERIFY2(openedVerses().is_object(), m_fault.c_str());
    const AgentJson asked { { "prompt_tokens", 16 }, { "new_tokens", 40 }, { "tokenizer", "tokenizer.json" } };
    const AgentJson all = ask("decode", asked);
    QVERIFY2(all.is_object(), m_fault.c_str());
    QCOMPARE(all["prompts"], AgentJson(8));
    QCOMPARE(all["new_tokens"], AgentJson(40));
    QCOMPARE(all["first_flips"]["total"], AgentJson(8));
    QCOMPARE(all["first_flips"]["rows"].size(), size_t(5));
    QCOMPARE(all["continuations"]["next_offset"], AgentJson(5));
    const AgentJson& first = all["continuations"]["rows"][0];
    QCOMPARE(first["float_ids"].size(), size_t(32));
    QCOMPARE(first["float_ids_total"], AgentJson(40));
    QVERIFY(first["float_text"].is_string() && first["float_text"] != first["quantized_text"]);
    QCOMPARE(first["position"], all["first_flips"]["rows"][0]["position"]);
    AgentJson more = asked;
    more.update({ { "offset", 5 }, { "limit", 2 } });
    const AgentJson rest = ask("decode", more);
    QCOMPARE(rest["continuations"]["rows"][0]["prompt"], AgentJson(5));
    QCOMPARE(rest["continuations"]["rows"].size(), size_t(2));
    const AgentJson ids = ask("decode", { { "prompt_tokens", 16 }, { "new_tokens", 8 } });
    QVERIFY(ids["continuations"]["rows"][0]["float_text"].is_null());
    QFile config(m_folder->filePath("genai_config.json"));
    QVERIFY(config.open(QIODevice::WriteOnly));
    const int64_t end = first["float_ids"][1];
    config.write(R"({"model": {"eos_token_id": )" + QByteArray::number(qint64(end)) + "}}");
    config.close();
    const AgentJson ends = ask("decode", { { "prompt_tokens", 16 }, { "new_tokens", 9 } });
    QCOMPARE(ends["end_ids"], AgentJson::array({ end }));
    QCOMPARE(ends["continuations"]["rows"][0]["float_ids"].back(), AgentJson(end));
    QVERIFY(ends["continuations"]["rows"][0]["float_ids"].size() <= 2);
}

void AgentToolsTest::blames()
{
    QVERIFY2(openedVerses().is_object(), m_fault.c_str());
    const AgentJson named = ask("blame",
        { { "free", true }, { "prompt_tokens", 16 }, { "prompt", 3 }, { "position", 0 }, { "kind", "node" },
            { "limit", 3 }, { "tokenizer", "tokenizer.json" } });
    QVERIFY2(named.is_object(), m_fault.c_str());
    QCOMPARE(named["units"]["rows"].size(), size_t(3));
    QVERIFY(named["units"].contains("next_offset") && named["blamed"]["float_text"].is_string());
    QCOMPARE(named["units"]["rows"][0]["unit"], AgentJson("/model/layers.0/mlp/down_proj/MatMul"));
    for (const AgentJson& unit : named["units"]["rows"])
        QCOMPARE(unit["kind"], AgentJson("node"));
    const AgentJson inside = ask("blame",
        { { "free", true }, { "prompt_tokens", 16 }, { "prompt", 3 }, { "position", 0 },
            { "parent", "/model/layers.0/mlp/down_proj/MatMul" }, { "tokenizer", "tokenizer.json" } });
    QVERIFY(inside["units"]["total"] > 0);
    for (const AgentJson& unit : inside["units"]["rows"])
        QCOMPARE(unit["kind"], AgentJson("weight_block"));
    const AgentJson worst = ask("blame");
    QVERIFY2(worst.is_object(), m_fault.c_str());
    QVERIFY(worst["blamed"]["float_id"] != worst["blamed"]["quantized_id"]);
    const AgentJson flips = ask("decode", { { "prompt_tokens", 16 }, { "limit", 8 } })["first_flips"]["rows"];
    const AgentJson flip = ask("blame", { { "free", true }, { "prompt_tokens", 16 } })["blamed"];
    QVERIFY(std::ranges::any_of(flips,
        [&](const AgentJson& row) { return row["prompt"] == flip["prompt"] && row["position"] == flip["position"]; }));
}

void AgentToolsTest::refusesLanguage_data()
{
    QTest::addColumn<QByteArray>("tool");
    QTest::addColumn<QByteArray>("arguments");
    QTest::addColumn<QByteArray>("word");
    QTest::newRow("longer") << QByteArray("decode") << QByteArray(R"({"prompt_tokens": 500})")
                            << QByteArray("has 48 tokens");
    QTest::newRow("carry") << QByteArray("decode") << QByteArray(R"({"carry": ["x"]})") << QByteArray("OUTPUT=INPUT");
    QTest::newRow("no such cache") << QByteArray("decode") << QByteArray(R"({"carry": ["x=y"]})")
                                   << QByteArray("no output 'x'");
    QTest::newRow("outside") << QByteArray("decode") << QByteArray(R"({"tokenizer": "/etc/passwd"})")
                             << QByteArray("/etc/passwd");
    QTest::newRow("no tokenizer") << QByteArray("decode") << QByteArray(R"({"tokenizer": "verses_prompts.npz"})")
                                  << QByteArray("verses_prompts.npz");
    QTest::newRow("half a place") << QByteArray("blame") << QByteArray(R"({"prompt": 1})") << QByteArray("give both");
    QTest::newRow("no prompt") << QByteArray("blame") << QByteArray(R"({"prompt": 8, "position": 0})")
                               << QByteArray("no prompt 8");
}

void AgentToolsTest::refusesLanguage()
{
    QFETCH(QByteArray, tool);
    QFETCH(QByteArray, arguments);
    QFETCH(QByteArray, word);
    QVERIFY2(openedVerses().is_object(), m_fault.c_str());
    QVERIFY(ask(tool.constData(), AgentJson::parse(arguments.toStdString())).is_null());
    QVERIFY2(m_fault.find(word.toStdString()) != std::string::npos, m_fault.c_str());
    opened();
    QVERIFY(ask(tool.constData()).is_null()); // no language model
    QVERIFY2(m_fault.find("no output holds scores") != std::string::npos, m_fault.c_str());
    QVERIFY2(m_fault.find("--") == std::string::npos, m_fault.c_str());
}

void AgentToolsTest::cancels()
{
    opened();
    WorkContext work;
    work.cancel.cancel();
    QVERIFY(ask("compare", AgentJson::object(), work).is_null());
    QVERIFY2(ask("compare").is_object(), m_fault.c_str());
}

QTEST_GUILESS_MAIN(AgentToolsTest)
#include "tools_test.moc"
