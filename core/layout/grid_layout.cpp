// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/piece_layout.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace qs {

namespace {

constexpr int kSweeps = 6;

/// Order and places of a piece's boxes by layer; boxes are counted within the piece.
class Grid {
public:
    explicit Grid(const PieceInput& input)
        : m_input(input)
        , m_above(input.piece.boxes.size())
        , m_below(input.piece.boxes.size())
    {
        std::map<uint32_t, size_t> local;
        for (size_t i = 0; i < input.piece.boxes.size(); ++i) {
            local[input.piece.boxes[i]] = i;
            m_layers.resize(std::max(m_layers.size(), layerOf(i) + 1));
            m_layers[layerOf(i)].push_back(i);
        }
        for (const uint32_t e : input.piece.edges) {
            const DisplayEdge& edge = input.graph.edges[e];
            m_ends.emplace_back(local.at(edge.from), local.at(edge.to));
            m_above[m_ends.back().second].push_back(m_ends.back().first);
            m_below[m_ends.back().first].push_back(m_ends.back().second);
        }
    }

    PieceLayout run()
    {
        m_centres.resize(m_input.piece.boxes.size());
        placeAll();
        for (int sweep = 0; sweep < kSweeps; ++sweep) {
            const bool down = sweep % 2 == 0;
            for (size_t i = 0; i < m_layers.size(); ++i)
                reorder(m_layers[down ? i : m_layers.size() - 1 - i], down ? m_above : m_below);
        }
        PieceLayout result;
        result.centres = m_centres;
        for (const auto& [from, to] : m_ends)
            result.edges.push_back(verticalCurve({ m_centres[from].x, m_centres[from].y + size(from).height / 2 },
                { m_centres[to].x, m_centres[to].y - size(to).height / 2 }));
        return result;
    }

private:
    size_t layerOf(size_t box) const { return m_input.layers[m_input.piece.boxes[box]] - m_input.piece.firstLayer; }
    const LayoutSize& size(size_t box) const { return m_input.sizes[m_input.piece.boxes[box]]; }

    void placeAll()
    {
        double y = 0;
        for (const std::vector<size_t>& layer : m_layers) {
            double height = 0;
            for (const size_t box : layer)
                height = std::max(height, size(box).height);
            for (const size_t box : layer)
                m_centres[box].y = y + height / 2;
            placeRow(layer);
            y += height + m_input.options.rankGap;
        }
    }

    /// Side by side, the row centred on 0.
    void placeRow(const std::vector<size_t>& layer)
    {
        double width = -m_input.options.boxGap;
        for (const size_t box : layer)
            width += size(box).width + m_input.options.boxGap;
        double x = -width / 2;
        for (const size_t box : layer) {
            m_centres[box].x = x + size(box).width / 2;
            x += size(box).width + m_input.options.boxGap;
        }
    }

    void reorder(std::vector<size_t>& layer, const std::vector<std::vector<size_t>>& neighbours)
    {
        std::map<size_t, double> wanted;
        for (const size_t box : layer) {
            const std::vector<size_t>& around = neighbours[box];
            const double sum = std::accumulate(
                around.begin(), around.end(), 0.0, [this](double s, size_t n) { return s + m_centres[n].x; });
            wanted[box] = around.empty() ? m_centres[box].x : sum / double(around.size());
        }
        std::stable_sort(layer.begin(), layer.end(), [&](size_t a, size_t b) { return wanted[a] < wanted[b]; });
        placeRow(layer);
    }

    const PieceInput& m_input;
    std::vector<std::vector<size_t>> m_above, m_below; ///< neighbours by box
    std::vector<std::vector<size_t>> m_layers;
    std::vector<std::pair<size_t, size_t>> m_ends; ///< by edge of the piece
    std::vector<LayoutPoint> m_centres;
};

} // namespace

PieceLayout layoutOnGrid(const PieceInput& input) { return Grid(input).run(); }

EdgePath verticalCurve(LayoutPoint from, LayoutPoint to)
{
    const double bend = (to.y - from.y) / 2;
    return { { from, { from.x, from.y + bend }, { to.x, to.y - bend }, to }, std::nullopt };
}

} // namespace qs
