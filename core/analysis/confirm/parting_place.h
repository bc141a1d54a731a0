// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/pairs/compare_pair.h"

#include <string>

/// Around the first value that is another one in the quantized file.
namespace qs {

/// What cannot be compared has no partner: where such values lead to `place`, the first of them is where the files
/// part, as what is before it agrees. One is left out where something else that is made beside it, or of it before,
/// agrees.
ValueId firstOfUnmatched(const ComparePair& pair, ValueId place);
/// " or before it: ...", where values without a partner lead to the place; empty: none do.
std::string orBefore(const ComparePair& pair, ValueId place);
/// A sentence, with a space before it, for an output of the float model whose own partner is no output of the quantized
/// file: what that makes its output of it by. Empty for another one.
std::string behindPartner(const ComparePair& pair, ValueId output);
/// Inputs that only the float model reads, a sentence with a space before it.
std::string unreadText(const ComparePair& pair);
/// The files part by padding alone, and by what one of them reads it as text, as far as its graph tells; as
/// sentences with a space before them.
std::string paddingText(const ComparePair& pair, const ReadPadding& padding);
/// It has attention that knows lengths alone, no mask, so that padding before the text is read.
bool countsLengths(const ComparePair& pair, const ReadPadding& padding);

} // namespace qs
