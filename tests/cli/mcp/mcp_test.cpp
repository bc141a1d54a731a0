// SPDX-License-Identifier: GPL-3.0-or-later
// The server for agents as a client starts it: nothing but messages on stdout, how it ends.
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QElapsedTimer>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <nlohmann/json.hpp>

using namespace qs::test;
using nlohmann::json;

namespace {

const QByteArray kHello = R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
                          R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})"
                          "\n";

QByteArray toolCall(int id, const QByteArray& tool, const QByteArray& arguments = "{}")
{
    return R"({"jsonrpc":"2.0","id":)" + QByteArray::number(id) + R"(,"method":"tools/call","params":{"name":")" + tool
        + R"(","arguments":)" + arguments + "}}\n";
}

const QByteArray kEndless = toolCall(1, "open",
                                R"({"float":"digits_float.onnx","data":"random:2000000",)"
                                R"("shapes":{"image":[1,1,8,8]}})")
    + toolCall(2, "compare");

/// `signal`: sent after a moment in place of the end of stdin.
Outcome serve(const QByteArray& lines, const QStringList& arguments = {}, int signal = 0)
{
    QProcess process;
    process.setWorkingDirectory(example(""));
    process.start(QS_CLI, QStringList { "mcp" } + arguments);
    process.write(lines);
    if (signal != 0) {
        process.waitForReadyRead(10000);
        QTest::qSleep(300);
        kill(pid_t(process.processId()), signal);
    } else {
        process.closeWriteChannel();
    }
    Outcome outcome;
    if (process.waitForFinished(60000) && process.exitStatus() == QProcess::NormalExit)
        outcome.code = process.exitCode();
    outcome.out = process.readAllStandardOutput();
    outcome.err = process.readAllStandardError();
    return outcome;
}

std::vector<json> messages(const QByteArray& out)
{
    std::vector<json> all;
    for (const QByteArray& line : out.split('\n'))
        if (!line.isEmpty())
            all.push_back(parsed(line));
    return all;
}

class McpTests : public QObject {
    Q_OBJECT
private slots:
    void mendsAndWrites()
    {
        QTemporaryDir folder;
        const QByteArray out = folder.path().toUtf8() + "/mended.onnx";
        const Outcome o = serve(kHello
                + toolCall(1, "open",
                    R"({"float":"digits_float.onnx","quantized":"digits_qdq_narrow.onnx",)"
                    R"("data":"digits_samples.npz","limit":40})")
                + toolCall(2, "compare") + toolCall(3, "edit_recipe", R"({"apply_finding":0})") + toolCall(4, "compare")
                + toolCall(5, "quantize", "{\"path\":\"" + out + "\"}"),
            { "--allow", example(""), folder.path(), "--threads", "2" });
        QCOMPARE(complaint(o, 0), QString());
        const auto all = messages(o.out);
        QCOMPARE(all.size(), size_t(6));
        for (size_t i = 1; i < all.size(); ++i)
            QCOMPARE(all[i]["result"]["isError"], json(false));
        QVERIFY(all[2]["result"]["structuredContent"]["now"]["output_sqnr_db"] < 0.0);
        QVERIFY(all[4]["result"]["structuredContent"]["now"]["output_sqnr_db"] > 30.0);
        const Outcome again = quantscope({ "compare", kFloat, out, "--data", kData, "--fail-below-sqnr", "30" });
        QCOMPARE(complaint(again, 0), QString());
    }

    void goesOnAfterAnything()
    {
        const Outcome o = serve("{\n[1]\n\xff\xfe\n\n" + QByteArray(3 << 20, 'x') + "\n" + kHello + toolCall(1, "none")
            + toolCall(2, "open", R"({"float":"/etc/passwd"})")
            + R"({"jsonrpc":"2.0","id":3,"method":"ping"})"); // no line end
        QCOMPARE(complaint(o, 0), QString());
        const auto all = messages(o.out);
        QCOMPARE(all.size(), size_t(8));
        size_t faults = 0;
        for (const json& message : all)
            faults += message.contains("error");
        QCOMPARE(faults, size_t(5));
    }

    void endsCleanly_data()
    {
        QTest::addColumn<int>("signal");
        QTest::addColumn<QByteArray>("lines");
        for (const auto& [name, signal] : { std::pair("SIGINT", SIGINT), std::pair("SIGTERM", SIGTERM) }) {
            QTest::addRow("%s, idle", name) << signal << kHello;
            QTest::addRow("%s, at work", name) << signal << kHello + kEndless;
        }
    }
    void endsCleanly()
    {
        QFETCH(int, signal);
        QFETCH(QByteArray, lines);
        QElapsedTimer timer;
        timer.start();
        const Outcome o = serve(lines, {}, signal);
        QCOMPARE(complaint(o, 4), QString());
        QVERIFY(timer.elapsed() < 15'000);
        messages(o.out);
    }

    /// Nobody reads any more: work for nobody is not done.
    void endsWithItsReader()
    {
        QProcess pipe;
        pipe.setWorkingDirectory(example(""));
        pipe.start("sh", { "-c", QStringLiteral("'%1' mcp | head -n 1").arg(QS_CLI) });
        pipe.write(kHello + kEndless);
        pipe.closeWriteChannel();
        QVERIFY(pipe.waitForFinished(15'000));
        QCOMPARE(messages(pipe.readAllStandardOutput()).size(), size_t(1));
    }

    void badUse()
    {
        QCOMPARE(complaint(serve({}), 0), QString());
        QS_EXPECT(3, QStringList { "none" }, QStringList { "mcp", "--allow", "none" });
        QS_EXPECT(2, QStringList { "--threads" }, QStringList { "mcp", "--threads", "0" });
        QS_EXPECT(2, QStringList { "extra" }, QStringList { "mcp", "extra" });
        QTemporaryDir empty; // where no window listens
        qputenv("XDG_RUNTIME_DIR", empty.path().toUtf8());
        QS_EXPECT(3, QStringList { "--serve" }, QStringList { "mcp", "--attach" });
        QS_EXPECT(3, QStringList { "none" }, QStringList { "mcp", "--attach", "--allow", "none" });
        QS_EXPECT(2, QStringList { "--threads" }, QStringList { "mcp", "--attach", "--threads", "2" });
    }
};

} // namespace

int qs::test::runMcpTests(int argc, char** argv)
{
    McpTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "mcp_test.moc"
