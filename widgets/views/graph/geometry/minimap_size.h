// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>
#include <QSize>

namespace qs {

inline constexpr int kMapMargin = 10; ///< pixels between the map and the canvas's edges
inline constexpr double kMapPadding = 6; ///< around its drawing
inline constexpr int kLeastMapCanvas = 360; ///< pixels of width below which the map would lie over the graph

/// Of the map of a drawing with these bounds.
QSize minimapSize(const QRectF& bounds, const QSize& canvas);
/// What it takes at the right of the canvas; 0: it is not shown there.
int minimapRoom(const QRectF& bounds, const QSize& canvas);

} // namespace qs
