// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>
#include <QString>

#include <string>
#include <vector>

namespace qs {

/// The layouts that the program brings along.
enum class LayoutName { Inspect, Compare, WhatIf, Teach };
inline constexpr LayoutName kLayoutNames[] { LayoutName::Inspect, LayoutName::Compare, LayoutName::WhatIf,
    LayoutName::Teach };

QString layoutTitle(LayoutName name); ///< "What-if"

/// Which panels a layout shows, and where; the rest waits behind the last group, closed.
struct Arrangement {
    using Groups = std::vector<std::vector<const char*>>; ///< panels in tabs, the first in front
    Groups left, right, bottom; ///< from top to bottom; bottom: from left to right
    int leftWidth = 0, leftLeast = 0, rightWidth = 0, rightLeast = 0; ///< percent of the window; pixels
    int bottomHeight = 0; ///< percent
    std::vector<int> leftHeights, rightHeights; ///< percent of the window, one a group
    std::vector<int> bottomWidths; ///< percent of what the left leaves, one a group
};

/// The layout Teach with the panels that a step needs: the lesson at the left, each of them where it usually is.
/// `hidden` are not there, needed or not.
Arrangement teachArrangementWith(
    const std::vector<std::string>& panels, const std::vector<std::string>& hidden, int lines);

/// For a window of that size, `lines` of its font high: where there is room, more stands side by side and less behind
/// tabs.
Arrangement arrangementOf(LayoutName name, QSize window, int lines);

} // namespace qs
