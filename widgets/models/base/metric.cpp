// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/metric.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"

#include <algorithm>
#include <limits>

namespace qs {

QString definitionText(const Definition& definition)
{
    return QCoreApplication::translate("Definitions", definition.text.data())
        .replace(QStringLiteral("{}"), toQt(definition.formula));
}

MetricInfo metricInfo(Metric metric)
{
    const QString dB = QStringLiteral("dB");
    switch (metric) {
    case Metric::Accumulated:
        return { tr("Accumulated"), tr("accumulated SQNR"), dB, definitionText(definition::kAccumulated) };
    case Metric::Added:
        return { tr("Added here"), tr("added by the quantizer, SQNR"), dB, definitionText(definition::kAdded) };
    case Metric::Increase:
        return { tr("Increase"), tr("increase of noise to signal"), dB, definitionText(definition::kIncrease) };
    case Metric::NodeAlone:
        return { tr("Node alone"), tr("node alone, SQNR"), dB, definitionText(definition::kNodeAlone) };
    case Metric::Ideal:
        return { tr("Ideal"), tr("ideal SQNR"), dB, definitionText(definition::kIdeal) };
    case Metric::Clipped:
        return { tr("Clipped"), tr("clipped elements"), QStringLiteral("%"), definitionText(definition::kClipped) };
    case Metric::OtherGain:
        return { tr("B − A"), tr("SQNR of B less that of A"), dB,
            tr("Accumulated SQNR of the second quantized model (B) less that of the first (A), dB. Above 0 B is "
               "better. Taken before either is rounded.") };
    }
    return {};
}

MetricScale metricScale(Metric metric)
{
    switch (metric) {
    case Metric::Increase:
        return { Better::Lower, 0, 12 };
    case Metric::Ideal:
        return { Better::Higher, 0, 60 };
    case Metric::Clipped:
        return { Better::Lower, 0, 10 };
    case Metric::OtherGain:
        return { Better::Higher, -20, 20 };
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
    case Metric::OtherGain:
        return gainOfOther(row, row.accumulated.sqnrDb);
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
