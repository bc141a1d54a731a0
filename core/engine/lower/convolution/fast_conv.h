// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lower/common/codes.h"
#include "core/engine/step/lower_context.h"
#include "core/kernels/codes/integer_conv.h"

namespace qs {

/// Input slots of QLinearConv and ConvInteger.
struct ConvSlots {
    size_t w, xZero, wZero;
    bool requantizes;
};
inline constexpr ConvSlots kQLinearConv { 3, 2, 5, true };
inline constexpr ConvSlots kConvInteger { 1, 2, 3, false };

struct ConvSizes {
    IntegerConv conv;
    Shape out;
};
Result<ConvSizes> convSizes(const Node& node, const Shape& x, const Shape& w);
/// f32(xs * ws) of every output channel of a QLinearConv.
Result<std::vector<float>> channelScales(const StepContext& s, int64_t channels);

/// The exact convolution of codes, channels-last, with what is constant prepared.
LoweredNode lowerFastConv(const LowerContext& c, const ConvSlots& slots);

} // namespace qs
