// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"

#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QThread>

#include <csignal>
#include <nlohmann/json.hpp>

namespace qs::test {

Outcome quantscope(const QStringList& arguments, int signal, int delayMs)
{
    QProcess process;
    process.setProcessChannelMode(QProcess::SeparateChannels);
    process.start(QS_CLI, arguments);
    if (!process.waitForStarted())
        qFatal("%s cannot be started", QS_CLI);
    if (signal != 0) {
        QThread::msleep(static_cast<unsigned long>(delayMs));
        kill(static_cast<pid_t>(process.processId()), signal);
    }
    const bool ended = process.waitForFinished(60000) && process.exitStatus() == QProcess::NormalExit;
    Outcome outcome;
    outcome.code = ended ? process.exitCode() : -1;
    outcome.out = process.readAllStandardOutput();
    outcome.err = process.readAllStandardError();
    return outcome;
}

QString example(const QString& name) { return QString(QS_SOURCE_DIR "/resources/examples/") + name; }

QString complaint(const Outcome& outcome, int code, const QStringList& words)
{
    const QString all = QString("exit code %1, stderr: %2").arg(outcome.code).arg(QString::fromUtf8(outcome.err));
    if (outcome.code != code)
        return QString("expected exit code %1: ").arg(code) + all;
    if (code == 0)
        return outcome.err.contains("error: ") ? "an error without its exit code: " + all : QString();
    if (outcome.err.count('\n') != 1 || !outcome.err.endsWith('\n') || !outcome.err.startsWith("error: "))
        return "not one line that begins with 'error: ': " + all;
    for (const QString& word : words)
        if (!outcome.err.contains(word.toUtf8()))
            return "'" + word + "' is not named: " + all;
    return {};
}

nlohmann::json parsed(const QByteArray& text)
{
    nlohmann::json document = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    if (document.is_discarded())
        qFatal("no JSON: %s", text.left(200).constData());
    return document;
}

QByteArray contentOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void writeText(const QString& path, const QByteArray& bytes)
{
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly | QIODevice::Truncate) || file.write(bytes) != bytes.size())
        qFatal("%s cannot be written", qPrintable(path));
}

} // namespace qs::test
