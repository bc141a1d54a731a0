// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QEventLoop>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTest>
#include <QTimer>

#include <functional>
#include <map>

namespace qs::test {

/// The program as an agent starts it, attached to a window of this process, whose events go on while it is waited for.
class AttachedAgent {
public:
    explicit AttachedAgent(const QString& folder, const QStringList& allow = {})
    {
        QStringList arguments { "mcp", "--attach" };
        for (const QString& path : allow)
            arguments << "--allow" << path;
        m_process.setWorkingDirectory(folder);
        m_process.start(QS_CLI, arguments);
    }
    ~AttachedAgent()
    {
        m_process.closeWriteChannel();
        if (!ended())
            m_process.kill();
        m_process.waitForFinished();
    }

    QProcess& process() { return m_process; }
    void say(const QByteArray& line) { m_process.write(line + "\n"); }
    int send(const QString& method, const QJsonObject& params)
    {
        const QJsonObject message { { "jsonrpc", "2.0" }, { "id", ++m_last }, { "method", method },
            { "params", params } };
        say(QJsonDocument(message).toJson(QJsonDocument::Compact));
        return m_last;
    }
    int sendCall(const QString& tool, const QJsonObject& arguments = {})
    {
        return send("tools/call", { { "name", tool }, { "arguments", arguments } });
    }
    /// Empty: there was none in time.
    QJsonObject answer(int id)
    {
        return waitUntil([&] { return m_answers.contains(id); }) ? m_answers[id] : QJsonObject();
    }
    bool waitForAnswers(size_t count, int ms)
    {
        return waitUntil([&] { return m_answers.size() >= count; }, ms);
    }
    bool waitForProgress()
    {
        return waitUntil([&] { return m_progress > 1; });
    }
    size_t answers() const { return m_answers.size(); }
    bool hello()
    {
        return answer(send("initialize",
                          { { "protocolVersion", "2025-11-25" }, { "capabilities", QJsonObject() },
                              { "clientInfo", QJsonObject { { "name", "Tester" }, { "version", "1" } } } }))
            .contains("result");
    }
    /// What the tool answers; {"failed": sentence} where it does not.
    QJsonObject call(const QString& tool, const QJsonObject& arguments = {}) { return told(sendCall(tool, arguments)); }
    QJsonObject told(int id)
    {
        const QJsonObject message = answer(id), result = message["result"].toObject();
        if (message.contains("error"))
            return { { "failed", message["error"].toObject()["message"] } };
        if (result["isError"].toBool())
            return { { "failed", result["content"].toArray().first().toObject()["text"] } };
        return result["structuredContent"].toObject();
    }
    QString failure(const QString& tool, const QJsonObject& arguments = {})
    {
        return call(tool, arguments)["failed"].toString();
    }
    bool ended()
    {
        return QTest::qWaitFor([&] { return m_process.state() == QProcess::NotRunning; }, 20'000);
    }

private:
    /// In an event loop as the program has it: QTest::qWait sleeps between two turns.
    bool waitUntil(const std::function<bool()>& there, int ms = 30'000)
    {
        takeLines();
        QEventLoop loop;
        const auto look = [&] {
            takeLines();
            if (there())
                loop.quit();
        };
        QObject::connect(&m_process, &QProcess::readyReadStandardOutput, &loop, look);
        QTimer::singleShot(ms, &loop, &QEventLoop::quit);
        if (!there())
            loop.exec();
        return there();
    }
    void takeLines()
    {
        m_read += m_process.readAllStandardOutput();
        qsizetype begin = 0;
        for (qsizetype end = m_read.indexOf('\n'); end >= 0; end = m_read.indexOf('\n', begin)) {
            const QJsonObject message = QJsonDocument::fromJson(m_read.mid(begin, end - begin)).object();
            begin = end + 1;
            m_progress += message["method"] == "notifications/progress" ? 1 : 0;
            if (message.contains("result") || message.contains("error"))
                m_answers[message["id"].toInt()] = message;
        }
        m_read.remove(0, begin);
    }

    QProcess m_process;
    QByteArray m_read;
    std::map<int, QJsonObject> m_answers;
    int m_last = 0, m_progress = 0;
};

} // namespace qs::test
