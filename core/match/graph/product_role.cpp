// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/graph/product_role.h"

#include "core/match/graph/channel_steps.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace qs {

namespace {

constexpr size_t kMostBehind = 16;

bool makesValue(const CanonicalGraph& g, NodeId id)
{
    const Node& node = g.graph().node(id);
    return node.hasOutput(0) && !node.is("Shape") && !node.is("Size");
}

/// Sizes are asked for beside. Invalid where there are several.
NodeId singleUse(const CanonicalGraph& g, ValueId root)
{
    NodeId found;
    for (const NodeId reader : g.readers(root)) {
        if (!makesValue(g, reader))
            continue;
        if (found.valid() && found != reader)
            return {};
        found = reader;
    }
    return found;
}

/// Without sizes, as of a Reshape.
std::vector<ValueId> realInputs(const CanonicalGraph& g, NodeId id)
{
    std::vector<ValueId> inputs = g.dataInputs(id);
    std::erase_if(inputs, [&](ValueId in) { return g.plan().facts().of(in).dtype == DType::Int64; });
    return inputs;
}

bool isMadeBySoftmax(const CanonicalGraph& g, ValueId root)
{
    constexpr size_t kFew = 4;
    for (size_t i = 0; i < kFew; ++i) {
        const NodeId producer = g.graph().value(root).producer;
        if (!producer.valid() || g.opClass(producer) == "Softmax")
            return producer.valid();
        const auto inputs = realInputs(g, producer);
        if (inputs.size() != 1)
            return false;
        root = inputs[0];
    }
    return false;
}

bool isActivation(const Node& node)
{
    constexpr std::array<std::string_view, 7> kGating { "Sigmoid", "Swish", "HardSwish", "HardSigmoid", "Gelu",
        "FastGelu", "QuickGelu" };
    return std::ranges::find(kGating, node.opType) != kGating.end();
}

/// By an activation, perhaps times what this is made of.
bool isActivated(const CanonicalGraph& g, ValueId root)
{
    const NodeId producer = g.graph().value(root).producer;
    if (!producer.valid() || isActivation(g.graph().node(producer)))
        return producer.valid();
    return g.graph().node(producer).is("Mul") && std::ranges::any_of(realInputs(g, producer), [&](ValueId in) {
        const NodeId before = g.graph().value(in).producer;
        return before.valid() && isActivation(g.graph().node(before));
    });
}

/// No other order of steps computes the same with these two exchanged.
bool isGating(ProductRole role) { return role == ProductRole::Gate || role == ProductRole::Gated; }

bool isGate(const CanonicalGraph& g, ValueId root)
{
    return std::ranges::any_of(g.readers(root), [&](NodeId id) { return isActivation(g.graph().node(id)); });
}

/// Of an operator of two values.
std::optional<ProductRole> roleIn(const CanonicalGraph& g, NodeId reader, ValueId root)
{
    const auto inputs = realInputs(g, reader);
    if (inputs.size() != 2 || inputs[0] == inputs[1])
        return std::nullopt;
    const ValueId other = inputs[0] == root ? inputs[1] : inputs[0];
    if (g.graph().node(reader).is("Mul"))
        return isActivated(g, other) ? std::optional(ProductRole::Gated) : std::nullopt;
    if (g.opClass(reader) != "MatMul")
        return std::nullopt;
    if (inputs[0] == root)
        return ProductRole::Query;
    return isMadeBySoftmax(g, other) ? ProductRole::Value : ProductRole::Key;
}

} // namespace

std::optional<ProductRole> productRole(const CanonicalGraph& g, NodeId product)
{
    if (!g.graph().node(product).hasOutput(0))
        return std::nullopt;
    ValueId root = g.root(g.graph().node(product).outputs[0]);
    for (size_t i = 0; i < kMostBehind; ++i) {
        if (isGate(g, root))
            return ProductRole::Gate;
        const NodeId reader = singleUse(g, root);
        if (!reader.valid() || g.isHeavy(reader))
            return std::nullopt;
        if (realInputs(g, reader).size() != 1)
            return roleIn(g, reader, root);
        root = g.root(g.graph().node(reader).outputs[0]);
    }
    return std::nullopt;
}

ValueId addedBias(const CanonicalGraph& g, NodeId product)
{
    const Node& node = g.graph().node(product);
    if (const ValueId own = ownBias(g.plan(), product); own.valid() || !node.hasOutput(0))
        return own;
    const NodeId reader = singleUse(g, g.root(node.outputs[0]));
    if (!reader.valid() || !g.graph().node(reader).is("Add") || realInputs(g, reader).size() != 1)
        return {};
    const auto& inputs = g.graph().node(reader).inputs;
    const auto constant
        = std::ranges::find_if(inputs, [&](ValueId in) { return in.valid() && g.plan().constant(in) != nullptr; });
    return constant == inputs.end() ? ValueId() : *constant;
}

bool areOneBias(const CanonicalGraph& f, ValueId ofFloat, const CanonicalGraph& q, ValueId ofQuant)
{
    constexpr double kMost = 0.1; // relatively: what rounding a bias explains
    const Tensor *a = ofFloat.valid() ? f.plan().constant(ofFloat) : nullptr,
                 *b = ofQuant.valid() ? q.plan().constant(ofQuant) : nullptr;
    if (!a || !b || !isFloat(a->dtype()) || !isFloat(b->dtype()) || a->count() != b->count())
        return false;
    const auto x = toDoubles(*a), y = toDoubles(*b);
    double noise = 0, signal = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        noise += (x[i] - y[i]) * (x[i] - y[i]);
        signal += x[i] * x[i];
    }
    return noise <= kMost * kMost * signal;
}

std::optional<bool> standForEachOther(const CanonicalGraph& f, NodeId a, const CanonicalGraph& q, NodeId b)
{
    const auto role = productRole(f, a), other = productRole(q, b);
    if (!role || !other)
        return std::nullopt;
    const bool one = *role == *other;
    if (isGating(*role) && isGating(*other))
        return one;
    const ValueId bias = addedBias(f, a), otherBias = addedBias(q, b);
    const bool told = bias.valid() && otherBias.valid() && areOneBias(f, bias, q, otherBias) == one;
    return told ? std::optional(one) : std::nullopt;
}

bool areCrossed(const CanonicalGraph& f, ValueId ofFloat, const CanonicalGraph& q, ValueId root)
{
    const NodeId a = f.graph().value(ofFloat).producer, b = q.graph().value(root).producer;
    if (!a.valid() || !b.valid() || !f.isHeavy(a) || !q.isHeavy(b) || f.opClass(a) != "MatMul"
        || q.opClass(b) != "MatMul")
        return false;
    return !standForEachOther(f, a, q, b).value_or(true);
}

} // namespace qs
