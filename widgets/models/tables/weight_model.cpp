// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/weight_model.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/formulas.h"
#include "widgets/models/base/metric.h"
#include "widgets/models/tables/tensor_model.h"

#include <limits>
#include <tuple>

namespace qs {

namespace {

/// Channels beyond this many are thinned out for the strip.
constexpr size_t kStripCells = 256;

std::vector<ColumnSpec> weightColumns()
{
    const auto tr = [](const char* text) { return WeightModel::tr(text); };
    const auto text = ColumnKind::Text;
    const auto number = ColumnKind::Value;
    const auto up = Qt::AscendingOrder, down = Qt::DescendingOrder;
    return {
        { tr("weight"), tr("Name in the float file"), QStringLiteral("features.conv_2.weight"), text },
        { tr("op"), tr("Operator that uses it"), QStringLiteral("Gemm bias"), text },
        { tr("type"), tr("Element type and granularity of the codes"), QStringLiteral("int8 per channel, axis 0"),
            text },
        { tr("SQNR"), tr("20·log10(‖w‖ / ‖w − dequantized‖). Higher is better."), QStringLiteral("SQNR, dB1234"),
            ColumnKind::Bar, up },
        { tr("ideal"), tr("The noise of uniform rounding, scale²/12. A reference line."), QStringLiteral("−88.8"),
            number, up },
        { tr("worst ch."), tr("Lowest SQNR of a channel. Higher is better."), QStringLiteral("−88.8"), number, up },
        { tr("channels"), tr("SQNR by output channel, yellow = worst"), QStringLiteral("channelschan"),
            ColumnKind::Strip, up },
        { tr("range ratio"),
            tr("Largest over median channel maximum. Above about 10, one scale for all channels wastes codes."),
            QStringLiteral("range ratio"), number, down },
        { tr("per tensor"), tr("SQNR that one symmetric int8 scale would give"), QStringLiteral("−88.8"), number, up },
        { tr("per channel"), tr("SQNR that symmetric int8 scales per channel would give"), QStringLiteral("−88.8"),
            number, up },
        { tr("clipped"), tr("Share of elements beyond the representable range"), QStringLiteral("> 99.9 %"), number,
            down },
        { tr("used codes"), tr("Share of the integer codes that occur"), QStringLiteral("used codes"), number, up,
            false },
        { tr("> ½ step"),
            tr("Share of unclipped elements off by more than half a step: other weights than the float file's"),
            QStringLiteral("> 99.9 %"), number, down, false },
        { tr("scale"), tr("real = scale * (q - zero_point)"), QStringLiteral("0.0031 … 0.0120"), number, down, false },
        { tr("zero point"), tr("The code that stands for 0"), QStringLiteral("zero point"), number, up, false },
        { tr("RMSE"), tr("Root of the mean squared error. Lower is better."), QStringLiteral("0.00123"), number, down,
            false },
        { tr("max error"), tr("Largest absolute error. Lower is better."), QStringLiteral("max error"), number, down,
            false },
        { tr("shape"), tr("Shape in the float file"), QStringLiteral("512×256×3×3"), text, up, false },
        { tr("match"), tr("How the pair was found, and how sure that is"), QStringLiteral("suffix 0.99"), text, up,
            false },
        { tr("node"), tr("Node that uses it"), QStringLiteral("features/conv_2"), text, up, false },
        { tr("quantized name"), tr("Name in the quantized file"), QStringLiteral("conv_2.weight_quantized"), text, up,
            false },
    };
}

} // namespace

namespace {

std::optional<size_t> worstChannelIndex(const WeightRow& row)
{
    std::optional<size_t> worst;
    for (size_t c = 0; c < row.channelSqnrDb.size(); ++c) {
        if (row.channelSqnrDb[c] && (!worst || *row.channelSqnrDb[c] < *row.channelSqnrDb[*worst]))
            worst = c;
    }
    return worst;
}

} // namespace

Number worstChannelOf(const WeightRow& row)
{
    const auto worst = worstChannelIndex(row);
    return worst ? row.channelSqnrDb[*worst] : Number();
}

QString worstChannelText(const WeightRow& row)
{
    const auto worst = worstChannelIndex(row);
    if (!worst || row.channelSqnrDb.size() < 2)
        return decibelText(worstChannelOf(row));
    return WeightModel::tr("%1 (channel %2)").arg(decibelText(row.channelSqnrDb[*worst])).arg(*worst);
}

WeightModel::WeightModel(QObject* parent)
    : ColumnModel(weightColumns(), parent)
{
}

const WeightRow& WeightModel::at(int row) const { return current().comparison->weights[size_t(row)]; }

int WeightModel::countOf(const Snapshot& snapshot) const
{
    return snapshot.comparison ? int(snapshot.comparison->weights.size()) : 0;
}

std::string WeightModel::keyOf(const Snapshot& snapshot, int row) const
{
    const WeightRow& r = snapshot.comparison->weights[size_t(row)];
    return r.name + '\n' + r.node; // one weight may be used, and quantized, more than once
}

bool WeightModel::sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const
{
    const auto numbers = [](const WeightRow& r) {
        return std::tie(r.quantizedName, r.opType, r.method, r.confidence, r.similarity.sqnrDb, r.similarity.exact,
            r.similarity.rmse, r.similarity.maxAbsError, r.idealSqnrDb, r.channelSqnrDb, r.rangeRatio,
            r.clippedFraction, r.perTensorSqnrDb, r.perChannelSqnrDb, r.offByMoreThanHalfStep, r.usedCodes, r.shape,
            r.params.scale, r.params.zeroPoint);
    };
    return numbers(a.comparison->weights[size_t(rowA)]) == numbers(b.comparison->weights[size_t(rowB)]);
}

QString WeightModel::text(int row, int column) const
{
    const WeightRow& r = at(row);
    switch (column) {
    case Weight:
        return toQt(r.name);
    case Op:
        return r.bias ? tr("%1 bias").arg(toQt(r.opType)) : toQt(r.opType);
    case DataType:
        return granularityText(r.params);
    case Sqnr:
        return decibelNumber(r.similarity.sqnrDb, r.similarity.exact);
    case Ideal:
        return decibelNumber(r.idealSqnrDb);
    case WorstChannel:
        return decibelNumber(worstChannelOf(r));
    case Channels:
        return r.channelSqnrDb.size() > 1 ? countText(r.channelSqnrDb.size()) : absentText();
    case RangeRatio:
        return numberText(r.rangeRatio);
    case PerTensor:
        return decibelNumber(r.perTensorSqnrDb);
    case PerChannel:
        return decibelNumber(r.perChannelSqnrDb);
    case Clipped:
        return percentText(r.clippedFraction);
    case UsedCodes:
        return percentText(r.usedCodes);
    case HalfStep:
        return percentText(r.offByMoreThanHalfStep);
    case Scale:
        return scaleText(r.params);
    case ZeroPoint:
        return zeroPointText(r.params);
    case Rmse:
        return numberText(r.similarity.rmse);
    case MaxError:
        return numberText(r.similarity.maxAbsError);
    case ShapeColumn:
        return shapeLabel(r.shape);
    case Match:
        return matchLabel(r.method, r.confidence);
    case Node:
        return toQt(r.node);
    case QuantizedName:
        return toQt(r.quantizedName);
    default:
        return {};
    }
}

Number WeightModel::number(int row, int column) const
{
    const WeightRow& r = at(row);
    switch (column) {
    case Sqnr:
        return r.similarity.exact ? Number(std::numeric_limits<double>::infinity()) : r.similarity.sqnrDb;
    case Ideal:
        return r.idealSqnrDb;
    case WorstChannel:
    case Channels:
        return worstChannelOf(r);
    case RangeRatio:
        return r.rangeRatio;
    case PerTensor:
        return r.perTensorSqnrDb;
    case PerChannel:
        return r.perChannelSqnrDb;
    case Clipped:
        return r.clippedFraction;
    case UsedCodes:
        return r.usedCodes;
    case HalfStep:
        return r.offByMoreThanHalfStep;
    case Scale:
        return r.params.scale.empty() ? Number() : Number(r.params.scale.front());
    case ZeroPoint:
        return r.params.zeroPoint.empty() ? Number() : Number(r.params.zeroPoint.front());
    case Rmse:
        return r.similarity.rmse;
    case MaxError:
        return r.similarity.maxAbsError;
    default:
        return {};
    }
}

QString WeightModel::filterText(int row) const
{
    const WeightRow& r = at(row);
    return toQt(r.name) + u' ' + toQt(r.quantizedName) + u' ' + toQt(r.node) + u' ' + text(row, Op) + u' '
        + text(row, DataType);
}

QVariant WeightModel::extra(int row, int column, int role) const
{
    const WeightRow& r = at(row);
    if (role == Qt::ToolTipRole) {
        switch (column) {
        case Weight:
            return tr("%1\nquantized file: %2\nnode: %3\n%4")
                .arg(toQt(r.name), toQt(r.quantizedName), toQt(r.node), shapeLabel(r.shape));
        case Sqnr:
            return sqnrFormula(r.similarity, *current().comparison);
        case WorstChannel:
        case Channels:
            return worstChannelOf(r) ? this->column(column).toolTip + u'\n' + tr("Worst: %1").arg(worstChannelText(r))
                                     : this->column(column).toolTip;
        case Scale:
        case ZeroPoint:
            return quantizerText(r.params);
        default:
            return this->column(column).toolTip;
        }
    }
    if (role == BadnessRole && column == Sqnr && r.similarity.sqnrDb)
        return metricBadness(Metric::Accumulated, *r.similarity.sqnrDb);
    if (role == StripRole && column == Channels && r.channelSqnrDb.size() > 1) {
        const size_t step = (r.channelSqnrDb.size() + kStripCells - 1) / kStripCells;
        QVariantList cells;
        for (size_t i = 0; i < r.channelSqnrDb.size(); i += step) {
            double worst = -1;
            for (size_t c = i; c < std::min(i + step, r.channelSqnrDb.size()); ++c) {
                if (r.channelSqnrDb[c])
                    worst = std::max(worst, metricBadness(Metric::Accumulated, *r.channelSqnrDb[c]));
            }
            cells << worst;
        }
        return cells;
    }
    return {};
}

} // namespace qs
