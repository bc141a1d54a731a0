// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/lesson/check/answer_text.h"
#include "core/lesson/check/check_lesson.h"
#include "core/lesson/check/judge.h"
#include "core/report/json/compare_json.h"
#include "tests/lesson/written_lesson.h"

#include <QTest>

#include <map>

using namespace qs;
using namespace qs::test;

namespace {

/// One question about the example, quantized by a recipe.
QByteArray step(const QByteArray& ask, const QByteArray& more = {}, const QByteArray& setup = R"j("recipe": {})j")
{
    return R"j({"id": "one", "setup": {"model": "digits", )j" + setup
        + R"j(}, "hints": ["Think.", "Think on.", "Look."], "explain": "So.", )j" + more + R"j("ask": )j" + ask + "}";
}

const QByteArray kNarrow = R"j("recipe": {"tensors": {"/stem/relu/Relu_output_0": {"lowest": 0, "highest": 0.7}}})j";

const QByteArray kNumber
    = R"j({"kind": "number", "question": "?", "answer": "tensor('image').scale * 1000", "unit": "mV",)j"
      R"j( "tolerance": 0.5})j";
const QByteArray kPredict
    = R"j({"kind": "predict", "question": "?", "answer": "before(tensor('image').zero_point) - tensor('image').zero_point",)j"
      R"j( "then": {"recipe": {"activation_type": "uint8"}}})j";
const QByteArray kChoice
    = R"j({"kind": "choice", "question": "?", "choices": [{"text": "first", "right": "output.sqnr_db > 200"},)j"
      R"j( {"text": "second", "right": "output.sqnr_db < 200"}]})j";
const QByteArray kPick
    = R"j({"kind": "pick", "question": "?", "what": "tensor", "answer": "smallest('tensor', 'added_db')"
})j";
const QByteArray kSample = R"j({"kind": "pick", "question": "?", "what": "sample", "answer": 3})j";
const QByteArray kReach
    = R"j({"kind": "reach", "question": "?", "condition": "output.sqnr_db >= 30 and recipe.excluded_nodes <= 2",)j"
      R"j( "reference": {"tensors": null}})j";
const QByteArray kRepair
    = R"j({"kind": "repair", "question": "?", "condition": "output.sqnr_db >= 30", "reference": {"tensors": null},)j"
      R"j( "causes": [{"text": "range", "right": true}, {"text": "bits", "right": false}],)j"
      R"j( "place": {"what": "tensor", "answer": "smallest('tensor', 'added_db')"
}
})j";

/// A lesson of that step, and its numbers.
struct AskedStep {
    AskedStep(const QByteArray& steps)
        : written(lessonJson(steps), "## One\nText.\n")
        , lesson(written.read())
    {
        if (!lesson.ok())
            qFatal("%s", issueText(lesson.issue()).c_str());
        auto made = LiveStep::make(*lesson, 0, snapshots);
        if (!made.ok())
            qFatal("%s", issueText(made.issue()).c_str());
        live.emplace(std::move(made).value());
    }
    /// "right", what is wrong, or "error: " and why it cannot be judged.
    QString judged(const LessonAnswer& answer)
    {
        const auto found = judge(*live, answer, snapshots);
        if (!found.ok())
            return "error: " + QString::fromStdString(issueText(found.issue()));
        return found->right ? QString("right") : QString::fromStdString(found->why);
    }
    WrittenLesson written;
    Result<Lesson> lesson;
    LessonSnapshots snapshots;
    std::optional<LiveStep> live;
};

LessonAnswer answer(const QString& text, const QString& cause = {}, const QString& place = {})
{
    LessonAnswer given;
    given.text = text.toStdString();
    given.cause = cause.toStdString();
    given.place = place.toStdString();
    return given;
}

QStringList problemsOf(const QByteArray& steps, const QByteArray& more = {}, uint64_t seeds = 2)
{
    const WrittenLesson written(lessonJson(steps, more), "## One\nText with 255.\n");
    LessonSnapshots snapshots;
    const auto check = checkLesson(written.folder(), kExamples, seeds, snapshots);
    QStringList problems;
    for (const LessonProblem& problem : check->problems)
        problems << QString::fromStdString(problemText(problem));
    return problems;
}

} // namespace

