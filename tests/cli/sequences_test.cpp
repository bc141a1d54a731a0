// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/onnx_bytes.h"
#include "tests/cli/runners.h"
#include "tests/datasource/array_bytes.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs::test;
using namespace qs::testing;
using nlohmann::json;

namespace {

/// State from sample to sample, positions, names of classes, and what is said of files that are written.
class SequencesTests : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    QString file(const QString& name) const { return m_folder.filePath(name); }

    /// s' = s + x, y = s'
    QString counter()
    {
        OnnxBytes m;
        m.input("x", { 1, 2 }).input("s", { 1, 2 }).node("Add", { "x", "s" }, { "t" });
        m.node("Identity", { "t" }, { "y" }).output("y", { 1, 2 }).output("t", { 1, 2 });
        writeText(file("counter.onnx"), QByteArray::fromStdString(m.model()));
        return file("counter.onnx");
    }

    QString data(const QString& name, const Members& members)
    {
        writeZip(file(name).toStdString(), members, Packing::Stored);
        return file(name);
    }

    json saved(const QString& samples)
    {
        const Outcome o
            = quantscope({ "compare", counter(), counter(), "--data", samples, "--carry", "t=s", "--json", "-" });
        if (o.code != 0)
            qFatal("%s", o.err.constData());
        return parsed(o.out);
    }

    /// Each word is followed by the next one; where `other`, 4 by 6.
    QString language(bool other)
    {
        constexpr int64_t kWords = 7;
        std::vector<float> table(size_t(kWords * kWords), 0.0f), words = table;
        for (size_t word = 0; word < size_t(kWords); ++word)
            words[word * size_t(kWords) + word] = 1, table[word * size_t(kWords) + (word + 1) % size_t(kWords)] = 5;
        table[4 * size_t(kWords) + 6] = other ? 7 : 3;
        OnnxBytes m;
        m.input("input_ids", { 1, -1 }, 7).floats("words", { kWords, kWords }, words);
        m.floats("table", { kWords, kWords }, table).node("Gather", { "words", "input_ids" }, { "word" });
        m.node("MatMul", { "word", "table" }, { "logits" }).output("logits", { 1, -1, kWords });
        const QString path = file(other ? "other.onnx" : "words.onnx");
        writeText(path, QByteArray::fromStdString(m.model()));
        return path;
    }

    QStringList speaking(const QStringList& more)
    {
        const std::vector<int64_t> ids { 0, 1, 2, 3, 3, 2, 1, 0, 5, 6, 0, 1 };
        return QStringList { "compare", language(false), language(true), "--data",
            data("ids.npz", { { "input_ids.npy", npy("<i8", "(3, 4)", bytesOf(ids)) } }), "--json", "-" }
        + more;
    }

private slots:
    void initialStatesComeFromTheData()
    {
        const std::string x = npy("<f4", "(3, 2)", bytesOf(std::vector<float>(6, 1.0f)));
        const std::string s = npy("<f4", "(1, 2)", bytesOf(std::vector<float> { 10, 20 }));
        const json zero = saved(data("zero.npz", { { "x.npy", x } }));
        const json given = saved(data("given.npz", { { "x.npy", x }, { "s.npy", s } }));
        QCOMPARE(zero["activations"][0]["name"], json("x"));
        const auto highest = [](const json& d) {
            for (const json& a : d["activations"])
                if (a["name"] == "t")
                    return a["float_range"][1].get<double>();
            return -1.0;
        };
        QCOMPARE(highest(zero), 3.0);
        QCOMPARE(highest(given), 23.0);
        QCOMPARE(given["network"]["same"], json(true)); // the proof begins with the same state
        const Outcome run
            = quantscope({ "run", counter(), "--data", file("given.npz"), "--carry", "t=s", "--out", file("y.npz") });
        QVERIFY2(run.code == 0 && !run.err.contains("not used"), run.err.constData());
        const std::string rows = npy("<f4", "(3, 2)", bytesOf(std::vector<float> { 10, 20, 0, 0, 0, 0 }));
        const Outcome many = quantscope({ "run", counter(), "--data",
            data("many.npz", { { "x.npy", x }, { "s.npy", rows } }), "--carry", "t=s", "--out", file("y.npz") });
        QVERIFY2(many.code == 0 && many.err.contains("only the first item"), many.err.constData());
        const std::string wide = npy("<f4", "(1, 3)", bytesOf(std::vector<float>(3)));
        QS_EXPECT(3, QStringList { "'s'" },
            { "run", counter(), "--data", data("wide.npz", { { "x.npy", x }, { "s.npy", wide } }), "--carry", "t=s" });
    }

    void namesThatDoNotFitAreRefused()
    {
        const auto with = [&](const QByteArray& names) {
            writeText(file("names.txt"), names);
            return QStringList { "compare", kFloat, kQdq, "--data", kData, "--class-names", file("names.txt") };
        };
        QS_EXPECT(0, QStringList(), with("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"));
        QS_EXPECT(3, (QStringList { "names.txt", "9 classes", "10" }), with("a\nb\nc\nd\ne\nf\ng\nh\ni\n"));
        QS_EXPECT(3, (QStringList { "11 classes" }), with("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n"));
        QS_EXPECT(0, QStringList(), with("{\"3\": \"three\"}"));
        QS_EXPECT(3, QStringList { "13 classes" }, with("{\"12\": \"twelve\"}"));
    }

