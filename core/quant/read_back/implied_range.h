// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/params/scale.h"
#include "core/quant/ranges/ranges.h"

namespace qs {

/// A range of which the rules make exactly that scale and zero point; nullopt when there is none near the obvious one.
std::optional<TensorRange> impliedRange(const ScaleZero& wanted, const ScaleRules& rules);

} // namespace qs
