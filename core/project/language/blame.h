// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/blame/blame.h"
#include "core/base/work/progress.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

/// Which parts of the quantized model chose another token, at the first output that scores tokens. Issues: no
/// output does, there is no such prompt or position; cancelled.
Result<TokenBlame> blameOf(
    const Snapshot& snapshot, const BlameRequest& request, const ProgressFn& progress, const CancelToken& cancel);

/// The guess to look at first: where prompts were continued, the first different token before which the float model
/// was surest; else the comparison's worst one. Without `freely`. Issues: no output guesses tokens, no prompt parts.
Result<BlameRequest> worstGuess(const Snapshot& snapshot);

} // namespace qs
