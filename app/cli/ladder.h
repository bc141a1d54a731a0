// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/cli.h"

#include "core/project/about/climbed_ladder.h"

namespace qs::cli {

void addLadderOptions(CLI::App& command, SavedFiles& files);
/// Of a finished comparison in which the quantized model is one file (or recipe) over all samples; nothing where it is
/// not asked for.
Result<std::optional<Ladder>> ladderOf(const SavedFiles& files, const Snapshot& snapshot, const Context& context);

} // namespace qs::cli
