// SPDX-License-Identifier: GPL-3.0-or-later
// Completion and the manual page are made of what `--help` says: every command and option is in them.
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QProcess>
#include <QRegularExpression>
#include <QtTest>

#include <algorithm>

using namespace qs::test;

namespace {

QStringList commandNames()
{
    QStringList names;
    const QString help = QString::fromUtf8(quantscope({ "--help" }).out);
    static const QRegularExpression line("^  ([a-z]+) +[^ ]", QRegularExpression::MultilineOption);
    for (auto match = line.globalMatch(help.mid(help.indexOf("Subcommands:"))); match.hasNext();)
        names << match.next().captured(1);
    return names;
}

/// "--json", "--no-per-channel" ...: those that stand at the beginning of a line of the help.
QStringList optionNames(const QString& command)
{
    QStringList names;
    static const QRegularExpression line("^  (-[^ ]+(, ?-[^ ]+)*)", QRegularExpression::MultilineOption);
    static const QRegularExpression name("--[a-z0-9-]+");
    const QString help = QString::fromUtf8(quantscope({ command, "--help" }).out);
    for (auto match = line.globalMatch(help); match.hasNext();) {
        const QString head = match.next().captured(1);
        for (auto one = name.globalMatch(head); one.hasNext();)
            names << one.next().captured(0);
    }
    return names;
}

class CompletionTests : public QObject {
    Q_OBJECT
private slots:
    void namesEverything_data()
    {
        QTest::addColumn<QString>("shell");
        QTest::addColumn<QString>("option"); ///< how it names one; % is the name without dashes
        QTest::newRow("bash") << "bash"
                              << "--%";
        QTest::newRow("zsh") << "zsh"
                             << "--%[";
        QTest::newRow("fish") << "fish"
                              << " -l % ";
    }
    void namesEverything()
    {
        QFETCH(QString, shell);
        QFETCH(QString, option);
        const Outcome o = quantscope({ "completion", shell });
        QCOMPARE(complaint(o, 0), QString());
        const QString script = QString::fromUtf8(o.out);
        const QStringList commands = commandNames();
        QVERIFY(commands.size() > 10);
        size_t options = 0;
        for (const QString& command : commands) {
            QVERIFY2(script.contains(command), qPrintable(command));
            for (const QString& name : optionNames(command)) {
                QVERIFY2(script.contains(QString(option).replace('%', name.mid(2))), qPrintable(command + " " + name));
                ++options;
            }
        }
        QVERIFY(options > 100);
    }

    void bashCompletes_data()
    {
        QTest::addColumn<QString>("words");
        QTest::addColumn<QByteArray>("offered");
        QTest::newRow("command") << "quantscope-cli sens" << QByteArray("sensitivity");
        QTest::newRow("option") << "quantscope-cli compare --fail" << QByteArray("--fail-below-sqnr");
        QTest::newRow("word") << "quantscope-cli quantize f.onnx --method ent" << QByteArray("entropy");
        QTest::newRow("words") << "quantscope-cli compare --arithmetic int" << QByteArray("integer integer-avx2");
        QTest::newRow("all words") << "quantscope-cli sensitivity --by ''" << QByteArray("node tensor type");
        QTest::newRow("after an equals sign") << "quantscope-cli quantize --format = qop" << QByteArray("qoperator");
        QTest::newRow("words of another command") << "quantscope-cli caches --method m" << QByteArray("mse minmax");
        QTest::newRow("a command's own commands") << "quantscope-cli lesson ''" << QByteArray("list check run");
        QTest::newRow("one of them") << "quantscope-cli lesson ch" << QByteArray("check");
        QTest::newRow("options of theirs") << "quantscope-cli lesson check --see" << QByteArray("--seeds --seed");
        QTest::newRow("an argument's words") << "quantscope-cli completion ''" << QByteArray("bash zsh fish");
        QTest::newRow("a task") << "quantscope-cli compare --task y = cl" << QByteArray("classes");
        QTest::newRow("a task, two equals signs") << "quantscope-cli compare --task = y = ma" << QByteArray("mask");
        QTest::newRow("a task, nothing yet") << "quantscope-cli compare --task y =" << QByteArray("*");
        QTest::newRow("a task's output: nothing is known") << "quantscope-cli compare --task y" << QByteArray("");
        QTest::newRow("a file: the shell's own") << "quantscope-cli compare x" << QByteArray("");
    }
    void bashCompletes()
    {
        QFETCH(QString, words);
        QFETCH(QByteArray, offered);
        QProcess bash;
        bash.start("bash",
            { "-c",
                QStringLiteral("compopt() { :; }; source <('%1' completion bash); COMP_WORDS=(%2); "
                               "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _quantscope_cli; echo \"${COMPREPLY[@]}\"")
                    .arg(QS_CLI, words) });
        QVERIFY(bash.waitForFinished(30000));
        const QByteArray found = bash.readAllStandardOutput().trimmed();
        if (offered == "*") // all of them
            QVERIFY2(found.startsWith("classes sequence mask values boxes:yolov5"), found.constData());
        else
            QCOMPARE(found, offered);
    }

