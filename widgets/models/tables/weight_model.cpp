// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/weight_model.h"

#include "widgets/models/base/formulas.h"
#include "widgets/models/base/metric.h"
#include "widgets/models/base/other_columns.h"
#include "widgets/models/tables/tensor_model.h"
#include "widgets/models/words/tensor_label.h"

namespace qs {

namespace {

/// Channels beyond this many are thinned out for the strip.
constexpr size_t kStripCells = 256;

std::optional<size_t> worstChannel(const std::vector<Number>& sqnrDb)
{
    std::optional<size_t> worst;
    for (size_t c = 0; c < sqnrDb.size(); ++c) {
        if (sqnrDb[c] && (!worst || *sqnrDb[c] < *sqnrDb[*worst]))
            worst = c;
    }
    return worst;
}

Number lowestOf(const std::vector<Number>& sqnrDb)
{
    const auto worst = worstChannel(sqnrDb);
    return worst ? sqnrDb[*worst] : Number();
}

QString userOf(const WeightRow& row)
{
    return row.bias ? WeightModel::tr("%1 bias").arg(toQt(row.opType)) : toQt(row.opType);
}

QString codesOf(const WeightRow& row) { return granularityText(row.params); }

QString weightTip(const WeightRow& row)
{
    return WeightModel::tr("%1\nquantized file: %2\nnode: %3\n%4")
        .arg(toQt(row.name), toQt(row.quantizedName), toQt(row.node), shapeLabel(row.shape));
}

QString weightQuantizerTip(const WeightRow& row) { return quantizerText(row.params); }

/// Says the column's meaning, and which channel is the worst.
std::function<QString(const WeightRow&)> worstChannelTip(const QString& meaning)
{
    return [meaning](const WeightRow& row) {
        return lowestOf(row.channelSqnrDb) ? meaning + u'\n' + WeightModel::tr("Worst: %1").arg(worstChannelText(row))
                                           : meaning;
    };
}

QVariantList channelStrip(const WeightRow& row)
{
    QVariantList cells;
    const size_t channels = row.channelSqnrDb.size(), step = (channels + kStripCells - 1) / kStripCells;
    for (size_t i = 0; channels > 1 && i < channels; i += step) {
        double worst = -1;
        for (size_t c = i; c < std::min(i + step, channels); ++c) {
            if (row.channelSqnrDb[c])
                worst = std::max(worst, metricBadness(Metric::Accumulated, *row.channelSqnrDb[c]));
        }
        cells << worst;
    }
    return cells;
}

QString channelCount(const std::vector<Number>& channels)
{
    return channels.size() > 1 ? countText(channels.size()) : absentText();
}

} // namespace

QString worstChannelText(const WeightRow& row)
{
    const auto worst = worstChannel(row.channelSqnrDb);
    if (!worst || row.channelSqnrDb.size() < 2)
        return decibelText(lowestOf(row.channelSqnrDb));
    return WeightModel::tr("%1 (channel %2)").arg(decibelText(row.channelSqnrDb[*worst])).arg(*worst);
}

WeightModel::WeightModel(QObject* parent)
    : SnapshotModel(parent)
{
    addColumns({
        { { tr("weight"), tr("Name in the float file"), QStringLiteral("features.conv_2.weight"), Text },
            words<R>([](const R& row) { return tensorLabel(row.name, row.node); }), weightTip },
        { { tr("op"), tr("Operator that uses it"), QStringLiteral("Gemm bias"), Text }, words<R>(userOf) },
        { { tr("type"), tr("Element type and granularity of the codes"), QStringLiteral("int8 per channel, axis 0"),
              Text },
            words<R>(codesOf) },
    });
    addColumns(qualityColumns());
    addColumns(codeColumns());
    addColumns(errorColumns());
    addColumns({
        { { tr("shape"), tr("Shape in the float file"), QStringLiteral("512×256×3×3"), Text, kUp, false },
            cell<R>(shapeLabel, kNoNumber, &R::shape) },
        { { tr("match"), tr("How the pair was found, and how sure that is"), QStringLiteral("suffix 0.99"), Text, kUp,
              false },
            cell<R>(matchLabel, kNoNumber, &R::method, &R::confidence) },
        { { tr("node"), tr("Node that uses it"), QStringLiteral("features/conv_2"), Text, kUp, false },
            words<R>(&R::node) },
        { { tr("quantized name"), tr("Name in the quantized file"), QStringLiteral("conv_2.weight_quantized"), Text,
              kUp, false },
            words<R>(&R::quantizedName) },
    });
}

WeightModel::Columns WeightModel::qualityColumns() const
{
    const QString typical = QStringLiteral("−88.8");
    const QString worst = tr("Lowest SQNR of a channel. Higher is better.");
    const QString channels = tr("SQNR by output channel, yellow = worst");
    return {
        { { tr("SQNR"), tr("20·log10(‖w‖ / ‖w − dequantized‖). Higher is better."), QStringLiteral("SQNR, dB1234"), Bar,
              kUp, true, Key::Sqnr },
            decibels<R>(in(&R::similarity, &Similarity::sqnrDb), in(&R::similarity, &Similarity::exact)),
            [this](const R& row) { return sqnrFormula(row.similarity, *snapshot()->comparison); } },
        { { tr("B"), tr("SQNR of the weight as the second quantized model stores it, dB. Higher is better."), typical,
              Value, kUp, true, {}, true },
            otherSqnrCell<R>() },
        { { tr("B − A"),
              tr("What B gives over A at this weight, dB. Above 0 B is better. Taken before either is rounded."),
              typical, Value, kUp, true, {}, true },
            otherGainCell<R>(in(&R::similarity, &Similarity::sqnrDb)) },
        { { tr("ideal"), tr("The noise of uniform rounding, scale²/12. A reference line."), typical, Value, kUp },
            decibels<R>(&R::idealSqnrDb) },
        { { tr("worst ch."), worst, typical, Value, kUp },
            decibels<R>([](const R& row) { return lowestOf(row.channelSqnrDb); }), worstChannelTip(worst) },
        { { tr("channels"), channels, QStringLiteral("channelschan"), Strip, kUp },
            cell<R>(channelCount, lowestOf, &R::channelSqnrDb), worstChannelTip(channels), channelStrip },
        { { tr("range ratio"), definitionText(definition::kRangeRatio), QStringLiteral("range ratio"), Value, kDown },
            numbers<R>(&R::rangeRatio) },
        { { tr("per tensor"), definitionText(definition::kPerTensor), typical, Value, kUp },
            decibels<R>(&R::perTensorSqnrDb) },
        { { tr("per channel"), definitionText(definition::kPerChannel), typical, Value, kUp },
            decibels<R>(&R::perChannelSqnrDb) },
    };
}

WeightModel::Columns WeightModel::codeColumns() const
{
    return {
        { { tr("clipped"), tr("Share of elements beyond the representable range"), QStringLiteral("> 99.9 %"), Value,
              kDown },
            percents<R>(&R::clippedFraction) },
        { { tr("used codes"), tr("Share of the integer codes that occur"), QStringLiteral("used codes"), Value, kUp,
              false },
            percents<R>(&R::usedCodes) },
        { { tr("> ½ step"),
              tr("Share of unclipped elements off by more than half a step: other weights than the float file's"),
              QStringLiteral("> 99.9 %"), Value, kDown, false },
            percents<R>(&R::offByMoreThanHalfStep) },
        { { tr("scale"), tr("real = scale * (q − zero_point)"), QStringLiteral("0.0031 … 0.0120"), Value, kDown,
              false },
            extents<R>(in(&R::params, &QuantParams::scale)), weightQuantizerTip },
        { { tr("zero point"), tr("The code that stands for 0"), QStringLiteral("zero point"), Value, kUp, false },
            cell<R>([](const QString& text, const Number&) { return text; },
                [](const QString&, const Number& first) { return first; },
                [](const R& row) { return zeroPointText(row.params); },
                [](const R& row) { return firstOf(row.params.zeroPoint); }),
            weightQuantizerTip },
    };
}

WeightModel::Columns WeightModel::errorColumns() const
{
    return {
        { { tr("RMSE"), definitionText(definition::kRmse), QStringLiteral("0.00123"), Value, kDown, false },
            numbers<R>(in(&R::similarity, &Similarity::rmse)) },
        { { tr("max error"), definitionText(definition::kMaxError), QStringLiteral("max error"), Value, kDown, false },
            numbers<R>(in(&R::similarity, &Similarity::maxAbsError)) },
    };
}

RowList<WeightRow> WeightModel::rowsOf(const SnapshotPtr& snapshot) const
{
    return comparisonRows(snapshot, &Comparison::weights);
}

bool WeightModel::isSame(const WeightRow& a, const WeightRow& b) const
{
    return a.name == b.name && a.node == b.node; // one weight may be used, and quantized, more than once
}

QString WeightModel::filterText(const WeightRow& row) const
{
    return toQt(row.name) + u' ' + toQt(row.quantizedName) + u' ' + toQt(row.node) + u' ' + userOf(row) + u' '
        + codesOf(row);
}

} // namespace qs

#include "moc_weight_model.cpp"
