// SPDX-License-Identifier: GPL-3.0-or-later
// The conversation: lines that may hold anything, versions, requests in turn, cancelling, progress.
#include "core/agent/protocol/mcp_server.h"

#include <QElapsedTimer>
#include <QFloat16>
#include <QTest>

using namespace qs;

namespace {

const QByteArray kHello
    = R"({"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25",)"
      R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})";
const QByteArray kMeta = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                         R"("io.modelcontextprotocol/clientCapabilities":{}})";

QByteArray call(int id, const QByteArray& tool, const QByteArray& arguments = "{}", const QByteArray& more = {})
{
    return R"({"jsonrpc":"2.0","id":)" + QByteArray::number(id) + R"(,"method":"tools/call","params":{"name":")" + tool
        + R"(","arguments":)" + arguments + more + "}}";
}

/// A server on the bundled example, and what it wrote.
class Talk {
public:
    Talk()
        : m_server(AgentDesk(*AllowedFolders::of({ QS_SOURCE_DIR "/resources/examples" }), RunSettings { 2, 0, 0 }),
            [this](const std::string& line) {
                const std::lock_guard lock(m_mutex);
                m_lines.push_back(AgentJson::parse(line));
                return !m_closed;
            })
    {
    }
    McpServer& server() { return m_server; }
    void say(const QByteArray& line) { m_server.receive(line.toStdString()); }
    /// All that was written when nothing is left to do.
    std::vector<AgentJson> heard()
    {
        QElapsedTimer timer;
        timer.start();
        while (!m_server.idle() && timer.elapsed() < 60'000)
            QTest::qSleep(5);
        const std::lock_guard lock(m_mutex);
        return std::exchange(m_lines, {});
    }
    void close() { m_closed = true; }

private:
    std::mutex m_mutex;
    std::vector<AgentJson> m_lines;
    std::atomic<bool> m_closed = false;
    McpServer m_server;
};

} // namespace

class AgentServerTest : public QObject {
    Q_OBJECT
private slots:
    void lines_data();
    void lines();
    void versions_data();
    void versions();
    void eachRequest();
    void lists();
    void answersInTurn();
    void failures();
    void cancels();
    void progress();
    void manyCalls();
    void stops();
    void nobodyReads();
};

void AgentServerTest::lines_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<int>("code"); ///< 0: no answer
    QTest::addColumn<QByteArray>("id");
    const QByteArray none = "null";
    QTest::newRow("empty") << QByteArray("  ") << 0 << none;
    QTest::newRow("no JSON") << QByteArray("{") << -32700 << none;
    QTest::newRow("no UTF-8") << QByteArray("\"\xff\"") << -32700 << none;
    QTest::newRow("deep") << QByteArray(100'000, '[') << -32700 << none;
    QTest::newRow("a key twice") << QByteArray(R"({"id":1,"id":2})") << -32700 << none;
    QTest::newRow("long") << QByteArray(2 << 20, ' ').append('7') << -32700 << none;
    QTest::newRow("list of messages") << "[" + kHello + "]" << -32600 << none;
    QTest::newRow("number") << QByteArray("7") << -32600 << none;
    QTest::newRow("no version") << QByteArray(R"({"id":5,"method":"ping"})") << -32600 << QByteArray("5");
    QTest::newRow("other version") << QByteArray(R"({"jsonrpc":2,"id":5,"method":"ping"})") << -32600
                                   << QByteArray("5");
    QTest::newRow("id null") << QByteArray(R"({"jsonrpc":"2.0","id":null,"method":"ping"})") << -32600 << none;
    QTest::newRow("id object") << QByteArray(R"({"jsonrpc":"2.0","id":{},"method":"ping"})") << -32600 << none;
    QTest::newRow("no method") << QByteArray(R"({"jsonrpc":"2.0","id":"a"})") << -32600 << QByteArray("\"a\"");
    QTest::newRow("params list") << QByteArray(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})") << -32602
                                 << QByteArray("1");
    QTest::newRow("unknown method") << QByteArray(R"({"jsonrpc":"2.0","id":1,"method":"x\u001b"})") << -32601
                                    << QByteArray("1");
    QTest::newRow("notification") << QByteArray(R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"open"}})")
                                  << 0 << none;
    QTest::newRow("unknown notification") << QByteArray(R"({"jsonrpc":"2.0","method":"x","params":[]})") << 0 << none;
    QTest::newRow("answer") << QByteArray(R"({"jsonrpc":"2.0","id":1,"result":{}})") << 0 << none;
    QTest::newRow("cancelling nothing") << QByteArray(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}})")
                                        << 0 << none;
}

