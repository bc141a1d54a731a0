// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/tensor_model.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/formulas.h"

#include <limits>
#include <optional>
#include <tuple>

namespace qs {

namespace {

std::vector<ColumnSpec> tensorColumns()
{
    const auto tr = [](const char* text) { return TensorModel::tr(text); };
    const auto definition = [](Metric metric) { return metricInfo(metric).definition; };
    const auto text = ColumnKind::Text;
    const auto number = ColumnKind::Value;
    const auto bar = ColumnKind::Bar;
    const auto up = Qt::AscendingOrder, down = Qt::DescendingOrder;
    return {
        { tr("tensor"), tr("Name in the float file"), QStringLiteral("features/conv_2_output"), text },
        { tr("op"), tr("Operator that makes the tensor"), QStringLiteral("MaxPool"), text },
        { tr("match"), tr("How the pair was found, and how sure that is (1.0 = certain)"), QStringLiteral("name 1.00"),
            text },
        { tr("accumulated"), definition(Metric::Accumulated), QStringLiteral("accumulat"), bar, up },
        { tr("ideal"), definition(Metric::Ideal), QStringLiteral("−88.8"), number, up },
        { tr("added"), definition(Metric::Added), QStringLiteral("−88.8"), number, up },
        { tr("increase"), definition(Metric::Increase), QStringLiteral("−88.8"), number, down },
        { tr("Q/DQ"),
            tr("The quantized model's value before its quantizer against the value after: ONNX Runtime's qdq_err. "
               "Higher "
               "is better."),
            QStringLiteral("−88.8"), number, up, false },
        { tr("node alone"), definition(Metric::NodeAlone), QStringLiteral("−88.8"), number, up, false },
        { tr("noise"),
            tr("Where the squared error comes from: clipping, rounding, inherited from before. Sorted by the share of "
               "clipping."),
            QStringLiteral("noisenoi"), ColumnKind::Split, down },
        { tr("clipped"), definition(Metric::Clipped), QStringLiteral("50.2 %"), number, down },
        { tr("used range"),
            tr("Observed range over representable range; far below 100 % wastes codes, above it clips."),
            QStringLiteral("used range"), number, up, false },
        { tr("used codes"), tr("Share of the integer codes that occur (quantizers of at most 8 bits)."),
            QStringLiteral("used codes"), number, up, false },
        { tr("type"), tr("Element type of the codes"), QStringLiteral("float32"), text, up, false },
        { tr("scale"), tr("real = scale * (q - zero_point)"), QStringLiteral("0.0239"), number, down, false },
        { tr("zero point"), tr("The code that stands for 0"), QStringLiteral("zero point"), number, up, false },
        { tr("range"), tr("Lowest and highest value that the codes can express"), QStringLiteral("[−12.3, 12.3]"),
            number, down, false },
        { tr("observed"), tr("Lowest and highest value that occurred before quantization"),
            QStringLiteral("[−12.3, 12.3]"), number, down, false },
        { tr("RMSE"), tr("Root of the mean squared error, in the tensor's own unit. Lower is better."),
            QStringLiteral("0.00123"), number, down, false },
        { tr("max error"), tr("Largest absolute error. Lower is better."), QStringLiteral("max error"), number, down,
            false },
        { tr("mean error"), tr("Mean of y − x: a shift of the whole tensor. Closer to 0 is better."),
            QStringLiteral("mean error"), number, down, false },
        { tr("cosine"), tr("Cosine similarity of both tensors. Higher is better."), QStringLiteral("0.999999"), number,
            up, false },
        { tr("shape"), tr("Shape for the first sample"), QStringLiteral("1×32×25×20"), text, up, false },
        { tr("node"), tr("Node that makes the tensor"), QStringLiteral("features/conv_2"), text, up, false },
        { tr("quantized name"), tr("Name of the compared value in the quantized file"),
            QStringLiteral("conv_2_output_DequantizeLinear"), text, up, false },
    };
}

const Comparison* comparisonOf(const Snapshot& snapshot)
{
    return snapshot.comparison ? &*snapshot.comparison : nullptr;
}

/// Exact is better than any number, so it sorts behind them.
Number orExact(const Number& value, bool exact)
{
    return exact ? Number(std::numeric_limits<double>::infinity()) : value;
}

double widthOf(const std::pair<double, double>& range) { return range.second - range.first; }

} // namespace

Number usedRangeOf(const ActivationRow& row)
{
    if (!row.range || !row.observedRange || widthOf(*row.range) <= 0)
        return {};
    return widthOf(*row.observedRange) / widthOf(*row.range);
}

QString matchLabel(MatchMethod method, double confidence)
{
    return toQt(matchMethodName(method)) + QStringLiteral(" %1").arg(confidence, 0, 'f', confidence >= 0.995 ? 1 : 2);
}

TensorModel::TensorModel(QObject* parent)
    : ColumnModel(tensorColumns(), parent)
{
}

int TensorModel::columnOf(Metric metric)
{
    switch (metric) {
    case Metric::Accumulated:
        return Accumulated;
    case Metric::Added:
        return Added;
    case Metric::Increase:
        return Increase;
    case Metric::NodeAlone:
        return NodeAlone;
    case Metric::Ideal:
        return Ideal;
    case Metric::Clipped:
        return Clipped;
    }
    return Accumulated;
}

const ActivationRow& TensorModel::at(int row) const { return current().comparison->activations[size_t(row)]; }

int TensorModel::countOf(const Snapshot& snapshot) const
{
    const Comparison* comparison = comparisonOf(snapshot);
    return comparison ? int(comparison->activations.size()) : 0;
}

std::string TensorModel::keyOf(const Snapshot& snapshot, int row) const
{
    return snapshot.comparison->activations[size_t(row)].name;
}

bool TensorModel::sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const
{
    const auto numbers = [](const ActivationRow& r) {
        return std::tie(r.quantizedName, r.opType, r.method, r.confidence, r.accumulated.sqnrDb, r.accumulated.exact,
            r.accumulated.rmse, r.accumulated.maxAbsError, r.accumulated.meanError, r.accumulated.cosine, r.localSqnrDb,
            r.qdqSqnrDb, r.nodeSqnrDb, r.increaseDb, r.idealSqnrDb, r.noise.clipping, r.noise.rounding,
            r.noise.inherited, r.clippedFraction, r.usedCodes, r.range, r.observedRange, r.shape, r.params.scale,
            r.params.zeroPoint);
    };
    return numbers(a.comparison->activations[size_t(rowA)]) == numbers(b.comparison->activations[size_t(rowB)]);
}

QString TensorModel::text(int row, int column) const
{
    const ActivationRow& r = at(row);
    switch (column) {
    case Tensor:
        return toQt(r.name);
    case Op:
        return r.opType.empty() ? tr("input") : toQt(r.opType);
    case Match:
        return matchLabel(r.method, r.confidence);
    case Accumulated:
        return decibelNumber(r.accumulated.sqnrDb, r.accumulated.exact);
    case Ideal:
        return decibelNumber(r.idealSqnrDb);
    case Added:
        return decibelNumber(r.localSqnrDb, r.localExact);
    case Increase:
        return decibelNumber(r.increaseDb);
    case Qdq:
        return decibelNumber(r.qdqSqnrDb, r.qdqExact);
    case NodeAlone:
        return decibelNumber(r.nodeSqnrDb, r.nodeExact);
    case Noise:
        return noiseText(r);
    case Clipped:
        return percentText(r.clippedFraction);
    case UsedRange:
        return percentText(usedRangeOf(r));
    case UsedCodes:
        return percentText(r.usedCodes);
    case DataType:
        return r.dynamic || r.quantizer ? toQt(dtypeName(r.params.dtype)) : QStringLiteral("float32");
    case Scale:
        return r.dynamic ? tr("dynamic") : scaleText(r.params);
    case ZeroPoint:
        return r.dynamic ? tr("dynamic") : zeroPointText(r.params);
    case Range:
        return rangeText(r.range);
    case Observed:
        return rangeText(r.observedRange);
    case Rmse:
        return numberText(r.accumulated.rmse);
    case MaxError:
        return numberText(r.accumulated.maxAbsError);
    case MeanError:
        return numberText(r.accumulated.meanError);
    case Cosine:
        return numberText(r.accumulated.cosine, 6);
    case ShapeColumn:
        return shapeLabel(r.shape);
    case Node:
        return toQt(r.node);
    case QuantizedName:
        return toQt(r.quantizedName);
    default:
        return {};
    }
}

Number TensorModel::number(int row, int column) const
{
    const ActivationRow& r = at(row);
    const auto widest = [](const std::vector<float>& all) { return all.empty() ? Number() : Number(all.front()); };
    switch (column) {
    case Accumulated:
        return orExact(r.accumulated.sqnrDb, r.accumulated.exact);
    case Ideal:
        return r.idealSqnrDb;
    case Added:
        return orExact(r.localSqnrDb, r.localExact);
    case Increase:
        return r.increaseDb;
    case Qdq:
        return orExact(r.qdqSqnrDb, r.qdqExact);
    case NodeAlone:
        return orExact(r.nodeSqnrDb, r.nodeExact);
    case Noise: {
        const auto shares = noiseShares(r);
        return shares ? Number(shares->clipping) : Number();
    }
    case Clipped:
        return r.clippedFraction;
    case UsedRange:
        return usedRangeOf(r);
    case UsedCodes:
        return r.usedCodes;
    case Scale:
        return widest(r.params.scale);
    case ZeroPoint:
        return r.params.zeroPoint.empty() ? Number() : Number(r.params.zeroPoint.front());
    case Range:
        return r.range ? Number(widthOf(*r.range)) : Number();
    case Observed:
        return r.observedRange ? Number(widthOf(*r.observedRange)) : Number();
    case Rmse:
        return r.accumulated.rmse;
    case MaxError:
        return r.accumulated.maxAbsError;
    case MeanError:
        return r.accumulated.meanError;
    case Cosine:
        return r.accumulated.cosine;
    default:
        return {};
    }
}

QString TensorModel::filterText(int row) const
{
    const ActivationRow& r = at(row);
    return toQt(r.name) + u' ' + toQt(r.quantizedName) + u' ' + toQt(r.node) + u' ' + text(row, Op) + u' '
        + text(row, DataType) + u' ' + toQt(matchMethodName(r.method));
}

QVariant TensorModel::extra(int row, int column, int role) const
{
    const ActivationRow& r = at(row);
    if (role == Qt::ToolTipRole)
        return toolTip(r, column);
    if (role == BadnessRole && column == Accumulated && r.accumulated.sqnrDb)
        return metricBadness(Metric::Accumulated, *r.accumulated.sqnrDb);
    if (role == SplitRole && column == Noise) {
        if (const auto shares = noiseShares(r))
            return QVariantList { shares->clipping, shares->rounding, shares->inherited };
    }
    return {};
}

QString TensorModel::toolTip(const ActivationRow& r, int column) const
{
    switch (column) {
    case Tensor:
    case Node:
    case QuantizedName:
    case Op:
        return tr("%1\nquantized file: %2\nnode: %3\n%4")
            .arg(toQt(r.name), toQt(r.quantizedName), r.node.empty() ? tr("graph input") : toQt(r.node),
                shapeLabel(r.shape));
    case Accumulated:
        return accumulatedFormula(r, *current().comparison);
    case Added:
        return addedFormula(r, *current().comparison);
    case Ideal:
        return idealFormula(r);
    case Increase:
        return metricInfo(Metric::Increase).definition;
    case Noise:
        return noiseFormula(r);
    case Clipped:
        return clippedFormula(r);
    case Scale:
    case ZeroPoint:
        return r.dynamic ? tr("Computed from the data of each run") : quantizerText(r.params);
    default:
        return this->column(column).toolTip;
    }
}

} // namespace qs
