// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/graph/channel_steps.h"

#include <utility>

namespace qs {

/// A product of the float file, its partner, and what each of them goes through right behind it. What only one file has
/// there is folded into the constants of the other.
class FoldedSteps {
public:
    FoldedSteps(const Plan& floatPlan, NodeId ofFloat, const Plan& quantPlan, const QuantView& view, NodeId ofQuant);

    /// What the quantized file makes of the product with the steps that only it has; invalid where it has none, or the
    /// float file has such ones, too.
    ValueId behindOwn() const;
    /// Of steps that both files have and write as other operators (BatchNormalization against Mul and Add) what they
    /// make: float value, quantized value.
    std::vector<std::pair<ValueId, ValueId>> behindCommon() const;

private:
    const Graph& m_float;
    const Graph& m_quant;
    std::vector<ChannelStep> m_ofFloat, m_ofQuant;
    OwnSteps m_own;
};

} // namespace qs
