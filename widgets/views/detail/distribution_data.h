// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"
#include "widgets/models/base/place.h"
#include "widgets/plots/series.h"
#include "widgets/session/shown/theme.h"

#include <QString>

namespace qs {

/// What the distribution panel shows of a place.
struct DistributionView {
    HistogramData data;
    QString title; ///< the tensor's name
    QString subtitle; ///< "180 bins · 2 samples"
};

DistributionView distributionOf(const Snapshot& snapshot, const Place& place, const Theme& theme);

/// Bins of at least `width`, merged from whole neighbouring bins.
HistogramSeries mergedBins(const Histogram& histogram, double width);

/// One bin around every code's value (per-tensor quantizers), so that values on a grid compare with smooth ones. Falls
/// back to mergedBins where the histogram's bins are too wide to tell codes apart.
HistogramSeries binsOfCodes(const Histogram& histogram, const QuantParams& params, double width);

} // namespace qs
