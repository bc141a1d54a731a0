// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace qs::test;
using nlohmann::json;

namespace {

const QString kVerses = example("verses_float.onnx"), kVersesInt4 = example("verses_int4.onnx"),
              kPrompts = example("verses_prompts.npz"), kTokenizer = example("tokenizer.json");
const std::string kFaultyMatMul = "/model/layers.0/mlp/down_proj/MatMul";

json comparedVerses(const QStringList& more)
{
    const Outcome o = quantscope(QStringList { "compare", kVerses } + more + QStringList { "--json", "-" });
    if (o.code != 0)
        qFatal("compare failed: %s", o.err.constData());
    return parsed(o.out);
}

/// What resources/examples/README.md says of the bundled language model, loosely.
class LanguageExampleTests : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    QString file(const QString& name) const { return m_folder.filePath(name); }

private slots:
    void int4CostsPerplexityAndTheFaultIsNamed()
    {
        const json d = comparedVerses({ kVersesInt4, "--data", kPrompts, "--decode", "free", "--prompt-tokens", "16" });
        QCOMPARE(d["network"]["same"], json(true));
        const json& language = d["language"];
        QCOMPARE(language["prompts"], json(8));
        QCOMPARE(language["positions"], json(8 * 48));
        const double reference = language["perplexity_float"], quantized = language["perplexity_quantized"];
        QVERIFY(reference > 10 && reference < 20);
        QVERIFY(quantized > 1.1 * reference && quantized < 1.3 * reference);
        QVERIFY(language["top1_agreement"] > 0.5 && language["top1_agreement"] < 0.8);
        QCOMPARE(language["first_flip"].size(), size_t(8));
        for (const json& flip : language["first_flip"])
            QVERIFY(flip["position"] < 8);
        QCOMPARE(d["findings"][0]["rule"], json("weights_too_coarse"));
        QCOMPARE(d["findings"][0]["node"], json(kFaultyMatMul));
    }

    void theFaultyMatMulIsBlamed()
    {
        const json d = comparedVerses(
            { kVersesInt4, "--data", kPrompts, "--decode", "free", "--prompt-tokens", "16", "--blame", "3:0" });
        json most;
        for (const json& unit : d["blame"])
            if (unit["kind"] == "node" && (most.is_null() || unit["forward"] < most["forward"]))
                most = unit;
        QCOMPARE(most["unit"], json(kFaultyMatMul));
        QVERIFY(most["forward"] < 0.5 * d["blamed"]["total"].get<double>()); // more than half; both are below 0
        QVERIFY(most["backward"] < 0.5 * d["blamed"]["total"].get<double>());
    }

    /// Also after they parted, and in words.
    void bothContinuationsAreTold()
    {
        const QStringList free { kVersesInt4, "--data", kPrompts, "--decode", "free", "--prompt-tokens", "16",
            "--new-tokens", "12" };
        const json d = comparedVerses(free + QStringList { "--tokenizer", kTokenizer, "--html", file("page.html") });
        const json& made = d["language"]["continuations"];
        QCOMPARE(made.size(), size_t(8));
        for (size_t p = 0; p < made.size(); ++p) {
            QVERIFY(made[p]["prompt"] == p && made[p]["prompt_tokens"] == 16);
            QVERIFY(made[p]["float_ids"].size() == 12 && made[p]["quantized_ids"].size() == 12);
            const json& flip = d["language"]["first_flip"][p];
            const size_t at = made[p]["position"];
            QVERIFY(at == flip["position"] && made[p]["float_ids"][at] == flip["float_id"]);
            QVERIFY(made[p]["quantized_ids"][at] == flip["quantized_id"]);
        }
        const std::string text = made[0]["float_text"], other = made[0]["quantized_text"];
        QVERIFY(text.size() > 12 && text.find(' ') != std::string::npos && other != text);
        QFile page(file("page.html"));
        QVERIFY(page.open(QIODevice::ReadOnly));
        const QByteArray html = page.readAll();
        QVERIFY(html.contains("What each model goes on with"));
        QVERIFY(html.contains(QString::fromStdString(text).trimmed().left(4).toHtmlEscaped().toUtf8()));
        const json ids = comparedVerses(free);
        QVERIFY(ids["language"]["continuations"][0]["float_text"].is_null());
        QVERIFY(ids["language"]["continuations"][0]["float_ids"] == made[0]["float_ids"]);
        const Outcome table
            = quantscope(QStringList { "compare", kVerses } + free + QStringList { "--tokenizer", kTokenizer });
        QVERIFY2(table.code == 0 && table.out.contains("what each model goes on with"), table.err.constData());
        QVERIFY(table.out.contains("    quantized: "));
        QS_EXPECT(2, QStringList { "--tokenizer" },
            { "compare", kVerses, kVersesInt4, "--data", kPrompts, "--tokenizer", kTokenizer });
    }

