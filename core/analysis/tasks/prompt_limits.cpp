// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/prompt_limits.h"

#include "core/base/text/lower_case.h"
#include "core/data/implied_inputs.h"
#include "core/graph/domains.h"
#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <array>
#include <vector>

namespace qs {

namespace {

/// Rows of a table that is stored in the file, as it is or in codes; 0: unknown.
int64_t storedRows(const Graph& graph, ValueId table)
{
    const Value& value = graph.value(table);
    if (value.initializer)
        return value.initializer->rank() > 0 ? value.initializer->dim(0) : 0;
    if (!value.producer.valid() || !isDequantizeLinear(graph.node(value.producer)))
        return 0;
    const Value& codes = graph.value(graph.node(value.producer).inputs[0]);
    return codes.initializer && codes.initializer->rank() > 0 ? codes.initializer->dim(0) : 0;
}

/// Rows that the node lets the numbers of input `slot` choose from; 0: it is no such node.
int64_t rowsBehind(const Graph& graph, const Node& node, size_t slot)
{
    if (slot != 1 || !node.hasInput(0))
        return 0;
    const bool gathers = (node.is("Gather") && node.attributes.integer("axis", 0) == 0)
        || (node.is("GatherBlockQuantized", kMicrosoftDomain) && node.attributes.integer("gather_axis", 0) == 0);
    return gathers ? storedRows(graph, node.inputs[0]) : 0;
}

/// The lower of both of which 0 is unknown.
int64_t fewer(int64_t a, int64_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

/// Its output holds the numbers of its input 0, of another type or shape.
bool keepsNumbers(const Node& node)
{
    static constexpr std::array<std::string_view, 6> kSame { "Cast", "Identity", "Reshape", "Flatten", "Squeeze",
        "Unsqueeze" };
    return node.domain.empty() && std::ranges::find(kSame, node.opType) != kSame.end();
}

/// The fewest rows of any table that reads the value, also behind nodes that change its type or shape alone, of which
/// strangers may chain as many as they like.
int64_t fewestRows(const Graph& graph, ValueId value)
{
    int64_t fewest = 0;
    for (std::vector<ValueId> ahead { value }; !ahead.empty();) {
        const ValueId next = ahead.back();
        ahead.pop_back();
        for (const Use& use : graph.value(next).uses) {
            const Node& node = graph.node(use.node);
            fewest = fewer(fewest, rowsBehind(graph, node, use.slot));
            if (use.slot == 0 && keepsNumbers(node) && node.hasOutput(0))
                ahead.push_back(node.outputs[0]);
        }
    }
    return fewest;
}

/// Positions that every attention with a rotary embedding of its own has cosines for; 0: unknown.
int64_t turnedPositions(const Graph& graph)
{
    constexpr size_t kCosines = 7;
    int64_t fewest = 0;
    for (const Node& node : graph.nodes()) {
        if (!node.is("GroupQueryAttention", kMicrosoftDomain) || node.attributes.integer("do_rotary", 0) == 0
            || !node.hasInput(kCosines))
            continue;
        fewest = fewer(fewest, storedRows(graph, node.inputs[kCosines]));
    }
    return fewest;
}

bool nameHolds(const InputSpec& input, std::string_view part)
{
    return lowerCase(input.name).find(part) != std::string::npos;
}

} // namespace

PromptLimits promptLimits(const Graph& graph, const std::vector<InputSpec>& inputs)
{
    PromptLimits limits;
    const bool twoTexts
        = std::ranges::any_of(inputs, [](const InputSpec& input) { return nameHolds(input, "encoder"); });
    for (size_t i = 0; i < inputs.size(); ++i) {
        const ValueId id = graph.findValue(inputs[i].name);
        if (const int64_t rows = id.valid() && isInteger(inputs[i].dtype) ? fewestRows(graph, id) : 0; rows > 0)
            limits.tables.push_back({ i, rows });
        if (nameHolds(inputs[i], "ids") && holdsTokens(inputs[i]) && !limits.ids)
            limits.ids = i;
        if (impliedBy(inputs[i]) == Implied::EmptyCache)
            limits.caches.push_back(i);
        const bool open = inputs[i].dims && inputs[i].dims->size() == 2 && !(*inputs[i].dims)[1].known();
        if (lowerCase(inputs[i].name) == "attention_mask" && open && !twoTexts)
            limits.mask = i;
    }
    if (limits.ids)
        limits.positions = turnedPositions(graph);
    return limits;
}

} // namespace qs
