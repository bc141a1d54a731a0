// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

using namespace qs::test;
using nlohmann::json;

namespace {

/// Remedies that `compare` tries and writes, and the options that they are made with.
class RemedyTests : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    QString file(const QString& name) const { return m_folder.filePath(name); }

    static json compared(const QStringList& options)
    {
        const Outcome o = quantscope(QStringList { "compare", kFloat } + options + QStringList { "--json", "-" });
        if (o.code != 0)
            qFatal("compare failed: %s", o.err.constData());
        return parsed(o.out);
    }

private slots:
    /// Nothing is said of the output before it was measured.
    void nothingIsPromisedUntried()
    {
        const json d = compared({ kNarrow, "--data", kData });
        QVERIFY(d["remedy_trials"].is_null());
        for (const json& f : d["findings"])
            QVERIFY(f["measured_gain_db"].is_null() && f["measured_accuracy_gain"].is_null());
        const Outcome text = quantscope({ "compare", kFloat, kNarrow, "--data", kData });
        QVERIFY(text.out.simplified().contains("at the output not measured"));
    }

    /// What is offered gains what it says; the model that is written is the one that was measured.
    void offersWhatHelps()
    {
        const QString mended = file("mended.onnx");
        const json before = compared({ kNarrow, "--data", kData, "--try-remedies", "8", "--save-mended", mended });
        QVERIFY(before["remedy_trials"]["tried"].get<size_t>() > 0);
        const json* first = nullptr;
        for (const json& f : before["findings"]) {
            if (f["measured_gain_db"].is_null() || f["change"].is_null())
                continue;
            QVERIFY(f["measured_gain_db"].get<double>() >= 0);
            if (!f["expected_gain_db"].is_null())
                QVERIFY(f["expected_gain_db"].get<double>() <= f["measured_gain_db"].get<double>() + 1e-9);
            first = first ? first : &f;
        }
        QVERIFY(first);
        const json after = compared({ mended, "--data", kData });
        const double gain
            = after["outputs"][0]["sqnr_db"].get<double>() - before["outputs"][0]["sqnr_db"].get<double>();
        QVERIFY(std::abs(gain - (*first)["measured_gain_db"].get<double>()) < 1e-6);
        const double right
            = after["accuracy"]["quantized"].get<double>() - before["accuracy"]["quantized"].get<double>();
        QVERIFY(std::abs(100 * right - (*first)["measured_accuracy_gain"].get<double>()) < 1e-9);
    }

    /// The first is written; where another one gains much more, its number is told.
    void tellsWhatGainsMore()
    {
        const Outcome r = quantscope({ "compare", kFloat, kNarrow, "--data", kData, "--try-remedies", "8",
            "--save-mended", file("mended.onnx"), "--json", "-" });
        const json all = parsed(r.out);
        std::vector<double> gains;
        for (const json& f : all["findings"])
            if (!f["measured_gain_db"].is_null() && !f["change"].is_null())
                gains.push_back(f["measured_gain_db"].get<double>());
        QVERIFY(!gains.empty());
        const auto best = std::ranges::max_element(gains);
        const bool more = *best >= gains[0] + 1;
        const QByteArray told = "--mend " + QByteArray::number(qlonglong(1 + (best - gains.begin()))) + " writes";
        QCOMPARE(r.err.contains(told), more);
        QCOMPARE(r.err.contains("--mend"), more);
    }

    void rangesAreGivenByOption()
    {
        const QString out = file("range.onnx");
        const QStringList base { "quantize", kFloat, "-o", out, "--like", kQdq, "--tensor-range" };
        QCOMPARE(quantscope(base + QStringList { "image=-3:0.5" }).code, 0);
        const json d = compared({ out, "--data", kData });
        for (const json& row : d["activations"])
            if (row["name"] == "image") {
                const double step = row["scale"][0].get<double>();
                QVERIFY(std::abs(row["range"][0].get<double>() + 3) <= step);
                QVERIFY(std::abs(row["range"][1].get<double>() - 0.5) <= step);
            }
        for (const QString wrong : { "image", "image=1", "image=1:0", "image=a:b", "=0:1", "image=0:inf" })
            QS_EXPECT(2, { "--tensor-range" }, base + QStringList { wrong });
    }

