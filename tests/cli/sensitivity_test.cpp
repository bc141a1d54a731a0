// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs::test;
using nlohmann::json;

namespace {

class SensitivityTests : public QObject {
    Q_OBJECT

private slots:
    void ranking_data()
    {
        QTest::addColumn<QString>("by");
        for (const char* by : { "node", "tensor", "type" })
            QTest::newRow(by) << by;
    }
    void ranking()
    {
        QFETCH(QString, by);
        const QStringList command { "sensitivity", kFloat, "--data", kData, "--limit", "8", "--by", by, "--json", "-" };
        const Outcome outcome = quantscope(command);
        QCOMPARE(outcome.code, 0);
        const json document = parsed(outcome.out);
        QCOMPARE(document["schema_version"].get<int>(), 1);
        QVERIFY(document["units"].size() > 1);
        double shares = 0;
        for (const json& unit : document["units"]) {
            QCOMPARE(QString::fromStdString(unit["kind"].get<std::string>()), by);
            QVERIFY(!unit["name"].get<std::string>().empty());
            for (const char* key : { "output_sqnr_alone_db", "output_sqnr_without_db" })
                QVERIFY(unit[key].is_number() || unit[key].is_null());
            shares += unit["mac_share"].get<double>();
        }
        QVERIFY(std::abs(shares - 1) < 1e-9);
        const json& first = document["pareto"][0];
        QVERIFY(first["excluded"].empty());
        QCOMPARE(first["int8_mac_share"].get<double>(), 1.0);
        QCOMPARE(first["output_sqnr_db"], document["output_sqnr_db"]);
        QVERIFY(first["accuracy"].is_number());
        QCOMPARE(document["pareto"].back()["int8_mac_share"].get<double>(), 0.0);
    }

    void equalsCompare()
    {
        const json document = parsed(
            quantscope({ "sensitivity", kFloat, "--data", kData, "--ort-defaults", "--json", "-", "--threads", "2" })
                .out);
        const json compared
            = parsed(quantscope({ "compare", kFloat, "--data", kData, "--ort-defaults", "--json", "-" }).out);
        QVERIFY(std::abs(document["output_sqnr_db"].get<double>() - compared["outputs"][0]["sqnr_db"].get<double>())
            < 1e-9);
    }

    void badUse_data()
    {
        QTest::addColumn<int>("code");
        QTest::addColumn<QStringList>("options");
        QTest::newRow("unknown kind") << 2 << QStringList { "--by", "layer" };
        QTest::newRow("tensors of operators on codes")
            << 2 << QStringList { "--by", "tensor", "--format", "qoperator", "--activation-type", "uint8" };
        QTest::newRow("no such unit") << 3 << QStringList { "--units", "there is none" };
        QTest::newRow("no such excluded node") << 3 << QStringList { "--exclude", "there is none" };
        QTest::newRow("memory limit") << 3 << QStringList { "--memory-limit", "1000" };
    }
    void badUse()
    {
        QFETCH(int, code);
        QFETCH(QStringList, options);
        const Outcome o = quantscope(QStringList { "sensitivity", kFloat, "--data", kData } + options);
        QCOMPARE(o.code, code);
        QVERIFY(o.err.startsWith("error: ") && o.err.count('\n') == 1);
    }
};

} // namespace

int qs::test::runSensitivityTests(int argc, char** argv)
{
    SensitivityTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "sensitivity_test.moc"
