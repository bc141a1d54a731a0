// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/arithmetic/saturation_model.h"

#include "core/project/arithmetic/saturating_node.h"
#include "widgets/models/base/cells.h"

namespace qs {

namespace {

constexpr double kFullyBad = 0.01; ///< share of saturated pairs that is drawn as worst
constexpr size_t kMostCells = 64;

/// Of one channel's pairs.
double channelShare(const SaturationRow& row, uint64_t saturated)
{
    return row.pairs ? double(saturated) * double(row.saturated.size()) / double(row.pairs) : 0;
}

Number saturatedShare(const SaturatingNode& node) { return node.counts.share(); }

Number worstShare(const SaturatingNode& node)
{
    const auto& channels = node.counts.saturated;
    return channels.empty() ? Number() : channelShare(node.counts, std::ranges::max(channels));
}

QString saturatedChannel(const SaturatingNode& node)
{
    if (node.counts.saturatedPairs() == 0)
        return absentText();
    const auto& channels = node.counts.saturated;
    return SaturationModel::tr("%1 (%2)")
        .arg(percentText(worstShare(node)))
        .arg(std::ranges::max_element(channels) - channels.begin());
}

QString worstPairText(const SaturatingNode& node)
{
    const SaturatedPair& p = node.counts.worst;
    return p.lost() == 0 ? absentText()
                         : SaturationModel::tr("%1 → %2").arg(signedCount(p.sum()), signedCount(p.kept()));
}

Number worstLoss(const SaturatingNode& node)
{
    return node.counts.worst.lost() == 0 ? Number() : Number(node.counts.worst.lost());
}

QVariantList saturationStrip(const SaturatingNode& node)
{
    const SaturationRow& row = node.counts;
    QVariantList cells;
    const size_t channels = row.saturated.size(), step = (channels + kMostCells - 1) / kMostCells;
    for (size_t i = 0; i < channels; i += step) {
        const auto first = row.saturated.begin() + ptrdiff_t(i);
        const uint64_t worst
            = *std::max_element(first, row.saturated.begin() + ptrdiff_t(std::min(i + step, channels)));
        cells << std::min(1.0, channelShare(row, worst) / kFullyBad);
    }
    return cells;
}

} // namespace

SaturationModel::SaturationModel(QObject* parent)
    : RowModel(parent)
{
    const auto counted = [](auto part) { return in(&R::counts, part); };
    addColumns({
        { { tr("node"), tr("Node of the quantized file"), QStringLiteral("features/conv_2_quant"), Text },
            words<R>(counted(&SaturationRow::node)) },
        { { tr("sat."), tr("Share of the pairs of products whose sum does not fit into 16 bits. Lower is better."),
              QStringLiteral("< 0.1 %"), Value, kDown, true, Key::Share },
            percents<R>(saturatedShare) },
        { { tr("lost"),
              tr("What 16-bit sums of this node and of those before it cost, in dB: SQNR with exact sums less that "
                 "with 16-bit sums, at the value that the node makes. Lower is better."),
              QStringLiteral("−88.8"), Value, kDown, true, Key::Lost },
            decibels<R>(&R::lostDb) },
        { { tr("worst (ch.)"), tr("The share in the output channel where most pairs saturate, and its number"),
              QStringLiteral("12.3 % (123)"), Value, kDown },
            words<R>(saturatedChannel, worstShare) },
        { { tr("worst pair"), tr("The pair of products that lost most: its sum, and what 16 bits keep of it"),
              QStringLiteral("−65,280 → −32,768"), Word, kDown },
            words<R>(worstPairText, worstLoss) },
        { { tr("channels"), tr("Saturation by output channel"), QStringLiteral("channelschannels"), Strip, kDown },
            cell<R>([](const auto& channels, const Number&) { return countText(channels.size()); },
                [](const auto&, const Number& worst) { return worst; }, counted(&SaturationRow::saturated), worstShare),
            {}, saturationStrip },
        { { tr("op"), tr("Operator"), QStringLiteral("QLinearConv"), Text },
            words<R>(counted(&SaturationRow::opType)) },
        { { tr("pairs"), tr("Pairs of products that were added up, over all samples"), QStringLiteral("123,456,789"),
              Value, kDown, false },
            counts<R>(counted(&SaturationRow::pairs)) },
    });
}

void SaturationModel::setSnapshot(const SnapshotPtr& snapshot)
{
    if (!snapshot || snapshot == m_snapshot)
        return;
    m_snapshot = snapshot;
    m_table.reset();
    refresh();
}

void SaturationModel::setTable(std::shared_ptr<const ArithmeticTable> table)
{
    if (table == m_table)
        return;
    m_table = std::move(table);
    refresh();
}

void SaturationModel::refresh()
{
    std::vector<SaturatingNode> nodes;
    if (!m_snapshot || !m_snapshot->comparison)
        return setRows(std::move(nodes));
    for (const SaturationRow& row : m_snapshot->comparison->saturation) {
        SaturatingNode node { row, {}, {} };
        if (const ActivationRow* made = madeBy(*m_snapshot->comparison, row.quantNode))
            node.value = made->name;
        if (const ArithmeticRow* found = m_table && !node.value.empty() ? m_table->find(node.value) : nullptr)
            node.lostDb = found->lostDb();
        nodes.push_back(std::move(node));
    }
    setRows(std::move(nodes));
}

QString SaturationModel::filterText(const SaturatingNode& row) const
{
    return toQt(row.counts.node) + u' ' + toQt(row.counts.opType) + u' ' + toQt(row.value);
}

} // namespace qs

#include "moc_saturation_model.cpp"
