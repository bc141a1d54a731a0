// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QRegularExpression>

namespace qs {

/// Lets a label go over several lines without deciding how wide what it stands in must be: a name that is longer than a
/// line goes on after a slash. Its text can be selected.
inline void wrapText(QLabel& label)
{
    label.setTextInteractionFlags(Qt::TextSelectableByMouse);
    label.setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    label.setWordWrap(true); // after the policy, which would take back that the height follows the width
}

/// The text with places within long words, twelve letters from their ends, where a line may end.
inline QString breakable(QString text)
{
    static const QRegularExpression kInLong(QStringLiteral("(?<=[_.\\-])(?=\\S{12})(?<=\\S{12})"));
    return text.replace(kInLong, QStringLiteral("\u200b"));
}

} // namespace qs
