// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gate/judge.h"
#include "core/report/ci/ci_reports.h"
#include "core/report/ci/ci_text.h"
#include "core/report/json/language_json.h"
#include "tests/support/fake_snapshot.h"
#include "tests/support/helper_call.h"

#include <QDir>
#include <QXmlStreamReader>
#include <QtTest>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

using namespace qs;
using nlohmann::json;

namespace {

/// Names that try to end what they stand in, to act, or to be no text at all.
const std::vector<std::string> kHostile { "a|b`c*_d_[x](http://e.com)<script>alert(1)</script>",
    "\xe2\x80\xae"
    "evil\xe2\x81\xa6\x01\x1b[31m\n# h1\r\n| x | y |",
    "@octocat #12 :smile: $x$ www.evil.com {0}", "&amp;]]>--><!-- ' \" \\", "\xff\xfe\xc3(" };

/// With hostile names everywhere, judged by a gate of each kind: some checks are missed, one finding is ignored.
struct Judged {
    Snapshot snapshot;
    Judgement judgement;
};

Judged judgedSnapshot(bool withGates, const std::vector<std::string>& names = kHostile)
{
    fake::Options options;
    options.tensors = names.size();
    Judged made { *fake::comparison(options), {} };
    Comparison& c = *made.snapshot.comparison;
    for (size_t i = 0; i < names.size(); ++i)
        c.activations[i].name = c.activations[i].node = names[i];
    c.outputs[0].name = names[1];
    c.outputs[0].top1Agreement = 0.5;
    for (Finding& f : c.findings)
        f.title = f.summary = f.tensor = f.node = names[0];
    Gates gates;
    if (withGates) {
        gates.path = "gates|<b>.toml";
        gates.outputs = { { GateRule::OutputSqnr, 99, names[3] }, { GateRule::Top1, 0.1, "--min-top1" } };
        gates.tensors = { { "*", 25, 3 } };
        gates.findings = FindingLimit { Severity::Error, { c.findings.at(1).rule } };
        gates.baseline = BaselineLimit { "base.json", 1, { "simulated", 2, { { names[0], 50, false } }, {}, {} } };
    }
    made.judgement = judged(c, gates).value();
    return made;
}

/// No character of the text acts on who shows it.
bool isHarmless(const std::string& text)
{
    const QString read = QString::fromUtf8(text.data(), qsizetype(text.size()));
    return std::ranges::none_of(read, [](QChar c) {
        const bool control = c.unicode() < 0x20 && c != '\n';
        return control || (c.unicode() >= 0x202A && c.unicode() <= 0x202E)
            || (c.unicode() >= 0x2066 && c.unicode() <= 0x2069);
    });
}

struct Suite {
    int tests = 0, failures = 0, skipped = 0;
};

} // namespace

class CiTest : public QObject {
    Q_OBJECT
private slots:
    void junit_data();
    void junit();
    void sarif_data();
    void sarif();
    void sarifOfIgnoredFindings();
    void markdown_data();
    void markdown();
    void markdownOfPlainNames();
    void markdownIsBounded();
    void remediesAreComplete();
    void markdownOfLanguage_data();
    void markdownOfLanguage();
    void uris_data();
    void uris();

private:
    void checkResult(const json& result, const json& rules);
};

namespace {

void addBoth()
{
    QTest::addColumn<bool>("gates");
    QTest::newRow("gates") << true;
    QTest::newRow("findings alone") << false;
}

} // namespace

void CiTest::junit_data() { addBoth(); }

void CiTest::junit()
{
    QFETCH(bool, gates);
    const Judged given = judgedSnapshot(gates);
    const std::string text = compareJunit(given.snapshot, given.judgement, "2026-01-31T12:00:00");
    QVERIFY(isHarmless(text));
    QXmlStreamReader xml(QByteArray::fromStdString(text));
    QMap<QString, Suite> said, counted;
    QString suite, inCase;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement)
            continue;
        const QXmlStreamAttributes a = xml.attributes();
        if (xml.name() == u"testsuite") {
            suite = a.value("name").toString();
            said[suite] = { a.value("tests").toInt(), a.value("failures").toInt(), a.value("skipped").toInt() };
            for (const char* required : { "id", "package", "errors", "time", "timestamp", "hostname" })
                QVERIFY(a.hasAttribute(required));
        } else if (xml.name() == u"testcase") {
            ++counted[suite].tests;
            QCOMPARE(a.value("classname").toString(), "quantscope." + suite);
            QVERIFY(!a.value("name").isEmpty() && a.hasAttribute("time"));
        } else if (xml.name() == u"failure" || xml.name() == u"skipped") {
            ++(xml.name() == u"failure" ? counted[suite].failures : counted[suite].skipped);
            QVERIFY(!a.value("message").isEmpty());
            QVERIFY(xml.name() == u"skipped" || a.hasAttribute("type"));
            QVERIFY(!xml.readElementText().isEmpty()); // and nothing nested
        }
    }
    QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
    QCOMPARE(
        said.keys(), gates ? (QStringList { "baseline", "findings", "outputs", "tensors" }) : QStringList("findings"));
    int tests = 0, failures = 0;
    for (const QString& name : said.keys()) {
        QCOMPARE(counted[name].tests, said[name].tests);
        QCOMPARE(counted[name].failures, said[name].failures);
        QCOMPARE(counted[name].skipped, said[name].skipped);
        tests += said[name].tests;
        failures += said[name].failures;
    }
    QCOMPARE(size_t(tests), given.judgement.checks.size());
    QCOMPARE(size_t(failures), given.judgement.count(GateVerdict::Missed));
    QCOMPARE(failures > 0, gates);
}