    /// A remedy that leaves one more node in float is no remedy where that takes others back.
    void exclusionsGoOn()
    {
        const QString first = file("first.onnx"), second = file("second.onnx");
        QCOMPARE(
            quantscope({ "quantize", kFloat, "-o", first, "--data", kData, "--exclude", "/pointwise/conv/Conv" }).code,
            0);
        QCOMPARE(quantscope({ "quantize", kFloat, "-o", second, "--like", first, "--exclude", "/block/second/Conv",
                                "--save-recipe", file("recipe.json") })
                     .code,
            0);
        QFile recipe(file("recipe.json"));
        QVERIFY(recipe.open(QIODevice::ReadOnly));
        const json written = parsed(recipe.readAll());
        QCOMPARE(written["exclude"].dump(), std::string(R"(["/pointwise/conv/Conv","/block/second/Conv"])"));
    }

    /// Carried out as it is printed, a remedy gains what is printed; any of those that are offered can be written.
    void commandsGainWhatTheySay()
    {
        const json before = compared({ kNarrow, "--data", kData, "--try-remedies", "8" });
        int number = 0;
        for (const json& f : before["findings"]) {
            if (f["measured_gain_db"].is_null() || f["change"].is_null())
                continue;
            QVERIFY(!f["command"].get<std::string>().empty());
            const QString mended = file("offered.onnx");
            const json same = compared({ kNarrow, "--data", kData, "--try-remedies", "8", "--save-mended", mended,
                "--mend", QString::number(++number) });
            const double after = compared({ mended, "--data", kData })["outputs"][0]["sqnr_db"].get<double>();
            const double gain = after - before["outputs"][0]["sqnr_db"].get<double>();
            QVERIFY(std::abs(gain - f["measured_gain_db"].get<double>()) < 1e-6);
        }
        QVERIFY(number > 0);
        QS_EXPECT(2, { "--mend" },
            { "compare", kFloat, kNarrow, "--data", kData, "--try-remedies", "8", "--save-mended", file("offered.onnx"),
                "--mend", "99" });
    }

    /// With a + passes are run beside those of the recipe, alone where it has none.
    void passesAreAddedToTheRecipe_data()
    {
        QTest::addColumn<QStringList>("options");
        QTest::addColumn<bool>("fused");
        QTest::addColumn<bool>("folded");
        const QString gemm = "--preparation=+fuse_gemm";
        QTest::newRow("the preset") << QStringList { gemm } << true << true;
        QTest::newRow("nothing before") << QStringList { "--ort-defaults", gemm } << true << false;
        QTest::newRow("two") << QStringList { "--ort-defaults", "--preparation=+fuse_gemm,+fold_constants" } << true
                             << true;
        QTest::newRow("only these") << QStringList { "--preparation=fuse_gemm" } << true << false;
    }
    void passesAreAddedToTheRecipe()
    {
        QFETCH(QStringList, options);
        QFETCH(bool, fused);
        QFETCH(bool, folded);
        const Outcome o = quantscope(
            QStringList { "quantize", kFloat, "-o", file("passes.onnx"), "--data", kData, "--json", "-" } + options);
        QVERIFY2(o.code == 0, o.err.constData());
        std::set<std::string> passes;
        const json d = parsed(o.out);
        for (const json& pass : d["preparation"])
            passes.insert(pass["pass"].get<std::string>());
        QCOMPARE(passes.contains("fuse_gemm"), fused);
        QCOMPARE(passes.contains("fold_constants"), folded);
        QS_EXPECT(2, { "+fuse_gemm" },
            { "quantize", kFloat, "-o", file("mixed.onnx"), "--data", kData, "--preparation",
                "+fuse_gemm,fold_constants" });
    }

    void refusesToWriteWhatWasNotTried()
    {
        QS_EXPECT(2, { "--save-mended" },
            { "compare", kFloat, kNarrow, "--data", kData, "--save-mended", file("untried.onnx") });
        QVERIFY(!QFile::exists(file("untried.onnx")));
    }

    /// Where no remedy helps the report is there all the same.
    void reportsThoughNothingIsSaved()
    {
        const QString mended = file("nothing.onnx"), report = file("nothing.json");
        const Outcome o = quantscope({ "compare", kFloat, kFloat, "--data", kData, "--try-remedies", "1",
            "--save-mended", mended, "--json", report });
        QCOMPARE(o.code, 3);
        QVERIFY2(o.err.contains("no remedy was found"), o.err.constData());
        QVERIFY(o.out.contains("output") && QFile::exists(report) && !QFile::exists(mended));
    }
};

} // namespace

int qs::test::runRemedyTests(int argc, char** argv)
{
    RemedyTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "remedies_test.moc"
