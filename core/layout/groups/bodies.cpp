// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/groups/bodies.h"

namespace qs {

namespace {

FoldedGraph foldedBody(const Graph& body, FoldMode mode)
{
    const ConstantLookup constants = [&body](ValueId id) -> const Tensor* {
        const auto& initializer = body.value(id).initializer;
        return initializer ? &*initializer : nullptr;
    };
    return foldGraph(body, QuantView::of(body, constants), constants, {}, mode);
}

class BodyAdder {
public:
    BodyAdder(FoldMode mode, FoldedGraph& folded)
        : m_mode(mode)
        , m_folded(folded)
    {
    }

    /// Of the nodes of `graph`, whose boxes are those of `drawn`, counted from `offset` on.
    void addOf(const Graph& graph, const FoldedGraph& drawn, uint32_t offset)
    {
        for (uint32_t b = 0; b < drawn.boxes.size(); ++b) {
            const DisplayBox& box = drawn.boxes[b];
            if (box.kind != DisplayBox::Kind::Operator || !box.mainNode().valid())
                continue;
            for (const auto& [name, value] : graph.node(box.mainNode()).attributes.all())
                if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value); body && *body)
                    add(**body, name, offset + b);
        }
    }

    std::vector<DrawnBody> take() { return std::move(m_bodies); }

private:
    void add(const Graph& body, const std::string& name, uint32_t owner)
    {
        const FoldedGraph drawn = foldedBody(body, m_mode);
        const auto first = static_cast<uint32_t>(m_folded.boxes.size());
        m_bodies.push_back({ owner, name, first, first + static_cast<uint32_t>(drawn.boxes.size()) });
        for (const DisplayBox& box : drawn.boxes) {
            DisplayBox copy;
            copy.kind = box.kind;
            copy.title = box.title;
            copy.subtitle = box.subtitle;
            m_folded.boxes.push_back(std::move(copy));
        }
        std::vector<bool> reads(drawn.boxes.size());
        for (const DisplayEdge& edge : drawn.edges) {
            reads[edge.to] = true;
            m_folded.edges.push_back({ first + edge.from, first + edge.to, {}, {}, edge.badge });
        }
        for (uint32_t b = 0; b < reads.size(); ++b)
            if (!reads[b])
                m_folded.edges.push_back({ owner, first + b, {}, {}, {} });
        addOf(body, drawn, first);
    }

    FoldMode m_mode;
    FoldedGraph& m_folded;
    std::vector<DrawnBody> m_bodies;
};

} // namespace

std::vector<DrawnBody> addBodies(const Graph& graph, FoldMode mode, FoldedGraph& folded)
{
    const FoldedGraph outer = folded;
    BodyAdder adder(mode, folded);
    adder.addOf(graph, outer, 0);
    return adder.take();
}

} // namespace qs
