// SPDX-License-Identifier: GPL-3.0-or-later
// The same on the learner's own models.
#include "core/base/issue_text.h"
#include "core/lesson/check/check_lesson.h"
#include "core/lesson/check/judge.h"
#include "core/lesson/check/lesson_result.h"
#include "core/lesson/check/own_step.h"
#include "core/lesson/live/own_pair.h"
#include "tests/lesson/written_lesson.h"

#include <QTest>

#include <algorithm>

using namespace qs;
using namespace qs::test;

namespace {

const QByteArray kStep = R"j({"id": "one", "setup": {"model": "digits"}})j";
const QByteArray kMarkdown = "## One\nText.\n## Mine\nThe output has {= output.sqnr_db | fixed 0} dB.\n";

/// "yours" with one step.
QByteArray yours(const QByteArray& ask, const QByteArray& more = {})
{
    return R"j("yours": [{"id": "mine", "hints": ["a", "b", "c"], "explain": "So.", )j" + more + R"j("ask": )j" + ask
        + "}], ";
}

QByteArray pick(const QByteArray& answer)
{
    return R"j({"kind": "pick", "question": "?", "what": "tensor", "answer": ")j" + answer + "\"}";
}

QByteArray reach(const QByteArray& condition, const QByteArray& reference)
{
    return R"j({"kind": "reach", "question": "?", "condition": ")j" + condition + R"j(", "reference": )j" + reference
        + "}";
}

const QByteArray kByRecipe = R"j("setup": {"recipe": {"activation_type": "uint8"}}, )j";

Inputs pair(const std::string& data)
{
    Inputs inputs;
    inputs.floatPath = kExamples + "/digits_float.onnx";
    inputs.quantPath = kExamples + "/digits_qdq.onnx";
    inputs.data.spec = data;
    inputs.data.limit = 8;
    if (data.starts_with("random"))
        inputs.data.shapes["image"] = { 1, 1, 8, 8 };
    return inputs;
}

/// The own step of a lesson on a pair of models.
struct AskedPair {
    explicit AskedPair(const QByteArray& more, std::optional<Inputs> own = pair(kExamples + "/digits_samples.npz"))
        : written(lessonJson(kStep, more), kMarkdown)
    {
        auto read = written.read();
        if (!read.ok())
            qFatal("%s", issueText(read.issue()).c_str());
        lesson = withOwn(std::move(read).value(), std::move(own));
        auto asked = ownStep(lesson, 1, snapshots);
        if (!asked.ok())
            qFatal("%s", issueText(asked.issue()).c_str());
        step = std::move(asked).value();
    }
    QString skipped() const { return QString::fromStdString(step.skipped); }
    bool right(const LessonAnswer& answer) { return judge(*step.live, answer, snapshots)->right; }

    WrittenLesson written;
    Lesson lesson;
    LessonSnapshots snapshots;
    OwnStep step;
};

} // namespace

class LessonOwnTest : public QObject {
    Q_OBJECT
private slots:
    void picksOnAnyPair();
    void equalsAreRight();
    void reachesWithNamesOfThePair();
    void saysWhyNot_data();
    void saysWhyNot();
    void withoutAPair();
    void anotherPairIsNotChanged();
    void faults_data();
    void faults();
    void checkIsOfTheExample();
    void resultsStandApart();
};

void LessonOwnTest::picksOnAnyPair()
{
    AskedPair asked(yours(pick("smallest('tensor', 'added_db')")));
    QCOMPARE(asked.skipped(), QString());
    QCOMPARE(asked.lesson.steps.size(), size_t(2));
    QCOMPARE(asked.lesson.taught(), size_t(1));
    QVERIFY(asked.step.live->text()->find(" dB.") != std::string::npos);
    LessonAnswer answer = *referenceAnswer(*asked.step.live, asked.snapshots);
    QVERIFY(asked.right(answer));
    answer.text = "image";
    QVERIFY(!asked.right(answer));
    AskedPair integer(yours(pick("smallest('tensor', 'added_db')"), R"j("setup": {"arithmetic": "integer"}, )j"));
    QVERIFY(integer.step.live->now().snapshot().inputs.profile == ArithmeticProfile::Integer);
}

