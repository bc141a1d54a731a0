// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/tensor_model.h"

#include "widgets/models/base/formulas.h"
#include "widgets/models/base/other_columns.h"
#include "widgets/models/words/tensor_label.h"

namespace qs {

namespace {

double widthOf(const std::pair<double, double>& range) { return range.second - range.first; }

Cell<ActivationRow> metricCell(Metric metric)
{
    return decibels<ActivationRow>([metric](const ActivationRow& row) { return metricValue(metric, row); },
        [metric](const ActivationRow& row) { return metricExact(metric, row); });
}

Cell<ActivationRow> rangeCell(std::optional<std::pair<double, double>> ActivationRow::*range)
{
    return cell<ActivationRow>(
        rangeText, [](const auto& shown) { return shown ? Number(widthOf(*shown)) : Number(); }, range);
}

/// Scales or zero points, which a dynamic quantizer has not.
template <class T> Cell<ActivationRow> parameterCell(std::vector<T> QuantParams::*values)
{
    return cell<ActivationRow>(
        [](const auto& all, bool dynamic) { return dynamic ? TensorModel::tr("dynamic") : extentText(all); },
        [](const auto& all, bool) { return firstOf(all); }, in(&ActivationRow::params, values),
        &ActivationRow::dynamic);
}

QString producerOf(const ActivationRow& row)
{
    return row.opType.empty() ? TensorModel::tr("input") : toQt(row.opType);
}

std::string_view codeTypeOf(const ActivationRow& row)
{
    return row.dynamic || row.quantizer ? dtypeName(row.params.dtype) : "float32";
}

/// Of a tensor with several pairs of quantizers with the node that reads this one.
QString pairLabel(const ActivationRow& row)
{
    const QString label = tensorLabel(row.name, row.node);
    return row.readerNames.empty() ? label : TensorModel::tr("%1 for %2").arg(label, toQt(row.readerNames.front()));
}

QString pairTip(const ActivationRow& row)
{
    return TensorModel::tr("%1\nquantized file: %2\nnode: %3\n%4")
        .arg(toQt(row.name), toQt(row.quantizedName),
            row.node.empty() ? TensorModel::tr("graph input") : toQt(row.node), shapeLabel(row.shape));
}

QString parametersTip(const ActivationRow& row)
{
    return row.dynamic ? TensorModel::tr("Computed from the data of each run") : quantizerText(row.params);
}

QVariantList noiseBar(const ActivationRow& row)
{
    const auto shares = noiseShares(row);
    if (!shares)
        return {};
    return { shares->clipping, shares->rounding, shares->weights,
        shares->kernel ? QVariant(*shares->kernel) : QVariant(), shares->inherited };
}

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
    : SnapshotModel(parent)
{
    addColumns(pairColumns());
    addColumns(qualityColumns());
    addColumns(quantizerColumns());
    addColumns(errorColumns());
    addColumns(placeColumns());
}

TensorModel::Columns TensorModel::pairColumns() const
{
    return {
        { { tr("tensor"), tr("Name in the float file"), QStringLiteral("features/conv_2_output"), Text },
            words<R>(pairLabel), pairTip },
        { { tr("op"), tr("Operator that makes the tensor"), QStringLiteral("MaxPool"), Text }, words<R>(producerOf),
            pairTip },
        { { tr("match"), tr("How the pair was found, and how sure that is (1.0 = certain)"),
              QStringLiteral("name 1.00"), Text },
            cell<R>(matchLabel, kNoNumber, &R::method, &R::confidence) },
    };
}

TensorModel::Columns TensorModel::qualityColumns() const
{
    const QString typical = QStringLiteral("−88.8");
    return {
        { { tr("accumulated"), definitionText(definition::kAccumulated), QStringLiteral("accumulat"), Bar, kUp, true,
              Metric::Accumulated },
            metricCell(Metric::Accumulated),
            [this](const R& row) { return accumulatedFormula(row, *snapshot()->comparison); } },
        { { tr("B"), tr("Accumulated SQNR of the second quantized model, dB. Higher is better."), typical, Value, kUp,
              true, {}, true },
            otherSqnrCell<R>() },
        { { tr("B − A"), metricInfo(Metric::OtherGain).definition, typical, Value, kUp, true, Metric::OtherGain, true },
            otherGainCell<R>(in(&R::accumulated, &Similarity::sqnrDb)) },
        { { tr("ideal"), definitionText(definition::kIdeal), typical, Value, kUp, true, Metric::Ideal },
            metricCell(Metric::Ideal), idealFormula },
        { { tr("added"), definitionText(definition::kAdded), typical, Value, kUp, true, Metric::Added },
            metricCell(Metric::Added), [this](const R& row) { return addedFormula(row, *snapshot()->comparison); } },
        { { tr("increase"), definitionText(definition::kIncrease), typical, Value, kDown, true, Metric::Increase },
            metricCell(Metric::Increase) },
        { { tr("Q/DQ"),
              tr("The quantized model's value before its quantizer against the value after: ONNX Runtime's qdq_err. "
                 "Higher is better."),
              typical, Value, kUp, false },
            decibels<R>(&R::qdqSqnrDb, &R::qdqExact) },
        { { tr("node alone"), definitionText(definition::kNodeAlone), typical, Value, kUp, false, Metric::NodeAlone },
            metricCell(Metric::NodeAlone) },
        { { tr("noise"),
              tr("Where the squared error comes from: clipping, rounding, the node's own quantized weights "
                 "(estimated), integer kernels (sums that saturate, for one), and what came in with the inputs. "
                 "Sorted by the "
                 "share of clipping."),
              QStringLiteral("noisenoi"), Split, kDown, true, {}, false, nullptr, false,
              { tr("clipping"), tr("rounding"), tr("weights"), tr("kernel"), tr("inputs") } },
            cell<R>(
                noiseText, [](const auto& shares) { return shares ? Number(shares->clipping) : Number(); },
                noiseShares),
            noiseFormula, noiseBar },
        { { tr("clipped"), definitionText(definition::kClipped), QStringLiteral("50.2 %"), Value, kDown, true,
              Metric::Clipped },
            percents<R>(&R::clippedFraction), clippedFormula },
    };
}

TensorModel::Columns TensorModel::quantizerColumns() const
{
    return {
        { { tr("used range"),
              tr("Observed range over representable range; far below 100 % wastes codes, above it clips."),
              QStringLiteral("used range"), Value, kUp, false },
            percents<R>(usedRangeOf) },
        { { tr("used codes"), tr("Share of the integer codes that occur (quantizers of 8 bits)."),
              QStringLiteral("used codes"), Value, kUp, false },
            percents<R>(&R::usedCodes) },
        { { tr("type"), tr("Element type of the codes"), QStringLiteral("float32"), Text, kUp, false },
            words<R>(codeTypeOf) },
        { { tr("scale"), tr("real = scale * (q − zero_point)"), QStringLiteral("0.0239"), Value, kDown, false },
            parameterCell(&QuantParams::scale), parametersTip },
        { { tr("zero point"), tr("The code that stands for 0"), QStringLiteral("zero point"), Value, kUp, false },
            parameterCell(&QuantParams::zeroPoint), parametersTip },
        { { tr("range"), definitionText(definition::kRange), QStringLiteral("[−12.3, 12.3]"), Value, kDown, false },
            rangeCell(&R::range) },
        { { tr("observed"), definitionText(definition::kObservedRange), QStringLiteral("[−12.3, 12.3]"), Value, kDown,
              false },
            rangeCell(&R::observedRange) },
    };
}

TensorModel::Columns TensorModel::errorColumns() const
{
    return {
        { { tr("RMSE"), definitionText(definition::kRmse), QStringLiteral("0.00123"), Value, kDown, false },
            numbers<R>(in(&R::accumulated, &Similarity::rmse)) },
        { { tr("max error"), definitionText(definition::kMaxError), QStringLiteral("max error"), Value, kDown, false },
            numbers<R>(in(&R::accumulated, &Similarity::maxAbsError)) },
        { { tr("mean error"), definitionText(definition::kMeanError), QStringLiteral("mean error"), Value, kDown,
              false },
            numbers<R>(in(&R::accumulated, &Similarity::meanError)) },
        { { tr("cosine"), definitionText(definition::kCosine), QStringLiteral("0.999999"), Value, kUp, false },
            cosines<R>(in(&R::accumulated, &Similarity::cosine)) },
    };
}

TensorModel::Columns TensorModel::placeColumns() const
{
    return {
        { { tr("shape"), tr("Shape for the first sample"), QStringLiteral("1×32×25×20"), Text, kUp, false },
            cell<R>(shapeLabel, kNoNumber, &R::shape) },
        { { tr("node"), tr("Node that makes the tensor"), QStringLiteral("features/conv_2"), Text, kUp, false },
            words<R>(&R::node), pairTip },
        { { tr("quantized name"), tr("Name of the compared value in the quantized file"),
              QStringLiteral("conv_2_output_DequantizeLinear"), Text, kUp, false },
            words<R>(&R::quantizedName), pairTip },
    };
}

RowList<ActivationRow> TensorModel::rowsOf(const SnapshotPtr& snapshot) const
{
    return comparisonRows(snapshot, &Comparison::activations);
}

QString TensorModel::filterText(const ActivationRow& row) const
{
    return toQt(row.name) + u' ' + toQt(row.quantizedName) + u' ' + toQt(row.node) + u' ' + producerOf(row) + u' '
        + toQt(codeTypeOf(row)) + u' ' + toQt(matchMethodName(row.method));
}

} // namespace qs

#include "moc_tensor_model.cpp"
