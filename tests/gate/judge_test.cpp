// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/gate/judge.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace qs;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

Similarity sqnr(Number db, bool exact = false, uint64_t nonFinite = 0)
{
    Similarity s;
    s.sqnrDb = db;
    s.exact = exact;
    s.nonFinite = nonFinite;
    s.elements = 4;
    return s;
}

/// Output "y" with 20 dB, tensors "x" (exact) and "relu/out" (15 dB, "relu_q" in the quantized file), weight "w" (30).
Comparison example()
{
    Comparison c;
    c.samples = 10;
    OutputRow y;
    y.name = y.quantizedName = "y";
    y.similarity = sqnr(20);
    y.top1Agreement = 0.9;
    c.outputs = { y };
    ActivationRow x, relu;
    x.name = x.quantizedName = "x";
    x.accumulated = sqnr({}, true);
    relu.name = "relu/out";
    relu.quantizedName = "relu_q";
    relu.accumulated = sqnr(15);
    c.activations = { x, relu };
    WeightRow w;
    w.name = w.quantizedName = "w";
    w.similarity = sqnr(30);
    c.weights = { w };
    c.accuracy = Accuracy { 10, 0.97, 0.96 };
    return c;
}

Finding finding(Rule rule, const std::string& tensor)
{
    Finding f = makeFinding(rule, tensor);
    f.tensor = tensor;
    return f;
}

Gates outputGate(GateRule rule, double value)
{
    Gates gates;
    gates.outputs = { { rule, value, "the test" } };
    return gates;
}

Gates tensorGate(const std::string& pattern, double db)
{
    Gates gates;
    gates.path = "folder/gates.toml";
    gates.tensors = { { pattern, db, 7 } };
    return gates;
}

Gates baselineGate(double limit, std::vector<BaselineRow> outputs, std::vector<BaselineRow> activations = {})
{
    Gates gates;
    gates.baseline
        = BaselineLimit { "base.json", limit, { "simulated", 10, std::move(outputs), std::move(activations), {} } };
    return gates;
}

std::vector<GateCheck> checksOf(const Comparison& c, const Gates& gates)
{
    const auto judgement = judged(c, gates);
    if (!judgement)
        qFatal("%s", issueText(judgement.issue()).c_str());
    return judgement->checks;
}

size_t missedOf(const std::vector<GateCheck>& checks)
{
    return size_t(std::ranges::count(checks, GateVerdict::Missed, &GateCheck::verdict));
}

} // namespace

class JudgeTest : public QObject {
    Q_OBJECT
private slots:
    void outputs_data();
    void outputs();
    void numbersThatAreNone_data();
    void numbersThatAreNone();
    void unknownNumbersAreIssues();
    void tensors_data();
    void tensors();
    void patternsThatMatchNothing();
    void findings_data();
    void findings();
    void findingsWithoutGates();
    void losses_data();
    void losses();
    void whatChecksNothing();
    void equalNamesInOrder();
    void otherConditionsAreSaid();
    void sentences();
};

void JudgeTest::outputs_data()
{
    QTest::addColumn<int>("rule");
    QTest::addColumn<double>("limit");
    QTest::addColumn<bool>("kept");
    const auto row = [](const char* name, GateRule rule, double limit, bool kept) {
        QTest::newRow(name) << int(rule) << limit << kept;
    };
    row("SQNR kept", GateRule::OutputSqnr, 19.9, true);
    row("SQNR just kept", GateRule::OutputSqnr, 20, true);
    row("SQNR missed", GateRule::OutputSqnr, 20.0000001, false);
    row("accuracy kept", GateRule::AccuracyDrop, 1.5, true);
    row("accuracy just kept", GateRule::AccuracyDrop, 1, true);
    row("accuracy missed", GateRule::AccuracyDrop, 0.99, false);
    row("accuracy has to rise", GateRule::AccuracyDrop, -1, false);
    row("top-1 kept", GateRule::Top1, 0.85, true);
    row("top-1 just kept", GateRule::Top1, 0.9, true);
    row("top-1 missed", GateRule::Top1, 0.91, false);
}

