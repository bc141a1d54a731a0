// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/kernels/statistics/value_range.h"

#include <optional>

namespace qs {

/// The value whose elements this one holds in another shape or order (Reshape, Transpose ...); invalid when there is
/// none.
ValueId sameElements(const Plan& plan, ValueId id);

/// A value that is another one cut off at 0 and at `most`: Relu, and Clip with such constant bounds.
struct Rectified {
    ValueId source;
    float most;
    /// Range of the value, given that of the source.
    ValueRange rangeOf(const ValueRange& source) const;
};
std::optional<Rectified> rectified(const Plan& plan, ValueId id);

} // namespace qs
