// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/caches/cache_layout.h"
#include "core/engine/plan/plan.h"

#include <optional>

namespace qs {

/// Keys before a rotary embedding turned them.
struct RotarySource {
    ValueId value; ///< of the new tokens alone
    CacheLayout layout;
    RotaryPairs pairs;
};

/// Of the keys that `node` (an attention, or what joins them to the input `past`) remembers, cached as `layout` says:
/// what goes into an attention that turns them itself, into a RotaryEmbedding before it, or into the products and sums
/// that exporters write in its place (k * cos + [-k2, k1] * sin). Nothing where no rotation is found.
std::optional<RotarySource> rotarySource(const Plan& plan, const Node& node, ValueId past, const CacheLayout& layout);

/// Axes of a value, 0 where that is not known.
size_t rankOf(const Plan& plan, ValueId value);

} // namespace qs