class LessonQuestionsTest : public QObject {
    Q_OBJECT
private slots:
    void words_data();
    void words();
    void shownNumbers_data();
    void shownNumbers();
    void texts_data();
    void texts();
    void recipes_data();
    void recipes();
    void sensitivities();
    void examinations();
    void rangesFromAnotherSet();
    void repairs();
    void misconceptionsAreRecognized();
    void typedRecipes_data();
    void typedRecipes();
    void soundLessons_data();
    void soundLessons();
    void brokenLessons_data();
    void brokenLessons();
};

/// Numbers of the live snapshot, as compare --json has them.
void LessonQuestionsTest::words_data()
{
    QTest::addColumn<QString>("same");
    const std::map<const char*, const char*> cases { { "output.sqnr_db", "/outputs/0/sqnr_db" },
        { "output('scores').cosine", "/outputs/0/cosine" }, { "accuracy.float", "/accuracy/float" },
        { "samples", "/samples" }, { "tensor('image').scale", "/activations/0/scale/0" },
        { "tensor('image').range_low", "/activations/0/range/0" },
        { "tensor('image').observed_high", "/activations/0/observed_range/1" },
        { "tensor('image').clipped", "/activations/0/clipped_fraction" },
        { "tensor('image').added_db", "/activations/0/local_sqnr_db" },
        { "tensor('image').noise.rounding", "/activations/0/noise/rounding" },
        { "tensor('image').match.method", "/activations/0/match/method" },
        { "weight('onnx::Conv_54').channel(3).sqnr_db", "/weights/0/channel_sqnr_db/3" },
        { "weight('onnx::Conv_54').channel_sqnr_db.item(2)", "/weights/0/channel_sqnr_db/2" },
        { "sample(2).float_class", "/sample_details/2/float_class" }, { "input('image').mean", "/inputs/0/mean" } };
    for (const auto& [text, same] : cases)
        QTest::newRow(text) << same;
    const std::map<const char*, const char*> known { { "recipe.format", "qdq" }, { "recipe.excluded_nodes", "1" },
        { "recipe.calibration.method", "minmax" }, { "recipe.exclude.count", "1" },
        { "node('/classifier/Gemm').excluded", "true" }, { "node('/block/second/Conv').excluded", "false" },
        { "node('/stem/conv/Conv').op_type", "Conv" }, { "float_element('image', '0,0,0,0').value", "-0.75" },
        { "element('scores', '0,1').value == element('scores', '0,1').real", "true" },
        { "tensor('image').scale.count", "1" },
        { "tensor('imag').scale", "error: there is no tensor 'imag'; the nearest one is 'image'" },
        { "tensor('image').scal", "error: there is no 'scal'; the nearest one is 'scale'" },
        { "tensor('image')", "error: 'this' has several values" },
        { "weight('onnx::Conv_54').channel_sqnr_db", "error: 'channel_sqnr_db' is a list of 16" },
        { "weight('onnx::Conv_54').channel(16).sqnr_db", "error: channel() takes a whole number from 0 to 15" },
        { "tensor('/stem/conv/Conv_output_0').added_db", "error: 'added_db' has no value here" },
        { "element('scores', '0,99').value", "error: " }, { "element('scores', 'x').value", "error: element() takes" },
        { "file('float').int8_mac_share", "0" }, { "file('quantized').int8_mac_share < 1", "true" },
        { "file('quantized').bytes < file('float').bytes", "true" },
        { "network.verdict", "error: 'verdict' is asked of what has no value" }, // both sides are one network
        { "file('cat').bytes", "error: there is no file 'cat'" }, { "largest('input', 'mean')", "image" },
        { "sensitivity('/stem/conv/Conv').op_type", "Conv" },
        { "sensitivity('/classifier/Gemm').alone_db", "error: there is no quantized node '/classifier/Gemm'" },
        { "cat(1)", "error: there is no word 'cat'" } };
    for (const auto& [text, same] : known)
        QTest::newRow(text) << same;
}

