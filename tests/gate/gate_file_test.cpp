// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/gate/gate_file.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace qs;

namespace {

const QByteArray kBaseline = R"({"schema_version":1,"arithmetic":"simulated","samples":2,
    "outputs":[{"name":"y","sqnr_db":20.5,"exact":false}],"activations":[{"name":"x","sqnr_db":null,"exact":true}],
    "weights":[]})";

void save(const QString& path, const QByteArray& bytes)
{
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        qFatal("%s cannot be written", qPrintable(path));
}

} // namespace

class GateFileTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void everyKey();
    void baselineIsRelative();
    void faults_data();
    void faults();
    void faultyBaselines_data();
    void faultyBaselines();
    void filesThatCannotBeRead();
    void nestingIsBounded_data();
    void nestingIsBounded();

private:
    QString path(const QString& name) const { return m_folder.filePath(name); }
    Result<Gates> read(const QByteArray& text) const
    {
        save(path("gates.toml"), text);
        return readGateFile(path("gates.toml").toStdString());
    }
    QTemporaryDir m_folder;
};

void GateFileTest::initTestCase() { save(path("base.json"), kBaseline); }

void GateFileTest::everyKey()
{
    const auto gates = read(R"(# limits
[outputs]
min_sqnr_db = 20          # an integer is a number, too
max_accuracy_drop = 0.5
min_top1 = 0.99
[[tensors]]
name = "/block1/*"
min_sqnr_db = 12.5
[[tensors]]
name = 're:^layer\d+$'
min_sqnr_db = -3
[findings]
fail_on = "warning"
ignore = ["range_too_large", "slow_form"]
[baseline]
file = "base.json"
max_loss_db = 0
)");
    QVERIFY2(gates.ok(), gates.ok() ? "" : issueText(gates.issue()).c_str());
    QCOMPARE(gates->outputs.size(), size_t(3));
    QCOMPARE(gates->outputs[0].value, 20.0);
    QCOMPARE(gates->outputs[1].value, 0.5);
    QCOMPARE(gates->outputs[2].by, std::string("min_top1 in gates.toml"));
    QCOMPARE(gates->tensors.size(), size_t(2));
    QCOMPARE(gates->tensors[0].pattern, std::string("/block1/*"));
    QCOMPARE(gates->tensors[0].line, 6);
    QCOMPARE(gates->tensors[1].minSqnrDb, -3.0);
    QVERIFY(gates->findings->failOn == Severity::Warning);
    QVERIFY(gates->findings->ignored == (std::vector { Rule::RangeTooLarge, Rule::SlowForm }));
    QCOMPARE(gates->baseline->maxLossDb, 0.0);
    QCOMPARE(gates->baseline->before.outputs.at(0).sqnrDb, Number(20.5));
    QVERIFY(gates->baseline->before.activations.at(0).exact);
}

void GateFileTest::baselineIsRelative()
{
    QVERIFY(QDir().mkpath(path("deep/er")));
    save(path("deep/er/gates.toml"), "[baseline]\nfile = \"../../base.json\"\nmax_loss_db = 1\n");
    QVERIFY(readGateFile(path("deep/er/gates.toml").toStdString()).ok());
    const QByteArray absolute = "[baseline]\nfile = \"" + path("base.json").toUtf8() + "\"\nmax_loss_db = 1\n";
    save(path("deep/er/gates.toml"), absolute);
    QVERIFY(readGateFile(path("deep/er/gates.toml").toStdString()).ok());
}

