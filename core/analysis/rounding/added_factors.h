// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"

#include <string>
#include <vector>

namespace qs {

/// A multiplication by one number near 1 that the quantized file has and the float model has not: some quantizers put
/// such a number behind a HardSigmoid or an average that an accelerator computes with a rounded factor.
struct AddedFactor {
    NodeId node; ///< of the quantized file, a Mul
    size_t slot = 0; ///< of the number
    double value = 1;
};

std::vector<AddedFactor> addedFactors(const ComparePair& pair);
/// A sentence without a full stop about all of them; empty where there are none.
std::string addedFactorsText(const ComparePair& pair, const std::vector<AddedFactor>& factors);
/// The node of the float model in whose place the first of them is, or behind which it is; invalid where none is known.
NodeId placeOfAdded(const ComparePair& pair, const std::vector<AddedFactor>& factors);

} // namespace qs
