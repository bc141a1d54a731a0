// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/saturation_model.h"

#include "widgets/models/base/cells.h"

#include <numeric>

namespace qs {

namespace {

constexpr double kFullyBad = 0.01; ///< share of saturated pairs that is drawn as worst
constexpr size_t kMostCells = 64;

uint64_t saturatedIn(const SaturationRow& row)
{
    return std::accumulate(row.saturated.begin(), row.saturated.end(), uint64_t(0));
}

/// Of one channel's pairs.
double shareOf(const SaturationRow& row, uint64_t saturated, size_t parts)
{
    return row.pairs ? double(saturated) * double(parts) / double(row.pairs) : 0;
}

Number saturatedShare(const SaturationRow& row) { return shareOf(row, saturatedIn(row), 1); }

Number worstShare(const SaturationRow& row)
{
    return row.saturated.empty() ? Number() : shareOf(row, std::ranges::max(row.saturated), row.saturated.size());
}

QString saturatedChannel(const SaturationRow& row)
{
    if (saturatedIn(row) == 0)
        return absentText();
    const auto worst = std::ranges::max_element(row.saturated) - row.saturated.begin();
    return SaturationModel::tr("%1 (%2)").arg(percentText(worstShare(row))).arg(worst);
}

QVariantList saturationStrip(const SaturationRow& row)
{
    QVariantList cells;
    const size_t channels = row.saturated.size(), step = (channels + kMostCells - 1) / kMostCells;
    for (size_t i = 0; i < channels; i += step) {
        const auto first = row.saturated.begin() + ptrdiff_t(i);
        const uint64_t worst
            = *std::max_element(first, row.saturated.begin() + ptrdiff_t(std::min(i + step, channels)));
        cells << std::min(1.0, shareOf(row, worst, channels) / kFullyBad);
    }
    return cells;
}

} // namespace

SaturationModel::SaturationModel(QObject* parent)
    : SnapshotModel(parent)
{
    addColumns({
        { { tr("node"), tr("Node of the quantized file"), QStringLiteral("features/conv_2_quant"), Text },
            words<R>(&R::node) },
        { { tr("op"), tr("Operator"), QStringLiteral("QLinearConv"), Text }, words<R>(&R::opType) },
        { { tr("saturated"), tr("Share of the pairs of products whose sum does not fit into 16 bits. Lower is better."),
              QStringLiteral("saturated"), Value, kDown, true, Key::Share },
            percents<R>(saturatedShare) },
        { { tr("worst channel"), tr("The same of the output channel where most saturate"),
              QStringLiteral("12.3 % (123)"), Value, kDown },
            words<R>(saturatedChannel, worstShare) },
        { { tr("channels"), tr("Saturation by output channel"), QStringLiteral("channelschannels"), Strip, kDown },
            cell<R>([](const auto& channels, const Number&) { return countText(channels.size()); },
                [](const auto&, const Number& worst) { return worst; }, &R::saturated, worstShare),
            {}, saturationStrip },
        { { tr("pairs"), tr("Pairs of products that were added up, over all samples"), QStringLiteral("123,456,789"),
              Value, kDown },
            counts<R>(&R::pairs) },
    });
}

RowList<SaturationRow> SaturationModel::rowsOf(const SnapshotPtr& snapshot) const
{
    return comparisonRows(snapshot, &Comparison::saturation);
}

QString SaturationModel::filterText(const SaturationRow& row) const { return toQt(row.node) + u' ' + toQt(row.opType); }

} // namespace qs
