// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/saturation_model.h"

#include "widgets/models/base/formatting.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace qs {

namespace {

constexpr double kFullyBad = 0.01; ///< share of saturated pairs that is drawn as worst
constexpr size_t kMostCells = 64;

std::vector<ColumnSpec> saturationColumns()
{
    const auto tr = [](const char* text) { return SaturationModel::tr(text); };
    const auto down = Qt::DescendingOrder;
    return {
        { tr("node"), tr("Node of the quantized file"), QStringLiteral("features/conv_2_quant"), ColumnKind::Text },
        { tr("op"), tr("Operator"), QStringLiteral("QLinearConv"), ColumnKind::Text },
        { tr("saturated"), tr("Share of the pairs of products whose sum does not fit into 16 bits. Lower is better."),
            QStringLiteral("saturated"), ColumnKind::Value, down },
        { tr("worst channel"), tr("The same of the output channel where most saturate"), QStringLiteral("12.3 % (123)"),
            ColumnKind::Value, down },
        { tr("channels"), tr("Saturation by output channel"), QStringLiteral("channelschannels"), ColumnKind::Strip,
            down },
        { tr("pairs"), tr("Pairs of products that were added up, over all samples"), QStringLiteral("123,456,789"),
            ColumnKind::Value, down },
    };
}

uint64_t saturatedIn(const SaturationRow& row)
{
    return std::accumulate(row.saturated.begin(), row.saturated.end(), uint64_t(0));
}

/// Of one channel's pairs.
double shareOf(const SaturationRow& row, uint64_t saturated, size_t parts)
{
    return row.pairs ? double(saturated) * double(parts) / double(row.pairs) : 0;
}

} // namespace

SaturationModel::SaturationModel(QObject* parent)
    : ColumnModel(saturationColumns(), parent)
{
}

int SaturationModel::countOf(const Snapshot& snapshot) const
{
    return snapshot.comparison ? int(snapshot.comparison->saturation.size()) : 0;
}

std::string SaturationModel::keyOf(const Snapshot& snapshot, int row) const
{
    return snapshot.comparison->saturation[size_t(row)].node;
}

bool SaturationModel::sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const
{
    const SaturationRow &x = a.comparison->saturation[size_t(rowA)], &y = b.comparison->saturation[size_t(rowB)];
    return x.pairs == y.pairs && x.saturated == y.saturated && x.opType == y.opType;
}

QString SaturationModel::text(int row, int column) const
{
    const SaturationRow& r = at(row);
    switch (column) {
    case Node:
        return toQt(r.node);
    case Op:
        return toQt(r.opType);
    case Share:
        return percentText(number(row, Share));
    case WorstChannel: {
        if (saturatedIn(r) == 0)
            return absentText();
        const auto worst = std::ranges::max_element(r.saturated) - r.saturated.begin();
        return tr("%1 (%2)").arg(percentText(number(row, WorstChannel))).arg(worst);
    }
    case Channels:
        return countText(r.saturated.size());
    case Pairs:
        return countText(r.pairs);
    default:
        return {};
    }
}

Number SaturationModel::number(int row, int column) const
{
    const SaturationRow& r = at(row);
    switch (column) {
    case Share:
        return shareOf(r, saturatedIn(r), 1);
    case WorstChannel:
    case Channels:
        return r.saturated.empty() ? Number() : shareOf(r, std::ranges::max(r.saturated), r.saturated.size());
    case Pairs:
        return double(r.pairs);
    default:
        return {};
    }
}

QString SaturationModel::filterText(int row) const { return text(row, Node) + u' ' + text(row, Op); }

QVariant SaturationModel::extra(int row, int column, int role) const
{
    if (role == Qt::ToolTipRole)
        return this->column(column).toolTip;
    const SaturationRow& r = at(row);
    if (role != StripRole || column != Channels || r.saturated.empty())
        return {};
    QVariantList cells;
    const size_t step = (r.saturated.size() + kMostCells - 1) / kMostCells;
    for (size_t i = 0; i < r.saturated.size(); i += step) {
        const auto first = r.saturated.begin() + ptrdiff_t(i);
        const uint64_t worst
            = *std::max_element(first, r.saturated.begin() + ptrdiff_t(std::min(i + step, r.saturated.size())));
        cells << std::min(1.0, shareOf(r, worst, r.saturated.size()) / kFullyBad);
    }
    return cells;
}

} // namespace qs
