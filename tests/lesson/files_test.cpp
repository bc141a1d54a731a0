// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/lesson/file/lesson_markdown.h"
#include "core/lesson/file/lesson_variant.h"
#include "tests/lesson/written_lesson.h"

#include <QTest>

#include <set>
#include <unistd.h>

using namespace qs;
using namespace qs::test;

namespace {

const QByteArray kStep = R"({"id": "one", "setup": {"model": "digits"}})";
const QByteArray kMarkdown = "# A lesson\n\nHello.\n\n## One\n\nText.\n";

QByteArray asking(const QByteArray& ask, const QByteArray& more = {})
{
    return R"({"id": "one", "setup": {"model": "digits", "recipe": {}}, "hints": ["a", "b", "c"], "explain": "so", )"
        + more + R"("ask": )" + ask + "}";
}

QByteArray number(const QByteArray& more)
{
    return R"({"kind": "number", "question": "?", "answer": "1")" + more + "}";
}

/// What reading says: one line, empty where all is well.
QString said(const WrittenLesson& lesson)
{
    const auto read = lesson.read();
    return read.ok() ? QString() : QString::fromStdString(issueText(read.issue()));
}

} // namespace

class LessonFilesTest : public QObject {
    Q_OBJECT
private slots:
    void readsALesson();
    void jsonFaults_data();
    void jsonFaults();
    void markdownFaults_data();
    void markdownFaults();
    void linksThatLeadOut();
    void filesThatAreNone();
    void picturesInside();
    void seedsAreTheSameEverywhere();
    void parametersAreFilledIn();
    void parametersThatGoTogether();
    void examinationsHaveNoHints();
    void calibrationSets();
    void orderOfACourse();
};

void LessonFilesTest::readsALesson()
{
    const WrittenLesson written(
        lessonJson(kStep + R"(, {"id": "two-more", "hints": ["a", "b", "c"], "explain": "so", "ask": )"
            + number(R"(, "tolerance": 0.5, "unit": "dB")") + "}"),
        kMarkdown + "## Two, more!\n\n`<b>` and <https://example.org> are text.\n\n```\n<script>\n```\n");
    const auto lesson = written.read();
    QVERIFY2(lesson.ok(), qPrintable(said(written)));
    QCOMPARE(lesson->introduction, std::string("\nHello.\n\n"));
    QCOMPARE(lesson->steps.size(), size_t(2));
    QCOMPARE(lesson->steps[1].title, std::string("Two, more!"));
    QCOMPARE(lesson->steps[1].setup, lesson->steps[0].setup);
    QCOMPARE(lesson->steps[1].question->unit, std::string("dB"));
    QCOMPARE(lesson->models.at("digits").floatPath, kExamples + "/digits_float.onnx");
    QCOMPARE(lesson->models.at("digits").limit, std::optional<size_t>(10));
}

