// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/coded_parameter.h"

#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <array>
#include <cmath>

namespace qs {

namespace {

constexpr auto kMovingParameters = std::to_array<MovingParameter>({
    { "Resize", 1, "roi" },
    { "Resize", 2, "scales" },
    { "Resize", 3, "sizes" },
    { "Upsample", 1, "scales" },
    { "Slice", 1, "starts" },
    { "Slice", 2, "ends" },
    { "Slice", 3, "axes" },
    { "Slice", 4, "steps" },
    { "Pad", 1, "pads" },
    { "Pad", 3, "axes" },
    { "Reshape", 1, "shape" },
    { "Expand", 1, "shape" },
    { "Tile", 1, "repeats" },
    { "Split", 1, "split" },
    { "Squeeze", 1, "axes" },
    { "Unsqueeze", 1, "axes" },
    { "Gather", 1, "indices" },
    { "GatherElements", 1, "indices" },
    { "GatherND", 1, "indices" },
});

} // namespace

std::span<const MovingParameter> movingParameters() { return kMovingParameters; }

std::optional<CodedParameter> codedParameter(
    const ComparePair& pair, const NodePartners& partners, NodeId id, const MovingParameter& parameter)
{
    const Plan& plan = *pair.quantPlan;
    const Graph& graph = plan.graph();
    const Node& node = graph.node(id);
    if (!node.hasInput(parameter.slot))
        return std::nullopt;
    ValueId from = node.inputs[parameter.slot];
    while (graph.value(from).producer.valid()) { // a Cast to whole numbers, say
        const Node& maker = graph.node(graph.value(from).producer);
        if (!maker.hasInput(0) || (maker.opType != "Cast" && !movesElements(maker)))
            break;
        from = maker.inputs[0];
    }
    const auto quantizer = pair.quantView->ofQuantized(from);
    const Tensor* stored = plan.constant(node.inputs[parameter.slot]);
    const Tensor* meant = partners.constant(id, parameter.slot);
    if (!quantizer || !stored || !meant || stored->count() != meant->count())
        return std::nullopt;
    const std::vector<double> is = toDoubles(*stored), was = toDoubles(*meant);
    CodedParameter found { &parameter, *quantizer, 0, is.size(), 0, 0 };
    for (size_t i = 0; i < is.size(); ++i)
        if (std::fabs(is[i] - was[i]) > std::fabs(found.stored - found.meant))
            found = { &parameter, *quantizer, i, is.size(), was[i], is[i] };
    return found.stored != found.meant ? std::optional(found) : std::nullopt;
}

} // namespace qs
