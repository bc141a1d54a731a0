// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/architecture/code_shape.h"

#include <QRegularExpression>
#include <QStringList>

namespace qs {

namespace {

/// The text with comments, literals and preprocessor lines as blanks; line ends stay where they are.
QString withoutWords(const QString& text)
{
    static const QRegularExpression words(
        R"re(//[^\n]*|/\*.*?\*/|\bR"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])')re"
        R"re(|(?<=\n)[ \t]*#(?:\\\n|[^\n])*)re",
        QRegularExpression::DotMatchesEverythingOption);
    QString bare;
    qsizetype end = 0;
    for (auto match = words.globalMatch(text); match.hasNext();) {
        const QRegularExpressionMatch found = match.next();
        bare += text.mid(end, found.capturedStart() - end);
        for (const QChar c : found.capturedView())
            bare += c == '\n' ? c : QChar(' ');
        end = found.capturedEnd();
    }
    return bare + text.mid(end);
}

/// The text without what stands between parentheses and angle brackets; the parentheses stay.
QString withoutParameters(const QString& text)
{
    static const QRegularExpression angles("<[^<>]*>");
    QString outside;
    int depth = 0;
    for (const QChar c : text) {
        depth -= c == ')';
        if (depth == 0)
            outside += c;
        depth += c == '(';
    }
    while (outside.contains(angles))
        outside.replace(angles, " ");
    return outside.remove("alignas()");
}

enum class Scope {
    Open, ///< a namespace: declarations stand in it
    Class,
    Function,
    Inside ///< of a function, an enum or an initializer: nothing in it is looked for
};

Scope scopeOf(const QString& declaration, Scope around)
{
    static const QRegularExpression open(R"(^\s*(inline\s+)?namespace\b|^\s*extern\s*$)");
    static const QRegularExpression record(R"((^|>|;|\s)(class|struct|union)\b[^()=]*$)");
    static const QRegularExpression assigned(R"((?<!operator)(?<![-=!<>+*/|&^%])=(?!=))");
    static const QRegularExpression enumeration(R"(\benum\b)");
    if (around == Scope::Function || around == Scope::Inside)
        return Scope::Inside;
    const QString outside = withoutParameters(declaration);
    if (open.match(outside).hasMatch())
        return Scope::Open;
    if (outside.contains(enumeration))
        return Scope::Inside;
    if (outside.contains("()") && !outside.contains(assigned))
        return Scope::Function;
    return record.match(outside).hasMatch() ? Scope::Class : Scope::Inside;
}

} // namespace

QVector<CodeBlock> codeBlocks(const QString& text)
{
    struct Open {
        Scope scope;
        int block; ///< index into the result; -1: not a block of interest
    };
    const QString bare = withoutWords(text);
    QVector<CodeBlock> blocks;
    QVector<Open> stack;
    QString declaration;
    int line = 1;
    int parentheses = 0;
    int hidden = 0; // braces that are open between parentheses: lambdas, initializers
    for (const QChar c : bare) {
        line += c == '\n';
        if (hidden > 0 || (parentheses > 0 && c == '{')) {
            hidden += (c == '{') - (c == '}');
            continue;
        }
        parentheses += (c == '(') - (c == ')');
        if (c == '{') {
            const Scope scope = scopeOf(declaration, stack.isEmpty() ? Scope::Open : stack.back().scope);
            const bool kept = scope == Scope::Function || scope == Scope::Class;
            if (kept)
                blocks.push_back({ scope == Scope::Class ? CodeBlock::Kind::Class : CodeBlock::Kind::Function,
                    declaration.section('(', 0, 0).simplified().right(60), line, 0 });
            stack.push_back({ scope, kept ? int(blocks.size()) - 1 : -1 });
            declaration.clear();
        } else if (c == '}' && !stack.isEmpty()) {
            if (const int block = stack.back().block; block >= 0)
                blocks[block].lines = line - blocks[block].line + 1;
            stack.pop_back();
            declaration.clear();
        } else if (c == ';' && parentheses == 0) {
            declaration.clear();
        } else {
            declaration += c;
        }
    }
    return blocks;
}

} // namespace qs
