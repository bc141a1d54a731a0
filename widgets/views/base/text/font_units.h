// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetrics>

namespace qs {

/// Pixels for a length that is `units` pixels beside the usual font of 13 px: lengths that hold text are written in
/// these units and grow with the font. The style sheet's "u" is the same unit.
inline int fontUnits(const QFontMetrics& font, int units)
{
    constexpr int kUsualLine = 15; ///< height of a line of that font
    return (units * font.height() + kUsualLine / 2) / kUsualLine;
}

/// Height of a table's row.
inline int tableRow(const QFontMetrics& font) { return fontUnits(font, 24); }

} // namespace qs