    void rangesGoByTheEndOfTheName()
    {
        for (const auto& [end, words] : { std::pair("json", "calibration cache (JSON)"),
                 std::pair("cache", "calibration table"), std::pair("flatbuffers", "flatbuffers") }) {
            const QString ranges = file(QStringLiteral("ranges.") + QLatin1String(end));
            const Outcome o
                = quantscope({ "quantize", kFloat, "-o", file("q.onnx"), "--data", kData, "--save-ranges", ranges });
            QVERIFY2(o.code == 0 && o.out.contains(words), o.out.constData());
            QS_EXPECT(0, {}, { "quantize", kFloat, "-o", file("again.onnx"), "--ranges", ranges });
        }
    }

    void float8NeedsBasicOptimizations()
    {
        const QStringList float8 { "quantize", kFloat, "-o", file("f8.onnx"), "--data", kData, "--activation-type",
            "float8e4m3fn", "--weight-type", "float8e4m3fn", "--method", "distribution" };
        const Outcome o = quantscope(float8);
        QVERIFY2(o.code == 0 && o.err.contains("ORT_ENABLE_BASIC"), o.err.constData());
    }

    void tasksThatAreTold()
    {
        const QStringList compare { "compare", kFloat, kQdq, "--data", kData, "--limit", "12", "--json", "-" };
        const json plain = parsed(quantscope(compare).out)["outputs"][0];
        const QString name = QString::fromStdString(plain["name"].get<std::string>());
        QCOMPARE(plain["task"]["kind"], json("classes"));
        QCOMPARE(plain["task"]["told"], json(false));
        QCOMPARE(plain["task"]["agreement"], plain["top1_agreement"]);
        const auto with = [&](const QStringList& options) { return compare + options; };
        const json told = parsed(quantscope(with({ "--task", name + "=values" })).out)["outputs"][0];
        QVERIFY(told["task"] == json::parse(R"({"kind":"values","told":true,"agreement":null})"));
        QVERIFY(told["top1_agreement"].is_null() && told["sqnr_db"] == plain["sqnr_db"]);
        QS_EXPECT(2, QStringList { "boxes:yolov8" }, with({ "--task", name + "=boxes" }));
        QS_EXPECT(2, QStringList { "OUTPUT=TASK" }, with({ "--task", "values" }));
        QS_EXPECT(2, QStringList { "--box-score" }, with({ "--box-score", "1.5" }));
        QS_EXPECT(3, (QStringList { "nothing", name }), with({ "--task", "nothing=classes" }));
        QS_EXPECT(3, (QStringList { name, "cannot be mask" }), with({ "--task", name + "=mask" }));
        for (const char* part : { "1/2", "2/2" })
            QCOMPARE(quantscope(with({ "--task", name + "=values", "--shard", part, "--state",
                                    file(QLatin1String(part[0] == '1' ? "1.qstate" : "2.qstate")) }))
                         .code,
                0);
        const json merged = parsed(quantscope({ "merge", file("2.qstate"), file("1.qstate"), "--json", "-" }).out);
        QVERIFY(merged["outputs"][0] == told);
    }

    void promptsThatAreContinued()
    {
        const json forced = parsed(quantscope(speaking({})).out)["language"];
        QVERIFY(forced["decode"] == "forced" && forced["first_flip"].empty() && forced["new_tokens"].is_null());
        const Outcome o = quantscope(speaking({ "--decode", "free", "--prompt-tokens", "2", "--new-tokens", "4" }));
        QVERIFY2(o.code == 0, o.err.constData());
        const json language = parsed(o.out)["language"];
        QVERIFY(language["decode"] == "free" && language["prompt_tokens"] == 2 && language["new_tokens"] == 4);
        QVERIFY(language["first_flip"] == json::parse(R"([
            {"prompt":0,"position":3,"float_id":5,"quantized_id":6,"float_margin":2.0},
            {"prompt":1,"position":2,"float_id":5,"quantized_id":6,"float_margin":2.0}])"));
        QVERIFY(language["loss_float"] == forced["loss_float"] && language["kl_max"] == forced["kl_max"]);
        const json whole = parsed(quantscope(speaking({ "--decode", "free" })).out)["language"];
        QVERIFY(whole["prompt_tokens"].is_null() && whole["first_flip"].size() == 3);
        QVERIFY(whole["first_flip"][1]["position"] == 4);
        const Outcome text
            = quantscope(speaking({ "--decode", "free" }).mid(0, 5) + QStringList { "--decode", "free" });
        QVERIFY2(text.out.contains("3 of 3 prompts part within 32 tokens: prompt 0 at 1"), text.out.constData());
    }