/// Nothing is clipped in most of them.
void LessonOwnTest::equalsAreRight()
{
    AskedPair asked(yours(pick("smallest('tensor', 'clipped_fraction')")));
    QCOMPARE(asked.skipped(), QString());
    const auto& rows = asked.step.live->now().snapshot().comparison->activations;
    size_t right = 0, equal = 0;
    for (const ActivationRow& row : rows) {
        LessonAnswer answer;
        answer.text = row.name;
        right += asked.right(answer);
        equal += row.clippedFraction && *row.clippedFraction == 0;
    }
    QVERIFY(equal > 1 && equal < rows.size());
    QCOMPARE(right, equal);
}

void LessonOwnTest::reachesWithNamesOfThePair()
{
    AskedPair asked(yours(reach("output.sqnr_db != before(output.sqnr_db) and recipe.excluded_nodes == 1",
                              R"j({"exclude": ["{= weight(smallest('weight', 'sqnr_db')).node}"]})j"),
        kByRecipe));
    QCOMPARE(asked.skipped(), QString());
    const LessonAnswer answer = *referenceAnswer(*asked.step.live, asked.snapshots);
    QCOMPARE(answer.recipe["exclude"][0], LessonJson("/block/second/Conv"));
    QVERIFY(asked.right(answer));
    LessonAnswer unchanged = answer;
    unchanged.recipe = LessonJson::object();
    QVERIFY(!asked.right(unchanged));
}

void LessonOwnTest::saysWhyNot_data()
{
    QTest::addColumn<QByteArray>("more");
    QTest::addColumn<QString>("sentence");
    const QByteArray labels = R"j("when": "accuracy.quantized > 0", "otherwise": "There are no labels.", )j";
    QTest::newRow("when does not hold") << yours(pick("largest('tensor', 'scale')"), labels) << "There are no labels.";
    QTest::newRow("nothing to answer with") << yours(pick("largest('node', 'saturated')"))
                                            << "This is not asked here: your models have nothing to answer with: no "
                                               "node has the number 'saturated', at character 1.";
    QTest::newRow("is not reached") << yours(reach("output.sqnr_db > 900", R"j({"per_channel": true})j"), kByRecipe)
                                    << "What helps in this lesson does not reach what would be asked here.";
    QTest::newRow("is reached already") << yours(reach("output.sqnr_db > 1", R"j({"per_channel": true})j"), kByRecipe)
                                        << "Your models have reached already what would be asked.";
    QTest::newRow("cannot be set up") << yours(
        pick("largest('tensor', 'scale')"), R"j("setup": {"recipe": {"activation_type": "uint9"}}, )j")
                                      << "This cannot be set up with your models: ";
}

/// The samples are random: they have no labels.
void LessonOwnTest::saysWhyNot()
{
    QFETCH(QByteArray, more);
    QFETCH(QString, sentence);
    const AskedPair asked(more, pair("random:8:1"));
    QVERIFY2(asked.skipped().startsWith(sentence) && asked.skipped().endsWith(u'.'), qPrintable(asked.skipped()));
    QCOMPARE(asked.skipped().count(u'\n'), 0);
}

void LessonOwnTest::withoutAPair()
{
    const AskedPair asked(yours(pick("largest('tensor', 'scale')")), std::nullopt);
    QVERIFY(asked.skipped().startsWith(QStringLiteral("No models of your own are open")));
    QVERIFY(!asked.step.live);
    QVERIFY(!inputsOf(asked.lesson, asked.lesson.steps[1].setup).ok());
    QVERIFY(!ownPairOf(Snapshot()));
}

void LessonOwnTest::anotherPairIsNotChanged()
{
    Inputs mine = pair(kExamples + "/digits_samples.npz");
    mine.other.path = mine.quantPath;
    Snapshot snapshot = *AskedPair(yours(pick("largest('tensor', 'scale')"))).step.live->now().sharedSnapshot();
    snapshot.inputs = mine;
    const auto own = ownPairOf(snapshot);
    QVERIFY(own && own->other == OtherQuantized() && own->quantPath == mine.quantPath);
    mine.quantPath.clear();
    mine.profile = ArithmeticProfile::Integer;
    const AskedPair asked(yours(pick("largest('tensor', 'scale')")), mine);
    QVERIFY(asked.lesson.own->recipe == Recipe()); // as the program quantizes what has no quantized file
    QVERIFY(asked.step.live->now().snapshot().inputs.profile == ArithmeticProfile::Integer);
}