void AgentServerTest::lines()
{
    QFETCH(QByteArray, line);
    QFETCH(int, code);
    QFETCH(QByteArray, id);
    Talk talk;
    talk.say(kHello);
    talk.heard();
    talk.say(line);
    const auto heard = talk.heard();
    QCOMPARE(heard.size(), size_t(code != 0));
    if (code != 0) {
        QCOMPARE(heard[0]["error"]["code"], AgentJson(code));
        QCOMPARE(heard[0]["id"], AgentJson::parse(id.toStdString()));
    }
    talk.say(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
    QCOMPARE(talk.heard().back()["id"], AgentJson(2)); // it goes on
}

void AgentServerTest::versions_data()
{
    QTest::addColumn<QByteArray>("asked");
    QTest::addColumn<QByteArray>("agreed");
    for (const char* version : { "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25" })
        QTest::newRow(version) << QByteArray(version) << QByteArray(version);
    QTest::newRow("newer") << QByteArray("2026-07-28") << QByteArray("2025-11-25");
    QTest::newRow("unknown") << QByteArray("1.0") << QByteArray("2025-11-25");
}

void AgentServerTest::versions()
{
    QFETCH(QByteArray, asked);
    QFETCH(QByteArray, agreed);
    Talk talk;
    talk.say(QByteArray(kHello).replace("2025-11-25", asked));
    const auto heard = talk.heard();
    QCOMPARE(heard[0]["result"]["protocolVersion"], AgentJson(agreed.toStdString()));
    QCOMPARE(heard[0]["result"]["serverInfo"]["name"], AgentJson("quantscope"));
}

/// Since 2026-07-28 there is no handshake: each request says its version.
void AgentServerTest::eachRequest()
{
    Talk talk;
    talk.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
    talk.say(R"({"jsonrpc":"2.0","id":2,"method":"server/discover","params":{)" + kMeta + "}}");
    talk.say(QByteArray(R"({"jsonrpc":"2.0","id":3,"method":"server/discover","params":{)" + kMeta + "}}")
                 .replace("2026-", "2036-"));
    talk.say(
        R"({"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
    talk.say(call(5, "undo", "{}", "," + kMeta));
    const auto heard = talk.heard();
    QCOMPARE(heard.size(), size_t(5));
    QCOMPARE(heard[0]["error"]["code"], AgentJson(-32602));
    QCOMPARE(heard[1]["result"]["supportedVersions"], AgentJson::parse(R"(["2026-07-28"])"));
    QCOMPARE(heard[1]["result"]["resultType"], AgentJson("complete"));
    QCOMPARE(heard[1]["result"]["cacheScope"], AgentJson("private"));
    QCOMPARE(heard[2]["error"]["code"], AgentJson(-32022));
    QCOMPARE(heard[3]["error"]["code"], AgentJson(-32602));
    QCOMPARE(heard[4]["result"]["isError"], AgentJson(true));
    QCOMPARE(heard[4]["result"]["resultType"], AgentJson("complete"));
}

void AgentServerTest::lists()
{
    Talk talk;
    talk.say(kHello);
    for (const char* method : { "tools/list", "resources/list", "resources/templates/list" })
        talk.say(QByteArray(R"({"jsonrpc":"2.0","id":")") + method + R"(","method":")" + method + R"(","params":{}})");
    talk.say(R"({"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"cursor":"x"}})");
    talk.say(R"({"jsonrpc":"2.0","id":10,"method":"resources/read","params":{"uri":"quantscope://none"}})");
    size_t tools = 0, wrong = 0;
    for (const AgentJson& line : talk.heard()) {
        if (line["id"] == "tools/list")
            tools = line["result"]["tools"].size();
        wrong += line.contains("error");
    }
    QCOMPARE(tools, size_t(12));
    QCOMPARE(wrong, size_t(2));
}

void AgentServerTest::answersInTurn()
{
    Talk talk;
    talk.say(kHello);
    talk.say(
        call(1, "open", R"({"float":"digits_float.onnx","quantized":"digits_qdq.onnx","data":"digits_samples.npz"})"));
    talk.say(call(2, "compare"));
    talk.say(R"({"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"quantscope://s1/report.json"}})");
    const auto heard = talk.heard();
    QCOMPARE(heard.size(), size_t(4));
    for (int i = 1; i < 4; ++i)
        QCOMPARE(heard[size_t(i)]["id"], AgentJson(i));
    const AgentJson& result = heard[2]["result"];
    QCOMPARE(result["isError"], AgentJson(false));
    QCOMPARE(AgentJson::parse(result["content"][0]["text"].get<std::string>()), result["structuredContent"]);
    QVERIFY(heard[3]["result"]["contents"][0]["text"].get<std::string>().size() > 1000);
}

