// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/pair_detail.h"
#include "widgets/plots/series.h"
#include "widgets/session/shown/theme.h"

#include <QString>

namespace qs {

/// Channels of a tensor as they are drawn, and what is to be said of them in a line.
struct ChannelView {
    ChannelData data;
    QString summary;
};

/// Of a weight, from its row alone. `other`: the same of a second quantized model (B), drawn below; null: none.
ChannelView channelsOfWeight(const WeightRow& row, const WeightRow* other, const Theme& theme);
ChannelView channelsOfTensor(
    const ActivationRow& row, const PairDetail& detail, const PairDetail* other, const Theme& theme);

} // namespace qs
