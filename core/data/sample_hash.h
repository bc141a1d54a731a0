// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"

#include <cstdint>
#include <vector>

namespace qs {

/// One hash a sample of the feed, of the bytes of all its inputs: equal samples have equal ones, whatever file they
/// come from. 0 for a sample without inputs.
std::vector<uint64_t> sampleHashes(const Feed& feed);

} // namespace qs