void GateFileTest::faults_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QStringList>("words");
    const auto row = [](const char* name, const QByteArray& text, const QStringList& words) {
        QTest::newRow(name) << text << words;
    };
    row("empty", "", { "nothing" });
    row("comments alone", "# outputs\n", { "nothing" });
    row("empty part", "[outputs]\n", { "line 1", "[outputs]", "nothing" });
    row("unknown part", "[outputs]\nmin_top1 = 1\n[output]\n", { "line 3", "'output'", "'outputs'" });
    row("unknown key", "[outputs]\nmin_sqnr = 1\n", { "line 2", "'min_sqnr'", "'min_sqnr_db'" });
    row("unknown key of tensors", "[[tensors]]\nname = \"x\"\nmin_sqnr_db = 1\nmin_top1 = 1\n",
        { "line 4", "min_top1" });
    row("unknown key of findings", "[findings]\nfail_on = \"error\"\nignored = []\n", { "line 3", "'ignore'" });
    row("unknown key of baseline", "[baseline]\nfile = \"base.json\"\nmax_loss = 1\n", { "line 3", "'max_loss_db'" });
    for (const char* value : { "\"20\"", "true", "[20]", "nan", "inf", "-inf", "1979-05-27", "{ a = 1 }" })
        for (const char* key : { "min_sqnr_db", "max_accuracy_drop", "min_top1" })
            row(qPrintable(QString("%1 = %2").arg(key, value)), QByteArray("[outputs]\n") + key + " = " + value,
                { "line 2", key });
    row("share", "[outputs]\nmin_top1 = 1.01\n", { "line 2", "min_top1", "from 0 to 1" });
    row("share below 0", "[outputs]\nmin_top1 = -0.5\n", { "min_top1", "from 0 to 1" });
    row("points", "[outputs]\nmax_accuracy_drop = 101\n", { "max_accuracy_drop", "points" });
    row("outputs is no table", "outputs = 3\n", { "line 1", "[outputs]" });
    row("outputs is a list", "[[outputs]]\nmin_top1 = 1\n", { "[outputs]" });
    row("tensors is a table", "[tensors]\nname = \"x\"\nmin_sqnr_db = 1\n", { "line 1", "[[tensors]]" });
    row("tensors is empty", "tensors = []\n", { "line 1", "[[tensors]]" });
    row("tensors is a list of texts", "tensors = [\"x\"]\n", { "line 1", "[[tensors]]" });
    row("pattern is empty", "[[tensors]]\nname = \"\"\nmin_sqnr_db = 1\n", { "line 2", "name" });
    row("pattern is a number", "[[tensors]]\nname = 3\nmin_sqnr_db = 1\n", { "line 2", "name" });
    row("no pattern", "[[tensors]]\nmin_sqnr_db = 1\n", { "line 1", "name" });
    row("no limit", "[[tensors]]\nname = \"x\"\n", { "line 1", "min_sqnr_db" });
    row("limit of a tensor", "[[tensors]]\nname = \"x\"\nmin_sqnr_db = nan\n", { "line 3", "min_sqnr_db" });
    row("no severity", "[findings]\nignore = []\n", { "line 1", "fail_on" });
    row("unknown severity", "[findings]\nfail_on = \"note\"\n", { "line 2", "\"warning\"" });
    row("severity is a number", "[findings]\nfail_on = 1\n", { "line 2", "fail_on" });
    row("unknown rule", "[findings]\nfail_on = \"error\"\nignore = [\"range_to_small\"]\n",
        { "line 3", "'range_too_small'" });
    row("rule is a number", "[findings]\nfail_on = \"error\"\nignore = [1]\n", { "line 3", "ignore" });
    row("rules are no list", "[findings]\nfail_on = \"error\"\nignore = \"outliers\"\n", { "line 3", "ignore" });
    row("no baseline", "[baseline]\nfile = \"none.json\"\nmax_loss_db = 1\n", { "none.json", "baseline" });
    row("baseline without limit", "[baseline]\nfile = \"base.json\"\n", { "line 1", "max_loss_db" });
    row("baseline without file", "[baseline]\nmax_loss_db = 1\n", { "line 1", "file" });
    row("file is empty", "[baseline]\nfile = \"\"\nmax_loss_db = 1\n", { "line 2", "file" });
    row("file with a zero", "[baseline]\nfile = \"base.json\\u0000x\"\nmax_loss_db = 1\n", { "line 2", "file" });
    row("loss below 0", "[baseline]\nfile = \"base.json\"\nmax_loss_db = -1\n", { "line 3", "max_loss_db" });
    row("no TOML", "[outputs]\nmin_sqnr_db =\n", { "line 2", "no TOML" });
    row("three brackets", "[outputs]\nmin_top1 = 1\n[[[x]]]\n", { "line 3", "no TOML" });
    row("a header that is no key", "[!]\n", { "line 1", "no TOML" });
    row("said twice", "[outputs]\nmin_top1 = 1\nmin_top1 = 0\n", { "line 3", "no TOML" });
    row("part said twice", "[outputs]\nmin_top1 = 1\n[outputs]\nmin_sqnr_db = 0\n", { "line 3", "no TOML" });
    row("no UTF-8", "[outputs]\n# \xff\nmin_top1 = 1\n", { "line 2", "no TOML" });
    row("binary", QByteArray("\0\1\2\3", 4), { "line 1", "no TOML" });
}

