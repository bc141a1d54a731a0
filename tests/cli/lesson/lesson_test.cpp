// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs::test;
using nlohmann::json;

namespace {

const QByteArray kLesson = R"j({"schema_version": 1, "id": "small", "title": "Small", "minutes": 1,
    "models": {"digits": {"float": "example:digits_float.onnx", "data": "example:digits_samples.npz", "limit": 5}},
    "steps": [{"id": "one", "setup": {"model": "digits", "recipe": {"activation_type": "uint8"}},
        "ask": {"kind": "number", "question": "Zero point of the input?", "answer": "tensor('image').zero_point"},
        "hints": ["Think.", "Think on.", "Look."], "misconception": {"answer": 0, "shows": "Not {= 0}."}, "explain": "Yes."},
        {"id": "two", "ask": {"kind": "reach", "question": "Signed codes, please.",
            "condition": "recipe.activation_type == 'int8'", "reference": {"activation_type": "int8"}},
        "hints": ["Think.", "Think on.", "Look."], "explain": "Done."}]})j";

/// With these lines on stdin.
Outcome talk(const QStringList& arguments, const QByteArray& lines)
{
    QProcess process;
    process.start(QS_CLI, QStringList { "lesson", "run" } + arguments);
    process.write(lines);
    process.closeWriteChannel();
    Outcome outcome;
    if (process.waitForFinished(60000) && process.exitStatus() == QProcess::NormalExit)
        outcome.code = process.exitCode();
    outcome.out = process.readAllStandardOutput();
    outcome.err = process.readAllStandardError();
    return outcome;
}

