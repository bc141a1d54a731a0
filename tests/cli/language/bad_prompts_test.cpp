// SPDX-License-Identifier: GPL-3.0-or-later
// Prompts that the bundled language model cannot read: one sentence names the file, the input, the prompt and what to
// do. It has 256 words and tells 128 positions apart.
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"
#include "tests/datasource/array_bytes.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs::test;

namespace {

const QString kPromptModel = example("verses_float.onnx"), kPromptInt4 = example("verses_int4.onnx"),
              kPromptTokenizer = example("tokenizer.json"), kPromptText = example("verses.txt");

class BadPromptTests : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    QString prompts(const std::vector<int64_t>& ids, int64_t rows, const std::vector<int64_t>& mask = {}) const
    {
        using namespace qs::testing;
        const auto array = [&](const std::vector<int64_t>& values) {
            const std::string shape
                = "(" + std::to_string(rows) + ", " + std::to_string(int64_t(values.size()) / rows) + ")";
            return npy("<i8", shape, bytesOf(values));
        };
        Members arrays { { "input_ids.npy", array(ids) } };
        if (!mask.empty())
            arrays.emplace_back("attention_mask.npy", array(mask));
        writeZip(path("prompts.npz"), arrays);
        return m_folder.filePath("prompts.npz");
    }

private slots:
    void oneSentence_data()
    {
        QTest::addColumn<QList<qint64>>("ids");
        QTest::addColumn<QList<qint64>>("mask");
        QTest::addColumn<QStringList>("words");
        const QList<qint64> two { 5, 6, 7, 8, 9, 10 };
        QList<qint64> beyond = two, below = two;
        beyond[4] = 256;
        below[3] = -257;
        QTest::newRow("beyond the vocabulary")
            << beyond << QList<qint64> {}
            << QStringList { "'input_ids': holds token 256 at position 1 of prompt 1",
                   "beyond the model's vocabulary of 256; give ids below 256" };
        QTest::newRow("below it") << below << QList<qint64> {}
                                  << QStringList { "token -257 at position 0 of prompt 1" };
        QTest::newRow("longer than there are positions")
            << QList<qint64>(2 * 129, 5) << QList<qint64> {}
            << QStringList { "'input_ids': holds 129 tokens in prompt 0", "give prompts of at most 128 tokens" };
        QTest::newRow("a shorter mask") << two << QList<qint64> { 1, 1, 1, 1 }
                                        << QStringList {
                                               "'attention_mask': is 2 long in prompt 0, 'input_ids' has 3 tokens",
                                               "one number for each token, or leave it out"
                                           };
        QTest::newRow("a longer mask") << two << QList<qint64>(8, 1) << QStringList { "is 4 long in prompt 0" };
        QTest::newRow("nothing but padding")
            << two << QList<qint64> { 1, 1, 1, 0, 0, 0 } << QStringList { "is 0 everywhere in prompt 1" };
    }

    void oneSentence()
    {
        QFETCH(const QList<qint64>, ids);
        QFETCH(const QList<qint64>, mask);
        QFETCH(QStringList, words);
        const QString data = prompts({ ids.begin(), ids.end() }, 2, { mask.begin(), mask.end() });
        words << data;
        QS_EXPECT(3, words, { "compare", kPromptModel, kPromptInt4, "--quiet", "--data", data });
        QS_EXPECT(3, words, { "run", kPromptInt4, "--quiet", "--data", data });
        QS_EXPECT(3, words, { "bench", kPromptInt4, "--quiet", "--data", data, "--runs", "2" });
        QS_EXPECT(3, words,
            { "quantize", kPromptModel, "--out", m_folder.filePath("q.onnx"), "--quiet", "--data", data, "--format",
                "qdq" });
    }

    void goesOnTooFar()
    {
        QS_EXPECT(3, (QStringList { "new token 125 after the 4 of prompt 0", "give at most 128 tokens" }),
            { "compare", kPromptModel, kPromptInt4, "--data", prompts({ 5, 6, 7, 8 }, 1), "--decode", "free", "--quiet",
                "--new-tokens", "130" });
    }

    /// Its tokens lie beyond the vocabulary.
    void anotherTokenizer()
    {
        nlohmann::json words = parsed(contentOf(kPromptTokenizer));
        for (auto& [word, id] : words["model"]["vocab"].items())
            id = id.get<int>() + 256;
        writeText(m_folder.filePath("tokenizer.json"), QByteArray::fromStdString(words.dump()));
        QS_EXPECT(3,
            (QStringList { kPromptText, "beyond the model's vocabulary of 256", m_folder.filePath("tokenizer.json"),
                "give the tokenizer that belongs to this one" }),
            { "compare", kPromptModel, kPromptInt4, "--text", kPromptText, "--tokenizer",
                m_folder.filePath("tokenizer.json"), "--positions", "24" });
    }
};

} // namespace

int qs::test::runBadPromptTests(int argc, char** argv)
{
    BadPromptTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "bad_prompts_test.moc"