void CiTest::sarif_data() { addBoth(); }

/// What the schema of SARIF 2.1.0 asks of a result, as far as one is written.
void CiTest::checkResult(const json& result, const json& rules)
{
    QCOMPARE(rules.at(result.at("ruleIndex").get<size_t>()).at("id"), result.at("ruleId"));
    QVERIFY((std::set<std::string> { "error", "warning", "note" }).contains(result.at("level").get<std::string>()));
    QVERIFY(!result.at("message").at("text").get<std::string>().empty());
    QCOMPARE(result.at("locations").size(), size_t(1));
    const json& place = result.at("locations")[0];
    const std::string uri = place.at("physicalLocation").at("artifactLocation").at("uri");
    QVERIFY(!uri.empty() && uri.front() != '/' && uri.find(':') == std::string::npos);
    for (const json& name : place.value("logicalLocations", json::array())) {
        QVERIFY(!name.at("name").get<std::string>().empty() && isHarmless(name.at("name")));
        QVERIFY(name.at("kind") == "node" || name.at("kind") == "tensor");
    }
}

void CiTest::sarif()
{
    QFETCH(bool, gates);
    const Judged given = judgedSnapshot(gates);
    const std::string text = compareSarif(given.snapshot, given.judgement);
    QVERIFY(isHarmless(text));
    const json log = json::parse(text);
    QCOMPARE(log.at("version"), json("2.1.0"));
    QCOMPARE(log.at("runs").size(), size_t(1));
    const json &run = log["runs"][0], &driver = run.at("tool").at("driver"), &rules = driver.at("rules");
    QCOMPARE(driver.at("name"), json("Quantscope"));
    std::set<std::string> ids;
    for (const json& rule : rules) {
        ids.insert(rule.at("id").get<std::string>());
        QVERIFY(!rule.at("shortDescription").at("text").get<std::string>().empty());
    }
    QCOMPARE(ids.size(), ruleTable().size() + gateRuleTable().size());
    size_t ofGates = 0;
    for (const json& result : run.at("results")) {
        QS_HELPER(checkResult(result, rules));
        QVERIFY(isHarmless(result["message"]["text"]));
        ofGates += size_t(result["ruleId"].get<std::string>().starts_with("gate."));
    }
    QCOMPARE(run["results"].size() - ofGates, given.snapshot.comparison->findings.size());
    size_t missed = 0; // findings stand for themselves
    for (const GateCheck& check : given.judgement.checks)
        missed += size_t(check.verdict == GateVerdict::Missed && !check.finding);
    QCOMPARE(ofGates, missed);
    QCOMPARE(ofGates > 0, gates);
}

void CiTest::sarifOfIgnoredFindings()
{
    const Judged given = judgedSnapshot(true);
    const json results = json::parse(compareSarif(given.snapshot, given.judgement))["runs"][0]["results"];
    QCOMPARE(results[1].at("suppressions").at(0).at("kind"), json("external"));
    QVERIFY(!results[0].contains("suppressions"));
    QCOMPARE(results[0].at("properties").at("gate"), json("missed")); // an error
    // brackets are no links, braces no arguments
    const std::string message = results[0]["message"]["text"];
    QVERIFY(message.find("\\[x\\](http") != std::string::npos);
}

void CiTest::markdown_data() { addBoth(); }

void CiTest::markdown()
{
    QFETCH(bool, gates);
    const Judged given = judgedSnapshot(gates);
    const std::string text = compareMarkdown(given.snapshot, given.judgement);
    QVERIFY(isHarmless(text));
    QVERIFY(text.starts_with("## Quantscope: "));
    for (const char* markup : { "<script", "<b>", "](http", "`", "@oct", "www.", "$x", "{0" })
        QVERIFY2(text.find(markup) == std::string::npos, markup);
    const QStringList lines = QString::fromStdString(text).split('\n');
    qsizetype cells = 0; // of the table that the line is in
    for (const QString& line : lines) {
        cells = !line.startsWith('|') ? 0 : cells == 0 ? line.count('|') : cells;
        QVERIFY2(!line.startsWith('|') || line.count('|') == cells, qPrintable(line));
        QVERIFY2(!line.startsWith("# "), qPrintable(line));
    }
    QCOMPARE(lines.contains("### Gates"), gates);
    QVERIFY(lines.contains("### Outputs") && lines.contains("### Findings"));
    QCOMPARE(lines.first().contains("missed"), gates);
}

