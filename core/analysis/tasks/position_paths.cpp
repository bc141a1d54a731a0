// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/position_paths.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace qs {

namespace {

/// Inputs of a node that keep their places in its result; a product keeps those of its first factor.
size_t placedInputs(const Node& node)
{
    constexpr std::array<std::string_view, 18> kNone { "Shape", "Size", "ConstantOfShape", "Range", "RandomNormal",
        "RandomUniform", "NonZero", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "And", "Or",
        "IsNaN", "IsInf", "Trilu" };
    constexpr std::array<std::string_view, 11> kAll { "Add", "Sub", "Mul", "Div", "Pow", "Where", "Concat", "Sum",
        "Max", "Min", "Mean" };
    constexpr std::array<std::string_view, 4> kTwo { "Gather", "SkipLayerNormalization",
        "SkipSimplifiedLayerNormalization", "GatherBlockQuantized" };
    if (std::ranges::find(kNone, node.opType) != kNone.end())
        return 0;
    if (std::ranges::find(kAll, node.opType) != kAll.end())
        return node.inputs.size();
    return std::min<size_t>(node.inputs.size(), std::ranges::find(kTwo, node.opType) != kTwo.end() ? 2 : 1);
}

/// The first of these inputs and the one behind the last: a table on the left of a product, as a stored weight, has no
/// positions.
std::pair<size_t, size_t> placedRange(const Plan& plan, const Node& node)
{
    size_t end = placedInputs(node), begin = 0;
    if (end == 1 && node.inputs.size() > 1 && node.inputs[0].valid() && plan.constant(node.inputs[0]))
        end = ++begin + 1;
    return { begin, std::min(end, node.inputs.size()) };
}

} // namespace

std::set<ValueId> inputsByPosition(const Plan& plan, ValueId output)
{
    const Graph& graph = plan.graph();
    std::set<ValueId> seen { output }, found;
    std::vector<ValueId> left { output };
    while (!left.empty()) {
        const ValueId value = left.back();
        left.pop_back();
        const NodeId maker = graph.value(value).producer;
        if (!maker.valid()) {
            if (std::ranges::find(graph.inputs(), value) != graph.inputs().end())
                found.insert(value);
            continue;
        }
        const Node& node = graph.node(maker);
        const auto [begin, end] = placedRange(plan, node);
        for (size_t i = begin; i < end; ++i)
            if (node.inputs[i].valid() && !plan.constant(node.inputs[i]) && seen.insert(node.inputs[i]).second)
                left.push_back(node.inputs[i]);
    }
    return found;
}

std::set<ValueId> valuesByPosition(const Plan& plan, ValueId input)
{
    std::set<ValueId> made { input };
    for (const Node& node : plan.graph().nodes()) {
        const auto [begin, end] = placedRange(plan, node);
        for (size_t i = begin; i < end; ++i)
            if (node.inputs[i].valid() && made.contains(node.inputs[i])) {
                for (const ValueId out : node.outputs)
                    if (out.valid())
                        made.insert(out);
                break;
            }
    }
    return made;
}

} // namespace qs
