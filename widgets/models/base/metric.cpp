// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/metric.h"

#include "widgets/models/base/translated.h"

#include <algorithm>
#include <limits>

namespace qs {

MetricInfo metricInfo(Metric metric)
{
    const QString dB = QStringLiteral("dB");
    switch (metric) {
    case Metric::Accumulated:
        return { tr("Accumulated"), tr("accumulated SQNR"), dB,
            tr("How far the quantized network has drifted here: 20·log10(‖x‖ / ‖x − y‖), x from the float model, y "
               "dequantized from the quantized model, over all samples together. Higher is better.") };
    case Metric::Added:
        return { tr("Added here"), tr("added by the quantizer, SQNR"), dB,
            tr("The float model's own x passed through this tensor's quantizer alone: 20·log10(‖x‖ / ‖x − DQ(Q(x))‖). "
               "Tells whether this scale is a good one for this tensor. Higher is better.") };
    case Metric::Increase:
        return { tr("Increase"), tr("increase of noise to signal"), dB,
            tr("Noise-to-signal here minus the largest among the node's inputs, each not below the tensor's ideal. "
               "Tells "
               "where along the path the error grows. Lower is better.") };
    case Metric::NodeAlone:
        return { tr("Node alone"), tr("added by the node, SQNR"), dB,
            tr("The quantized node alone, fed with the float model's inputs through its own input quantizers and "
               "weights, against the float result. Tells whether the trouble starts in this node. Higher is better.") };
    case Metric::Ideal:
        return { tr("Ideal"), tr("ideal SQNR"), dB,
            tr("Signal power over scale²/12, the noise of uniform rounding. A reference line, not a bound.") };
    case Metric::Clipped:
        return { tr("Clipped"), tr("clipped elements"), QStringLiteral("%"),
            tr("Share of elements beyond the representable range by more than half a step. Lower is better.") };
    }
    return {};
}

MetricScale metricScale(Metric metric)
{
    switch (metric) {
    case Metric::Increase:
        return { Better::Lower, 0, 30 };
    case Metric::Ideal:
        return { Better::Higher, 0, 60 };
    case Metric::Clipped:
        return { Better::Lower, 0, 10 };
    default:
        return {};
    }
}

Number metricValue(Metric metric, const ActivationRow& row)
{
    switch (metric) {
    case Metric::Accumulated:
        return row.accumulated.sqnrDb;
    case Metric::Added:
        return row.localSqnrDb;
    case Metric::Increase:
        return row.increaseDb;
    case Metric::NodeAlone:
        return row.nodeSqnrDb;
    case Metric::Ideal:
        return row.idealSqnrDb;
    case Metric::Clipped:
        return row.clippedFraction ? Number(*row.clippedFraction * 100) : Number();
    }
    return {};
}

bool metricExact(Metric metric, const ActivationRow& row)
{
    switch (metric) {
    case Metric::Accumulated:
        return row.accumulated.exact;
    case Metric::Added:
        return row.localExact;
    case Metric::NodeAlone:
        return row.nodeExact;
    default:
        return false;
    }
}

double metricBadness(Metric metric, double value)
{
    const MetricScale scale = metricScale(metric);
    const double position = std::clamp((value - scale.low) / (scale.high - scale.low), 0.0, 1.0);
    return scale.better == Better::Higher ? 1 - position : position;
}

double worstFirstKey(Metric metric, const ActivationRow& row)
{
    if (metricExact(metric, row))
        return std::numeric_limits<double>::max();
    const Number value = metricValue(metric, row);
    if (!value)
        return std::numeric_limits<double>::infinity();
    return metricScale(metric).better == Better::Higher ? *value : -*value;
}

} // namespace qs