void LessonQuestionsTest::words()
{
    QFETCH(QString, same);
    static AskedStep asked(step(kNumber, {}, R"j("recipe": {"exclude": ["/classifier/Gemm"]})j"));
    const auto expression = parseExpression(QTest::currentDataTag());
    QVERIFY(expression.ok());
    const auto value = evaluate(*expression, asked.live->now());
    if (!same.startsWith('/')) {
        const QString shown = QString::fromStdString(value.ok() ? *valueText(*value) : "error: " + value.issue().what);
        QVERIFY2(same.startsWith("error") ? shown.startsWith(same) : shown == same, qPrintable(shown));
        return;
    }
    QVERIFY2(value.ok(), value.ok() ? "" : value.issue().what.c_str());
    const LessonJson there
        = compareDocument(asked.live->now().snapshot()).at(LessonJson::json_pointer(same.toStdString()));
    if (const double* number = std::get_if<double>(&*value))
        QCOMPARE(*number, there.get<double>());
    else
        QCOMPARE(std::get<std::string>(*value), there.get<std::string>());
}

void LessonQuestionsTest::shownNumbers_data()
{
    QTest::addColumn<double>("number");
    QTest::addColumn<QString>("unit");
    QTest::addColumn<double>("tolerance");
    QTest::addColumn<QString>("shown");
    const auto row = [](double number, const char* unit, double tolerance, const char* shown) {
        QTest::addRow("%g %s, %g", number, unit, tolerance) << number << QString(unit) << tolerance << QString(shown);
    };
    row(8.326012, "dB", 1, "8.3 dB");
    row(36.04, "dB", 2, "36.0 dB");
    row(8.326012, "dB", 0.01, "8.326 dB");
    row(5.125, "bits", 0.05, "5.125 bits");
    row(25856, "bytes", 150, "25856 bytes");
    row(25856.4, "bytes", 150, "25856 bytes");
    row(9.8039216, "mV", 0.1, "9.804 mV");
    row(0.0098039216, "", 1e-9, "0.00980392");
    row(-12, "", 0.5, "−12");
    row(48, "%", 1e-9, "48 %");
}

/// As many digits as mean something.
void LessonQuestionsTest::shownNumbers()
{
    QFETCH(double, number);
    QFETCH(QString, unit);
    QFETCH(double, tolerance);
    QFETCH(QString, shown);
    QCOMPARE(QString::fromStdString(withUnit(number, unit.toStdString(), tolerance)), shown);
}

void LessonQuestionsTest::texts_data()
{
    QTest::addColumn<QByteArray>("ask");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* name, const QByteArray& ask, const char* text, const char* said) {
        QTest::newRow(name) << ask << QString(text) << QString(said);
    };
    row("number", kNumber, "9.8", "right"); // 2.5 / 255
    row("number with unit", kNumber, " +9.9 mV ", "right");
    row("number too large", kNumber, "10.4", "too large");
    row("number too small", kNumber, "9.2", "too small");
    row("another unit", kNumber, "9.8 dB", "error: 'dB' is not the unit; give it in mV");
    row("comma", kNumber, "9,8", "error: '9,8' is no number; write it as in -12.5");
    row("no number", kNumber, "ten", "error: 'ten' is no number");
    row("nothing", kNumber, "", "error: '' is no number");
    row("not finite", kNumber, "nan", "error: 'nan' is no number");
    row("prediction", kPredict, "-128", "right");
    row("true minus sign", kPredict, "−128", "right");
    row("wrong prediction", kPredict, "128", "too large");
    row("choice", kChoice, "2", "right");
    row("other choice", kChoice, "1", "another choice is right");
    row("no choice", kChoice, "3", "error: '3' is no choice; give a number from 1 to 2");
    row("choice by text", kChoice, "second", "error: 'second' is no choice");
    row("pick", kPick, " /stem/relu/Relu_output_0 ", "right");
    row("pick by its node", kPick, "/stem/relu/Relu", "right");
    row("pick by its quantized name", kPick, "/stem/relu/Relu_output_0_DequantizeLinear_Output", "right");
    row("another tensor", kPick, "image", "it is another tensor");
    row("its neighbour", kPick, "/stem/conv/Conv_output_0", "it is another tensor");
    row("no tensor", kPick, "/stem/relu", "error: there is no tensor '/stem/relu'; give its whole name");
    row("sample", kSample, "3", "right");
    row("another sample", kSample, "4", "it is another sample");
}

