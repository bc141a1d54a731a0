// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/language/token_lines.h"

#include "core/base/text/one_line.h"
#include "core/base/text/utf8.h"
#include "widgets/models/base/formatting.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

struct TokenTexts {
    Q_DECLARE_TR_FUNCTIONS(TokenTexts)
};

QString quoted(const TokenWords* words, int64_t id)
{
    return words ? TokenTexts::tr("“%1” (id %2)").arg(tokenText(words, id)).arg(id) : TokenTexts::tr("id %1").arg(id);
}

double numberOf(const PromptToken& before, TokenNumber number)
{
    return number == TokenNumber::Divergence ? before.scores.divergence
                                             : before.scores.quantLoss - before.scores.floatLoss;
}

QString guessTip(const PromptToken& before, const TokenWords* words)
{
    QStringList lines;
    const QString guess = quoted(words, before.floatGuess);
    lines << (before.floatGuess == before.quantGuess
            ? TokenTexts::tr("both models guess %1, the float one by %2").arg(guess, numberText(before.floatMargin))
            : TokenTexts::tr("the float model guesses %1 by %2, the quantized one %3")
                  .arg(guess, numberText(before.floatMargin), quoted(words, before.quantGuess)));
    if (std::isfinite(before.scores.floatLoss))
        lines << TokenTexts::tr("−log p of this token: %1 → %2 nats")
                     .arg(numberText(before.scores.floatLoss), numberText(before.scores.quantLoss));
    if (std::isfinite(before.scores.divergence))
        lines << TokenTexts::tr("KL divergence of the guess: %1 nats").arg(numberText(before.scores.divergence));
    return lines.join(u'\n');
}

} // namespace

double tokenScale(TokenNumber number) { return number == TokenNumber::Divergence ? 0.5 : 1; }

QString tokenText(const TokenWords* words, int64_t id)
{
    const std::string& word = words ? words->word(id) : std::string();
    if (word.empty())
        return QStringLiteral("#%1").arg(id);
    QString text;
    forEachCharacter(word, [&](const Utf8Character& c) {
        if (!c.valid)
            text += QStringLiteral("\\x%1").arg(uchar(c.bytes[0]), 2, 16, QLatin1Char('0'));
        else if (c.point == U' ')
            text += u'·';
        else if (c.point == U'\n')
            text += u'⏎';
        else
            text += isShown(c.point) ? QString::fromUtf8(c.bytes.data(), qsizetype(c.bytes.size()))
                                     : QStringLiteral("\\u%1").arg(uint(c.point), 4, 16, QLatin1Char('0'));
    });
    return text;
}

TokenLine promptLine(const PromptLook& look, const TokenWords* words, TokenNumber number)
{
    TokenLine line { TokenTexts::tr("the prompt"), {} };
    for (size_t i = 0; i < look.tokens.size(); ++i) {
        const PromptToken& token = look.tokens[i];
        TokenBox box { tokenText(words, token.id), TokenTexts::tr("token %1: %2").arg(i).arg(quoted(words, token.id)),
            {}, false, token.padding };
        if (token.padding)
            box.tip += u'\n' + TokenTexts::tr("padding: it counts in no number");
        else if (!look.guessOf(i))
            box.tip += u'\n' + TokenTexts::tr("the first: nobody guesses it");
        else {
            const PromptToken& before = look.tokens[*look.guessOf(i)];
            box.tip += u'\n' + guessTip(before, words);
            box.flipped = before.floatGuess != before.quantGuess;
            if (const double value = numberOf(before, number); std::isfinite(value))
                box.badness = std::clamp(value / tokenScale(number), 0.0, 1.0);
        }
        line.boxes.push_back(std::move(box));
    }
    return line;
}

std::vector<TokenLine> continuationLines(const ContinuedPrompt& made, const TokenWords* words)
{
    const auto flip = made.flip();
    const QString parts = flip ? TokenTexts::tr("they part at new token %1").arg(*flip)
                               : TokenTexts::tr("all %1 new tokens are the same").arg(made.floatIds.size());
    std::vector<TokenLine> lines {
        { TokenTexts::tr("float, behind token %1 · %2").arg(made.promptTokens - 1).arg(parts), {} },
        { TokenTexts::tr("quantized"), {} }
    };
    const auto add = [&](TokenLine& line, const std::vector<int64_t>& ids) {
        for (size_t i = 0; i < ids.size(); ++i) {
            QString tip = TokenTexts::tr("new token %1: %2").arg(i).arg(quoted(words, ids[i]));
            if (flip == i)
                tip += u'\n' + TokenTexts::tr("here they part");
            else if (flip && i > *flip)
                tip += u'\n' + TokenTexts::tr("the models read different texts by here");
            line.boxes.push_back({ tokenText(words, ids[i]), tip, {}, flip == i, flip && i > *flip });
        }
    };
    add(lines[0], made.floatIds);
    add(lines[1], made.quantIds);
    return lines;
}

} // namespace qs
