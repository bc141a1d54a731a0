// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qdq/moved_elements.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string_view>

namespace qs {

namespace {

/// Elements of an input in the order in which an output has them.
using Places = std::vector<uint32_t>;

std::vector<int64_t> stridesOf(const Shape& shape)
{
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;)
        strides[i - 1] = strides[i] * shape[i];
    return strides;
}

/// A box of an input: output element (i, j ...) stands at first + i * steps[0] + j * steps[1] ...
Places boxOf(const Shape& shape, const std::vector<int64_t>& steps, int64_t first)
{
    Places places(static_cast<size_t>(elementCount(shape).value_or(0)));
    std::vector<int64_t> index(shape.size(), 0);
    int64_t at = first;
    for (uint32_t& place : places) {
        place = static_cast<uint32_t>(at);
        for (size_t d = shape.size(); d-- > 0;) {
            at += steps[d];
            if (++index[d] < shape[d])
                break;
            at -= steps[d] * shape[d];
            index[d] = 0;
        }
    }
    return places;
}

bool allBelow(const Places& places, int64_t count)
{
    return std::ranges::all_of(places, [&](uint32_t place) { return int64_t(place) < count; });
}

bool oneOf(const Node& node, std::initializer_list<std::string_view> types)
{
    return std::ranges::find(types, std::string_view(node.opType)) != types.end();
}

class Tracer {
public:
    Tracer(const Graph& graph, const ConstantLookup& constants, const std::function<bool(ValueId)>& isSource)
        : m_graph(graph)
        , m_constants(constants)
        , m_isSource(isSource)
    {
    }