void LessonFilesTest::jsonFaults_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("fault");
    const auto row = [](const char* name, const QByteArray& json, const char* fault) {
        QTest::newRow(name) << json << QString(fault);
    };
    row("no JSON", "{", "lesson.json: is no JSON at byte");
    row("a list", "[]", "the lesson is no JSON object");
    row("empty", "{}", "key 'schema_version' is not 1");
    row("deep", QByteArray(100'000, '['), "nested deeper than 24 levels");
    row("twice", R"({"id": "a", "id": "b"})", "says the key 'id' twice");
    row("invalid UTF-8", "{\"id\": \"\xff\"}", "is no text in UTF-8");
    row("zero byte", QByteArray("{\"id\": \"\0\"}", 11), "is no text in UTF-8");
    row("long", QByteArray((1 << 20) + 1, ' '), "is longer than a mebibyte");
    row("unknown key", lessonJson(kStep, R"("colour": 1, )"), "key 'colour' is unknown");
    row("no steps", lessonJson(""), "key 'steps' is empty");
    row("many steps", lessonJson(QByteArray(kStep + ",").repeated(60) + kStep),
        "key 'steps' has 61 entries, more than 50");
    row("needs no texts", lessonJson(kStep, R"("needs": [1], )"), "key 'needs' holds something that is no text");
    row("step no object", lessonJson("7"), "step 1 is no JSON object");
    row("step key", lessonJson(R"({"id": "one", "setup": {"model": "digits"}, "hint": []})"),
        "step 'one': key 'hint' is unknown; the nearest one is 'hints'");
    row("no setup", lessonJson(R"({"id": "one"})"), "step 'one': key 'setup' is missing");
    row("model", lessonJson(R"({"id": "one", "setup": {"model": "cats"}})"),
        "step 'one': setup: key 'model' names none of the lesson's models");
    row("arithmetic", lessonJson(R"({"id": "one", "setup": {"model": "digits", "arithmetic": "exact"}})"),
        "setup: key 'arithmetic' is none of");
    row("view", lessonJson(R"({"id": "one", "setup": {"model": "digits", "view": "../x"}})"), "key 'view' is no name");
    row("sample", lessonJson(R"({"id": "one", "setup": {"model": "digits", "sample": 1e300}})"),
        "key 'sample' is no number");
    row("kind", lessonJson(asking(R"({"kind": "guess", "question": "?"})")), "ask: key 'kind' is none of predict");
    row("expression", lessonJson(asking(R"({"kind": "number", "question": "?", "answer": "1 +"})")),
        "ask: key 'answer' is no expression: the expression ends too early at character 4");
    row("deep expression",
        lessonJson(asking(R"({"kind": "number", "question": "?", "answer": ")" + QByteArray(100'000, '(') + "\"}")),
        "an expression of 100000 bytes");
    row("tolerance", lessonJson(asking(number(R"(, "relative": 7)"))), "key 'relative' is no number from 0.0 to 1.0");
    row("one choice",
        lessonJson(asking(R"({"kind": "choice", "question": "?", "choices": [{"text": "a", "right": true}]})")),
        "key 'choices' needs two choices or more");
    row("pick", lessonJson(asking(R"({"kind": "pick", "question": "?", "what": "cat", "answer": "'a'"})")),
        "key 'what' is none of");
    row("reach without recipe",
        lessonJson(R"({"id": "one", "setup": {"model": "digits"}, "hints": ["a", "b", "c"], "explain": "so",)"
                   R"("ask": {"kind": "reach", "question": "?", "condition": "true", "reference": {}}})"),
        "asks for a recipe, and the setup has none");
    row("misconception", lessonJson(asking(number(""), R"("misconception": {"answer": 2}, )")),
        "misconception: key 'shows' is missing");
    row("absolute path", lessonJson(kStep).replace("example:digits_float.onnx", "/etc/passwd"),
        "models: 'digits': key 'float' is wrong: the path '/etc/passwd' is none within the lesson's folder");
    row("parent", lessonJson(kStep).replace("example:digits_float.onnx", "a/../../x.onnx"),
        "is none within the lesson's folder");
    row("example's parent", lessonJson(kStep).replace("example:digits_float.onnx", "example:../quantscope.qrc"),
        "is none within the lesson's folder");
    row("missing model", lessonJson(kStep).replace("example:digits_float.onnx", "cats.onnx"),
        "there is no file 'cats.onnx'");
    row("missing data", lessonJson(kStep).replace("example:digits_samples.npz", "cats.npz"),
        "there is no file 'cats.npz'");
    row("much random",
        lessonJson(kStep).replace("example:digits_samples.npz", "random:9").replace(", \"limit\": 10", ""),
        "key 'limit' is missing");
    row("parameter name", lessonJson(kStep, R"("variants": {"tensor": {"of": [1]}}, )"),
        "'tensor' is no name of a parameter");
    row("empty range", lessonJson(kStep, R"("variants": {"a": {"from": 2, "to": 1}}, )"), "key 'to' leaves no value");
    row("huge range", lessonJson(kStep, R"("variants": {"a": {"from": 0, "to": 1e9, "step": 1e-6}}, )"),
        "more than a million");
    row("long list", lessonJson(kStep, R"("variants": {"a": {"of": [)" + QByteArray("1,").repeated(2000) + "1]}}, "),
        "more than 1000");
    row("entry beyond the list", lessonJson(kStep, R"("variants": {"a": {"of": [1, 2], "at": 2}}, )"),
        "key 'at' is no whole number from 0 to 1");
    row("entry of nothing", lessonJson(kStep, R"("variants": {"a": {"of": [1, 2], "at": "b"}}, )"), "key 'at'");
    row("hints in an examination", lessonJson(asking(number("")), R"("examination": true, )"),
        "key 'hints' is not for an examination");
    row("no hints elsewhere",
        lessonJson(R"({"id": "one", "setup": {"model": "digits"}, "explain": "so", "ask": )" + number("") + "}"),
        "key 'hints' must hold three texts");
    row("examination", lessonJson(kStep, R"("examination": 1, )"), "key 'examination' is neither true nor false");
    row("missing calibration set", lessonJson(kStep).replace(", \"limit\": 10", R"(, "calibration": "cats.npz")"),
        "key 'calibration' is wrong: there is no file 'cats.npz'");
    row("random calibration set", lessonJson(kStep).replace(", \"limit\": 10", R"(, "calibration": "random:9")"),
        "key 'calibration' is random: give samples");
    row("missing parameter", lessonJson(asking(R"({"kind": "number", "question": "{b}?", "answer": 1})")),
        "step 'one': key 'ask': '{b}' names no parameter");
    row("HTML in a text", lessonJson(asking(R"({"kind": "number", "question": "<b>?", "answer": 1})")),
        "step 'one': a text line 1 holds raw HTML: '<b>?'");
}

/// One sentence on one line, which names the file.
void LessonFilesTest::jsonFaults()
{
    QFETCH(QByteArray, json);
    QFETCH(QString, fault);
    const QString text = said(WrittenLesson(json, kMarkdown));
    QVERIFY2(text.contains(fault), qPrintable(text));
    QVERIFY2(text.contains("/lesson/lesson.json: ") && !text.contains('\n') && text.size() < 600, qPrintable(text));
}

void LessonFilesTest::markdownFaults_data()
{
    QTest::addColumn<QByteArray>("markdown");
    QTest::addColumn<QString>("fault");
    const auto row = [](const char* name, const QByteArray& more, const char* fault) {
        QTest::newRow(name) << kMarkdown + more << QString(fault);
    };
    row("script", "<script>alert(1)</script>\n", "line 8 holds raw HTML: '<script>");
    row("closing tag", "a </div> b\n", "holds raw HTML");
    row("comment", "<!-- a -->\n", "holds raw HTML");
    row("remote picture", "![a](https://example.org/a.png)\n", "which lies outside of the lesson's folder");
    row("remote without scheme", "![a](//example.org/a.png)\n", "which lies outside of the lesson's folder");
    row("data picture", "![a](data:image/png;base64,AAAA)\n", "which lies outside of the lesson's folder");
    row("file picture", "![a](FILE:///etc/passwd)\n", "which lies outside of the lesson's folder");
    row("script link", "[a](javascript:alert(1))\n", "has a link to 'javascript:alert");
    row("defined link", "[a]\n\n[a]: file:///etc/passwd\n", "has a link to 'file:///etc/passwd'");
    row("defined over lines", "[a]\n\n[a]:\nfile:///etc/passwd\n", "has a link that goes on in the next line");
    row("linked over lines", "[a](\njavascript:alert(1))\n", "has a link that goes on in the next line");
    row("long label", "[a\nb]: javascript:alert(1)\n", "has a link to 'javascript:alert(1'");
    row("picture by reference", "![a][b]\n\n[b]: https://example.org/a.png\n", "that is not written as ![text](file)");
    row("picture over lines", "![a\nb](https://example.org/a.png)\n", "that is not written as ![text](file)");
    row("no fence", "``` `\n<script>\n", "holds raw HTML");
    row("fence in a list", "- a\n\n  ```\n\n<script>\n", "holds raw HTML");
    row("entity", "[a](javascript&colon;alert)\n", "there is no file 'javascript&colon;alert'");
    row("picture missing", "![a](a.svg)\n", "there is no file 'a.svg'");
    row("picture outside", "![a](../a.svg)\n", "is none within the lesson's folder");
    row("one section more", "## Two\n", "section 2, 'Two' on line 8, has no step in lesson.json");
    row("invalid UTF-8", "\xc3(\n", "is no text in UTF-8");
    row("parameter", "{a}\n", "step 'one': '{a}' names no parameter");
    QTest::newRow("no section") << QByteArray("Hello.\n") << QString("has no section for step 'one' of lesson.json");
    QTest::newRow("another section") << QByteArray("## Eins\n")
                                     << QString(
                                            "section 1, 'Eins' on line 1, should be step 'one' of lesson.json; its id "
                                            "would be 'eins'");
}

void LessonFilesTest::markdownFaults()
{
    QFETCH(QByteArray, markdown);
    QFETCH(QString, fault);
    const QString text = said(WrittenLesson(lessonJson(kStep), markdown));
    QVERIFY2(text.contains(fault), qPrintable(text));
    QVERIFY2(text.contains("/lesson/lesson.md: ") && !text.contains('\n'), qPrintable(text));
}

void LessonFilesTest::linksThatLeadOut()
{
    const WrittenLesson written(lessonJson(kStep).replace("example:digits_float.onnx", "out.onnx"), kMarkdown);
    QCOMPARE(symlink((kExamples + "/digits_float.onnx").c_str(), written.path("out.onnx").toUtf8().constData()), 0);
    QVERIFY2(said(written).contains("is a link that leads out of the lesson's folder"), qPrintable(said(written)));
    const WrittenLesson other;
    other.write("lesson.json", lessonJson(kStep));
    QCOMPARE(symlink("/etc/hostname", other.path("lesson.md").toUtf8().constData()), 0);
    QVERIFY2(said(other).contains("leads out of the lesson's folder"), qPrintable(said(other)));
}

void LessonFilesTest::filesThatAreNone()
{
    const WrittenLesson empty;
    QVERIFY(said(empty).contains("there is no file 'lesson.json'"));
    empty.write("lesson.json", lessonJson(kStep));
    QDir(empty.path()).mkdir("lesson.md");
    QVERIFY(said(empty).contains("'lesson.md' is no file"));
    QVERIFY(!readLesson("/nowhere", kExamples, 1).ok());
    // Nobody can correct the lesson for that.
    const auto alone = readLesson(WrittenLesson(lessonJson(kStep), kMarkdown).folder(), "/nowhere", 1);
    QVERIFY(!alone.ok() && alone.issue().what.find("examples that came with the program") != std::string::npos);
    QVERIFY(alone.issue().remedy.find("correct") == std::string::npos);
}

void LessonFilesTest::picturesInside()
{
    const WrittenLesson written(lessonJson(kStep), kMarkdown + "![a](a.svg) and [more](more.md#there)\n");
    written.write("a.svg", "<svg/>");
    written.write("more.md", "");
    QCOMPARE(said(written), QString());
}

/// The generator is ours: these numbers hold on every machine.
void LessonFilesTest::seedsAreTheSameEverywhere()
{
    std::vector<uint64_t> numbers;
    for (const uint64_t seed : { uint64_t(0), uint64_t(1), uint64_t(2), UINT64_MAX })
        numbers.push_back(drawn(seed, "row", 1000));
    QCOMPARE(numbers, (std::vector<uint64_t> { 517, 581, 840, 454 }));
    size_t different = 0;
    for (uint64_t seed = 0; seed < 1000; ++seed)
        different += drawn(seed, "a", 10) != drawn(seed, "b", 10);
    QVERIFY(different > 850 && different < 950); // independent of each other
}

void LessonFilesTest::parametersAreFilledIn()
{
    const QByteArray variants = R"("variants": {"a": {"from": 3, "to": 3}, "name": {"of": ["digits"]},)"
                                R"( "b": {"expression": "a * a + 0.5"}}, )";
    const WrittenLesson written(
        lessonJson(
            R"({"id": "one", "setup": {"model": "{name}", "sample": "{a}", "recipe": {"exclude": ["{name}/{b}"]}}})",
            variants),
        "## One\n{a} {b} {= a} \\{a}\n");
    const auto lesson = written.read();
    QVERIFY2(lesson.ok(), qPrintable(said(written)));
    const LessonStep& step = lesson->steps.front();
    QCOMPARE(step.setup.sample, size_t(3));
    QCOMPARE((*step.setup.recipe)["exclude"][0], LessonJson("digits/9.5"));
    QCOMPARE(step.text, std::string("3 9.5 {= a} \\{a}\n"));
}

/// Parameters with a common "at" are entries of one row.
void LessonFilesTest::parametersThatGoTogether()
{
    const QByteArray variants = R"("variants": {"row": {"from": 0, "to": 2}, "a": {"of": [5, 6, 7], "at": "row"},)"
                                R"( "b": {"of": ["five", "six", "seven"], "at": "row"}}, )";
    const WrittenLesson written(lessonJson(kStep, variants), kMarkdown + "{a} is {b}.\n");
    std::set<std::string> seen;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        const auto lesson = written.read(seed);
        QVERIFY2(lesson.ok(), qPrintable(said(written)));
        const std::string& text = lesson->steps.front().text;
        seen.insert(text.substr(text.find_first_of("567")));
    }
    QCOMPARE(seen, (std::set<std::string> { "5 is five.\n", "6 is six.\n", "7 is seven.\n" }));
}