void LessonQuestionsTest::texts()
{
    QFETCH(QByteArray, ask);
    QFETCH(QString, text);
    QFETCH(QString, said);
    AskedStep asked(step(ask, {}, ask == kPick ? kNarrow : QByteArray(R"j("recipe": {})j")));
    const QString judged = asked.judged(answer(text));
    QVERIFY2(said == "right" || said.startsWith("too ") ? judged == said : judged.startsWith(said), qPrintable(judged));
}

void LessonQuestionsTest::recipes_data()
{
    QTest::addColumn<QString>("said");
    const std::map<const char*, const char*> cases { { "tensors=null", "right" },
        { "tensors.\"/stem/relu/Relu_output_0\".highest=3.4", "right" },
        { "activation_type=uint8", "the goal is not reached" },
        { "tensors=null exclude=/stem/conv/Conv,/pool/MaxPool,/classifier/Gemm", "the goal is not reached" },
        { "actvation_type=uint8", "error: the recipe " }, { "format=cat", "error: the recipe " } };
    for (const auto& [text, said] : cases)
        QTest::newRow(text) << said;
}

void LessonQuestionsTest::recipes()
{
    QFETCH(QString, said);
    static AskedStep asked(step(kReach, {}, kNarrow));
    LessonAnswer given;
    given.recipe = *recipeChanges(QTest::currentDataTag());
    const QString judged = asked.judged(given);
    QVERIFY2(judged.startsWith(said), qPrintable(judged));
}

/// What leaving a node out buys is what the recipe with that exclusion has.
void LessonQuestionsTest::sensitivities()
{
    const auto numberOf = [](AskedStep& asked, const std::string& text) {
        const auto value = evaluate(*parseExpression(text), asked.live->now());
        if (!value.ok())
            qFatal("%s", value.issue().what.c_str());
        return std::get<double>(*value);
    };
    AskedStep all(step(kNumber));
    AskedStep without(step(kNumber, {}, R"j("recipe": {"exclude": ["/block/second/Conv"]})j"));
    AskedStep alone(step(kNumber, {}, R"j("recipe": {"include": ["/block/second/Conv"]})j"));
    QCOMPARE(numberOf(all, "sensitivity('/block/second/Conv').without_db"), numberOf(without, "output.sqnr_db"));
    QCOMPARE(numberOf(all, "sensitivity('/block/second/Conv').alone_db"), numberOf(alone, "output.sqnr_db"));
    QCOMPARE(numberOf(all, "sensitivity('/block/second/Conv').mac_share"),
        numberOf(all, "file('quantized').int8_mac_share") - numberOf(without, "file('quantized').int8_mac_share"));
    const SnapshotPtr kept = all.live->now().sharedSnapshot();
    QVERIFY(!all.snapshots.measured(kept)->empty()
        && all.snapshots.measured(without.live->now().sharedSnapshot())->empty());
    const auto named = evaluate(*parseExpression("smallest('sensitivity', 'alone_db')"), all.live->now());
    QVERIFY(named.ok() && std::get<std::string>(*named).starts_with("/"));
}

/// A question without hints says so, and check has nothing to hold against it.
void LessonQuestionsTest::examinations()
{
    QByteArray one = step(kNumber);
    one.replace(R"j(, "hints": ["Think.", "Think on.", "Look."])j", "");
    QCOMPARE(problemsOf(one, R"("examination": true, )"), QStringList());
    const WrittenLesson written(lessonJson(one, R"("examination": true, )"), "## One\nText.\n");
    LessonSnapshots snapshots;
    const auto lesson = written.read();
    QVERIFY(lesson.ok());
    const auto live = LiveStep::make(*lesson, 0, snapshots);
    QVERIFY(live.ok());
    QVERIFY(!live->hint(0).ok());
}

/// Ranges come from the calibration set, all other numbers from the data.
void LessonQuestionsTest::rangesFromAnotherSet()
{
    const QByteArray one = step(kNumber).replace("\"recipe\": {}", "\"recipe\": {\"activation_type\": \"uint8\"}");
    const auto scaleOf = [&](const QByteArray& json) {
        const WrittenLesson written(json, "## One\nText.\n");
        LessonSnapshots snapshots;
        const auto lesson = written.read();
        const auto live = LiveStep::make(*lesson, 0, snapshots);
        if (!live.ok())
            qFatal("%s", issueText(live.issue()).c_str());
        const auto found
            = evaluate(*parseExpression("tensor('/stem/relu/Relu_output_0').scale * 1000 + samples"), live->now());
        return std::get<double>(*found);
    };
    const QByteArray same = lessonJson(one).replace("\"limit\": 10", "\"limit\": 3");
    const QByteArray other
        = lessonJson(one).replace("\"limit\": 10", "\"limit\": 3, \"calibration\": \"example:digits_samples.npz\"");
    QVERIFY(scaleOf(other) > scaleOf(same)); // more pictures have a wider range
}

