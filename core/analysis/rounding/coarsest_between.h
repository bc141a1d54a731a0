// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/analysis/rounding/precision.h"

#include <optional>

namespace qs {

/// The coarsest type that elements of the quantized file take on their way from one value to another where they are
/// only moved and cast, as by a Cast to float16 before what moves them. Nothing where none is coarser than float32, or
/// where something else is between. Codes are none of these types.
std::optional<Precision> coarsestBetween(const ComparePair& pair, ValueId from, ValueId to);

} // namespace qs
