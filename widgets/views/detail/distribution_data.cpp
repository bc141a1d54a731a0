// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/detail/distribution_data.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/other_row.h"
#include "widgets/models/base/translated.h"
#include "widgets/session/shown/empty_texts.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kBinsAcross = 160, kFewestBins = 16; ///< at most that many bins are drawn

HistogramSeries named(HistogramSeries series, const QString& name, const QColor& colour, HistogramSeries::Look look)
{
    series.name = name;
    series.colour = colour;
    series.look = look;
    return series;
}

/// A power of two multiple of the histogram's own bins.
double drawnWidth(const Histogram& histogram)
{
    // few values make few bins, else every value would stand alone
    const double bins = std::clamp(2 * std::sqrt(double(histogram.total())), kFewestBins, kBinsAcross);
    double width = histogram.binWidth();
    while ((histogram.high() - histogram.low()) / width > bins)
        width *= 2;
    return width;
}

/// Noise of rounding floats is drawn to its own width as a needle that hides all else.
bool isSeen(const Histogram& noise, const Histogram& values)
{
    constexpr double kLeastWidth = 1e-6; ///< of the values'
    return !noise.empty() && noise.largest() - noise.smallest() > kLeastWidth * (values.largest() - values.smallest());
}

QString rangeLabel(const PlotRange& range)
{
    const bool symmetric = range.second > 0 && numberText(-range.first) == numberText(range.second);
    return symmetric ? tr("range ±%1").arg(numberText(range.second))
                     : tr("range %1 … %2").arg(numberText(range.first), numberText(range.second));
}

/// Behind a damaged input the quantized model's own values may stay inside a range that the float model's exceed.
QString clippedLabel(const Number& own, const Number& ofFloat)
{
    if (!own)
        return {};
    const QString share = percentText(own);
    if (!ofFloat || percentText(ofFloat) == share)
        return tr(" · clips %1").arg(share);
    return tr(" · clips %1 of float · %2 of quantized").arg(percentText(ofFloat), share);
}

QString observedLabel(const PlotRange& range)
{
    return tr("observed %1 … %2").arg(numberText(range.first), numberText(range.second));
}

QString subtitleOf(const HistogramData& data, size_t samples)
{
    QString text = tr("%1 bins").arg(data.series[0].counts.size());
    if (samples > 0)
        text += QStringLiteral(" · ") + samplesText(samples);
    return text;
}

/// What a second quantized model makes of the values.
template <class Row>
void addOther(HistogramData& data, const Row* other, bool dequantized, const Theme& theme, double width)
{
    if (!other || other->quantHistogram.empty())
        return;
    data.series.push_back(named(binsOfCodes(other->quantHistogram, other->params, width),
        dequantized ? tr("B dequantized") : tr("B"), theme.otherSeries, HistogramSeries::Look::Outline));
}

DistributionView ofActivation(const ActivationRow& row, const ActivationRow* other, size_t samples, const Theme& theme)
{
    DistributionView view;
    view.title = toQt(row.name);
    HistogramData& data = view.data;
    using Look = HistogramSeries::Look;
    if (row.floatHistogram.empty()) {
        data.emptyText = tr("%1 has no finite values to show.").arg(view.title);
        return view;
    }
    const double width = drawnWidth(row.floatHistogram);
    data.referenceWidth = width;
    data.series.push_back(named(mergedBins(row.floatHistogram, width), tr("float"), theme.floatSeries, Look::Filled));
    if (!row.quantHistogram.empty())
        data.series.push_back(named(binsOfCodes(row.quantHistogram, row.params, width),
            row.quantizer ? tr("dequantized") : tr("quantized model"), theme.quantSeries, Look::Outline));
    if (isSeen(row.errorHistogram, row.floatHistogram))
        data.series.push_back(named(mergedBins(row.errorHistogram, drawnWidth(row.errorHistogram)), tr("noise"),
            theme.noiseSeries, Look::Dashed));
    addOther(data, other, row.quantizer || (other && other->quantizer), theme, width);
    data.representable = row.range;
    if (row.range)
        data.representableLabel = rangeLabel(*row.range) + clippedLabel(row.clippedFraction, row.floatClippedFraction);
    data.observed = row.observedRange;
    if (row.observedRange)
        data.observedLabel = observedLabel(*row.observedRange);
    data.xLabel = row.quantizer ? tr("value before quantization") : tr("value");
    view.subtitle = subtitleOf(data, samples);
    return view;
}

