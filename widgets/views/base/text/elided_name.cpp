// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/text/elided_name.h"

#include "widgets/models/words/tensor_label.h"

#include <QCache>
#include <QFontMetrics>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>

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
    if (usual == name || name.count(u'/') < 2 || !alike(usual, [](const QString& other) { return other; }))
        return usual;
    const QString other = rememberedName(withoutLast(name), font, room);
    return alike(other, withoutLast) ? usual : other;
}

} // namespace qs