void JudgeTest::outputs()
{
    QFETCH(int, rule);
    QFETCH(double, limit);
    QFETCH(bool, kept);
    const auto checks = checksOf(example(), outputGate(GateRule(rule), limit));
    QCOMPARE(checks.size(), size_t(1));
    QCOMPARE(checks[0].verdict, kept ? GateVerdict::Passed : GateVerdict::Missed);
    QVERIFY(gateRuleInfo(checks[0].rule).suite == GateSuite::Outputs);
    QVERIFY(!checks[0].sentence.empty() && !checks[0].wanted.empty() && !checks[0].measured.empty());
}

void JudgeTest::numbersThatAreNone_data()
{
    QTest::addColumn<double>("sqnr");
    QTest::addColumn<bool>("exists");
    QTest::addColumn<bool>("exact");
    QTest::addColumn<int>("nonFinite");
    QTest::addColumn<bool>("kept");
    QTest::newRow("NaN") << kNan << true << false << 0 << false;
    QTest::newRow("infinity") << kInf << true << false << 0 << false;
    QTest::newRow("-infinity") << -kInf << true << false << 0 << false;
    QTest::newRow("none") << 0.0 << false << false << 0 << false;
    QTest::newRow("a NaN among the values") << 99.0 << true << false << 1 << false;
    QTest::newRow("exact") << 0.0 << false << true << 0 << true;
}

void JudgeTest::numbersThatAreNone()
{
    QFETCH(double, sqnr);
    QFETCH(bool, exists);
    QFETCH(bool, exact);
    QFETCH(int, nonFinite);
    QFETCH(bool, kept);
    Comparison c = example();
    const Similarity s = ::sqnr(exists ? Number(sqnr) : Number(), exact, uint64_t(nonFinite));
    c.outputs[0].similarity = c.activations[1].accumulated = s;
    const GateVerdict expected = kept ? GateVerdict::Passed : GateVerdict::Missed;
    QCOMPARE(checksOf(c, outputGate(GateRule::OutputSqnr, -100))[0].verdict, expected);
    QCOMPARE(checksOf(c, tensorGate("relu/out", -100))[0].verdict, expected);
    QCOMPARE(checksOf(c, baselineGate(100, { { "y", 20, false } }))[0].verdict, expected);
    c.outputs[0].top1Agreement = kNan;
    QCOMPARE(checksOf(c, outputGate(GateRule::Top1, 0))[0].verdict, GateVerdict::Missed);
}

void JudgeTest::unknownNumbersAreIssues()
{
    Comparison c = example();
    c.accuracy.reset();
    c.outputs[0].top1Agreement.reset();
    for (const GateRule rule : { GateRule::AccuracyDrop, GateRule::Top1 }) {
        const auto judgement = judged(c, outputGate(rule, 0));
        QVERIFY(!judgement.ok());
        QCOMPARE(judgement.issue().kind, IssueKind::BadInput);
        QVERIFY(judgement.issue().what.find("the test") != std::string::npos);
    }
    c.outputs.push_back(c.outputs[0]); // one of two has an agreement
    c.outputs[1].top1Agreement = 1;
    QCOMPARE(checksOf(c, outputGate(GateRule::Top1, 1)).size(), size_t(1));
}

void JudgeTest::tensors_data()
{
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<double>("limit");
    QTest::addColumn<int>("checks");
    QTest::addColumn<int>("missed");
    QTest::newRow("name, kept") << "relu/out" << 15.0 << 1 << 0;
    QTest::newRow("name, missed") << "relu/out" << 15.1 << 1 << 1;
    QTest::newRow("name of the quantized file") << "relu_q" << 16.0 << 1 << 1;
    QTest::newRow("exact") << "x" << 1000.0 << 1 << 0;
    QTest::newRow("weight") << "w" << 31.0 << 1 << 1;
    QTest::newRow("glob over a slash") << "re*t" << 16.0 << 1 << 1;
    QTest::newRow("all") << "*" << 16.0 << 3 << 1;
    QTest::newRow("regular expression") << "re:^(x|w)$" << 40.0 << 2 << 1;
}

