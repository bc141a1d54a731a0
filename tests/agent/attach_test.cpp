// SPDX-License-Identifier: GPL-3.0-or-later
// How an agent's process finds a window, gets in, and hands messages on; the window here has no window.
#include "core/agent/attach/agent_door.h"
#include "core/agent/attach/relay.h"
#include "core/agent/protocol/line_cutter.h"
#include "core/base/version.h"

#include <QElapsedTimer>
#include <QFloat16>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace qs;

namespace {

const std::string kExamples = QS_SOURCE_DIR "/resources/examples";
const std::string kHello
    = R"({"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25",)"
      R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})";

std::string call(int id, const std::string& tool, const std::string& arguments = "{}")
{
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" + tool
        + R"(","arguments":)" + arguments + "}}";
}

/// The first line of who wants to attach, in this version.
QByteArray attachOf(const char* rest) { return R"({"quantscope_attach":")" + QByteArray(kVersion) + "\"," + rest; }

/// A door with a server behind it that has sessions of its own.
Result<std::unique_ptr<AgentDoor>> openDoor(const std::string& name, int* left = nullptr)
{
    AgentConnection::Rules rules;
    rules.window = name;
    rules.admit = [](const AttachRequest& request, McpServer::Write write) -> Result<std::unique_ptr<McpServer>> {
        QS_TRY(AllowedFolders folders, AllowedFolders::seenFrom(request.folder, request.allow));
        return std::make_unique<McpServer>(AgentDesk(std::move(folders), RunSettings { 2, 0, 0 }), std::move(write));
    };
    rules.left = [left] {
        if (left)
            ++*left;
    };
    return AgentDoor::open(std::move(rules));
}

/// What a relay wrote.
class Heard {
public:
    Relay::Write write()
    {
        return [this](const std::string& line) {
            const std::lock_guard lock(m_mutex);
            m_lines.push_back(AgentJson::parse(line));
            return true;
        };
    }
    std::vector<AgentJson> waitFor(size_t count)
    {
        QElapsedTimer timer;
        timer.start();
        while (timer.elapsed() < 30'000) {
            {
                const std::lock_guard lock(m_mutex);
                if (m_lines.size() >= count)
                    return std::exchange(m_lines, {});
            }
            QTest::qSleep(2);
        }
        const std::lock_guard lock(m_mutex);
        return m_lines;
    }

private:
    std::mutex m_mutex;
    std::vector<AgentJson> m_lines;
};

} // namespace