    void tokensThatAreBlamed()
    {
        const Outcome o = quantscope(speaking({ "--blame", "0:1" }));
        QVERIFY2(o.code == 0, o.err.constData());
        const json d = parsed(o.out);
        QVERIFY(d["blame"].empty() && d["blamed"]["total"] == 0.0); // both say 2 after 1
        const QStringList freely { "--decode", "free", "--prompt-tokens", "2", "--blame" };
        const json there = parsed(quantscope(speaking(freely + QStringList { "0:3" })).out);
        QVERIFY(there["blamed"]["float_id"] == 5 && there["blamed"]["quantized_id"] == 6);
        QVERIFY(there["blamed"]["total"] == -4.0);
        QVERIFY(there["blame"].size() == 1 && there["blame"][0]["kind"] == "node" && there["blame"][0]["parent"] == "");
        QVERIFY(there["blame"][0]["forward"] == -4.0 && there["blame"][0]["backward"] == -4.0);
        const json surest = json::parse(quantscope(speaking(freely + QStringList { "worst" })).out.toStdString());
        QVERIFY(surest["blamed"] == there["blamed"]); // the only prompt that parts
        const json worst = json::parse(quantscope(speaking({ "--blame", "worst" })).out.toStdString());
        QVERIFY(worst["language"]["worst"]["flipped"] == false); // of the given tokens both guess the same
        QVERIFY(worst["blamed"]["prompt"] == worst["language"]["worst"]["prompt"]);
        QVERIFY(worst["blamed"]["position"] == worst["language"]["worst"]["position"]);
        QS_EXPECT(2, QStringList { "PROMPT:POSITION" }, speaking({ "--blame", "0" }));
        QS_EXPECT(2, QStringList { "PROMPT:POSITION" }, speaking({ "--blame", "0:x" }));
        QS_EXPECT(3, (QStringList { "prompt 3", "ids.npz" }), speaking({ "--quiet", "--blame", "3:0" }));
        QS_EXPECT(3, (QStringList { "position 4", "ids.npz" }), speaking({ "--quiet", "--blame", "0:4" }));
    }

    void promptsThatAreTooShort()
    {
        const QStringList longer { "--quiet", "--decode", "free", "--prompt-tokens", "5" };
        QS_EXPECT(3, (QStringList { "prompt 0 has 4 tokens", "--prompt-tokens", "ids.npz" }), speaking(longer));
        for (const QStringList& asked : { QStringList { "--decode", "free" }, QStringList { "--decode", "forced" },
                 QStringList { "--blame", "0:0" } })
            QS_EXPECT(3, (QStringList { "[batch, positions, vocabulary]" }),
                QStringList { "compare", kFloat, kQdq, "--data", kData, "--limit", "2" } + asked);
    }

    void textsInPlaceOfData()
    {
        json model = { { "type", "BPE" }, { "merges", json::array() }, { "vocab", json::object() } };
        for (int word = 0; word < 7; ++word)
            model["vocab"][std::string(1, char('a' + word))] = word;
        writeText(file("tokenizer.json"), QByteArray::fromStdString(json { { "model", model } }.dump()));
        writeText(file("text.txt"), "abcdefgabcde");
        const QStringList models { "compare", language(false), language(true), "--json", "-", "--text",
            file("text.txt") };
        const auto with = [&](const QStringList& more) { return models + more; };
        const QStringList tokenizer { "--tokenizer", file("tokenizer.json") };
        const Outcome o = quantscope(with(tokenizer + QStringList { "--positions", "4" }));
        QVERIFY2(o.code == 0 && o.err.contains("12 tokens are 3 prompts of 4"), o.err.constData());
        QVERIFY(parsed(o.out)["language"]["prompts"] == 3 && parsed(o.out)["language"]["positions"] == 12);
        QS_EXPECT(2, QStringList { "--tokenizer" }, with({ "--positions", "4" }));
        QS_EXPECT(2, QStringList { "--positions" }, with(tokenizer));
        QS_EXPECT(2, QStringList { "--positions 0" }, with(tokenizer + QStringList { "--positions", "0" }));
        QS_EXPECT(2, QStringList { "--data" }, with({ "--data", kData }));
        QS_EXPECT(3, QStringList { "too few" }, with(tokenizer + QStringList { "--positions", "13" }));
        QS_EXPECT(3, QStringList { "none.json" }, with({ "--tokenizer", file("none.json"), "--positions", "4" }));
        model["vocab"]["g"] = 700; // the model has no such word
        writeText(file("tokenizer.json"), QByteArray::fromStdString(json { { "model", model } }.dump()));
        QS_EXPECT(3, QStringList { "700" }, with(tokenizer + QStringList { "--positions", "4" }));
    }

    void klOfOutputs()
    {
        const Outcome o = quantscope({ "compare", kFloat, kQdq, "--data", kData, "--json", "-" });
        const json output = parsed(o.out)["outputs"][0];
        QVERIFY(output["kl_mean"].get<double>() >= 0 && output["kl_max"] >= output["kl_mean"]);
        QCOMPARE(output["positions"].get<double>(), parsed(o.out)["samples"].get<double>());
    }
};

} // namespace

int qs::test::runSequencesTests(int argc, char** argv)
{
    SequencesTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "sequences_test.moc"
