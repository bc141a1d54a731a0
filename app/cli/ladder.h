// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/cli.h"

#include "core/analysis/lab/ladder.h"
#include "core/project/snapshot/snapshot.h"

namespace qs::cli {

/// Files of values that others computed.
struct LadderOptions {
    std::string framework, device;
    bool any() const { return !framework.empty() || !device.empty(); }
};
void addLadderOptions(CLI::App& command, LadderOptions& options);
/// Of a finished comparison in which the quantized model is one file (or recipe) over all samples; nothing where it is
/// not asked for.
Result<std::optional<Ladder>> ladderOf(const LadderOptions& options, const Snapshot& snapshot, const Context& context);

} // namespace qs::cli
