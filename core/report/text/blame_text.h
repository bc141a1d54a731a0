// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/agreement/free_run.h"
#include "core/analysis/blame/token_blame.h"
#include "core/data/tokens/token_words.h"

#include <string>

namespace qs {

/// Layers and nodes that moved the two rivals apart or together, most first; `verbose` shows all. `words`: how tokens
/// are written; null: unknown.
std::string blameText(const TokenBlame& blame, const TokenWords* words, bool verbose);
/// What each model goes on with; the first prompts that part, with `verbose` all prompts whole.
std::string continuationsText(const FreeRun& run, const TokenWords* words, bool verbose);

} // namespace qs
