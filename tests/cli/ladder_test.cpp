// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs::test;
using nlohmann::json;

namespace {

/// What `compare` tells beside the numbers: saved values of others, tried remedies, weights and samples.
class LadderTests : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    QString file(const QString& name) const { return m_folder.filePath(name); }

    json compared(const QStringList& options)
    {
        const Outcome o = quantscope(QStringList { "compare", kFloat } + options + QStringList { "--json", "-" });
        if (o.code != 0)
            qFatal("compare failed: %s", o.err.constData());
        return parsed(o.out);
    }

private slots:
    void ownValuesAgree()
    {
        QCOMPARE(quantscope({ "run", kFloat, "--data", kData, "--out", file("float.npz") }).code, 0);
        QCOMPARE(
            quantscope({ "run", kQdq, "--data", kData, "--arithmetic", "integer", "--out", file("device.npz") }).code,
            0);
        const json d
            = compared({ kQdq, "--data", kData, "--framework", file("float.npz"), "--device", file("device.npz") });
        const json& ladder = d["ladder"];
        QVERIFY2(ladder["ends_at"].is_null(), ladder.dump().c_str());
        QCOMPARE(ladder["rows"].size(), size_t(4));
        QCOMPARE(ladder["rows"][0]["step"], json("framework -> float"));
        QVERIFY(ladder["rows"][0]["exact"].get<bool>());
        QVERIFY(ladder["rows"][3]["exact"].get<bool>());
    }

    void otherValuesEndIt()
    {
        QCOMPARE(quantscope({ "run", kQdq, "--data", kData, "--out", file("other.npz") }).code, 0);
        const json d = compared({ kQdq, "--data", kData, "--framework", file("other.npz") });
        QCOMPARE(d["ladder"]["ends_at"]["step"], json("framework -> float"));
        const Outcome html = quantscope({ "compare", kFloat, kQdq, "--data", kData, "--framework", file("other.npz"),
            "--html", file("ladder.html") });
        QCOMPARE(html.code, 0);
        QVERIFY(html.out.contains("agreement ends at framework -> float"));
        QVERIFY(contentOf(file("ladder.html")).contains("From the framework to the device"));
    }

    void remediesAreTried()
    {
        const json d = compared({ kNarrow, "--data", kData, "--try-remedies", "2" });
        double best = 0;
        for (const json& f : d["findings"])
            if (!f["measured_gain_db"].is_null())
                best = std::max(best, f["measured_gain_db"].get<double>());
        QVERIFY2(best > 3, d["findings"].dump(1).c_str());
    }

    void weightsAndSamples()
    {
        const json d = compared({ kQdq, "--data", kData });
        bool any = false;
        for (const json& w : d["weights"])
            if (!w["laboratory"].is_null()) {
                any = true;
                QCOMPARE(w["laboratory"]["trials"].size(), size_t(8));
                QCOMPARE(w["laboratory"]["channel_lowest"].size(), w["channel_sqnr_db"].size());
            }
        QVERIFY(any);
        QVERIFY(d["equalization"]["pairs"].is_number());
        QVERIFY(!d["inputs"].empty());
        QVERIFY(d["calibration_coverage"]["values"].get<uint64_t>() > 0);
        QCOMPARE(d["learning_curve"].back()["samples"], d["samples"]);
        QCOMPARE(d["learning_curve"].back()["settled_share"], json(1.0));
    }

    void mapThatWasSavedIsRead()
    {
        const QString map = file("map.json");
        const json before = compared({ kQdq, "--data", kData, "--save-map", map });
        const json after = compared({ kQdq, "--data", kData, "--map", map });
        QCOMPARE(after["outputs"], before["outputs"]);
        QCOMPARE(after["activations"].size(), before["activations"].size());
        QCOMPARE(after["activations"][0]["match"]["method"], json("manual"));
    }

    void refusesWhatCannotBe()
    {
        const QStringList base { "compare", kFloat, kQdq, "--data", kData };
        QS_EXPECT(
            2, { "--shard" }, base + QStringList { "--framework", kData, "--shard", "1/2", "--state", file("s") });
        QS_EXPECT(2, { "--try-remedies" }, base + QStringList { "--try-remedies", "0" });
        QS_EXPECT(3, { "nothing.npz" }, base + QStringList { "--device", file("nothing.npz") });
    }
};

} // namespace

int qs::test::runLadderTests(int argc, char** argv)
{
    LadderTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "ladder_test.moc"
