// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/explain/explanation/explanation.h"

namespace qs {

/// The way from the float network's number to the quantized one, in parts that add up.
struct ErrorSplit {
    double from = 0; ///< what the float network's operands give
    double to = 0; ///< what the quantized ones give
    double input = 0, weight = 0, bias = 0, rounding = 0, clipping = 0, saturation = 0;
    std::string reservation; ///< see ElementDifference
    bool open = false; ///< an operand has no partner: what is left belongs to `input`

    /// Behind an activation: the parts keep the share of the way that it lets pass, which is returned.
    double keepWithin(double low, double high);
    /// To the element's code, where it has one that its operator made.
    void round(const ElementExplanation& e);
    /// Against the float network's own number.
    ElementDifference difference(double real, double reference) const;
};

/// An operand whose own way was followed.
struct FollowedOperand {
    ErrorSplit split;
    ValueId value;
};

/// Of the terms, and of what is behind one of them where that was followed. Tells the terms their share.
ErrorSplit splitOf(ElementExplanation& e, const std::optional<FollowedOperand>& behind);

} // namespace qs
