// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/decode/free_decoding.h"

namespace qs {

/// What two models make of one prompt, greedily (the largest score, of equal ones the first), also after they parted.
/// Issues: there is no such prompt, it is shorter than `options` says, a model cannot go on; cancelled.
Result<ContinuedPrompt> continuedPrompt(const DecodedPair& pair, const DataSource& data, size_t prompt,
    const FreeDecoding& options, const WorkContext& work);

} // namespace qs
