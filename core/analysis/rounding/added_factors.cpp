// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rounding/added_factors.h"

#include "core/analysis/rounding/attribute_differences.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace qs {

namespace {

constexpr double kNearOne = 0.03; ///< factors of averages of 5 x 5 elements in 8 bits are 2.4 % beside it
constexpr double kSameFactor = 1e-6;
constexpr size_t kMostSteps = 8; ///< nodes between a factor and what has a partner

/// The slot of the only number among what a Mul reads, where it is near 1; nothing for another node.
std::optional<size_t> factorSlot(const Plan& plan, const Node& node)
{
    std::optional<size_t> found;
    for (size_t slot = 0; node.is("Mul") && node.inputs.size() == 2 && node.hasOutput(0) && slot < 2; ++slot) {
        const Tensor* number = node.hasInput(slot) ? plan.constant(node.inputs[slot]) : nullptr;
        if (!number || number->count() != 1 || !isFloat(number->dtype()))
            continue;
        if (found)
            return std::nullopt;
        found = slot;
    }
    return found;
}

double factorAt(const Plan& plan, const Node& node, size_t slot)
{
    return toDoubles(*plan.constant(node.inputs[slot]))[0];
}

/// Some node of the float model multiplies by this number, whether it has a partner or not.
bool isInFloatModel(const Plan& plan, double value)
{
    return std::ranges::any_of(plan.graph().nodes(), [&](const Node& node) {
        const auto slot = factorSlot(plan, node);
        return slot && std::fabs(factorAt(plan, node, *slot) - value) <= kSameFactor;
    });
}

} // namespace

std::vector<AddedFactor> addedFactors(const ComparePair& pair)
{
    const Plan &plan = *pair.quantPlan, &floats = *pair.floatPlan;
    std::vector<AddedFactor> found;
    const auto& nodes = plan.graph().nodes();
    for (size_t n = 0; n < nodes.size(); ++n) {
        const auto slot = factorSlot(plan, nodes[n]);
        const double value = slot ? factorAt(plan, nodes[n], *slot) : 1;
        if (slot && value != 1 && std::fabs(value - 1) <= kNearOne && !pair.quantView->isPlumbing(NodeId(n))
            && !pair.quantView->ofValue(nodes[n].inputs[*slot]))
            found.push_back({ NodeId(n), *slot, value });
    }
    if (found.empty())
        return found;
    const FunctionPartners partners(pair);
    std::erase_if(found, [&](const AddedFactor& factor) {
        const NodeId partner = partners.of(factor.node);
        const bool multiplies = partner.valid() && factorSlot(floats, floats.graph().node(partner));
        return multiplies || isInFloatModel(floats, factor.value);
    });
    return found;
}

std::string addedFactorsText(const ComparePair& pair, const std::vector<AddedFactor>& factors)
{
    if (factors.empty())
        return {};
    const auto [low, high] = std::ranges::minmax_element(factors, {}, &AddedFactor::value);
    const std::string numbers = low->value == high->value ? fmt::format("{:.7g}", low->value)
                                                          : fmt::format("{:.7g} … {:.7g}", low->value, high->value);
    const Graph& graph = pair.quantPlan->graph();
    const std::string first = graph.value(graph.node(factors[0].node).outputs[0]).name;
    if (factors.size() == 1)
        return fmt::format("a node multiplies by {} where the float model does not; it makes {}", numbers, first);
    return fmt::format(
        "{} nodes multiply by {} where the float model does not; the first makes {}", factors.size(), numbers, first);
}

NodeId placeOfAdded(const ComparePair& pair, const std::vector<AddedFactor>& factors)
{
    if (factors.empty())
        return {};
    const Graph& graph = pair.quantPlan->graph();
    const FunctionPartners partners(pair);
    NodeId node = factors[0].node;
    for (size_t i = 0; i < kMostSteps && node.valid(); ++i) {
        if (const NodeId partner = partners.ofAny(node); partner.valid())
            return partner;
        const auto& uses = graph.value(graph.node(node).outputs[0]).uses;
        node = uses.empty() ? NodeId() : uses[0].node;
        if (node.valid() && !graph.node(node).hasOutput(0))
            break;
    }
    return {};
}

} // namespace qs