void GateFileTest::faults()
{
    QFETCH(QByteArray, text);
    QFETCH(QStringList, words);
    const auto gates = read(text);
    QVERIFY(!gates.ok());
    QCOMPARE(gates.issue().kind, IssueKind::BadInput);
    QVERIFY(!gates.issue().remedy.empty());
    const QString sentence = QString::fromStdString(issueText(gates.issue()));
    for (const QString& word : words)
        QVERIFY2(sentence.contains(word), qPrintable(sentence));
    QVERIFY2(sentence.contains("gates.toml") || sentence.contains(".json"), qPrintable(sentence));
}

void GateFileTest::faultyBaselines_data()
{
    QTest::addColumn<QByteArray>("text");
    const auto with = [](const char* from, const char* to) { return QByteArray(kBaseline).replace(from, to); };
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("no JSON") << kBaseline.left(50);
    QTest::newRow("a list") << QByteArray("[]");
    QTest::newRow("another version") << with("\"schema_version\":1", "\"schema_version\":2");
    QTest::newRow("no version") << with("\"schema_version\":1,", "");
    QTest::newRow("no outputs") << with("outputs", "results");
    QTest::newRow("outputs are empty") << with("{\"name\":\"y\",\"sqnr_db\":20.5,\"exact\":false}", "");
    QTest::newRow("no activations") << with("activations", "tensors");
    QTest::newRow("no weights") << with("weights", "constants");
    QTest::newRow("weights are an object") << with("\"weights\":[]", "\"weights\":{}");
    QTest::newRow("name is a number") << with("\"y\"", "7");
    QTest::newRow("number is a text") << with("20.5", "\"20.5\"");
    QTest::newRow("row is a number") << with("\"weights\":[]", "\"weights\":[1]");
    QTest::newRow("samples below 0") << with("\"samples\":2", "\"samples\":-2");
}

void GateFileTest::faultyBaselines()
{
    QFETCH(QByteArray, text);
    save(path("faulty.json"), text);
    const auto gates = read("[baseline]\nfile = \"faulty.json\"\nmax_loss_db = 1\n");
    QVERIFY(!gates.ok());
    QCOMPARE(gates.issue().kind, IssueKind::BadInput);
    const QString sentence = QString::fromStdString(issueText(gates.issue()));
    QVERIFY2(sentence.contains("faulty.json") && sentence.contains("baseline"), qPrintable(sentence));
}

void GateFileTest::filesThatCannotBeRead()
{
    for (const QString& name : { path("missing.toml"), m_folder.path(), QStringLiteral("/dev/null") }) {
        const auto gates = readGateFile(name.toStdString());
        QVERIFY(!gates.ok());
        QCOMPARE(gates.issue().kind, IssueKind::BadInput);
        QVERIFY(issueText(gates.issue()).find(name.toStdString()) != std::string::npos);
    }
    const auto large = read("[outputs]\nmin_top1 = 1\n#" + QByteArray(1 << 20, ' '));
    QVERIFY(!large.ok() && issueText(large.issue()).find("longer") != std::string::npos);
    const auto regex = read("[[tensors]]\nname = \"re:(?=x)\"\nmin_sqnr_db = 1\n");
    QVERIFY(!regex.ok());
    QCOMPARE(regex.issue().kind, IssueKind::BadInput);
    QVERIFY(issueText(regex.issue()).find("line 1") != std::string::npos);
}

void GateFileTest::nestingIsBounded_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("dotted key") << QByteArray("a.").repeated(200000) + "a = 1";
    QTest::newRow("dotted table") << "[" + QByteArray("a.").repeated(200000) + "a]";
    QTest::newRow("quoted keys") << QByteArray("\"a\".").repeated(100000) + "a = 1";
    QTest::newRow("lists") << "a = " + QByteArray("[").repeated(300000);
    QTest::newRow("inline tables") << "a = " + QByteArray("{a=").repeated(200000);
    QTest::newRow("both, on many lines") << QByteArray("a.a.a.a.a.a.a.a.a.a = [{\n").repeated(20000);
    QTest::newRow("behind a text of several lines")
        << "a = [ '''\n\"''', {" + QByteArray("a.").repeated(200000) + "a = 1}]";
}

void GateFileTest::nestingIsBounded()
{
    QFETCH(QByteArray, text);
    const auto gates = read(text);
    QVERIFY(!gates.ok());
    QCOMPARE(gates.issue().kind, IssueKind::BadInput);
}

QTEST_GUILESS_MAIN(GateFileTest)
#include "gate_file_test.moc"
