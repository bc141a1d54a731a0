// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/weight_grid.h"

#include <optional>
#include <span>
#include <vector>

namespace qs {

/// Codes of integers, float8 or float4.
bool hasSteps(const QuantParams& params);

/// One simple change that a stored weight has, and rounding explains the rest.
struct WeightChange {
    enum class Kind {
        Factor, ///< every element is `value` times the float one: a wrong scale
        Shift, ///< every element is `value` steps beside the float one: a wrong zero point
        Shifts, ///< each block has a shift of its own, by whole steps up to `value`: zero points that are lost or
                ///< others
        Cut, ///< elements beyond the code `value` have that code, and those beyond its counterpart that one
        OtherAxis, ///< scales that fit along the axis `value`, which is as long as theirs
        Factors, ///< `part` of the channels or blocks have factors of their own, `value` the one furthest from 1:
                 ///< scales that are wrong or others', or weights that were equalized
    };
    Kind kind;
    double value;
    double part = 1;
};

/// Indices of one of the first two axes at which most elements are other ones, where all others are rounded well.
struct OtherRows {
    size_t axis;
    std::vector<int64_t> rows;
    std::vector<std::optional<int64_t>> from = {}; ///< whose elements the first of them have, as far as that is known
};
/// Nothing where what is off does not lie in a few rows or columns. `room`: see roomOfTypes().
std::optional<OtherRows> otherRows(std::span<const float> x, std::span<const float> y, const Shape& shape,
    const QuantParams& params, const WeightGrid& grid, double room = 0);

/// `x`: the float weight, `y`: what is stored, both in plain order; nothing where none of these explains all elements
/// but one in a thousand. An element that it moves beyond the codes
/// is expected at their end.
/// `shape`: of both; without it no other axis is looked for.
std::optional<WeightChange> weightChange(std::span<const float> x, std::span<const float> y, const QuantParams& params,
    const WeightGrid& grid, double room = 0, const Shape& shape = {});

} // namespace qs
