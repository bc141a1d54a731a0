// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/array_file.h"
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs::test;
using nlohmann::json;

namespace {

json compared(const QStringList& more)
{
    const Outcome outcome = quantscope(QStringList { "compare", kFloat, kQdq, "--data", kData, "--json", "-" } + more);
    json document = json::parse(outcome.out.begin(), outcome.out.end(), nullptr, false);
    if (outcome.code != 0 || document.is_discarded())
        qFatal("%s", outcome.err.constData());
    document.erase("time_ms");
    document.erase("peak_memory_bytes");
    return document;
}

/// The profiles as a user meets them.
class ArithmeticTests : public QObject {
    Q_OBJECT
private slots:
    void comparesWithTheFileAsWritten_data()
    {
        QTest::addColumn<QString>("profile");
        QTest::newRow("integer") << "integer";
        QTest::newRow("integer-avx2") << "integer-avx2";
    }

    void comparesWithTheFileAsWritten()
    {
        QFETCH(const QString, profile);
        const json c = compared({ "--arithmetic", profile, "--limit", "8", "--threads", "1" });
        QCOMPARE(c["arithmetic"], json(profile.toStdString()));
        int judged = 0;
        for (const json& a : c["activations"]) {
            if (a["implementation"].is_null())
                continue;
            ++judged;
            const double offByOne = a["implementation"]["off_by_one"], beyond = a["implementation"]["beyond"];
            QVERIFY(offByOne >= 0 && beyond >= 0 && offByOne + beyond <= 1);
            QVERIFY(profile != "integer" || beyond == 0);
        }
        QVERIFY(judged >= 8);
        const json& written = c["outputs"][0]["written_difference"];
        QVERIFY(written["exact"] == true || written["sqnr_db"].get<double>() > (profile == "integer" ? 20 : 0));
        QVERIFY(c == compared({ "--arithmetic", profile, "--limit", "8", "--threads", "3" }));
    }

    void asWrittenThereIsNothingToCompareWith()
    {
        const json c = compared({ "--limit", "4" });
        QCOMPARE(c["arithmetic"], json("simulated"));
        for (const json& a : c["activations"])
            QVERIFY(a["implementation"].is_null());
        QVERIFY(!c.contains("saturation"));
    }

    void saturatedPairsAreCounted()
    {
        QVERIFY(!compared({ "--arithmetic", "integer", "--limit", "4" }).contains("saturation"));
        const json four = compared({ "--arithmetic", "integer-avx2", "--limit", "4" });
        const json eight = compared({ "--arithmetic", "integer-avx2", "--limit", "8" });
        QCOMPARE(four["saturation"].size(), eight["saturation"].size());
        uint64_t all = 0;
        for (size_t n = 0; n < eight["saturation"].size(); ++n) {
            const json& node = eight["saturation"][n];
            uint64_t channels = 0;
            for (const json& count : node["channel_saturated"])
                channels += count.get<uint64_t>();
            QCOMPARE(node["saturated"].get<uint64_t>(), channels);
            QVERIFY(channels <= node["pairs"].get<uint64_t>());
            QCOMPARE(node["pairs"].get<uint64_t>(), 2 * four["saturation"][n]["pairs"].get<uint64_t>());
            all += channels;
        }
        QVERIFY(all > 0);
    }

    void onlyUnitBordersAreSeen()
    {
        QTemporaryDir folder;
        const QString whole = folder.filePath("whole.npz"), one = folder.filePath("one.npz");
        const QStringList run { "run", kQdq, "--data", kData, "--limit", "2", "--arithmetic", "integer-avx2" };
        QCOMPARE(quantscope(run + QStringList { "--all-tensors", "--out", whole }).code, 0);
        QCOMPARE(quantscope(run + QStringList { "--tensors", "scores", "--out", one }).code, 0);
        const auto a = qs::ArrayArchive::open(whole.toStdString()), b = qs::ArrayArchive::open(one.toStdString());
        QVERIFY(a.ok() && b.ok());
        // Between a convolution and its quantizer there is nothing; the codes at the border are there.
        QVERIFY(!a->array("/stem/conv/Conv_output_0").ok());
        QVERIFY(a->array("image_QuantizeLinear_Output").ok());
        // What is asked for changes nothing.
        auto x = a->array("scores"), y = b->array("scores");
        QVERIFY(x.ok() && y.ok() && x->prepare(2).ok() && y->prepare(2).ok());
        QVERIFY(std::ranges::equal(x->items(0, 2)->bytes(), y->items(0, 2)->bytes()));
    }

    void refusesWhatItDoesNotKnow()
    {
        const QStringList run { "run", kQdq, "--data", kData };
        QS_EXPECT(2, { "integer-avx9" }, run + QStringList({ "--arithmetic", "integer-avx9" }));
        QS_EXPECT(3, { "/stem/conv/Conv_output_0" },
            run + QStringList({ "--arithmetic", "integer", "--tensors", "/stem/conv/Conv_output_0" }));
    }
};

} // namespace

int qs::test::runArithmeticTests(int argc, char** argv)
{
    ArithmeticTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "arithmetic_test.moc"
