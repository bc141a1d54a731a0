// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/text/elided_name.h"

#include "widgets/models/words/tensor_label.h"

#include <QFontMetrics>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>

namespace qs {

namespace {

constexpr int kLeastEnd = 3; ///< letters that are kept behind the number

} // namespace

QString elidedName(const QString& name, const QFontMetrics& font, int room)
{
    static const QRegularExpression kNumber(QStringLiteral("\\d"));
    if (font.horizontalAdvance(name) <= room)
        return name;
    const QString shorter = withoutCommonEnd(name);
    const QString end = font.elidedText(shorter, Qt::ElideLeft, room);
    const QStringList parts = shorter.split(u'/');
    // Blocks are counted outside, what is in them is called alike; the last part is in sight anyway.
    const auto block
        = std::find_if(parts.begin(), parts.end() - 1, [](const QString& part) { return part.contains(kNumber); });
    if (block == parts.end() - 1 || end.contains(*block))
        return end;
    const auto withEnd = [&](qsizetype letters) { return *block + QStringLiteral("/…") + shorter.right(letters); };
    const auto fits = [&](qsizetype letters) { return font.horizontalAdvance(withEnd(letters)) <= room; };
    const QStringList behind(block + 1, parts.end());
    const qsizetype most = behind.join(u'/').size();
    qsizetype letters = kLeastEnd;
    if (!fits(letters))
        return end;
    while (letters < most && fits(letters + 1))
        ++letters;
    return withEnd(letters);
}

} // namespace qs
