// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/column.h"

#include "widgets/models/base/metric.h"

namespace qs {

int alignmentOf(ColumnKind kind) { return int((isWritten(kind) ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter); }

QVariant headerData(const ColumnSpec& spec, int role)
{
    switch (role) {
    case Qt::DisplayRole:
        return spec.title;
    case Qt::ToolTipRole:
        return spec.toolTip;
    case Qt::TextAlignmentRole:
        return alignmentOf(spec.kind);
    case PartsRole:
        return spec.parts.isEmpty() ? QVariant() : spec.parts;
    default:
        return {};
    }
}

QVariant badnessOf(const Number& sqnrDb)
{
    return sqnrDb && std::isfinite(*sqnrDb) ? QVariant(metricBadness(Metric::Accumulated, *sqnrDb)) : QVariant();
}

} // namespace qs
