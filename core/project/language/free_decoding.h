// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/decode/continued_prompt.h"
#include "core/analysis/decode/free_decoding.h"
#include "core/base/work/progress.h"
#include "core/project/snapshot/snapshot.h"

#include <string>
#include <vector>

namespace qs {

/// The snapshot with what its language models say when each continues the prompts with its own tokens: `freeRun` of the
/// first output that guesses next tokens. Texts end where `options` says, or else as endTokens() finds. All other
/// numbers stay those of the tokens that both read. Issues: no output guesses tokens, a prompt is too short, a model
/// cannot go on; cancelled.
Result<SnapshotPtr> withFreeRun(
    const SnapshotPtr& snapshot, const FreeDecoding& options, const ProgressFn& progress, const CancelToken& cancel);

/// What both models make of one prompt, each with its own tokens. Issues as above.
Result<ContinuedPrompt> continuedPromptOf(const Snapshot& snapshot, size_t prompt, const FreeDecoding& options,
    const ProgressFn& progress, const CancelToken& cancel);

/// Names by which caches of the float model are carried from token to token.
struct CacheChoices {
    std::vector<std::string> inputs; ///< that may be caches: neither tokens, mask nor places
    std::vector<std::string> outputs; ///< that may become one
    CarryNames found; ///< pairs that names tell
};
/// Empty where no output guesses next tokens.
CacheChoices cacheChoices(const Snapshot& snapshot);

} // namespace qs
