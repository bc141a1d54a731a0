// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs::test;
using nlohmann::json;

namespace {

json benched(const QStringList& more)
{
    const Outcome o = quantscope(QStringList { "bench" } + more + QStringList { "--json", "-" });
    if (o.code != 0)
        qFatal("bench ended with %d: %s", o.code, o.err.constData());
    return json::parse(o.out.begin(), o.out.end(), nullptr, false);
}

class BenchTests : public QObject {
    Q_OBJECT
private slots:
    void jsonHasTheAgreedKeys_data()
    {
        QTest::addColumn<QStringList>("options");
        QTest::newRow("random data") << QStringList { kFloat, "--shape", "image=1x1x8x8" };
        QTest::newRow("every tensor") << QStringList { kQdq, "--all-tensors", "--shape", "image=1x1x8x8" };
        QTest::newRow("statistics") << QStringList { kQdq, "--statistics", "--shape", "image=1x1x8x8" };
        QTest::newRow("given data") << QStringList { kFloat, "--data", kData, "--limit", "3", "--threads", "1" };
    }
    void jsonHasTheAgreedKeys()
    {
        QFETCH(QStringList, options);
        const json j = benched(options + QStringList { "--runs", "5", "--warmup", "1" });
        QVERIFY(!j.is_discarded());
        for (const char* key : { "median_ms", "min_ms", "max_ms", "load_ms", "plan_ms", "first_run_ms" })
            QVERIFY2(j.contains(key) && j[key].is_number() && j[key].get<double>() > 0, key);
        QVERIFY(j["min_ms"] <= j["median_ms"] && j["median_ms"] <= j["max_ms"]);
        QCOMPARE(j["runs"].get<int>(), 5);
        QCOMPARE(j["all_tensors"].get<bool>(), options.contains("--all-tensors"));
        QCOMPARE(j["statistics"].get<bool>(), options.contains("--statistics"));
        QVERIFY(j["threads"].get<int>() >= 1);
        QVERIFY(!j["nodes"].empty());
        for (const json& node : j["nodes"])
            for (const char* key : { "name", "op_type", "median_ms", "kernel" })
                QVERIFY2(node.contains(key), key);
    }
    void tableNamesNodes()
    {
        const Outcome plain = quantscope({ "bench", kFloat, "--data", kData, "--runs", "2", "--warmup", "0" });
        QCOMPARE(plain.code, 0);
        QVERIFY(plain.out.startsWith("median "));
        QVERIFY(!plain.out.contains("Conv"));
        const Outcome nodes = quantscope({ "bench", kFloat, "--data", kData, "--runs", "2", "--per-node" });
        QVERIFY(nodes.out.contains("Conv"));
    }
    void badUse_data()
    {
        QTest::addColumn<QStringList>("options");
        QTest::addColumn<QString>("word");
        QTest::newRow("no runs") << QStringList { "--runs", "0" } << "--runs";
        QTest::newRow("negative warm-up") << QStringList { "--warmup", "-1" } << "--warmup";
        QTest::newRow("no such arithmetic") << QStringList { "--arithmetic", "fuzzy" } << "fuzzy";
        QTest::newRow("kept and dropped") << QStringList { "--all-tensors", "--statistics" } << "--statistics";
        QTest::newRow("no threads") << QStringList { "--threads", "0" } << "--threads";
    }
    void badUse()
    {
        QFETCH(QStringList, options);
        QFETCH(QString, word);
        QS_EXPECT(2, QStringList { word }, QStringList { "bench", kFloat, "--data", kData } + options);
    }
    void badInput()
    {
        QS_EXPECT(3, QStringList { "--shape" }, QStringList { "bench", kFloat });
        QS_EXPECT(3, QStringList { "none.onnx" }, QStringList { "bench", "none.onnx" });
        QS_EXPECT(
            3, QStringList { "memory" }, QStringList { "bench", kFloat, "--data", kData, "--memory-limit", "1000" });
    }
};

} // namespace

int qs::test::runBenchTests(int argc, char** argv)
{
    BenchTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "bench_test.moc"
