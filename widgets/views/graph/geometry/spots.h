// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace qs {

/// Squares of two pixels on which one thing alone is drawn. They lie still in the scene while the view moves, so that
/// the same things are drawn.
class Spots {
public:
    Spots(const QRectF& visible, double zoom)
        : m_perUnit(zoom / kPixels)
        , m_left(std::floor(visible.left() * m_perUnit))
        , m_top(std::floor(visible.top() * m_perUnit))
        , m_width(static_cast<size_t>(visible.width() * m_perUnit) + 2)
        , m_height(static_cast<size_t>(visible.height() * m_perUnit) + 2)
        , m_taken(m_width * m_height)
    {
    }
    /// Where a point lies; those outside of the view on its border.
    size_t at(QPointF point) const
    {
        const auto place = [](double from, size_t size) {
            return static_cast<size_t>(std::clamp(from, 0.0, static_cast<double>(size - 1)));
        };
        return place(std::floor(point.y() * m_perUnit) - m_top, m_height) * m_width
            + place(std::floor(point.x() * m_perUnit) - m_left, m_width);
    }
    /// False where something has it already.
    bool take(size_t spot)
    {
        const bool free = !m_taken[spot];
        m_taken[spot] = true;
        return free;
    }

private:
    static constexpr double kPixels = 2;
    const double m_perUnit, m_left, m_top;
    const size_t m_width, m_height;
    std::vector<bool> m_taken;
};

} // namespace qs