DistributionView ofWeight(const WeightRow& row, const WeightRow* other, const Theme& theme)
{
    DistributionView view;
    view.title = toQt(row.name);
    HistogramData& data = view.data;
    using Look = HistogramSeries::Look;
    if (row.floatHistogram.empty()) {
        data.emptyText = tr("%1 has no finite values to show.").arg(view.title);
        return view;
    }
    const double width = drawnWidth(row.floatHistogram);
    data.referenceWidth = width;
    data.series.push_back(named(mergedBins(row.floatHistogram, width), tr("float"), theme.floatSeries, Look::Filled));
    if (!row.quantHistogram.empty())
        data.series.push_back(named(
            binsOfCodes(row.quantHistogram, row.params, width), tr("dequantized"), theme.quantSeries, Look::Outline));
    addOther(data, other, true, theme, width);
    if (!row.bias && !row.params.scale.empty()) {
        PlotRange range { row.params.low(), row.params.high() };
        for (size_t c = 1; c < row.params.scale.size(); ++c)
            range = { std::min(range.first, row.params.low(c)), std::max(range.second, row.params.high(c)) };
        data.representable = range;
        data.representableLabel = rangeLabel(range) + clippedLabel(row.clippedFraction, {});
    }
    data.xLabel = row.bias ? tr("bias") : tr("weight");
    view.subtitle = subtitleOf(data, 0);
    return view;
}

} // namespace

HistogramSeries mergedBins(const Histogram& histogram, double width)
{
    HistogramSeries series;
    if (histogram.empty())
        return series;
    const double own = histogram.binWidth();
    const double first = std::floor(histogram.low() / width);
    const auto bins = static_cast<size_t>(std::ceil(histogram.high() / width) - first);
    series.counts.assign(std::max<size_t>(bins, 1), 0);
    for (size_t i = 0; i <= series.counts.size(); ++i)
        series.edges.push_back((first + double(i)) * width);
    for (size_t i = 0; i < histogram.counts().size(); ++i) {
        const double centre = histogram.low() + (double(i) + 0.5) * own;
        const double at = std::clamp(std::floor(centre / width) - first, 0.0, double(series.counts.size() - 1));
        series.counts[static_cast<size_t>(at)] += double(histogram.counts()[i]);
    }
    return series;
}

HistogramSeries binsOfCodes(const Histogram& histogram, const QuantParams& params, double width)
{
    if (!params.perTensor() || histogram.empty() || !(params.scale[0] > 0))
        return mergedBins(histogram, width);
    const double scale = params.scale[0];
    // Codes are told apart only by bins well below a step, and bins below the drawn width would show nothing new.
    const double group = std::max(1.0, std::round(width / scale));
    if (histogram.binWidth() > scale / 2)
        return mergedBins(histogram, std::max(width, 8 * scale));
    const double step = group * scale;
    const auto indexOf = [&](double value) { return std::floor(std::round(value / scale) / group); };
    const double half = histogram.binWidth() / 2;
    const double first = indexOf(histogram.low() + half), last = indexOf(histogram.high() - half);
    HistogramSeries series;
    series.counts.assign(static_cast<size_t>(last - first) + 1, 0);
    for (size_t i = 0; i <= series.counts.size(); ++i)
        series.edges.push_back((first + double(i)) * step - scale / 2);
    for (size_t i = 0; i < histogram.counts().size(); ++i) {
        const double at = indexOf(histogram.low() + (double(i) + 0.5) * histogram.binWidth()) - first;
        series.counts[static_cast<size_t>(std::clamp(at, 0.0, double(series.counts.size() - 1)))]
            += double(histogram.counts()[i]);
    }
    return series;
}

DistributionView distributionOf(const Snapshot& snapshot, const Place& place, const Theme& theme)
{
    DistributionView view;
    const Comparison* comparison = snapshot.comparison ? &*snapshot.comparison : nullptr;
    if (comparison && place.weight && *place.weight < comparison->weights.size()) {
        const WeightRow& row = comparison->weights[*place.weight];
        return ofWeight(row, otherRow(snapshot, row, &Comparison::weights), theme);
    }
    if (comparison && place.activation && *place.activation < comparison->activations.size()) {
        const ActivationRow& row = comparison->activations[*place.activation];
        return ofActivation(row, otherRow(snapshot, row, &Comparison::activations), comparison->samples, theme);
    }
    if (!comparison)
        view.data.emptyText = whyNothingCompared(snapshot);
    else if (place.empty())
        view.data.emptyText = tr("Select a tensor or a weight to see its values.");
    else
        view.data.emptyText = tr("This value has no partner in the other model, so nothing was measured here.");
    return view;
}

} // namespace qs
