// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/qdq/quant_view.h"

#include <optional>
#include <vector>

namespace qs {

/// Where the result of a product with a constant weight (Conv, ConvTranspose, Gemm, MatMul) has its channels.
struct ProductChannels {
    int64_t count = 0;
    size_t rank = 0; ///< of the result; 0 = not known
    bool last = false; ///< they lie on the last axis, else on the second
};
/// What a product adds itself; invalid where this is nothing, as where a Gemm multiplies it by zero or it is a single
/// zero.
ValueId ownBias(const Plan& plan, NodeId product);
/// Nothing for another node, and for a Gemm that scales what it adds.
std::optional<ProductChannels> productChannels(const Plan& plan, NodeId product);

/// What a product's result goes through right behind it, a constant for each channel. A BatchNormalization is two
/// steps, one that scales and one that shifts.
struct ChannelStep {
    NodeId node;
    bool scales = false; ///< else it shifts
    size_t slot = 0; ///< of the constant that says it: of a BatchNormalization its scale or its bias
    std::vector<double> values; ///< factors or terms, one a channel
    std::vector<double>
        offsets {}; ///< what its stored constant is more than its term (a mean times the factor); empty: 0
    std::vector<double> slack {}; ///< of a factor that is made of codes: what half a step of them is; empty: 0
};
/// In order, as far as each value has a single reader; quantizers and what else keeps numbers are walked through.
/// `view`: of a file that may scale sums of codes first; null: none.
std::vector<ChannelStep> channelSteps(
    const Plan& plan, const QuantView* view, NodeId product, const ProductChannels& channels);

/// How many steps of each file stay after those at their ends that both have.
struct OwnSteps {
    size_t ofFloat = 0, ofQuant = 0;
};
OwnSteps ownSteps(const std::vector<ChannelStep>& ofFloat, const std::vector<ChannelStep>& ofQuant);

/// What each channel of the float weight is multiplied by to be that of the other file; not finite where that one
/// multiplies the channel by zero.
std::vector<double> weightFactors(
    const std::vector<ChannelStep>& ofFloat, const std::vector<ChannelStep>& ofQuant, size_t channels);
/// The channel that an element of a product's weight, in plain order, is of.
size_t weightChannel(const Node& product, const Shape& weight, size_t element);

} // namespace qs