void LessonOwnTest::faults_data()
{
    QTest::addColumn<QByteArray>("more");
    QTest::addColumn<QString>("fault");
    const QByteArray any = pick("largest('tensor', 'scale')");
    QTest::newRow("a name") << yours(pick("tensor( 'image').dtype")) << "tensor('image'): the learner's models have";
    QTest::newRow("a name in a text") << yours(any, R"j("otherwise": "{= weight(\"w\").scale}", )j") << "weight(\"w\")";
    QTest::newRow("a constant") << yours(pick("'image'")) << "the same for all models";
    QTest::newRow("a model") << yours(any, R"j("setup": {"model": "digits"}, )j") << "key 'model' is unknown";
    QTest::newRow("a number") << yours(R"j({"kind": "number", "question": "?", "answer": "samples"})j")
                              << "neither pick nor reach";
    QTest::newRow("nothing is asked") << QByteArray(R"j("yours": [{"id": "mine"}], )j") << "key 'ask' is missing";
    QTest::newRow("no recipe") << yours(reach("output.sqnr_db > 1", "{}")) << "the setup has none";
    QTest::newRow("no sentence") << yours(any, R"j("when": "samples > 1", )j") << "key 'otherwise' is missing";
    QTest::newRow("an id twice") << yours(any).replace("\"mine\"", "\"one\"") << "names an earlier step";
    QTest::newRow("no panel") << yours(any, R"j("hide": ["inspectr"], )j") << "the nearest one is 'inspector'";
    QTest::newRow("no list") << QByteArray(R"j("yours": {}, )j") << "key 'yours' is no list";
    QTest::newRow("no section") << yours(any).replace("\"mine\"", "\"other\"") << "should be step 'other'";
}

void LessonOwnTest::faults()
{
    QFETCH(QByteArray, more);
    QFETCH(QString, fault);
    const auto read = WrittenLesson(lessonJson(kStep, more), kMarkdown).read();
    QVERIFY(!read.ok());
    const QString said = QString::fromStdString(issueText(read.issue()));
    QVERIFY2(said.contains(fault) && !said.contains(u'\n'), qPrintable(said));
}

void LessonOwnTest::checkIsOfTheExample()
{
    const auto problems = [](const QByteArray& more) {
        const WrittenLesson written(lessonJson(kStep, more), kMarkdown);
        LessonSnapshots snapshots;
        const auto check = checkLesson(written.folder(), kExamples, 1, snapshots);
        return check->problems.empty() ? QString() : QString::fromStdString(problemText(check->problems.front()));
    };
    QCOMPARE(problems(yours(pick("largest('tensor', 'scale')"))), QString());
    QCOMPARE(problems(yours(pick("largest('node', 'saturated')"))),
        QStringLiteral("lesson/mine (seed 1): it is not asked on the example's models: This is not asked here: your "
                       "models have nothing to answer with: no node has the number 'saturated', at character 1."));
    QCOMPARE(problems(yours(pick("largest('tensor', 'scale')")).replace("\"c\"", "\"scores\"")),
        QStringLiteral("lesson/mine (seed 1): hint 3 holds the name that is asked for"));
}

void LessonOwnTest::resultsStandApart()
{
    const AskedPair asked(yours(pick("largest('tensor', 'scale')")));
    LessonResult result;
    StepResult skipped;
    skipped.step = "mine";
    skipped.skipped = "No.";
    result.yours = { skipped, StepResult { .step = "more", .right = true } };
    const LessonJson json = resultJson(asked.lesson, result);
    QCOMPARE(json["steps"].size(), size_t(0));
    QCOMPARE(json["yours"][0]["skipped"], LessonJson("No."));
    QCOMPARE(json["yours"][1]["skipped"], LessonJson());
    QCOMPARE(json["yours"][1]["right"], LessonJson(true));
}

QTEST_GUILESS_MAIN(LessonOwnTest)
#include "own_test.moc"
