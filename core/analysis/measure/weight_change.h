// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/weight_grid.h"

#include <optional>
#include <span>

namespace qs {

/// One simple change that a stored weight has, and rounding explains the rest.
struct WeightChange {
    enum class Kind {
        Factor, ///< every element is `value` times the float one: a wrong scale
        Shift, ///< every element is `value` steps beside the float one: a wrong zero point
        Cut, ///< elements beyond the code `value` have that code
    };
    Kind kind;
    double value;
};

/// `x`: the float weight, `y`: what is stored, both in plain order; nothing where none of these explains all elements
/// but one in a thousand.
std::optional<WeightChange> weightChange(
    std::span<const float> x, std::span<const float> y, const QuantParams& params, const WeightGrid& grid);

} // namespace qs