void LessonQuestionsTest::repairs()
{
    AskedStep asked(step(kRepair, {}, kNarrow));
    LessonAnswer given = answer({}, "1", "/stem/relu/Relu_output_0");
    given.recipe = *recipeChanges("tensors=null");
    QCOMPARE(asked.judged(given), QString("right"));
    // The recipes are compared, not the words that make them.
    const auto asReference = [&](const char* changes) {
        given.recipe = *recipeChanges(changes);
        const auto judged = judge(*asked.live, given, asked.snapshots);
        return judged.ok() && judged->right && judged->asReference;
    };
    QVERIFY(asReference("tensors=null"));
    QVERIFY(asReference("symmetric_activations=false tensors.\"/stem/relu/Relu_output_0\"=null"));
    QVERIFY(!asReference("tensors.\"/stem/relu/Relu_output_0\".highest=3.4"));
    given.recipe = *recipeChanges("tensors=null");
    LessonAnswer other = given;
    other.cause = "2";
    QCOMPARE(asked.judged(other), QString("it is not that cause"));
    other = given;
    other.place = "image";
    QCOMPARE(asked.judged(other), QString("it is not that place"));
    other = given;
    other.recipe = LessonJson::object();
    QCOMPARE(asked.judged(other), QString("the goal is not reached with this recipe"));
}

void LessonQuestionsTest::misconceptionsAreRecognized()
{
    AskedStep asked(step(kPredict,
        R"j("misconception": [{"answer": 0, "shows": "a"}, {"answer": "before(tensor('image').zero_point)",)j"
        R"j( "run": {"recipe": {"activation_type": "int8"}}, "shows": "{= recipe.activation_type} {= before(recipe.activation_type)}"}], )j"));
    const auto found = judge(*asked.live, answer("-52"), asked.snapshots);
    QVERIFY(found.ok() && !found->right);
    QCOMPARE(found->misconception, std::optional<size_t>(1));
    const auto shows = asked.live->misconceptionText(1, asked.snapshots);
    QVERIFY2(shows.ok(), shows.ok() ? "" : shows.issue().what.c_str());
    QCOMPARE(*shows, std::string("int8 uint8"));
}

void LessonQuestionsTest::typedRecipes_data()
{
    QTest::addColumn<QString>("json");
    const std::map<const char*, const char*> cases { { "a=1", R"j({"a":1})j" },
        { "a=null b.c=null", R"({"a":null,"b":{"c":null}})" }, { "a.b=x c=true", R"j({"a":{"b":"x"},"c":true})j" },
        { "a.'b.c'.d=2.5", R"j({"a":{"b.c":{"d":2.5}}})j" }, { "exclude=/a,/b", R"j({"exclude":["/a","/b"]})j" },
        { "exclude=[\"/a\"]", R"j({"exclude":["/a"]})j" }, { " {\"a\": null} ", R"j({"a":null})j" },
        { "", "error: nothing is changed" }, { "a", "error: 'a' is no change" },
        { "a..b=1", "error: 'a..b=1' is no change" }, { "=1", "error: '=1' is no change" },
        { "{", "error: the recipe is no JSON" },
        { "{\"a\": 1, \"a\": 2}", "error: the recipe says the key 'a' twice" } };
    for (const auto& [text, json] : cases)
        QTest::newRow(text) << json;
}

void LessonQuestionsTest::typedRecipes()
{
    QFETCH(QString, json);
    const auto changes = recipeChanges(QTest::currentDataTag());
    const QString text = QString::fromStdString(changes.ok() ? changes->dump() : "error: " + changes.issue().what);
    QVERIFY2(json.startsWith("error") ? text.startsWith(json) : text == json, qPrintable(text));
}