void AgentServerTest::failures()
{
    Talk talk;
    talk.say(kHello);
    talk.say(call(1, "none"));
    talk.say(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":7}})");
    talk.say(call(3, "open", R"({"float":"/etc/passwd"})"));
    talk.say(call(4, "open", "[]"));
    const auto heard = talk.heard();
    QCOMPARE(heard[1]["error"]["code"], AgentJson(-32602));
    QCOMPARE(heard[2]["error"]["code"], AgentJson(-32602));
    QCOMPARE(heard[3]["result"]["isError"], AgentJson(true)); // for the model to read
    QCOMPARE(heard[4]["result"]["isError"], AgentJson(true));
}

/// Who cancels gets no answer; what comes after does.
void AgentServerTest::cancels()
{
    Talk talk;
    talk.say(kHello);
    talk.say(call(1, "open", R"({"float":"digits_float.onnx","data":"random:2000000","shapes":{"image":[1,1,8,8]}})"));
    talk.heard();
    QElapsedTimer timer;
    timer.start();
    talk.say(call(2, "compare")); // works for minutes
    talk.say(call(3, "compare")); // waits
    talk.say(call(2, "undo")); // an id that is in use
    talk.say(call(4, "undo"));
    QTest::qSleep(100);
    for (const char* id : { "2", "3" })
        talk.say(
            QByteArray(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)") + id + "}}");
    const auto heard = talk.heard();
    QCOMPARE(heard.size(), size_t(2));
    QCOMPARE(heard[0]["error"]["code"], AgentJson(-32600));
    QCOMPARE(heard[1]["id"], AgentJson(4));
    QVERIFY(timer.elapsed() < 20'000);
}

void AgentServerTest::progress()
{
    Talk talk;
    talk.say(kHello);
    talk.say(call(1, "open", R"({"float":"digits_float.onnx","data":"random:3000","shapes":{"image":[1,1,8,8]}})"));
    talk.say(call(2, "compare", "{}", R"(,"_meta":{"progressToken":"p"})"));
    talk.say(call(3, "compare", "{}", R"(,"_meta":{"progressToken":{}})"));
    double last = 0;
    size_t told = 0;
    bool answered = false;
    for (const AgentJson& line : talk.heard()) {
        answered = answered || line.value("id", AgentJson()) == 2;
        if (!line.contains("method"))
            continue;
        QVERIFY(!answered);
        QCOMPARE(line["method"], AgentJson("notifications/progress"));
        QCOMPARE(line["params"]["progressToken"], AgentJson("p"));
        QVERIFY(line["params"]["progress"].get<double>() > last);
        last = line["params"]["progress"].get<double>();
        ++told;
    }
    QVERIFY(told > 0);
    QVERIFY(answered);
}

void AgentServerTest::manyCalls()
{
    constexpr int kCalls = 10'000;
    Talk talk;
    talk.say(kHello);
    talk.say(call(0, "open", R"({"float":"digits_float.onnx"})"));
    for (int i = 1; i <= kCalls; ++i)
        talk.say(call(i, i % 2 ? "undo" : "edit_recipe"));
    QCOMPARE(talk.heard().size(), size_t(kCalls + 2));
}

void AgentServerTest::stops()
{
    QElapsedTimer timer;
    {
        Talk talk;
        talk.say(kHello);
        talk.say(
            call(1, "open", R"({"float":"digits_float.onnx","data":"random:2000000","shapes":{"image":[1,1,8,8]}})"));
        talk.say(call(2, "compare"));
        talk.say(call(3, "compare"));
        QTest::qSleep(300);
        timer.start();
    }
    QVERIFY(timer.elapsed() < 10'000);
}

void AgentServerTest::nobodyReads()
{
    Talk talk;
    talk.close();
    talk.say(kHello);
    QVERIFY(talk.server().gone());
    QCOMPARE(talk.heard().size(), size_t(1));
    talk.say(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
    QVERIFY(talk.heard().empty());
}

QTEST_GUILESS_MAIN(AgentServerTest)
#include "server_test.moc"
