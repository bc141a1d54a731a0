// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/findings/remedy.h"
#include "core/base/result.h"
#include "core/graph/draft.h"
#include "core/project/snapshot/snapshot.h"

#include <span>
#include <string>

namespace qs {

/// The snapshot's quantized file with these remedies made in it, all else as it is: scales and zero points of
/// activations are set, constants quantized anew from the float file's, quantizers taken out. The snapshot must hold a
/// comparison. Issue: a remedy cannot be made there (other forms than Q/DQ, no partner in the float file ...).
Result<GraphDraft> mendedFile(const Snapshot& snapshot, std::span<const Remedy> remedies);

/// What a model that is to take a file's place has not: inputs, outputs, and operators of ONNX Runtime of which none is
/// left, as a part of a sentence: "the inputs past.0 and 3 more, the operator GroupQueryAttention". Empty: nothing.
std::string lackingParts(const Graph& file, const GraphDraft& mended);

} // namespace qs
