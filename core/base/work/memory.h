// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace qs {

/// The limit itself, or 80 % of RAM when it is 0.
uint64_t memoryLimitOrDefault(uint64_t limit);

/// 25 % of RAM: for activations that later runs may need again.
uint64_t defaultActivationCache();

/// What this process has allocated and not given back, bytes; mapped files do not count. 0 where the allocator does not
/// tell.
uint64_t allocatedBytes();

/// Largest resident size of this process so far, bytes.
uint64_t peakMemoryBytes();

} // namespace qs