void LessonFilesTest::examinationsHaveNoHints()
{
    const WrittenLesson written(
        lessonJson(R"({"id": "one", "setup": {"model": "digits"}, "explain": "so", "ask": )" + number("") + "}",
            R"("examination": true, )"),
        kMarkdown);
    const auto lesson = written.read();
    QVERIFY2(lesson.ok(), qPrintable(said(written)));
    QVERIFY(lesson->examination && lesson->steps.front().hints.empty());
}

void LessonFilesTest::calibrationSets()
{
    const WrittenLesson written(
        lessonJson(kStep).replace(", \"limit\": 10", R"(, "calibration": "example:digits_samples.npz")"), kMarkdown);
    const auto lesson = written.read();
    QVERIFY2(lesson.ok(), qPrintable(said(written)));
    QCOMPARE(lesson->models.at("digits").calibration, kExamples + "/digits_samples.npz");
}

/// By course.json, then by name.
void LessonFilesTest::orderOfACourse()
{
    QTemporaryDir folder;
    const auto write = [&](const QString& name, const QByteArray& bytes) {
        QFile file(folder.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size());
    };
    for (const char* name : { "a", "b", "c", "d" }) {
        QDir(folder.path()).mkdir(name);
        write(QString(name) + "/lesson.json", "{}");
    }
    const auto order = [&] {
        const auto folders = lessonFolders(folder.path().toStdString());
        std::string names;
        for (const std::string& found : folders.ok() ? *folders : std::vector<std::string>())
            names += found.back();
        return folders.ok() ? names : folders.issue().what;
    };
    QCOMPARE(order(), std::string("abcd"));
    write("course.json", R"({"lessons": ["c", "missing", "b"]})");
    QCOMPARE(order(), std::string("cbad"));
    for (const char* fault :
        { "", "[]", R"({"lessons": [1]})", R"({"lessons": {}})", R"({"lessons": [], "more": 1})" }) {
        write("course.json", fault);
        QCOMPARE(order(), std::string("is no list of lessons"));
    }
}

QTEST_GUILESS_MAIN(LessonFilesTest)
#include "files_test.moc"
