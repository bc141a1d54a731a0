// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/series.h"

#include <QString>

namespace qs {

/// What a plot shows, in a sentence or two, for those who do not see it. `number` writes numbers as the plot does.
using NumberText = std::function<QString(double)>;
QString inWords(const HistogramData& data, const NumberText& number);
QString inWords(const ChannelData& data, const NumberText& number);
QString inWords(const HeatData& data, const NumberText& number);
QString inWords(const LineData& data, const NumberText& number);
QString inWords(const PointData& data, const NumberText& number);

} // namespace qs