void CiTest::markdownOfPlainNames()
{
    QCOMPARE(ci::markdown("/block1/conv__2_out.weight, 12.5 dB (-3 .. 4): fine"),
        std::string("/block1/conv__2_out.weight, 12.5 dB (-3 .. 4): fine"));
    QCOMPARE(ci::markdownCode("_x_"), std::string("<code>&#95;x&#95;</code>"));
    QCOMPARE(ci::markdownCode(""), std::string());
    const Judged given = judgedSnapshot(false, { "in", "a", "b", "c", "out" });
    const std::string text = compareMarkdown(given.snapshot, given.judgement);
    QVERIFY(text.find("| <code>c</code> | Conv | 10.0 dB | 38.0 dB |") != std::string::npos);
    QVERIFY(text.find("no gates") < text.find('\n'));
}

/// Summary pages take a megabyte, names may have more, and there may be many.
void CiTest::markdownIsBounded()
{
    const std::string longName(3 << 20, '|');
    Judged given = judgedSnapshot(true, { longName, longName, longName, longName, longName });
    std::vector<GateCheck>& checks = given.judgement.checks;
    while (checks.size() < 3000)
        checks.push_back(checks[checks.size() % 5]);
    QVERIFY(compareMarkdown(given.snapshot, given.judgement).size() < (1 << 20));
}

/// With what they gain, the options that carry them out, and the command that takes these.
void CiTest::remediesAreComplete()
{
    Judged given = judgedSnapshot(true, { "in", "a", "b", "c", "out" });
    const auto reports = [&] {
        return std::vector { compareMarkdown(given.snapshot, given.judgement),
            compareSarif(given.snapshot, given.judgement), compareJunit(given.snapshot, given.judgement, "") };
    };
    QVERIFY(reports()[0].find("quantscope-cli") == std::string::npos);
    Finding& f = given.snapshot.comparison->findings[0];
    f.change.kind = RemedyKind::PerChannel;
    f.expectedGainDb = 12.3;
    for (const std::string& text : reports()) {
        QVERIFY2(text.find("At this tensor about 12.3 dB") != std::string::npos, text.c_str());
        QVERIFY2(text.find("--per-channel") != std::string::npos, text.c_str());
    }
    f.measuredGainDb = 4.5;
    for (const std::string& text : reports())
        QVERIFY2(text.find("Measured at the output: +4.5 dB") != std::string::npos, text.c_str());
    QVERIFY(reports()[0].find("quantscope-cli quantize /models/micro_kws/float.onnx --like /models/micro_kws/qdq.onnx "
                              "--per-channel -o qdq_mended.onnx")
        != std::string::npos);
}

void CiTest::markdownOfLanguage_data()
{
    QTest::addColumn<bool>("own");
    QTest::addColumn<QStringList>("parts");
    QTest::newRow("the next token") << false << QStringList { "next token", "3.25", "perplexity", "divergence 0.125" };
    QTest::newRow("the token in its place") << true << QStringList { "tokens in their own place", "divergence 0.125" };
}

void CiTest::markdownOfLanguage()
{
    QFETCH(const bool, own);
    QFETCH(const QStringList, parts);
    Judged given = judgedSnapshot(false, { "in", "a", "b", "c", "out" });
    LanguageRow& language = given.snapshot.comparison->outputs[0].language.emplace();
    language.prompts = 2;
    language.positions = 16;
    language.klMean = 0.125;
    language.scored = own ? ScoredToken::Own : ScoredToken::Next;
    if (!own) {
        language.floatLoss = 3.25;
        language.quantLoss = 3.5;
    }
    const QString text = QString::fromStdString(compareMarkdown(given.snapshot, given.judgement));
    for (const QString& part : parts)
        QVERIFY2(text.contains(part), qPrintable(text));
    QCOMPARE(text.contains("perplexity"), !own);
    QCOMPARE(text.contains("next token"), !own);
    const auto json = languageJson(given.snapshot.comparison->outputs, nullptr);
    QCOMPARE(json["guesses"].get<std::string>(), std::string(own ? "own" : "next"));
    QCOMPARE(json["perplexity_float"].is_null(), own);
}

void CiTest::uris_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("uri");
    QTest::newRow("relative") << "models/a.onnx"
                              << "models/a.onnx";
    QTest::newRow("with a dot") << "./models/../a.onnx"
                                << "a.onnx";
    QTest::newRow("absolute") << QDir::currentPath() + "/models/a.onnx"
                              << "models/a.onnx";
    QTest::newRow("beside") << "../a.onnx"
                            << "../a.onnx";
    QTest::newRow("characters") << "a b|<c>:%#?.onnx"
                                << "a%20b%7C%3Cc%3E%3A%25%23%3F.onnx";
    QTest::newRow("UTF-8") << QString::fromUtf8("\xc3\xa4.onnx") << "%C3%A4.onnx";
}

void CiTest::uris()
{
    QFETCH(QString, path);
    QFETCH(QString, uri);
    QCOMPARE(QString::fromStdString(ci::relativeUri(path.toStdString())), uri);
}

QTEST_GUILESS_MAIN(CiTest)
#include "ci_test.moc"
