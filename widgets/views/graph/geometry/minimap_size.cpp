// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/geometry/minimap_size.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kShortSide = 56, kLongSide = 190; ///< of the drawing; very long graphs are squeezed

} // namespace

QSize minimapSize(const QRectF& bounds, const QSize& canvas)
{
    const double aspect = bounds.width() / bounds.height();
    const double area = 110.0 * 100.0;
    const double width = std::clamp(std::sqrt(area * aspect), kShortSide, kLongSide);
    const double height = std::clamp(std::sqrt(area / aspect), kShortSide, kLongSide);
    return QSizeF(std::min(width, canvas.width() * 0.3) + 2 * kMapPadding,
        std::min(height, canvas.height() * 0.5) + 2 * kMapPadding)
        .toSize();
}

int minimapRoom(const QRectF& bounds, const QSize& canvas)
{
    return canvas.width() < kLeastMapCanvas || bounds.isEmpty() ? 0
                                                                : minimapSize(bounds, canvas).width() + 2 * kMapMargin;
}

} // namespace qs