    /// Every choice of the recipe, and what its refusal names.
    void namesWords_data()
    {
        QTest::addColumn<QString>("shell");
        QTest::newRow("bash") << "bash";
        QTest::newRow("zsh") << "zsh";
        QTest::newRow("fish") << "fish";
    }
    void namesWords()
    {
        QFETCH(QString, shell);
        const QString script = QString::fromUtf8(quantscope({ "completion", shell }).out);
        for (const char* option : { "--method", "--format", "--activation-type", "--weight-type", "--arithmetic" }) {
            const QString command = QByteArray(option) == "--arithmetic" ? "run" : "quantize";
            QStringList line { command, kFloat, "--data", kData, option, "none" };
            if (command == "quantize")
                line += QStringList { "-o", QDir::tempPath() + "/never.onnx" };
            const Outcome o = quantscope(line);
            QCOMPARE(o.code, 2);
            const QString said = QString::fromUtf8(o.err);
            QString words = said.mid(said.indexOf("; use ") + 6).trimmed();
            words.replace(", ", " ").replace(" or ", " ");
            QVERIFY2(!words.isEmpty() && script.contains(words), qPrintable(option + (": " + words)));
        }
    }

    /// Those that stand behind NAME=.
    void namesWordsBehindNames_data()
    {
        QTest::addColumn<QString>("shell");
        QTest::addColumn<QString>("offered");
        QTest::newRow("zsh") << "zsh"
                             << "*--task[%:value:{compset -P \"*=\" && compadd classes sequence mask values boxes\\:";
        QTest::newRow("fish") << "fish"
                              << " -l task -r -f -a '(string match -r \\'^[^=]+=\\' -- (commandline "
                                 "-ct)){classes,sequence,mask,values,boxes:";
    }
    void namesWordsBehindNames()
    {
        QFETCH(QString, shell);
        QFETCH(QString, offered);
        const QStringList parts = offered.split('%');
        const QString script = QString::fromUtf8(quantscope({ "completion", shell }).out);
        const auto lines = script.split('\n');
        QVERIFY2(std::ranges::any_of(lines,
                     [&](const QString& line) { return line.contains(parts.front()) && line.contains(parts.back()); }),
            qPrintable(script));
    }

    void badUse()
    {
        QS_EXPECT(2, QStringList { "tcsh" }, { "completion", "tcsh" });
        QS_EXPECT(2, QStringList { "SHELL" }, { "completion" });
    }

    void manualPages()
    {
        QProcess python;
        python.start("python3", { QS_SOURCE_DIR "/packaging/debian/man_page.py", QS_CLI });
        QVERIFY(python.waitForFinished(60000));
        QCOMPARE(python.exitCode(), 0);
        const QString page = QString::fromUtf8(python.readAllStandardOutput()).replace("\\-", "-");
        for (const QString& command : commandNames()) {
            QVERIFY2(page.contains(".SS quantscope-cli " + command), qPrintable(command));
            for (const QString& name : optionNames(command))
                QVERIFY2(page.contains(name), qPrintable(command + " " + name));
        }
    }
};

} // namespace

int qs::test::runCompletionTests(int argc, char** argv)
{
    CompletionTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "completion_test.moc"
