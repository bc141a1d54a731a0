// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/text/elided_name.h"

#include "widgets/models/words/tensor_label.h"

#include <QCache>
#include <QFontMetrics>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <optional>

namespace qs {

namespace {

constexpr int kLeastEnd = 3; ///< letters that are kept behind the number

struct Block {
    QString name; ///< empty: none
    qsizetype behind = 0; ///< letters that follow it and the separator
};

/// Blocks are counted outside, what is in them is called alike; the last part is in sight anyway.
Block outermostBlock(const QString& name, QChar separator)
{
    static const QRegularExpression kDigit(QStringLiteral("\\d")), kOther(QStringLiteral("\\D"));
    const QStringList parts = name.split(separator);
    const auto block
        = std::find_if(parts.begin(), parts.end() - 1, [](const QString& part) { return part.contains(kDigit); });
    if (block == parts.end() - 1)
        return {};
    const bool counted = block != parts.begin() && !block->contains(kOther); // "0" of "layers.0"
    return { counted ? *(block - 1) + separator + *block : *block,
        QStringList(block + 1, parts.end()).join(separator).size() };
}

} // namespace

QString elidedName(const QString& name, const QFontMetrics& font, int room)
{
    if (font.horizontalAdvance(name) <= room)
        return name;
    const QString shorter = withoutCommonEnd(name);
    if (font.horizontalAdvance(shorter) <= room)
        return shorter;
    const QString end = font.elidedText(shorter, Qt::ElideLeft, room);
    const QChar separator = shorter.contains(u'/') ? u'/' : u'.';
    const auto [block, behind] = outermostBlock(shorter, separator);
    if (block.isEmpty() || end.contains(block))
        return end;
    const QString gap
        = separator == u'/' ? QStringLiteral("/…") : QStringLiteral("…"); // "layers.3.…" would be four dots
    const auto withEnd = [&](qsizetype letters) { return block + gap + shorter.right(letters); };
    const auto fits = [&](qsizetype letters) { return font.horizontalAdvance(withEnd(letters)) <= room; };
    qsizetype letters = kLeastEnd;
    if (!fits(letters))
        return end;
    while (letters < behind && fits(letters + 1))
        ++letters;
    return withEnd(letters);
}

namespace {

/// Whole parts of it, in which it is not as the others are, and as much of what follows as there is room for:
/// "…layers.1…conv/relu". Nothing where there is not room for them.
std::optional<QString> withWhatDiffers(
    const QString& name, const QStringList& others, const QFontMetrics& font, int room)
{
    static const QRegularExpression kSeparator(QStringLiteral("[/._:-]"));
    qsizetype head = name.size(), tail = name.size();
    for (const QString& other : others) {
        const qsizetype least = std::min(name.size(), other.size());
        qsizetype begin = 0, end = 0;
        while (begin < least && name[begin] == other[begin])
            ++begin;
        while (end < least - begin && name[name.size() - 1 - end] == other[other.size() - 1 - end])
            ++end;
        head = std::min(head, begin), tail = std::min(tail, end);
    }
    const auto partBefore = [&](qsizetype at) { return at < 1 ? 0 : name.lastIndexOf(kSeparator, at - 1) + 1; };
    const qsizetype after = name.indexOf(kSeparator, name.size() - tail);
    const qsizetype first = partBefore(head), behind = after < 0 ? name.size() : after;
    const auto shown = [&](qsizetype from, qsizetype letters) {
        const bool whole = letters >= name.size() - behind;
        return (from > 0 ? QStringLiteral("…") : QString()) + name.mid(from, behind - from)
            + (whole ? name.mid(behind) : QStringLiteral("…") + name.right(letters));
    };
    const auto fits
        = [&](qsizetype from, qsizetype letters) { return font.horizontalAdvance(shown(from, letters)) <= room; };
    if (!fits(first, 0))
        return std::nullopt;
    const qsizetype named = partBefore(first - 1); // "layers.1" says more than "1"
    const qsizetype from = first > 0 && fits(named, std::min(kLeastEnd, int(name.size() - behind))) ? named : first;
    qsizetype letters = 0;
    while (letters < name.size() - behind && fits(from, letters + 1))
        ++letters;
    return shown(from, letters);
}

/// Rows are painted again and again beside each other. Of the GUI's thread.
QString rememberedName(const QString& name, const QFontMetrics& font, int room)
{
    static QCache<QString, QString> known(8192);
    const QString key = QStringLiteral("%1 %2 %3").arg(font.horizontalAdvance(u'm')).arg(room).arg(name);
    if (const QString* shown = known.object(key))
        return *shown;
    const QString shown = elidedName(name, font, room);
    known.insert(key, new QString(shown));
    return shown;
}

} // namespace

QString elidedName(const QString& name, const QStringList& beside, const QFontMetrics& font, int room)
{
    const QString usual = rememberedName(name, font, room);
    const auto withoutLast = [](const QString& path) {
        const QString shorter = withoutCommonEnd(path);
        return shorter.left(shorter.lastIndexOf(u'/'));
    };
    const auto alike = [&](const QString& shown, const auto& form) {
        return std::ranges::any_of(beside,
            [&](const QString& other) { return other != name && rememberedName(form(other), font, room) == shown; });
    };
    const auto itself = [](const QString& other) { return other; };
    if (usual == name || !alike(usual, itself))
        return usual;
    const QString other = name.count(u'/') < 2 ? QString() : rememberedName(withoutLast(name), font, room);
    if (!other.isEmpty() && !alike(other, withoutLast))
        return other;
    QStringList same;
    for (const QString& near : beside)
        if (near != name && rememberedName(near, font, room) == usual)
            same << near;
    return withWhatDiffers(name, same, font, room).value_or(usual);
}

QString withNarrowNames(const QString& text, const QFontMetrics& font, int room)
{
    static const QRegularExpression kPath(QStringLiteral("[/_:]|[A-Za-z]\\."));
    QStringList words = text.split(u' ');
    for (QString& word : words)
        if (word.contains(kPath))
            word = elidedName(word, font, room);
    return words.join(u' ');
}

} // namespace qs