    std::optional<MovedElements> trace(ValueId id)
    {
        const Tensor* value = m_constants(id);
        if (!value || value->count() == 0 || value->count() > std::numeric_limits<uint32_t>::max())
            return std::nullopt;
        if (m_isSource(id))
            return wholeOf(id, static_cast<size_t>(value->count()));
        const NodeId producer = m_graph.value(id).producer;
        if (!producer.valid() || !m_graph.node(producer).domain.empty())
            return std::nullopt;
        const Node& node = m_graph.node(producer);
        if (node.is("Concat"))
            return concat(node, value->shape());
        if (!node.hasInput(0))
            return std::nullopt;
        if (oneOf(node, { "Identity", "Dropout", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze" }))
            return trace(node.inputs[0]);
        const Tensor* from = m_constants(node.inputs[0]);
        const auto places = from && from->count() <= std::numeric_limits<uint32_t>::max()
            ? placesOf(node, id, from->shape(), value->shape())
            : std::nullopt;
        if (places && !allBelow(*places, from->count()))
            return std::nullopt; // the attributes say something else than what the engine went by
        auto moved = places ? trace(node.inputs[0]) : std::nullopt;
        if (!moved)
            return std::nullopt;
        return selected(*moved, *places);
    }

private:
    static MovedElements wholeOf(ValueId id, size_t count)
    {
        MovedElements all { { id }, std::vector<uint32_t>(count, 0), std::vector<uint32_t>(count) };
        std::iota(all.element.begin(), all.element.end(), 0U);
        return all;
    }

    static MovedElements selected(const MovedElements& from, const Places& places)
    {
        MovedElements to { from.sources, {}, {} };
        to.source.reserve(places.size());
        to.element.reserve(places.size());
        for (const uint32_t place : places) {
            to.source.push_back(from.source[place]);
            to.element.push_back(from.element[place]);
        }
        return to;
    }

    std::optional<Places> placesOf(const Node& node, ValueId out, const Shape& from, const Shape& to) const
    {
        if (node.is("Transpose"))
            return transposed(node, from, to);
        if (node.is("Split"))
            return split(node, out, from, to);
        if (node.is("Slice"))
            return slice(node, from, to);
        if (node.is("Gather"))
            return gather(node, from, to);
        if (node.is("Expand"))
            return expand(from, to);
        return std::nullopt;
    }

    static std::optional<Places> transposed(const Node& node, const Shape& from, const Shape& to)
    {
        std::vector<int64_t> order = node.attributes.integers("perm");
        for (size_t i = 0; order.size() < from.size(); ++i)
            order.push_back(static_cast<int64_t>(from.size() - 1 - i));
        const auto strides = stridesOf(from);
        std::vector<int64_t> steps;
        for (const int64_t given : order)
            if (const auto axis = normalizedAxis(given, from.size()))
                steps.push_back(strides[*axis]);
        return steps.size() == to.size() ? std::optional(boxOf(to, steps, 0)) : std::nullopt;
    }

    std::optional<Places> split(const Node& node, ValueId out, const Shape& from, const Shape& to) const
    {
        const auto axis = normalizedAxis(node.attributes.integer("axis", 0), from.size());
        if (!axis)
            return std::nullopt;
        int64_t before = 0;
        for (const ValueId other : node.outputs) {
            if (other == out)
                break;
            const Tensor* part = other.valid() ? m_constants(other) : nullptr;
            if (!part)
                return std::nullopt;
            before += part->dim(*axis);
        }
        const auto strides = stridesOf(from);
        return boxOf(to, strides, before * strides[*axis]);
    }

    std::optional<std::vector<int64_t>> integers(const Node& node, size_t slot, const char* attribute) const
    {
        if (node.hasInput(slot) && node.attributes.integers(attribute).empty()) { // as the engine reads them
            const Tensor* t = m_constants(node.inputs[slot]);
            return t ? std::optional(toInts(*t)) : std::nullopt;
        }
        return node.attributes.integers(attribute);
    }

    std::optional<Places> slice(const Node& node, const Shape& from, const Shape& to) const
    {
        const auto starts = integers(node, 1, "starts"), axes = integers(node, 3, "axes"),
                   jumps = integers(node, 4, "steps");
        if (!starts || !axes || !jumps)
            return std::nullopt;
        const auto strides = stridesOf(from);
        auto steps = strides;
        int64_t first = 0;
        for (size_t i = 0; i < starts->size(); ++i) {
            const auto axis = normalizedAxis(i < axes->size() ? (*axes)[i] : static_cast<int64_t>(i), from.size());
            if (!axis)
                return std::nullopt;
            const int64_t dim = from[*axis];
            const int64_t jump = std::clamp(i < jumps->size() ? (*jumps)[i] : 1, -dim, dim); // else one element only
            const int64_t start = (*starts)[i] < 0 ? (*starts)[i] + dim : (*starts)[i];
            first += std::clamp<int64_t>(start, 0, jump < 0 ? dim - 1 : dim) * strides[*axis];
            steps[*axis] = strides[*axis] * jump;
        }
        return boxOf(to, steps, first);
    }

    std::optional<Places> gather(const Node& node, const Shape& from, const Shape& to) const
    {
        const auto axis = normalizedAxis(node.attributes.integer("axis", 0), from.size());
        const Tensor* indices = node.hasInput(1) ? m_constants(node.inputs[1]) : nullptr;
        if (!axis || !indices)
            return std::nullopt;
        const int64_t dim = from[*axis], inner = stridesOf(from)[*axis];
        const auto rows = toInts(*indices);
        if (inner == 0 || std::ranges::any_of(rows, [&](int64_t row) { return row < -dim || row >= dim; }))
            return std::nullopt;
        const auto all = static_cast<size_t>(elementCount(to).value_or(0));
        const size_t outer = rows.empty() ? 0 : all / (rows.size() * static_cast<size_t>(inner));
        Places places;
        places.reserve(all);
        for (size_t o = 0; o < outer; ++o)
            for (const int64_t row : rows)
                for (int64_t i = 0; i < inner; ++i)
                    places.push_back(static_cast<uint32_t>(
                        (static_cast<int64_t>(o) * dim + (row < 0 ? row + dim : row)) * inner + i));
        return places;
    }

    static std::optional<Places> expand(const Shape& from, const Shape& to)
    {
        const auto strides = stridesOf(from);
        std::vector<int64_t> steps(to.size(), 0);
        const size_t offset = to.size() - from.size();
        for (size_t d = 0; d < from.size(); ++d)
            steps[offset + d] = from[d] == 1 ? 0 : strides[d];
        return boxOf(to, steps, 0);
    }

    std::optional<MovedElements> concat(const Node& node, const Shape& to)
    {
        const auto axis = normalizedAxis(node.attributes.integer("axis", 1), to.size()); // 1: of opset 1 to 3
        if (!axis)
            return std::nullopt;
        const auto strides = stridesOf(to);
        const auto count = static_cast<size_t>(elementCount(to).value_or(0));
        MovedElements all { {}, std::vector<uint32_t>(count), std::vector<uint32_t>(count) };
        int64_t before = 0;
        for (const ValueId in : node.inputs) {
            const auto part = in.valid() ? trace(in) : std::nullopt;
            if (!part)
                return std::nullopt;
            std::vector<uint32_t> known;
            for (const ValueId source : part->sources) {
                auto at = std::ranges::find(all.sources, source);
                if (at == all.sources.end())
                    at = all.sources.insert(at, source);
                known.push_back(static_cast<uint32_t>(at - all.sources.begin()));
            }
            const Shape& shape = m_constants(in)->shape();
            const Places places = boxOf(shape, strides, before * strides[*axis]);
            if (shape.size() != to.size() || !allBelow(places, static_cast<int64_t>(count)))
                return std::nullopt;
            for (size_t i = 0; i < places.size(); ++i) {
                all.source[places[i]] = known[part->source[i]];
                all.element[places[i]] = part->element[i];
            }
            before += shape[*axis];
        }
        return all;
    }

    const Graph& m_graph;
    const ConstantLookup& m_constants;
    const std::function<bool(ValueId)>& m_isSource;
};

} // namespace

bool MovedElements::inPlace() const
{
    if (sources.size() != 1)
        return false;
    for (size_t i = 0; i < element.size(); ++i)
        if (element[i] != i)
            return false;
    return true;
}

std::optional<MovedElements> movedElements(
    const Graph& graph, const ConstantLookup& constants, ValueId id, const std::function<bool(ValueId)>& isSource)
{
    return Tracer(graph, constants, isSource).trace(id);
}

} // namespace qs
