// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/completion.h"

#include "app/gui/command_line.h"
#include "widgets/views/window/main_window.h"

#include <QRegularExpression>

namespace qs {

namespace {

/// Endings of files that it opens.
const QStringList kEndings { QStringLiteral("onnx"), QStringLiteral("qscope"), QStringLiteral("npz"),
    QStringLiteral("npy") };

struct Offered {
    QStringList names; ///< with their dashes
    bool takesValue;
    QStringList words; ///< that its value is one of; empty: files, numbers, anything
    QString help;
};

QString dashed(const QString& name) { return (name.size() == 1 ? QStringLiteral("-") : QStringLiteral("--")) + name; }

/// The first line that the help has for it, without signs that shells read.
QString helpOf(const QString& option)
{
    const QRegularExpression line(
        QStringLiteral("^  .*%1\\b[^,]*?  +([^ ].*)$").arg(option), QRegularExpression::MultilineOption);
    QString text = line.match(helpText()).captured(1);
    return text.remove(QRegularExpression(QStringLiteral("[\\[\\]'\\\\]"))).replace(u':', u',');
}

QList<Offered> offered()
{
    QList<Offered> all;
    for (const QCommandLineOption& option : windowOptions()) {
        QStringList names;
        for (const QString& name : option.names())
            names << dashed(name);
        const QString longest = option.names().last();
        all << Offered { names, !option.valueName().isEmpty(), wordsOfOption(longest), helpOf(dashed(longest)) };
    }
    return all;
}

QString bashScript()
{
    QString names, cases;
    for (const Offered& option : offered()) {
        names += option.names.join(u' ') + u' ';
        if (!option.words.isEmpty())
            cases
                += QStringLiteral("        %1) words='%2' ;;\n").arg(option.names.join(u'|'), option.words.join(u' '));
        else if (option.takesValue)
            cases += QStringLiteral("        %1) compopt -o default; return ;;\n").arg(option.names.join(u'|'));
    }
    // Bash takes --view=graph apart into three words.
    return QStringLiteral("# bash completion of quantscope\n_quantscope() {\n"
                          "    local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} words= file\n"
                          "    COMPREPLY=()\n"
                          "    [ \"$option\" = = ] && option=${COMP_WORDS[COMP_CWORD - 2]}\n"
                          "    [ \"$cur\" = = ] && cur=\n"
                          "    case $option in\n%1    esac\n"
                          "    [[ -z $words && $cur == -* ]] && words='%2'\n"
                          "    if [ -n \"$words\" ]; then\n"
                          "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n        return\n    fi\n"
                          "    compopt -o filenames\n"
                          "    while IFS= read -r file; do\n"
                          "        case $file in\n            %3) COMPREPLY+=(\"$file\") ;;\n"
                          "            *) [ -d \"$file\" ] && COMPREPLY+=(\"$file\") ;;\n        esac\n"
                          "    done < <(compgen -f -- \"$cur\")\n}\ncomplete -F _quantscope quantscope\n")
        .arg(cases, names.trimmed(), QStringLiteral("*.") + kEndings.join(QStringLiteral("|*.")));
}

QString zshScript()
{
    QString text = QStringLiteral("#compdef quantscope\n_arguments");
    for (const Offered& option : offered())
        for (const QString& name : option.names) {
            const QString value = option.words.isEmpty() ? QStringLiteral(":value:_files")
                                                         : QStringLiteral(":value:(%1)").arg(option.words.join(u' '));
            text
                += QStringLiteral(" \\\n    '*%1[%2]%3'").arg(name, option.help, option.takesValue ? value : QString());
        }
    return text + QStringLiteral(" \\\n    '*:file:_files -g \"*.(%1)(-.)\"'\n").arg(kEndings.join(u'|'));
}

QString fishScript()
{
    QString text = QStringLiteral("# fish completion of quantscope\n"
                                  "complete -c quantscope -f -a '(for file in (commandline -ct)*; if test -d $file; "
                                  "echo $file/; else if string match -qr \"[.](%1)\\$\" -- $file; echo $file; end; "
                                  "end)'\n")
                       .arg(kEndings.join(u'|'));
    for (const Offered& option : offered())
        for (const QString& name : option.names) {
            text += name.startsWith(QStringLiteral("--")) ? QStringLiteral("complete -c quantscope -l ") + name.mid(2)
                                                          : QStringLiteral("complete -c quantscope -s ") + name.mid(1);
            if (!option.words.isEmpty())
                text += QStringLiteral(" -x -a '%1'").arg(option.words.join(u' '));
            else if (option.takesValue)
                text += QStringLiteral(" -r -F");
            text += QStringLiteral(" -d '%1'\n").arg(option.help);
        }
    return text;
}

} // namespace

Result<QString> completionScript(const QString& shell)
{
    if (shell == QStringLiteral("bash"))
        return bashScript();
    if (shell == QStringLiteral("zsh"))
        return zshScript();
    if (shell == QStringLiteral("fish"))
        return fishScript();
    return badUse("there is no completion for '" + shell.left(80).toStdString() + "'", "give bash, zsh or fish");
}

} // namespace qs
