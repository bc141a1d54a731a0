// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/badges.h"

#include "core/base/text/utf8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

namespace qs {

namespace {

bool overlap(const LayoutRect& a, const LayoutRect& b)
{
    return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

LayoutRect around(LayoutPoint centre, LayoutSize size)
{
    return { centre.x - size.width / 2, centre.y - size.height / 2, size.width, size.height };
}

/// What already lies on the drawing, in bands of equal height.
class Occupied {
public:
    void add(const LayoutRect& rect)
    {
        for (int band = bandOf(rect.y); band <= bandOf(rect.bottom()); ++band)
            m_bands[band].push_back(rect);
    }
    bool free(const LayoutRect& rect) const
    {
        for (int band = bandOf(rect.y); band <= bandOf(rect.bottom()); ++band) {
            const auto it = m_bands.find(band);
            if (it != m_bands.end()
                && std::any_of(it->second.begin(), it->second.end(), [&](auto& r) { return overlap(r, rect); }))
                return false;
        }
        return true;
    }

private:
    static int bandOf(double y) { return static_cast<int>(std::floor(y / 100)); }
    std::unordered_map<int, std::vector<LayoutRect>> m_bands;
};

/// Edges of one box with one badge text.
struct Group {
    std::vector<uint32_t> edges;
};

} // namespace

LayoutSize badgeSize(const std::string& text) { return { 16 + 6.2 * double(characterCount(text)), 17 }; }

LayoutPoint pointOnPath(const EdgePath& path, double t)
{
    const size_t pieces = path.points.empty() ? 0 : (path.points.size() - 1) / 3;
    if (pieces == 0)
        return path.points.empty() ? LayoutPoint {} : path.points.front();
    const double at = std::clamp(t, 0.0, 1.0) * double(pieces);
    const size_t i = std::min(static_cast<size_t>(at), pieces - 1);
    const double f = at - double(i), g = 1 - f;
    const LayoutPoint* p = &path.points[3 * i];
    const std::array<double, 4> w { g * g * g, 3 * g * g * f, 3 * g * f * f, f * f * f };
    return { w[0] * p[0].x + w[1] * p[1].x + w[2] * p[2].x + w[3] * p[3].x,
        w[0] * p[0].y + w[1] * p[1].y + w[2] * p[2].y + w[3] * p[3].y };
}

void placeBadges(const FoldedGraph& graph, double rankGap, GraphLayout& layout)
{
    std::map<std::pair<uint32_t, std::string>, Group> groups;
    std::vector<uint32_t> outgoing(graph.boxes.size());
    for (uint32_t e = 0; e < graph.edges.size(); ++e) {
        ++outgoing[graph.edges[e].from];
        if (!graph.edges[e].badge.empty())
            groups[{ graph.edges[e].from, graph.edges[e].badge }].edges.push_back(e);
    }
    Occupied occupied;
    for (const LayoutRect& box : layout.boxes)
        occupied.add(box);
    for (const auto& [key, group] : groups) {
        if (group.edges.size() != outgoing[key.first])
            continue;
        const LayoutRect& box = layout.boxes[key.first];
        const LayoutPoint below { box.centreX(), box.bottom() + rankGap / 2 };
        layout.edges[group.edges.front()].badge = below;
        occupied.add(around(below, badgeSize(key.second)));
    }
    for (const auto& [key, group] : groups) {
        if (group.edges.size() == outgoing[key.first])
            continue;
        EdgePath& path = layout.edges[group.edges.front()];
        path.badge = pointOnPath(path, 0.5);
        for (const double t : { 0.5, 0.62, 0.38, 0.75, 0.25, 0.85 }) {
            const LayoutPoint at = pointOnPath(path, t);
            if (occupied.free(around(at, badgeSize(key.second)))) {
                path.badge = at;
                break;
            }
        }
        occupied.add(around(*path.badge, badgeSize(key.second)));
    }
}

} // namespace qs