    /// As genai_config.json beside the model says, or the configuration of the tokenizer.
    void continuationsStopAtTheEndOfText()
    {
        const QString model = file("verses_float.onnx"), tokenizer = file("tokenizer.json");
        QVERIFY(QFile::copy(kVerses, model));
        const QStringList free { model, kVersesInt4, "--data", kPrompts, "--decode", "free", "--prompt-tokens", "16" };
        const auto told = [&](const QStringList& more) {
            const Outcome o = quantscope(QStringList { "compare" } + free + more + QStringList { "--json", "-" });
            return o.code == 0 ? parsed(o.out)["language"] : json(o.err.toStdString());
        };
        const json whole = told({});
        QCOMPARE(whole["end_ids"], json::array());
        const int64_t end = whole["continuations"][0]["float_ids"][2];
        const auto stops = [&](const json& language) {
            if (language["end_ids"] != json::array({ end }))
                return false;
            for (size_t p = 0; p < whole["continuations"].size(); ++p)
                for (const char* key : { "float_ids", "quantized_ids" }) {
                    std::vector<int64_t> ids = whole["continuations"][p][key];
                    const auto last = std::ranges::find(ids, end);
                    ids.erase(last == ids.end() ? last : last + 1, ids.end());
                    if (language["continuations"][p][key] != json(ids))
                        return false;
                }
            return true;
        };
        QFile given(kTokenizer);
        QVERIFY(given.open(QIODevice::ReadOnly));
        json words = parsed(given.readAll());
        words["added_tokens"].push_back({ { "id", end }, { "content", "<end>" }, { "single_word", false },
            { "lstrip", false }, { "rstrip", false }, { "normalized", false }, { "special", true } });
        writeText(tokenizer, QByteArray::fromStdString(words.dump()));
        writeText(file("tokenizer_config.json"), R"({"eos_token": {"content": "<end>"}})");
        QVERIFY(stops(told({ "--tokenizer", tokenizer })));
        QVERIFY(QFile::remove(tokenizer));
        writeText(file("genai_config.json"), R"({"model": {"eos_token_id": )" + QByteArray::number(end) + "}}");
        QVERIFY(stops(told({})));
        writeText(file("genai_config.json"), "{"); // damaged: it says nothing
        QCOMPARE(told({})["end_ids"], json::array());
    }

    void eightBitsForItAloneHelp()
    {
        const json recipe { { "format", "weight-only" }, { "weight_type", "int4" },
            { "weight_only", { { "block_size", 32 }, { "nodes", { { kFaultyMatMul, { { "type", "int8" } } } } } } } };
        writeText(file("recipe.json"), QByteArray::fromStdString(recipe.dump()));
        const json before = comparedVerses({ kVersesInt4, "--data", kPrompts })["language"];
        const json after = comparedVerses({ "--recipe", file("recipe.json"), "--data", kPrompts })["language"];
        QCOMPARE(after["perplexity_float"], before["perplexity_float"]);
        QVERIFY(after["perplexity_quantized"] < 0.97 * before["perplexity_quantized"].get<double>());
        QVERIFY(after["kl_mean"] < 0.7 * before["kl_mean"].get<double>());
    }

    void theRemedyThatIsOfferedHelps()
    {
        const QStringList data { "--data", kPrompts };
        const json mended = comparedVerses(QStringList { kVersesInt4 } + data
            + QStringList { "--try-remedies", "1", "--save-mended", file("mended.onnx") });
        QVERIFY(mended["remedy_trials"]["tried"].get<size_t>() > 0);
        const json before = comparedVerses(QStringList { kVersesInt4 } + data)["language"];
        const json after = comparedVerses(QStringList { file("mended.onnx") } + data)["language"];
        QVERIFY(after["perplexity_quantized"] < before["perplexity_quantized"]);
        QVERIFY(after["kl_mean"] < 0.1 * before["kl_mean"].get<double>());
    }

    void textsAreCutByItsTokenizer()
    {
        const json d = comparedVerses(
            { kVersesInt4, "--text", example("verses.txt"), "--tokenizer", kTokenizer, "--positions", "48" });
        QCOMPARE(d["language"]["prompts"], json(24));
        QVERIFY(d["language"]["perplexity_quantized"] > d["language"]["perplexity_float"]);
    }
};

} // namespace

int qs::test::runLanguageExampleTests(int argc, char** argv)
{
    LanguageExampleTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "language_example_test.moc"
