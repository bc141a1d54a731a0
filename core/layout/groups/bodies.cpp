// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/groups/bodies.h"

#include <numeric>
#include <optional>
#include <set>
#include <utility>

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

/// What a value that depends on no node of the body is made of: the name of a value of the graph around it.
std::optional<std::string> outerValue(const Graph& body, ValueId value)
{
    for (size_t steps = 0; value.valid() && steps <= body.nodes().size(); ++steps) {
        const Value& at = body.value(value);
        if (!at.producer.valid())
            return at.initializer || body.isInput(value) ? std::nullopt : std::optional(at.name);
        const Node& producer = body.node(at.producer); // a constant of the body, or something quantized
        value = producer.hasInput(0) ? producer.inputs[0] : ValueId {};
    }
    return std::nullopt;
}

class BodyAdder {
public:
    BodyAdder(FoldMode mode, FoldedGraph& folded)
        : m_mode(mode)
        , m_folded(folded)
    {
    }

    /// A graph whose boxes are part of the whole drawing, counted from `offset` on.
    struct Level {
        const Graph& graph;
        const FoldedGraph& drawn; ///< it alone
        uint32_t offset;
        const Level* outer; ///< null: the main graph
    };

    void addOf(const Level& level)
    {
        for (uint32_t b = 0; b < level.drawn.boxes.size(); ++b) {
            const DisplayBox& box = level.drawn.boxes[b];
            if (box.kind != DisplayBox::Kind::Operator || !box.mainNode().valid())
                continue;
            for (const auto& [name, value] : level.graph.node(box.mainNode()).attributes.all())
                if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value); body && *body)
                    add(**body, name, level, b);
        }
    }

    std::vector<DrawnBody> take() { return std::move(m_bodies); }

private:
    void add(const Graph& body, const std::string& name, const Level& around, uint32_t ownerBox)
    {
        const FoldedGraph drawn = foldedBody(body, m_mode);
        const auto first = static_cast<uint32_t>(m_folded.boxes.size());
        const uint32_t owner = around.offset + ownerBox;
        const InnerPlace within
            = around.outer ? m_folded.boxes[owner].inner : InnerPlace { around.drawn.boxes[ownerBox].mainNode(), {} };
        m_bodies.push_back({ owner, name, first, first + static_cast<uint32_t>(drawn.boxes.size()) });
        for (const DisplayBox& box : drawn.boxes) {
            DisplayBox copy;
            copy.kind = box.kind;
            copy.title = box.title;
            copy.subtitle = box.subtitle;
            copy.inner = within;
            if (box.mainNode().valid())
                copy.inner.steps.push_back({ name, box.mainNode() });
            else
                copy.inner = {};
            m_folded.boxes.push_back(std::move(copy));
        }
        addEdges(body, drawn, around, owner, first);
        addOf({ body, drawn, first, &around });
    }

    void addEdges(const Graph& body, const FoldedGraph& drawn, const Level& around, uint32_t owner, uint32_t first)
    {
        std::vector<bool> reads(drawn.boxes.size());
        for (const DisplayEdge& edge : drawn.edges) {
            reads[edge.to] = true;
            m_folded.edges.push_back({ first + edge.from, first + edge.to, {}, {}, edge.badge });
        }
        for (uint32_t b = 0; b < reads.size(); ++b) {
            if (!reads[b])
                m_folded.edges.push_back({ owner, first + b, {}, {}, {} });
            addOuterEdges(body, drawn.boxes[b], around, first + b);
        }
    }

    /// From the boxes outside whose values a box of the body reads.
    void addOuterEdges(const Graph& body, const DisplayBox& box, const Level& around, uint32_t to)
    {
        std::vector<ValueId> read;
        for (const BoxWeight& weight : box.weights)
            read.push_back(weight.value);
        if (box.kind == DisplayBox::Kind::Output)
            read.insert(read.end(), box.values.begin(), box.values.end());
        std::set<std::string> known;
        for (const ValueId value : read) {
            const auto name = outerValue(body, value);
            if (!name || !known.insert(*name).second)
                continue;
            if (const auto source = makerOf(*name, around))
                m_folded.edges.push_back({ source->first, to, source->second, {}, {} });
        }
    }

    /// The box that makes a value of that name, seen from a body in this graph, and the value where it is one of the
    /// main graph; nothing for constants.
    static std::optional<std::pair<uint32_t, ValueId>> makerOf(const std::string& name, const Level& around)
    {
        for (const Level* level = &around; level; level = level->outer) {
            const ValueId value = level->graph.findValue(name);
            if (const auto box = value.valid() ? level->drawn.box(value) : std::nullopt)
                return std::pair(level->offset + *box, level->outer ? ValueId {} : value);
        }
        return std::nullopt;
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
    adder.addOf({ graph, outer, 0, nullptr });
    return adder.take();
}

std::vector<uint32_t> outermostOwners(size_t boxes, const std::vector<DrawnBody>& bodies)
{
    std::vector<uint32_t> owners(boxes);
    std::iota(owners.begin(), owners.end(), 0u);
    for (const DrawnBody& body : bodies) // outer ones first
        for (uint32_t b = body.first; b < body.end; ++b)
            owners[b] = owners[body.owner];
    return owners;
}

} // namespace qs