void JudgeTest::tensors()
{
    QFETCH(QString, pattern);
    QFETCH(double, limit);
    QFETCH(int, checks);
    QFETCH(int, missed);
    const auto found = checksOf(example(), tensorGate(pattern.toStdString(), limit));
    QCOMPARE(found.size(), size_t(checks));
    QCOMPARE(missedOf(found), size_t(missed));
}

void JudgeTest::patternsThatMatchNothing()
{
    const auto judgement = judged(example(), tensorGate("relu/ou", 1));
    QVERIFY(!judgement.ok());
    QCOMPARE(judgement.issue().kind, IssueKind::BadInput);
    const std::string sentence = issueText(judgement.issue());
    for (const char* word : { "folder/gates.toml", "line 7", "'relu/ou'", "'relu/out'" })
        QVERIFY2(sentence.find(word) != std::string::npos, sentence.c_str());
}

void JudgeTest::findings_data()
{
    QTest::addColumn<bool>("warningsToo");
    QTest::addColumn<bool>("ignoresTheError");
    QTest::addColumn<int>("missed");
    QTest::addColumn<int>("ignored");
    QTest::newRow("errors") << false << false << 1 << 0;
    QTest::newRow("errors and warnings") << true << false << 2 << 0;
    QTest::newRow("error ignored") << false << true << 0 << 1;
    QTest::newRow("warnings, error ignored") << true << true << 1 << 1;
}

void JudgeTest::findings()
{
    QFETCH(bool, warningsToo);
    QFETCH(bool, ignoresTheError);
    QFETCH(int, missed);
    QFETCH(int, ignored);
    Comparison c = example();
    c.findings = { finding(Rule::ModelsDiffer, "y"), finding(Rule::Outliers, "x"), finding(Rule::Inherited, "y") };
    c.findings[0].severity = Severity::Error;
    c.findings[1].severity = Severity::Warning;
    c.findings[2].severity = Severity::Note;
    Gates gates;
    gates.findings = FindingLimit { warningsToo ? Severity::Warning : Severity::Error, {} };
    if (ignoresTheError)
        gates.findings->ignored = { Rule::ModelsDiffer };
    const auto judgement = judged(c, gates);
    QVERIFY(judgement.ok());
    QCOMPARE(judgement->checks.size(), size_t(3));
    QCOMPARE(judgement->count(GateVerdict::Missed), size_t(missed));
    QCOMPARE(judgement->count(GateVerdict::NotJudged), size_t(ignored));
    QCOMPARE(judgement->checks[1].finding, std::optional<size_t>(1));
    c.findings.clear();
    QCOMPARE(checksOf(c, gates).size(), size_t(1)); // that there are none is a check, too
    QCOMPARE(checksOf(c, gates)[0].verdict, GateVerdict::Passed);
}

void JudgeTest::findingsWithoutGates()
{
    Comparison c = example();
    c.findings = { finding(Rule::ModelsDiffer, "y") };
    const auto judgement = judged(c, {});
    QVERIFY(judgement.ok() && !judgement->asked);
    QCOMPARE(judgement->count(GateVerdict::NotJudged), size_t(1));
    QCOMPARE(judgement->count(GateVerdict::Missed), size_t(0));
}

void JudgeTest::losses_data()
{
    QTest::addColumn<double>("before"); // NaN: no number
    QTest::addColumn<bool>("exactBefore");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("verdict");
    QTest::newRow("better") << 15.0 << false << "y"
                            << "passed";
    QTest::newRow("lost as much as allowed") << 21.0 << false << "y"
                                             << "passed";
    QTest::newRow("lost more") << 21.1 << false << "y"
                               << "missed";
    QTest::newRow("was exact") << kNan << true << "y"
                               << "missed";
    QTest::newRow("is gone") << 20.0 << false << "z"
                             << "missed";
    QTest::newRow("is exact") << 99.0 << false << "x"
                              << "passed";
    QTest::newRow("both exact") << kNan << true << "x"
                                << "passed";
}