class AgentAttachTest : public QObject {
    Q_OBJECT
private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        qputenv("XDG_RUNTIME_DIR", m_folder->path().toUtf8());
    }

    void cutsLines()
    {
        std::vector<std::string> told;
        LineCutter lines(
            { [&](std::string_view line) { told.emplace_back(line); }, [&] { told.emplace_back("long"); } }, 4);
        for (const char* part : { "a\nb", "c", "\n\n12345\n1234\n", "123", "456", "\nend" })
            lines.add(part);
        lines.finish();
        QCOMPARE(told, (std::vector<std::string> { "a", "bc", "", "long", "1234", "long", "end" }));
    }

    void handsMessagesOn()
    {
        int left = 0;
        {
            const auto door = openDoor("the window", &left);
            QVERIFY(door.ok());
            auto attached = Relay::attach({ kExamples, { kExamples } });
            QVERIFY(attached.ok());
            QCOMPARE(attached->name, "the window");
            QCOMPARE(attached->windows, size_t(1));
            Heard heard;
            Relay relay({ kExamples, { kExamples } }, std::move(*attached), heard.write());
            relay.receive(kHello);
            QCOMPARE(heard.waitFor(1).at(0)["id"], "hello");
            relay.receive(call(1, "open", R"({"float":"digits_float.onnx"})")); // seen from the agent's folder
            const auto opened = heard.waitFor(1);
            QCOMPARE(opened.at(0)["result"]["structuredContent"]["session"], "s1");
            relay.receive(call(2, "open", R"({"float":"/etc/passwd"})"));
            QVERIFY(heard.waitFor(1).at(0)["result"]["isError"].get<bool>());
            relay.receive("{ no message");
            QCOMPARE(heard.waitFor(1).at(0)["error"]["code"], int(RpcCode::ParseError));
            relay.receiveTooLong();
            QCOMPARE(heard.waitFor(1).at(0)["error"]["code"], int(RpcCode::ParseError));
            QVERIFY(relay.idle());
            QVERIFY(relay.lost().ok());
        }
        QCOMPARE(left, 1);
        QVERIFY(windowSockets().empty());
    }

    void whoWaitsIsToldWhenTheWindowGoes()
    {
        auto door = openDoor("the window");
        QVERIFY(door.ok());
        auto attached = Relay::attach({ kExamples, { kExamples } });
        QVERIFY(attached.ok());
        Heard heard;
        Relay relay({ kExamples, { kExamples } }, std::move(*attached), heard.write());
        relay.receive(kHello);
        relay.receive(
            call(1, "open", R"({"float":"digits_float.onnx","data":"random:2000000","shapes":{"image":[1,1,8,8]}})"));
        QCOMPARE(heard.waitFor(2).size(), size_t(2));
        relay.receive(call(2, "compare"));
        relay.receive(call(3, "compare"));
        QTest::qSleep(100);
        QElapsedTimer clock;
        clock.start();
        door->reset();
        QVERIFY2(clock.elapsed() < 3000, qPrintable(QString::number(clock.elapsed())));
        relay.receive(call(4, "compare"));
        relay.receive(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}})");
        std::set<int> told;
        for (const AgentJson& line : heard.waitFor(3)) {
            told.insert(line["id"].get<int>());
            QVERIFY(
                QString::fromStdString(line["error"]["message"].get<std::string>()).contains("the window was closed"));
        }
        QCOMPARE(told, (std::set<int> { 2, 3, 4 }));
        QVERIFY(relay.idle());
        QVERIFY(!relay.lost().ok());
    }

    /// Ids of answers to calls, and what they say.
    static QString answerTo(Relay& relay, Heard& heard, int id)
    {
        relay.receive(call(id, "compare")); // nothing is open: an error of the tool
        const auto lines = heard.waitFor(1);
        if (lines.size() != 1 || lines[0]["id"] != id)
            return "no answer";
        return QString::fromStdString(lines[0].dump());
    }

    void attachesToTheNextWindow()
    {
        auto first = openDoor("first");
        QVERIFY(first.ok());
        auto attached = Relay::attach({ kExamples, { kExamples } });
        QVERIFY(attached.ok());
        Heard heard;
        Relay relay({ kExamples, { kExamples } }, std::move(*attached), heard.write());
        relay.receive(kHello);
        relay.receive(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
        QCOMPARE(heard.waitFor(1).at(0)["id"], "hello");
        first->reset();
        QTRY_VERIFY(!relay.lost().ok());
        for (const int id : { 1, 2 }) {
            const QString meanwhile = answerTo(relay, heard, id);
            QVERIFY2(meanwhile.contains("was closed") && meanwhile.contains("ask again"), qPrintable(meanwhile));
        }
        const auto second = openDoor("second");
        QVERIFY(second.ok());
        QVERIFY(answerTo(relay, heard, 3).contains("isError")); // of the tool, so the window was asked
        QVERIFY(relay.lost().ok() && relay.idle());
    }

    /// What is asked next might be meant for what was open there.
    void saysFirstThatItIsAnotherWindow()
    {
        auto first = openDoor("first");
        const auto second = openDoor("second");
        QVERIFY(first.ok() && second.ok());
        auto attached = Relay::attach({ kExamples, { kExamples } }, { (*second)->path() });
        QVERIFY(attached.ok());
        Heard heard;
        Relay relay({ kExamples, { kExamples } }, std::move(*attached), heard.write());
        relay.receive(kHello);
        QCOMPARE(heard.waitFor(1).at(0)["id"], "hello");
        first->reset();
        QTRY_VERIFY(!relay.lost().ok());
        const QString told = answerTo(relay, heard, 1);
        QVERIFY2(told.contains("'second' now") && !told.contains("isError"), qPrintable(told));
        QVERIFY(answerTo(relay, heard, 2).contains("isError"));
    }

    void staysAwayFromWhoLetItGo()
    {
        const auto door = openDoor("the window");
        QVERIFY(door.ok());
        auto attached = Relay::attach({ kExamples, { kExamples } });
        QVERIFY(attached.ok());
        Heard heard;
        Relay relay({ kExamples, { kExamples } }, std::move(*attached), heard.write());
        relay.receive(kHello);
        QCOMPARE(heard.waitFor(1).at(0)["id"], "hello");
        (*door)->letGo("the person at the window let this agent go");
        QTRY_VERIFY(!relay.lost().ok());
        for (const int id : { 1, 2 })
            QVERIFY(answerTo(relay, heard, id).contains("let this agent go"));
    }

    void newestWindowThatHasRoom()
    {
        const auto first = openDoor("first");
        QTest::qSleep(3);
        const auto second = openDoor("second");
        QVERIFY(first.ok() && second.ok());
        const auto one = Relay::attach({ kExamples, { kExamples } });
        QVERIFY(one.ok());
        QCOMPARE(one->name, "second");
        QCOMPARE(one->windows, size_t(2));
        const auto other = Relay::attach({ kExamples, { kExamples } });
        QVERIFY(other.ok());
        QCOMPARE(other->name, "first");
        const auto third = Relay::attach({ kExamples, { kExamples } });
        QVERIFY(!third.ok());
        QCOMPARE(third.issue().what, "another agent is attached to the window");
    }

    void strangersAreRefused_data()
    {
        QTest::addColumn<QByteArray>("line");
        QTest::newRow("no request") << QByteArray("GET / HTTP/1.1\n");
        QTest::newRow("a message") << QByteArray::fromStdString(kHello + "\n");
        QTest::newRow("other version") << QByteArray(R"({"quantscope_attach":"99","folder":"/","allow":["/"]})") + "\n";
        QTest::newRow("relative folder") << attachOf(R"("folder":"here","allow":["/"]})") + "\n";
        QTest::newRow("no folders") << attachOf(R"("folder":"/","allow":[]})") + "\n";
        QTest::newRow("missing folder") << attachOf(R"("folder":"/","allow":["/none"]})") + "\n";
        QTest::newRow("too long") << QByteArray(size_t(2) << 20, 'x') + "\n";
    }

    void strangersAreRefused()
    {
        QFETCH(const QByteArray, line);
        const auto door = openDoor("the window");
        QVERIFY(door.ok());
        const auto socket = connectToWindow((*door)->path());
        QVERIFY(socket.ok());
        QVERIFY(sendLine(socket->fd(), line.toStdString()));
        std::string told;
        char bytes[4096];
        for (ssize_t size = read(socket->fd(), bytes, sizeof bytes); size > 0;
             size = read(socket->fd(), bytes, sizeof bytes))
            told.append(bytes, size_t(size));
        QVERIFY2(told.starts_with(R"({"quantscope_refused")"), told.c_str());
        QVERIFY(Relay::attach({ kExamples, { kExamples } }).ok()); // nobody else suffers from it
    }

    void foldersOfOthersAreNotUsed()
    {
        const std::string folder = m_folder->path().toStdString() + "/quantscope";
        std::filesystem::create_directory(folder);
        chmod(folder.c_str(), 0755);
        const auto door = openDoor("the window");
        QVERIFY(!door.ok());
        QVERIFY(door.issue().what.find("this is no folder of this user alone") != std::string::npos);
        chmod(folder.c_str(), 0700);
        QVERIFY(openDoor("the window").ok());
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(AgentAttachTest)
#include "attach_test.moc"
