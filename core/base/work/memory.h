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

/// From now on small pieces of memory that are freed, and that the thread does not keep for itself, are joined with
/// their neighbours at once. The C library keeps them apart and joins all of them whenever a large piece is freed: a
/// tenth of a comparison of graphs with 100,000 nodes.
void joinFreedMemory();

/// Largest resident size of this process so far, bytes.
uint64_t peakMemoryBytes();

} // namespace qs