void JudgeTest::losses()
{
    QFETCH(double, before);
    QFETCH(bool, exactBefore);
    QFETCH(QString, name);
    QFETCH(QString, verdict);
    const BaselineRow row { name.toStdString(), std::isnan(before) ? Number() : Number(before), exactBefore };
    const bool tensor = name == "x";
    const auto checks = checksOf(example(), tensor ? baselineGate(1, {}, { row }) : baselineGate(1, { row }));
    QCOMPARE(checks.size(), size_t(1));
    QCOMPARE(QString::fromStdString(std::string(nameIn(kVerdicts, checks[0].verdict))), verdict);
    QCOMPARE(QString::fromStdString(checks[0].place), name);
    QCOMPARE(checksOf(example(), baselineGate(1, { row }, { row })).size(), size_t(1)); // an output is told of once
}

/// What has nothing to be judged by is said; where all is so, the gate does not pass.
void JudgeTest::whatChecksNothing()
{
    Comparison c = example();
    c.activations[1].accumulated = Similarity {}; // of integers
    InputRow ids;
    ids.name = "x";
    c.inputs = { ids };
    QVERIFY(!judged(c, tensorGate("x", 10)).ok()); // both files are given it
    QCOMPARE(checksOf(c, tensorGate("*", 10))[0].verdict, GateVerdict::NotJudged);
    c.activations[0].params.scale = { 1 }; // a quantizer that loses nothing
    QCOMPARE(checksOf(c, tensorGate("x", 10))[0].verdict, GateVerdict::Passed);
    const auto all = checksOf(c, tensorGate("*", 10));
    QCOMPARE(all.size(), size_t(3));
    QCOMPARE(all[1].verdict, GateVerdict::NotJudged);
    QCOMPARE(missedOf(all), size_t(0));
    QVERIFY(!judged(c, tensorGate("relu/out", 10)).ok());
    const BaselineRow none { "y", {}, false }, some { "x", {}, true };
    const auto losses = checksOf(c, baselineGate(1, { none }, { some }));
    QCOMPARE(losses[0].verdict, GateVerdict::NotJudged);
    QVERIFY(!judged(c, baselineGate(1, { none })).ok());
    c.outputs.clear();
    QVERIFY(!judged(c, outputGate(GateRule::OutputSqnr, -100)).ok());
}

void JudgeTest::equalNamesInOrder()
{
    Comparison c = example();
    c.activations.push_back(c.activations[1]); // "relu/out" twice
    c.activations[2].accumulated = sqnr(40);
    const auto checks = checksOf(c, baselineGate(1, {}, { { "relu/out", 15, false }, { "relu/out", 42, false } }));
    QCOMPARE(checks[0].verdict, GateVerdict::Passed);
    QCOMPARE(checks[1].verdict, GateVerdict::Missed);
}

void JudgeTest::otherConditionsAreSaid()
{
    Gates gates = baselineGate(1, { { "y", 20, false } });
    QVERIFY(judged(example(), gates)->warnings.empty());
    gates.baseline->before.samples = 5;
    QCOMPARE(judged(example(), gates)->warnings.size(), size_t(1));
    gates.baseline->before.samples = 10;
    gates.baseline->before.arithmetic = "integer";
    QCOMPARE(judged(example(), gates)->warnings.size(), size_t(1));
}

/// One line each: what, where, wanted, measured, unit.
void JudgeTest::sentences()
{
    Comparison c = example();
    c.outputs[0].name = "y\n\x1b[31m\xe2\x80\xae\xff";
    c.outputs[0].similarity = sqnr(19.99999);
    const std::string sentence = checksOf(c, outputGate(GateRule::OutputSqnr, 20))[0].sentence;
    for (const char* word : { "output y", "19.99999 dB", "20 dB", "the test" })
        QVERIFY2(sentence.find(word) != std::string::npos, sentence.c_str());
    for (const char* character : { "\n", "\x1b", "\xe2\x80\xae", "\xff" })
        QVERIFY(sentence.find(character) == std::string::npos);
}

QTEST_GUILESS_MAIN(JudgeTest)
#include "judge_test.moc"
