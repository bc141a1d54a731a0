// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/groups/repeats.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace qs {

namespace {

bool contains(const BlockRun& outer, const BlockRun& inner)
{
    return outer.first <= inner.first && inner.end() <= outer.end() && !(outer == inner);
}

/// The boxes of one block; whatever they read from outside stands in front, each box once and like nothing else.
struct BlockRow {
    BoxRow row;
    uint32_t outside = 0;
};

BlockRow rowOfBlock(const BoxRow& row, uint32_t first, uint32_t end)
{
    std::map<uint32_t, uint32_t> places; // of boxes outside
    for (uint32_t i = first; i < end; ++i)
        for (const uint32_t from : row.inputs[i])
            if (from < first)
                places.try_emplace(from, 0);
    BlockRow block;
    uint32_t unlike = *std::ranges::max_element(row.labels);
    const auto append = [&](uint32_t label, uint32_t depth) {
        block.row.labels.push_back(label);
        block.row.inputs.emplace_back();
        if (!row.scopeDepth.empty())
            block.row.scopeDepth.push_back(depth);
    };
    for (auto& [from, place] : places) {
        place = block.outside++;
        append(++unlike, 0);
    }
    for (uint32_t i = first; i < end; ++i) {
        append(row.labels[i], row.scopeDepth.empty() ? 0 : row.scopeDepth[i]);
        for (const uint32_t from : row.inputs[i])
            block.row.inputs.back().push_back(from < first ? places[from] : from - first + block.outside);
    }
    return block;
}

/// A row with each of some runs as one box.
class JoinedRow {
public:
    /// `runs` in ascending order, none within another.
    JoinedRow(const BoxRow& row, const std::vector<BlockRun>& runs)
        : m_row(row)
        , m_unlike(row.labels.empty() ? 0 : *std::ranges::max_element(row.labels))
    {
        const auto n = static_cast<uint32_t>(row.labels.size());
        auto run = runs.begin();
        for (uint32_t i = 0; i < n;) {
            const bool joined = run != runs.end() && run->first == i;
            const uint32_t end = joined ? run->end() : i + 1;
            append(i, end, joined ? labelOf(*run) : row.labels[i]);
            run += joined;
            i = end;
        }
        m_first.push_back(n);
    }

    /// As places of the row that it was made of.
    std::vector<BlockRun> runs() const
    {
        std::vector<BlockRun> found;
        for (const BlockRun& run : findRuns(m_joined)) {
            const uint32_t first = m_first[run.first], end = m_first[run.end()];
            found.push_back({ first, (end - first) / run.count, run.count });
        }
        return found;
    }

private:
    /// Runs of as many blocks that are equal inside are alike.
    uint32_t labelOf(const BlockRun& run)
    {
        std::vector<uint32_t> key { run.count };
        for (uint32_t i = run.first; i < run.first + run.period; ++i) {
            key.push_back(m_row.labels[i]);
            for (const uint32_t from : m_row.inputs[i])
                key.push_back(from < run.first ? 0 : from - run.first + 1);
            key.push_back(UINT32_MAX);
        }
        const auto [it, isNew] = m_labels.try_emplace(key, m_unlike + 1);
        m_unlike += isNew;
        return it->second;
    }

    void append(uint32_t first, uint32_t end, uint32_t label)
    {
        const auto place = static_cast<uint32_t>(m_first.size());
        m_first.push_back(first);
        m_joined.labels.push_back(label);
        m_joined.inputs.emplace_back();
        if (!m_row.scopeDepth.empty())
            m_joined.scopeDepth.push_back(m_row.scopeDepth[first]);
        for (uint32_t i = first; i < end; ++i) {
            m_place.push_back(place);
            for (const uint32_t from : m_row.inputs[i]) {
                std::vector<uint32_t>& inputs = m_joined.inputs.back();
                const bool again = end - first > 1 && std::ranges::find(inputs, m_place[from]) != inputs.end();
                if (from < first && !again)
                    inputs.push_back(m_place[from]);
            }
        }
    }

    const BoxRow& m_row;
    uint32_t m_unlike; ///< the greatest label that is taken
    std::map<std::vector<uint32_t>, uint32_t> m_labels;
    BoxRow m_joined;
    std::vector<uint32_t> m_first; ///< by box of the joined row, and the end
    std::vector<uint32_t> m_place; ///< in the joined row, by box
};

/// Runs of which none lies in another, in ascending order.
std::vector<BlockRun> outermost(const std::vector<BlockRun>& runs)
{
    std::vector<BlockRun> found;
    for (const BlockRun& run : runs)
        if (std::ranges::none_of(runs, [&](const BlockRun& other) { return contains(other, run); }))
            found.push_back(run);
    std::ranges::sort(found, {}, &BlockRun::first);
    return found;
}

} // namespace

std::vector<BlockRun> findNestedRuns(const BoxRow& row)
{
    std::vector<BlockRun> all = findRuns(row);
    for (std::vector<BlockRun> around = all; !around.empty();) {
        const JoinedRow joined(row, outermost(all));
        around = joined.runs();
        std::erase_if(around, [&](const BlockRun& run) { return std::ranges::find(all, run) != all.end(); });
        all.insert(all.end(), around.begin(), around.end());
    }
    const std::vector<BlockRun> found = all;
    for (const BlockRun& run : found) {
        if (std::ranges::any_of(found, [&](const BlockRun& other) { return contains(run, other); }))
            continue;
        const BlockRow block = rowOfBlock(row, run.first, run.first + run.period);
        for (const BlockRun& inner : findNestedRuns(block.row))
            for (uint32_t b = 0; b < run.count; ++b)
                all.push_back({ inner.first - block.outside + run.first + b * run.period, inner.period, inner.count });
    }
    std::ranges::sort(all, {}, [](const BlockRun& run) { return std::tuple(run.first, UINT32_MAX - run.end()); });
    return all;
}

} // namespace qs
