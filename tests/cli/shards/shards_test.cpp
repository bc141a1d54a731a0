// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs::test;
using nlohmann::json;

namespace {

/// The document without what differs from run to run.
json documentOf(const QByteArray& text)
{
    json document = parsed(text);
    for (json* d : { &document, document.contains("a") ? &document["a"] : &document }) {
        d->erase("time_ms");
        d->erase("peak_memory_bytes");
    }
    return document;
}

class ShardsTests : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    QString file(const QString& name) const { return m_folder.filePath(name); }
    /// Runs all shards; their state files.
    QStringList run(const QStringList& command, int count, const QString& name)
    {
        QStringList states;
        for (int i = 1; i <= count; ++i) {
            states << file(QString("%1-%2.qstate").arg(name).arg(i));
            const Outcome o = quantscope(QStringList { "compare" } + command
                + QStringList { "--shard", QString("%1/%2").arg(i).arg(count), "--state", states.last(), "--threads",
                    QString::number(1 + i % 3) });
            if (o.code != 0)
                qFatal("shard failed: %s", o.err.constData());
        }
        return states;
    }

private slots:
    void equalsOneRun_data()
    {
        QTest::addColumn<QStringList>("command");
        QTest::addColumn<int>("count");
        const QStringList plain { kFloat, kQdq, "--data", kData };
        QTest::newRow("one shard") << plain << 1;
        QTest::newRow("three shards") << plain << 3;
        QTest::newRow("more shards than samples") << plain + QStringList { "--limit", "3" } << 5;
        QTest::newRow("nodes alone") << plain + QStringList { "--local" } << 2;
        QTest::newRow("integer") << plain + QStringList { "--arithmetic", "integer" } << 3;
        QTest::newRow("saturating") << plain + QStringList { "--arithmetic", "integer-avx2" } << 2;
        QTest::newRow("recipe") << QStringList { kFloat, "--data", kData, "--per-channel" } << 2;
        QTest::newRow("two files") << QStringList { kQdq, kNarrow, "--reference", kFloat, "--data", kData } << 3;
    }
    void equalsOneRun()
    {
        QFETCH(QStringList, command);
        QFETCH(int, count);
        QStringList states = run(command, count, "equal");
        std::reverse(states.begin(), states.end());
        const Outcome merged
            = quantscope(QStringList { "merge" } + states + QStringList { "--json", "-", "--threads", "2" });
        QCOMPARE(merged.code, 0);
        const Outcome whole = quantscope(QStringList { "compare" } + command + QStringList { "--json", "-" });
        QCOMPARE(whole.code, 0);
        QCOMPARE(QString::fromStdString(documentOf(merged.out).dump()),
            QString::fromStdString(documentOf(whole.out).dump()));
    }

    void badShards()
    {
        const QStringList first = run({ kFloat, kQdq, "--data", kData }, 2, "a");
        const QStringList other = run({ kFloat, kNarrow, "--data", kData }, 2, "b");
        const QStringList fewer = run({ kFloat, kQdq, "--data", kData, "--limit", "20" }, 2, "c");
        const QStringList more = run({ kFloat, kQdq, "--data", kData }, 3, "d");
        QS_EXPECT(3, { "shard 2 of 2 is missing" }, { "merge", first[0] });
        QS_EXPECT(3, { "as is" }, { "merge", first[0], first[0] });
        QS_EXPECT(3, { "quantized model" }, { "merge", first[0], other[1] });
        QS_EXPECT(3, { "other data" }, { "merge", first[0], fewer[1] });
        QS_EXPECT(3, { "3 shards" }, { "merge", first[0], more[1] });
        QS_EXPECT(3, { "no state file" }, { "merge", kFloat });
        QS_EXPECT(3, { "cannot be read" }, { "merge", file("none") });
        const QByteArray bytes = contentOf(first[1]);
        writeText(file("cut"), bytes.left(bytes.size() / 2));
        QS_EXPECT(3, { "cut short" }, { "merge", first[0], file("cut") });
        for (const qsizetype at : { qsizetype(9), bytes.size() / 3, bytes.size() - 3 }) {
            QByteArray damaged = bytes;
            damaged[at] = char(damaged[at] ^ 4);
            writeText(file("damaged"), damaged);
            QS_EXPECT(3, QStringList(), { "merge", first[0], file("damaged") });
        }
    }

