// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/geometry/band_index.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace qs {

namespace {

constexpr double kLowestBand = 512;

double levelHeight(const QRectF& rect)
{
    double height = kLowestBand;
    while (height < std::max(rect.width(), rect.height()))
        height *= 2;
    return height;
}

} // namespace

BandIndex::BandIndex(std::span<const QRectF> rects)
{
    std::map<double, std::vector<uint32_t>> byHeight;
    for (uint32_t i = 0; i < rects.size(); ++i)
        byHeight[levelHeight(rects[i])].push_back(i);
    for (const auto& [height, items] : byHeight) {
        Level level { height, rects[items.front()].top(), {}, {} };
        double bottom = level.top;
        for (const uint32_t i : items) {
            level.top = std::min(level.top, rects[i].top());
            bottom = std::max(bottom, rects[i].top());
        }
        const auto bandOf
            = [&](uint32_t i) { return static_cast<size_t>((rects[i].top() - level.top) / level.height); };
        level.begins.assign(static_cast<size_t>((bottom - level.top) / height) + 2, 0);
        for (const uint32_t i : items)
            ++level.begins[bandOf(i) + 1];
        for (size_t band = 1; band < level.begins.size(); ++band)
            level.begins[band] += level.begins[band - 1];
        level.items.resize(items.size());
        std::vector<size_t> next = level.begins;
        for (const uint32_t i : items)
            level.items[next[bandOf(i)]++] = i;
        m_levels.push_back(std::move(level));
    }
}

std::pair<size_t, size_t> BandIndex::Level::reaching(const QRectF& area) const
{
    const auto bands = static_cast<double>(begins.size() - 1);
    const auto bandAt = [&](double y) { return std::clamp(std::floor((y - top) / height), -1.0, bands); };
    const double first = std::max(bandAt(area.top()) - 1, 0.0), end = bandAt(area.bottom()) + 1;
    return { begins[static_cast<size_t>(std::min(first, bands))], begins[static_cast<size_t>(std::min(end, bands))] };
}

std::vector<uint32_t> BandIndex::in(std::span<const QRectF> rects, const QRectF& area) const
{
    std::vector<uint32_t> found;
    visit(rects, area, 0, [&](uint32_t i) { found.push_back(i); });
    std::ranges::sort(found);
    return found;
}

} // namespace qs
