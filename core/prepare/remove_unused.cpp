// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/needed_nodes.h"
#include "core/prepare/prepare.h"

#include <algorithm>

namespace qs {

namespace {

/// Passes its first input on as it is.
bool isCopy(const DraftNode& node)
{
    if (node.is("Identity"))
        return true;
    const bool mask = node.outputs.size() > 1 && !node.outputs[1].empty();
    return node.is("Dropout") && !mask && !node.hasInput(2);
}

/// Lets the readers of each copy read its source; a copy that makes a graph output, or that a subgraph reads, stays.
size_t removeCopies(GraphDraft& draft)
{
    std::unordered_map<std::string, std::string> source;
    std::erase_if(draft.nodes, [&](const DraftNode& node) {
        if (!isCopy(node) || draft.isOutput(node.outputs.front()) || draft.isCaptured(node.outputs.front()))
            return false;
        source.emplace(node.outputs.front(), node.inputs.front());
        return true;
    });
    for (DraftNode& node : draft.nodes)
        for (std::string& in : node.inputs)
            for (auto it = source.find(in); it != source.end(); it = source.find(in))
                in = it->second;
    return source.size();
}

size_t removeDead(GraphDraft& draft)
{
    const std::vector<bool> needed = neededNodes(draft);
    std::vector<DraftNode> kept;
    for (size_t n = 0; n < draft.nodes.size(); ++n)
        if (needed[n])
            kept.push_back(std::move(draft.nodes[n]));
    const size_t removed = draft.nodes.size() - kept.size();
    draft.nodes = std::move(kept);
    return removed;
}

} // namespace

std::vector<bool> neededNodes(const GraphDraft& draft)
{
    std::unordered_map<std::string, size_t> producer;
    for (size_t n = 0; n < draft.nodes.size(); ++n)
        for (const std::string& out : draft.nodes[n].outputs)
            producer.emplace(out, n);
    std::vector<bool> needed(draft.nodes.size(), false);
    std::vector<size_t> open;
    const auto need = [&](const std::string& name) {
        const auto it = producer.find(name);
        if (!name.empty() && it != producer.end() && !needed[it->second]) {
            needed[it->second] = true;
            open.push_back(it->second);
        }
    };
    std::ranges::for_each(draft.outputs(), need);
    while (!open.empty()) {
        const DraftNode& node = draft.nodes[open.back()];
        open.pop_back();
        std::ranges::for_each(node.inputs, need);
        std::ranges::for_each(draft.captures(node), need);
    }
    return needed;
}

Result<PassReport> removeUnused(GraphDraft& draft)
{
    PassReport report { "remove_unused", removeCopies(draft) };
    report.changes += removeDead(draft);
    draft.dropUnusedConstants();
    return report;
}

} // namespace qs