    /// Sums of neighbours, and sums of those, in files of their own.
    void tree_data()
    {
        QTest::addColumn<QStringList>("command");
        const QStringList plain { kFloat, kQdq, "--data", kData };
        QTest::newRow("pair") << plain;
        QTest::newRow("fewer samples than shards") << plain + QStringList { "--limit", "5" };
        QTest::newRow("nodes alone, integer") << plain + QStringList { "--local", "--arithmetic", "integer-avx2" };
        QTest::newRow("recipe") << QStringList { kFloat, "--data", kData, "--limit", "70", "--per-channel" };
        QTest::newRow("two files") << QStringList { kQdq, kNarrow, "--reference", kFloat, "--data", kData };
    }
    void tree()
    {
        QFETCH(QStringList, command);
        const QStringList leaves = run(command, 7, "leaf");
        const auto sum = [&](const QString& name, const QStringList& states) {
            const Outcome o
                = quantscope(QStringList { "merge" } + states + QStringList { "--state", file(name), "--json", "-" });
            return o.code == 0 ? QString() : QString(o.err);
        };
        QCOMPARE(sum("1-3", { leaves[2], leaves[0], leaves[1] }), QString());
        QCOMPARE(sum("4-5", { leaves[3], leaves[4] }), QString());
        QCOMPARE(sum("4-6", { leaves[5], file("4-5") }), QString());
        QCOMPARE(sum("1-7", { file("4-6"), leaves[6], file("1-3") }), QString());
        const QString whole = QString::fromStdString(
            documentOf(quantscope(QStringList { "compare" } + command + QStringList { "--json", "-" }).out).dump());
        for (const QStringList& states :
            { QStringList { file("4-6"), leaves[6], file("1-3") }, QStringList { file("1-7") } }) {
            const Outcome merged = quantscope(QStringList { "merge" } + states + QStringList { "--json", "-" });
            QCOMPARE(merged.code, 0);
            QCOMPARE(QString::fromStdString(documentOf(merged.out).dump()), whole);
        }
        QS_EXPECT(3, { "shard 3 of 7 is missing" }, { "merge", leaves[1], file("4-6"), "--state", file("no") });
        QS_EXPECT(3, { "holds shard 4, as does" }, { "merge", file("4-6"), file("4-5"), "--state", file("no") });
        QS_EXPECT(3, { "shard 7 of 7 is missing" }, { "merge", file("4-6"), file("1-3") });
        QS_EXPECT(2, { "not results" }, { "merge", leaves[0], "--state", file("no"), "--html", file("no.html") });
        QS_EXPECT(2, QStringList(), { "merge", leaves[0], leaves[1], "--state", leaves[0] });
        QVERIFY(QFile::copy(kData, file("mine.npz")) || QFile::exists(file("mine.npz")));
        const QStringList own = run({ kFloat, kQdq, "--data", file("mine.npz") }, 2, "own");
        QS_EXPECT(2, { "mine.npz" }, QStringList { "merge" } + own + QStringList { "--state", file("mine.npz") });
        QCOMPARE(contentOf(file("mine.npz")), contentOf(kData));
        QVERIFY(!QFile::exists(file("no")) && !QFile::exists(file("no.html")));
    }

    void changedModel()
    {
        QVERIFY(QFile::copy(kQdq, file("model.onnx")));
        const QStringList states = run({ kFloat, file("model.onnx"), "--data", kData }, 2, "changed");
        QFile::remove(file("model.onnx"));
        QVERIFY(QFile::copy(kNarrow, file("model.onnx")));
        QS_EXPECT(3, { "changed since" }, QStringList { "merge" } + states);
    }

    void badUse_data()
    {
        QTest::addColumn<QStringList>("options");
        for (const char* shard : { "0/3", "4/3", "a", "1/", "/2", "1/0", "1/2/3", "-1/2", "1/99999999" })
            QTest::newRow(shard) << QStringList { "--shard", shard, "--state", file("x") };
        QTest::newRow("no state") << QStringList { "--shard", "1/2" };
        QTest::newRow("no shard") << QStringList { "--state", file("x") };
        QTest::newRow("carry") << QStringList { "--shard", "1/2", "--state", file("x"), "--carry", "a=b" };
    }
    void badUse()
    {
        QFETCH(QStringList, options);
        QS_EXPECT(2, QStringList(), QStringList { "compare", kFloat, kQdq, "--data", kData } + options);
        QVERIFY(!QFile::exists(file("x")));
    }

    void twoQuantizedFiles()
    {
        const QString html = file("two.html");
        const Outcome o = quantscope(
            { "compare", kQdq, kNarrow, "--reference", kFloat, "--data", kData, "--json", "-", "--html", html });
        QCOMPARE(o.code, 0);
        const json two = documentOf(o.out);
        const auto against = [&](const QString& quantized) {
            return documentOf(quantscope({ "compare", kFloat, quantized, "--data", kData, "--json", "-" }).out);
        };
        const json a = against(kQdq), b = against(kNarrow);
        QVERIFY(two["a"] == a);
        for (const auto& [key, value] : b.items())
            QVERIFY2(two[key] == value, key.c_str());
        const json& parameters = two["parameters"];
        QVERIFY(parameters.size() > 5);
        double last = HUGE_VAL;
        for (const json& p : parameters) {
            for (const char* key : { "name", "kind", "node", "op_type", "a", "b", "same", "scale_ratio" })
                QVERIFY2(p.contains(key), key);
            QVERIFY(p["consequence_db"].get<double>() <= last);
            last = p["consequence_db"].get<double>();
            for (const char* side : { "a", "b" })
                if (!p[side].is_null())
                    for (const char* key : { "quantized_name", "dtype", "scale", "zero_point", "axis", "sqnr_db" })
                        QVERIFY2(p[side].contains(key), key);
        }
        QVERIFY(!parameters[0]["same"].get<bool>());
        QVERIFY(parameters[0]["scale_ratio"].get<double>() < 1); // the narrow one
        QVERIFY(contentOf(html).contains("id=\"parameters\""));
        const QByteArray table = quantscope({ "compare", kQdq, kNarrow, "--reference", kFloat, "--data", kData }).out;
        QVERIFY(table.contains("parameters that differ"));
        const json same = documentOf(
            quantscope({ "compare", kQdq, kQdq, "--reference", kFloat, "--data", kData, "--json", "-" }).out);
        for (const json& p : same["parameters"])
            QVERIFY(p["same"].get<bool>() && p["consequence_db"].get<double>() == 0);
    }

    void badReference()
    {
        QS_EXPECT(2, { "--reference" }, { "compare", kQdq, "--reference", kFloat, "--data", kData });
        QS_EXPECT(
            2, { "recipe" }, { "compare", kQdq, kNarrow, "--reference", kFloat, "--data", kData, "--per-channel" });
        QS_EXPECT(3, QStringList(), { "compare", kQdq, kNarrow, "--reference", file("none"), "--data", kData });
    }
};

} // namespace

int qs::test::runShardsTests(int argc, char** argv)
{
    ShardsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "shards_test.moc"
