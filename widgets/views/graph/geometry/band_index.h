// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>

#include <cstdint>
#include <span>
#include <vector>

namespace qs {

/// Rectangles by where they lie: horizontal bands, on levels of which each has bands twice as high as the one before.
/// A rectangle is held once, by the band of its top on the first level whose bands are as high as its longer side. So
/// memory is linear however far rectangles reach, and what is short is passed over level by level.
class BandIndex {
public:
    BandIndex() = default;
    /// Keeps the places alone, not the rectangles.
    explicit BandIndex(std::span<const QRectF> rects);

    /// Calls `found` with each rectangle of `rects`, those of the constructor, that overlaps `area`; those whose longer
    /// side is below `least` may be left out.
    template <class Found>
    void visit(std::span<const QRectF> rects, const QRectF& area, double least, const Found& found) const
    {
        for (const Level& level : m_levels) {
            if (level.height < least)
                continue;
            const auto [first, end] = level.reaching(area);
            for (size_t i = first; i < end; ++i)
                if (overlap(rects[level.items[i]], area))
                    found(level.items[i]);
        }
    }
    /// The same, in ascending order.
    std::vector<uint32_t> in(std::span<const QRectF> rects, const QRectF& area) const;

private:
    struct Level {
        double height = 0; ///< of a band, and of the longest side here
        double top = 0; ///< of the first band
        std::vector<size_t> begins; ///< by band: its first item; and the end
        std::vector<uint32_t> items;
        std::pair<size_t, size_t> reaching(const QRectF& area) const; ///< items that may overlap
    };
    static bool overlap(const QRectF& a, const QRectF& b)
    {
        return a.left() < b.right() && b.left() < a.right() && a.top() < b.bottom() && b.top() < a.bottom();
    }
    std::vector<Level> m_levels; ///< those with items
};

} // namespace qs
