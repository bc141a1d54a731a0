// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"
#include "core/analysis/rows/definitions.h"

#include <QString>

#include <array>

namespace qs {

/// What a number is, in the user's language.
QString definitionText(const Definition& definition);

/// The number that colours the graph and orders the worst list.
enum class Metric { Accumulated, Added, Increase, NodeAlone, Ideal, Clipped, OtherGain };
inline constexpr std::array kMetrics { Metric::Accumulated, Metric::Added, Metric::Increase, Metric::NodeAlone,
    Metric::Ideal, Metric::Clipped, Metric::OtherGain };

enum class Better { Higher, Lower };

/// What people need to know of a number. Title and unit are short enough for a chip and a column header.
struct MetricInfo {
    QString title; ///< "Accumulated"
    QString legend; ///< "accumulated SQNR"
    QString unit; ///< "dB", "%"
    QString definition; ///< one or two sentences, with the formula
};
MetricInfo metricInfo(Metric metric);

/// Direction and default colour limits, in the unit.
struct MetricScale {
    Better better = Better::Higher;
    double low = 0;
    double high = 40;
};
MetricScale metricScale(Metric metric);

/// Value in the metric's unit; empty where it does not exist.
Number metricValue(Metric metric, const ActivationRow& row);
/// True where the value is empty because the tensors are equal.
bool metricExact(Metric metric, const ActivationRow& row);
/// 0 = best, 1 = worst, within the metric's default limits; what colours use.
double metricBadness(Metric metric, double value);
/// Sort key: ascending = worst first. Exact and absent values come last, in that order.
double worstFirstKey(Metric metric, const ActivationRow& row);

} // namespace qs
