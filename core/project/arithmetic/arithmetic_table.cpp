// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/arithmetic/arithmetic_table.h"

#include "core/analysis/lab/pair_detail.h"
#include "core/project/arithmetic/saturating_node.h"
#include "core/project/snapshot/comparing.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

/// Of one arithmetic.
struct Entry {
    std::string name, node;
    bool output;
    const Similarity& similarity;
};

class Rows {
public:
    void add(const Entry& entry, size_t arithmetic)
    {
        const auto [place, isNew] = m_places.try_emplace({ !entry.output, entry.name }, m_rows.size());
        if (isNew)
            m_rows.push_back({ entry.name, entry.node, entry.output, {}, {} });
        ArithmeticRow& row = m_rows[place->second];
        if (row.sqnrDb[arithmetic] || row.exact[arithmetic])
            return; // the float value has several partners: the first one counts
        row.sqnrDb[arithmetic] = entry.similarity.sqnrDb;
        row.exact[arithmetic] = entry.similarity.exact;
    }
    std::vector<ArithmeticRow> take() { return std::move(m_rows); }

private:
    std::map<std::pair<bool, std::string>, size_t> m_places;
    std::vector<ArithmeticRow> m_rows;
};

std::vector<ArithmeticRow> rowsOf(const std::array<SnapshotPtr, 3>& snapshots)
{
    Rows rows;
    for (size_t i = 0; i < snapshots.size(); ++i)
        for (const OutputRow& row : snapshots[i]->comparison->outputs)
            rows.add({ row.name, {}, true, row.similarity }, i);
    for (size_t i = 0; i < snapshots.size(); ++i)
        for (const ActivationRow& row : snapshots[i]->comparison->activations)
            rows.add({ row.name, row.node, false, row.accumulated }, i);
    return rows.take();
}

} // namespace

const ArithmeticRow* ArithmeticTable::find(const std::string& name, bool output) const
{
    const auto found = std::ranges::find_if(
        rows, [&](const ArithmeticRow& row) { return row.output == output && row.name == name; });
    return found == rows.end() ? nullptr : &*found;
}

Result<ArithmeticTable> arithmeticTable(
    const SnapshotPtr& snapshot, const ProgressFn& progress, const CancelToken& cancel)
{
    ArithmeticTable table;
    for (size_t i = 0; i < kArithmetics.size(); ++i) {
        table.snapshots[i] = snapshot;
        if (snapshot->inputs.profile != kArithmetics[i]) {
            Inputs inputs = measuredAlone(snapshot->inputs);
            inputs.profile = kArithmetics[i];
            QS_TRY(table.snapshots[i], buildSnapshot(inputs, withoutMemory(*snapshot), progress, cancel));
            if (!table.snapshots[i]->comparison)
                return badInput("cannot be compared", snapshot->inputs.quantPath, "open data for it");
        }
        table.numbers[i] = runNumbers(*table.snapshots[i]);
    }
    table.rows = rowsOf(table.snapshots);
    return table;
}

Result<std::vector<ChannelLoss>> channelLosses(
    const ArithmeticTable& table, const SaturationRow& row, std::span<const size_t> samples, const WorkContext& work)
{
    std::vector<ChannelLoss> channels(row.saturated.size());
    const double each = double(row.pairs) / double(std::max<size_t>(channels.size(), 1));
    for (size_t c = 0; c < channels.size(); ++c)
        channels[c] = { c, row.saturated[c], each > 0 ? double(row.saturated[c]) / each : 0, {}, {} };
    const std::array sides { std::pair(table.snapshots[1], &ChannelLoss::exactSumsDb),
        std::pair(table.snapshots[2], &ChannelLoss::saturatingDb) };
    for (const auto& [snapshot, number] : sides) {
        const ActivationRow* made = madeBy(*snapshot->comparison, row.quantNode);
        if (!made)
            return std::vector<ChannelLoss>();
        const DetailInputs inputs { comparePairOf(*snapshot), snapshot->data, snapshot->inputs.carry,
            snapshot->caches.activations };
        QS_TRY(const PairDetail detail, pairDetail(inputs, made->floatValue, made->quantValue, samples, work));
        if (detail.channels.size() != channels.size())
            return std::vector<ChannelLoss>();
        for (size_t c = 0; c < channels.size(); ++c)
            channels[c].*number = detail.channels[c].sqnrDb();
    }
    return channels;
}

} // namespace qs
