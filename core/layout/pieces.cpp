// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/pieces.h"

#include <algorithm>

namespace qs {

namespace {

struct Layering {
    std::vector<uint32_t> inputs; ///< number of incoming edges by box
    std::vector<std::vector<uint32_t>> outgoing; ///< edge indices by box
};

Layering adjacency(const FoldedGraph& graph)
{
    Layering a { std::vector<uint32_t>(graph.boxes.size()), std::vector<std::vector<uint32_t>>(graph.boxes.size()) };
    for (size_t e = 0; e < graph.edges.size(); ++e) {
        ++a.inputs[graph.edges[e].to];
        a.outgoing[graph.edges[e].from].push_back(static_cast<uint32_t>(e));
    }
    return a;
}

/// Layers that have one box only and that no edge passes by.
std::vector<uint32_t> cutLayers(
    const FoldedGraph& graph, const std::vector<uint32_t>& layers, const std::vector<uint32_t>& count)
{
    std::vector<int64_t> change(count.size() + 1); // of the number of edges that pass a layer
    for (const DisplayEdge& edge : graph.edges) {
        if (layers[edge.to] > layers[edge.from] + 1) {
            ++change[layers[edge.from] + 1];
            --change[layers[edge.to]];
        }
    }
    std::vector<uint32_t> cuts;
    int64_t passing = 0;
    for (size_t layer = 0; layer < count.size(); ++layer) {
        passing += change[layer];
        if (passing == 0 && count[layer] == 1)
            cuts.push_back(static_cast<uint32_t>(layer));
    }
    return cuts;
}

} // namespace

std::vector<uint32_t> layersOf(const FoldedGraph& graph)
{
    const Layering around = adjacency(graph);
    std::vector<uint32_t> waiting = around.inputs;
    std::vector<uint32_t> layers(graph.boxes.size());
    std::vector<uint32_t> ready;
    for (size_t b = 0; b < graph.boxes.size(); ++b)
        if (waiting[b] == 0)
            ready.push_back(static_cast<uint32_t>(b));
    for (size_t i = 0; i < ready.size(); ++i) {
        for (const uint32_t e : around.outgoing[ready[i]]) {
            const uint32_t to = graph.edges[e].to;
            layers[to] = std::max(layers[to], layers[ready[i]] + 1);
            if (--waiting[to] == 0)
                ready.push_back(to);
        }
    }
    for (size_t b = 0; b < graph.boxes.size(); ++b) {
        if (around.inputs[b] != 0 || around.outgoing[b].empty())
            continue;
        uint32_t nearest = UINT32_MAX;
        for (const uint32_t e : around.outgoing[b])
            nearest = std::min(nearest, layers[graph.edges[e].to]);
        layers[b] = nearest - 1;
    }
    return layers;
}

std::vector<Piece> cutIntoPieces(const FoldedGraph& graph, const std::vector<uint32_t>& layers)
{
    if (graph.boxes.empty())
        return {};
    const uint32_t last = *std::max_element(layers.begin(), layers.end());
    std::vector<uint32_t> count(last + 1);
    for (const uint32_t layer : layers)
        ++count[layer];

    std::vector<uint32_t> borders { 0 };
    for (const uint32_t cut : cutLayers(graph, layers, count))
        if (cut > borders.back())
            borders.push_back(cut);
    if (borders.back() < last || last == 0)
        borders.push_back(last);

    std::vector<Piece> pieces(borders.size() - 1);
    std::vector<uint32_t> pieceOfLayer(last + 1, static_cast<uint32_t>(pieces.size() - 1));
    for (uint32_t p = 0; p < pieces.size(); ++p) {
        pieces[p].firstLayer = borders[p];
        pieces[p].lastLayer = borders[p + 1];
        for (uint32_t layer = borders[p]; layer < borders[p + 1]; ++layer)
            pieceOfLayer[layer] = p;
    }
    for (size_t b = 0; b < graph.boxes.size(); ++b) {
        const uint32_t p = pieceOfLayer[layers[b]];
        pieces[p].boxes.push_back(static_cast<uint32_t>(b));
        if (layers[b] == pieces[p].firstLayer && p > 0) {
            pieces[p].top = static_cast<uint32_t>(b);
            pieces[p - 1].boxes.push_back(static_cast<uint32_t>(b));
        }
    }
    for (size_t e = 0; e < graph.edges.size(); ++e)
        pieces[pieceOfLayer[layers[graph.edges[e].from]]].edges.push_back(static_cast<uint32_t>(e));
    return pieces;
}

} // namespace qs