class LessonTests : public QObject {
    Q_OBJECT
private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QDir(m_folder->path()).mkdir("small");
        write("lesson.json", kLesson);
        write("lesson.md", "Welcome to {= samples} pictures.\n## One\nFirst.\n## Two\nSecond.\n");
    }

    void listsBundledLessons()
    {
        const Outcome o = quantscope({ "lesson", "list", "--json", "-" });
        QCOMPARE(o.code, 0);
        const json document = parsed(o.out);
        QVERIFY(document["lessons"].size() >= 12);
        QCOMPARE(document["lessons"][0]["id"], json("scale-and-zero-point")); // by course.json
        for (const json& lesson : document["lessons"])
            QVERIFY(!lesson["id"].get<std::string>().empty() && lesson["steps"] > 5);
        QVERIFY(quantscope({ "lesson", "list" }).out.contains("scale-and-zero-point: Scale and zero point"));
    }

    /// A broken one costs one line; the others are listed.
    void listsWhatIsSound()
    {
        QDir(m_folder->path()).mkdir("broken");
        writeText(m_folder->path() + "/broken/lesson.json", "{");
        writeText(m_folder->path() + "/broken/lesson.md", "");
        const Outcome o = quantscope({ "lesson", "list", "--lessons", m_folder->path() });
        QCOMPARE(o.code, 0);
        QCOMPARE(o.out, QByteArray("small: Small (1 minutes, 2 steps)\n"));
        QCOMPARE(o.err.count('\n'), 1);
        QVERIFY(o.err.contains("broken/lesson.json: is no JSON"));
    }

    void checks()
    {
        const Outcome sound = quantscope({ "lesson", "check", "--lessons", m_folder->path(), "small", "--json", "-" });
        QCOMPARE(sound.code, 0);
        QCOMPARE(parsed(sound.out)["problems"].size(), size_t(0));
        QCOMPARE(parsed(sound.out)["answers"], json(6));
        write(
            "lesson.json", QByteArray(kLesson).replace("zero_point\"", "zero_pint\"").replace("'int8'\"", "'int9'\""));
        const Outcome broken = quantscope({ "lesson", "check", m_folder->path() });
        QCOMPARE(broken.code, 1);
        QCOMPARE(broken.out.count('\n'), 3); // one line a problem, and the sum
        QVERIFY(broken.out.startsWith("small/one (seed 1): its answer: there is no 'zero_pint'"));
        QVERIFY(broken.out.contains("small/two (seed 1): the reference answer"));
    }

    void badUse()
    {
        QS_EXPECT(2, {}, { "lesson" });
        QS_EXPECT(2, {}, { "lesson", "run" });
        QS_EXPECT(2, { "--seeds" }, { "lesson", "check", "--seeds", "0" });
        QS_EXPECT(2, {}, { "lesson", "check", "--seeds", "-1" });
        QS_EXPECT(2, { "--seed" }, { "lesson", "run", "small", "--seed", "99999999999999999999999" });
        QS_EXPECT(3, { "nearest one is 'small'" }, { "lesson", "check", "--lessons", m_folder->path(), "smal" });
        QS_EXPECT(3, { "/nowhere" }, { "lesson", "list", "--lessons", "/nowhere" });
        QS_EXPECT(2, { "a file of" },
            { "lesson", "check", m_folder->path() + "/small", "--json", m_folder->path() + "/small/lesson.json" });
        write("lesson.md", "## One\n<script>\n## Two\n");
        QS_EXPECT(3, QStringList({ "lesson.md", "raw HTML" }), { "lesson", "run", m_folder->path() + "/small" });
    }

    void runsInAPipe()
    {
        const QString result = m_folder->path() + "/result.json";
        const Outcome o = talk({ m_folder->path() + "/small", "--json", result },
            "?\nten\n0\n: tensor('image').zero_point\n77\n76\nactivation_type=uint8\n: recipe.activation_type\n"
            "activation_type=int8 per_channel=true\n");
        QCOMPARE(o.code, 0);
        QCOMPARE(o.err, QByteArray());
        for (const char* text : { "Welcome to 5 pictures.", "## 1 of 2: One", "Hint 1: Think.", "'ten' is no number",
                 "Not right: too small.\nNot 0.", "\n76\n", "Not right: too large.", "Right: 76", "Yes.",
                 "Not right: the goal is not reached", " dB with it; : shows its numbers.", "> uint8\n",
                 "Right: activation_type=int8 per_channel=true", "That was the last step." })
            QVERIFY2(o.out.contains(text) || o.out.contains(QByteArray("> ") + QByteArray(text).trimmed()),
                QByteArray(text) + " is missing in " + o.out);
        const json document = parsed(contentOf(result));
        QCOMPARE(document["complete"], json(true));
        QCOMPARE(document["lesson"], json("small"));
        QCOMPARE(document["steps"][0]["tries"], json({ "0", "77", "76" }));
        QCOMPARE(document["steps"][0]["hints"], json(1));
        QCOMPARE(document["steps"][0]["right"], json(true));
        QCOMPARE(document["steps"][1]["tries"].size(), size_t(2));
    }

    /// The same on the learner's own models, which the lesson does not know.
    void asksOfOwnModels()
    {
        write("lesson.json",
            QByteArray(kLesson).chopped(2)
                + R"j(], "yours": [{"id": "coarse", "ask": {"kind": "pick", "question": "Which?", "what": "tensor",
                "answer": "largest('tensor', 'scale')"}, "hints": ["a", "b", "c"], "explain": "So."},
                {"id": "labels", "when": "accuracy.quantized > 0", "otherwise": "There are no labels.", "ask": {"kind": "pick",
                "question": "Which?", "what": "tensor", "answer": "largest('tensor', 'scale')"}, "hints": ["a", "b", "c"],
                "explain": "So."}]})j");
        write("lesson.md",
            "## One\nFirst.\n## Two\nSecond.\n## Coarse\n{= output.sqnr_db | fixed 0} dB.\n## Labels\nMore.\n");
        const QString examples = QS_SOURCE_DIR "/resources/examples/";
        const QStringList own { "--float", examples + "digits_float.onnx", "--quantized", examples + "digits_qdq.onnx",
            "--data", "random:4:1", "--shape", "image=1x1x8x8" };
        const QString result = m_folder->path() + "/result.json";
        const QByteArray answers = "76\nactivation_type=int8\n";
        const Outcome whole
            = talk(QStringList { m_folder->path() + "/small", "--json", result } + own, answers + "image\nscores\n");
        QCOMPARE(whole.code, 0);
        for (const char* text : { "## 2 of 2: Two", "That was the last step.", "## Your own models: Coarse", " dB.",
                 "Not right: it is another tensor", "Right: scores",
                 "## Your own models: Labels\nThere are no labels." })
            QVERIFY2(whole.out.contains(text), QByteArray(text) + " is missing in " + whole.out);
        const json document = parsed(contentOf(result));
        QCOMPARE(document["complete"], json(true));
        QCOMPARE(document["steps"].size(), size_t(2));
        QCOMPARE(document["yours"][0]["right"], json(true));
        QCOMPARE(document["yours"][0]["tries"], json({ "image", "scores" }));
        QCOMPARE(document["yours"][1]["skipped"], json("There are no labels."));
        const Outcome without = talk({ m_folder->path() + "/small", "--json", result }, answers);
        QVERIFY(without.out.contains("The same is asked of your own models with --float"));
        QCOMPARE(parsed(contentOf(result))["yours"], json::array());
        const Outcome only = talk(QStringList { m_folder->path() + "/small", "--yours" } + own, "=\n");
        QVERIFY(only.out.contains("The answer: scores") && !only.out.contains("First."));
        QS_EXPECT(2, { "--float and --data" }, { "lesson", "run", "saturation", "--yours" });
        QS_EXPECT(2, { "--float and --data" }, { "lesson", "run", "saturation", "--float", "a.onnx" });
    }

    void ownModelsThatCannotBeUsed_data()
    {
        QTest::addColumn<QString>("floatFile");
        QTest::addColumn<QString>("data");
        QTest::addColumn<QByteArray>("said");
        const QString examples = QS_SOURCE_DIR "/resources/examples/";
        QTest::newRow("no such model") << "none.onnx"
                                       << "random:4:1" << QByteArray("none.onnx: the file does not exist");
        QTest::newRow("no model") << examples + "digits_samples.npz"
                                  << "random:4:1" << QByteArray("digits_samples.npz");
        QTest::newRow("no such data") << examples + "digits_float.onnx"
                                      << "none.npz" << QByteArray("none.npz");
    }

    /// That is bad input, here as with other commands.
    void ownModelsThatCannotBeUsed()
    {
        QFETCH(QString, floatFile);
        QFETCH(QString, data);
        QFETCH(QByteArray, said);
        const Outcome o = talk({ "saturation", "--yours", "--float", floatFile, "--data", data }, ".\n");
        QCOMPARE(o.code, 3);
        QVERIFY2(o.err.contains(said), o.err);
    }

    /// Answers that end early, endless ones, and a shown answer.
    void endsEarly()
    {
        const Outcome o = talk({ m_folder->path() + "/small", "--json", "-" }, "=\n");
        QCOMPARE(o.code, 0);
        const json document = parsed(o.out);
        QCOMPARE(document["complete"], json(false));
        QCOMPARE(document["steps"][0]["shown"], json(true));
        QCOMPARE(document["steps"][1]["right"], json(false));
        const Outcome endless = talk({ m_folder->path() + "/small" }, QByteArray(3'000'000, '7') + "\n\xff\xfe\n.\n");
        QCOMPARE(endless.code, 0);
        QVERIFY(endless.out.size() < 20'000);
        const Outcome examined = talk({ "examination" }, "?\n.\n");
        QVERIFY2(examined.out.contains("There are no hints in this lesson."), examined.out);
    }

private:
    void write(const QString& name, const QByteArray& bytes) { writeText(m_folder->path() + "/small/" + name, bytes); }
    std::unique_ptr<QTemporaryDir> m_folder;
};

} // namespace

int qs::test::runLessonTests(int argc, char** argv)
{
    LessonTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "lesson_test.moc"
