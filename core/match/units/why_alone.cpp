// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/units/why_alone.h"

#include "core/match/graph/part_of_step.h"

#include <algorithm>

namespace qs {

namespace {

using Flags = std::vector<bool>; ///< by value

/// A graph output depends on it.
Flags readValues(const Graph& graph)
{
    Flags read(graph.values().size());
    for (const ValueId out : graph.outputs())
        read[out.index()] = true;
    for (size_t n = graph.nodes().size(); n-- > 0;) {
        const Node& node = graph.nodes()[n];
        if (std::ranges::none_of(node.outputs, [&](ValueId out) { return out.valid() && read[out.index()]; }))
            continue;
        for (const auto* list : { &node.inputs, &node.captures })
            for (const ValueId in : *list)
                if (in.valid())
                    read[in.index()] = true;
    }
    return read;
}

/// It depends on elements of a graph input, or on chance.
Flags valuesOfData(const Plan& plan)
{
    const Graph& graph = plan.graph();
    Flags data(graph.values().size());
    for (const ValueId in : graph.inputs())
        data[in.index()] = true;
    for (const Node& node : graph.nodes()) {
        if (readsSizes(node))
            continue;
        const bool ofNothing = node.inputs.empty() && node.captures.empty();
        const auto isData = [&](ValueId in) { return in.valid() && data[in.index()]; };
        if (ofNothing || std::ranges::any_of(node.inputs, isData) || std::ranges::any_of(node.captures, isData))
            for (const ValueId out : node.outputs)
                if (out.valid() && !plan.constant(out))
                    data[out.index()] = true;
    }
    return data;
}

} // namespace

bool isRemovedActivation(const MatchedFile& file, const MatchedFile& other, ValueId value)
{
    const NodeId producer = file.graph.graph().value(value).producer;
    if (!producer.valid() || file.graph.kind(producer) != FlowKind::Activation)
        return false;
    const auto inputs = file.graph.dataInputs(producer);
    const auto partners = inputs.empty() ? file.partners.end() : file.partners.find(inputs[0]);
    return partners != file.partners.end() && std::ranges::none_of(partners->second, [&](ValueId root) {
        return isPartOfStep(file.graph, producer, other.graph, root)
            || std::ranges::any_of(other.graph.readers(root),
                [&](NodeId reader) { return other.graph.kind(reader) == FlowKind::Activation; });
    });
}

std::map<ValueId, WhyAlone> whyAlone(const MatchedFile& file, const MatchedFile& other,
    const std::vector<ValueId>& unmatched, const std::set<ValueId>& otherSteps)
{
    std::map<ValueId, WhyAlone> found;
    if (unmatched.empty())
        return found;
    const Graph& graph = file.graph.graph();
    const Flags read = readValues(graph), data = valuesOfData(file.graph.plan());
    for (const ValueId value : unmatched) {
        const ValueId named = other.graph.graph().findValue(graph.value(value).name);
        if (file.linked.contains(value))
            found[value] = WhyAlone::Linked;
        else if (!read[value.index()])
            found[value] = WhyAlone::Unread;
        else if (named.valid() && other.graph.plan().constant(named))
            found[value] = WhyAlone::Constant;
        else if (!data[value.index()] && file.graph.plan().blocked(value))
            continue; // of constants by operators that are not known: not of sizes
        else if (!data[value.index()])
            found[value] = WhyAlone::Sizes;
        else if (isRemovedActivation(file, other, value))
            found[value] = WhyAlone::RemovedActivation;
        else if (otherSteps.contains(value))
            found[value] = WhyAlone::OtherSteps;
    }
    return found;
}

} // namespace qs
