// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/model/node_order.h"

#include <algorithm>
#include <deque>
#include <set>

namespace qs {

void sortAsOnnxRuntime(GraphDraft& draft)
{
    std::unordered_map<std::string, std::vector<size_t>> readers;
    std::vector<size_t> missing(draft.nodes.size(), 0);
    std::deque<size_t> ready;
    for (size_t n = 0; n < draft.nodes.size(); ++n) {
        for (const std::string& in : draft.nodes[n].inputs)
            if (!in.empty()) {
                readers[in].push_back(n);
                ++missing[n];
            }
        if (missing[n] == 0)
            ready.push_back(n);
    }
    const auto give = [&](const std::string& name) {
        const auto it = readers.find(name);
        if (it == readers.end())
            return;
        for (size_t n : it->second)
            if (--missing[n] == 0)
                ready.push_back(n);
    };
    std::set<std::string> given(draft.constants().begin(), draft.constants().end());
    given.insert(draft.inputs().begin(), draft.inputs().end());
    std::ranges::for_each(given, give);
    std::vector<DraftNode> sorted;
    sorted.reserve(draft.nodes.size());
    std::vector<bool> done(draft.nodes.size(), false);
    while (!ready.empty()) {
        const size_t n = ready.front();
        ready.pop_front();
        done[n] = true;
        sorted.push_back(std::move(draft.nodes[n]));
        const std::vector<std::string> outputs = sorted.back().outputs;
        std::ranges::for_each(outputs, give);
    }
    for (size_t n = 0; n < draft.nodes.size(); ++n) // a cycle: build() says so
        if (!done[n])
            sorted.push_back(std::move(draft.nodes[n]));
    draft.nodes = std::move(sorted);
}

} // namespace qs