void LessonQuestionsTest::soundLessons_data()
{
    QTest::addColumn<QByteArray>("steps");
    QTest::newRow("number") << step(kNumber, R"j("misconception": {"answer": 1, "shows": "{= samples}"}, )j");
    QTest::newRow("predict") << step(kPredict);
    QTest::newRow("choice") << step(kChoice, R"j("misconception": {"answer": 1, "shows": "a"}, )j");
    QTest::newRow("pick") << step(kPick, R"j("misconception": {"answer": "'image'", "shows": "a"}, )j", kNarrow);
    QTest::newRow("reach") << step(
        kReach, R"j("misconception": {"answer": {"activation_type": "uint8"}, "shows": "a"}, )j", kNarrow);
    QTest::newRow("repair") << step(
        kRepair, R"j("misconception": {"answer": {"activation_type": "uint8"}, "shows": "a"}, )j", kNarrow);
    QTest::newRow("the file") << step(kNumber, {}, R"j("select": "scores")j");
}

void LessonQuestionsTest::soundLessons()
{
    QFETCH(QByteArray, steps);
    QCOMPARE(problemsOf(steps), QStringList());
}

void LessonQuestionsTest::brokenLessons_data()
{
    QTest::addColumn<QByteArray>("steps");
    QTest::addColumn<QString>("problem");
    const auto row = [](const char* name, const QByteArray& steps, const char* problem) {
        QTest::newRow(name) << steps << "lesson/one (seed 1): " + QString(problem);
    };
    row("misconception that is right", step(kChoice, R"j("misconception": {"answer": 2, "shows": "a"}, )j"),
        "misconception 1 '2' passes");
    row("two right choices",
        step(
            R"j({"kind": "choice", "question": "?", "choices": [{"text": "a", "right": true}, {"text": "b", "right": true}]})j"),
        "its answer: choices 1 and 2 are both right");
    row("no right choice",
        step(
            R"j({"kind": "choice", "question": "?", "choices": [{"text": "a", "right": false}, {"text": "b", "right": false}]})j"),
        "its answer: no choice is right");
    row("unknown tensor", step(R"j({"kind": "number", "question": "?", "answer": "tensor('x').scale"})j"),
        "its answer: there is no tensor 'x'");
    row("nothing to reach", step(kReach), "a wrong answer near to it '{}' passes");
    row("out of reach", step(QByteArray(kReach).replace("30", "300"), {}, kNarrow),
        "the reference answer '{\"tensors\":null}' fails");
    row("selection", step(kNumber, {}, R"j("recipe": {}, "select": "cat")j"),
        "what it selects, 'cat', is in neither model");
    row("recipe", step(kNumber, {}, R"j("recipe": {"cat": 1})j"), "its setup does not work: the recipe ");
    row("hint with the number",
        step(R"j({"kind": "number", "question": "?", "answer": 42})j").replace("Look.", "It is 42."),
        "hint 3 holds the number that is asked for");
    row("hint with the name", step(kPick, {}, kNarrow).replace("Think on.", "Not /stem/relu/Relu_output_0?"),
        "hint 2 holds the name");
    row("hint with the choice", step(kChoice).replace("Think.", "The Second one."), "hint 1 holds the right choice");
    row("hint with the recipe",
        step(R"j({"kind": "reach", "question": "?", "condition": "recipe.activation_type == 'uint8'",)j"
             R"j( "reference": {"activation_type": "uint8"}})j")
            .replace("Look.", "activation_type: uint8"),
        "hint 3 holds the whole recipe");
    row("markup by an expression", step(kNumber).replace("So.", "{= '!\\\\[a](https://example.org/a.png)'}"),
        "its explanation: line 1 has the picture or link 'https://example.org/a.png', which lies outside");
    row("HTML by an expression", step(kNumber).replace("So.", "{= '<\\\\script>'}"),
        "its explanation: line 1 holds raw HTML");
    row("number in a text", step(kNumber).replace("So.", "{= tensor('image').scal}"),
        "its explanation: '{= tensor('image').scal}'");
}

void LessonQuestionsTest::brokenLessons()
{
    QFETCH(QByteArray, steps);
    QFETCH(QString, problem);
    const QStringList problems = problemsOf(steps);
    QCOMPARE(problems.size(), 1);
    QVERIFY2(problems.front().startsWith(problem), qPrintable(problems.front()));
}

QTEST_GUILESS_MAIN(LessonQuestionsTest)
#include "questions_test.moc"
