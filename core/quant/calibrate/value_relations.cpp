// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/value_relations.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace qs {

namespace {

constexpr std::array<std::string_view, 8> kMovements { "DepthToSpace", "Flatten", "Identity", "Reshape", "SpaceToDepth",
    "Squeeze", "Transpose", "Unsqueeze" };

const Node* producer(const Plan& plan, ValueId id)
{
    const NodeId node = plan.graph().value(id).producer;
    return node.valid() ? &plan.graph().node(node) : nullptr;
}

/// Bound of a Clip: an input or, in old opsets, an attribute. Nothing when it depends on data.
std::optional<float> bound(const Plan& plan, const Node& clip, size_t input, const char* attribute, float absent)
{
    if (clip.opset < 11)
        return clip.attributes.real(attribute, absent);
    if (!clip.hasInput(input))
        return absent;
    const Tensor* constant = plan.constant(clip.inputs[input]);
    if (!constant || constant->count() != 1)
        return std::nullopt;
    return static_cast<float>(elementAsDouble(*constant, 0));
}

} // namespace

ValueId sameElements(const Plan& plan, ValueId id)
{
    const Node* node = producer(plan, id);
    if (!node || !node->domain.empty() || !node->hasInput(0)
        || std::ranges::find(kMovements, node->opType) == kMovements.end())
        return {};
    return node->inputs[0];
}

ValueRange Rectified::rangeOf(const ValueRange& from) const
{
    ValueRange range = from;
    if (from.empty())
        return range;
    range.low = std::clamp(from.low, 0.0f, most);
    range.high = std::clamp(from.high, 0.0f, most);
    range.least = range.low;
    return range;
}

std::optional<Rectified> rectified(const Plan& plan, ValueId id)
{
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const Node* node = producer(plan, id);
    if (!node || !node->domain.empty() || !node->hasInput(0))
        return std::nullopt;
    if (node->opType == "Relu")
        return Rectified { node->inputs[0], infinity };
    if (node->opType != "Clip")
        return std::nullopt;
    const auto low = bound(plan, *node, 1, "min", -infinity), high = bound(plan, *node, 2, "max", infinity);
    if (!low || !high || *low != 0 || !(*high >= 0))
        return std::nullopt;
    return Rectified { node->inputs[0], *high };
}

} // namespace qs
