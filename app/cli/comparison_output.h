// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/cli.h"

#include "core/analysis/lab/ladder.h"
#include "core/project/snapshot/snapshot.h"

namespace qs::cli {

/// What a finished comparison is written to; --json is among the common options.
struct ComparisonOutput {
    std::string csv, html;
    std::optional<double> failBelow; ///< dB
};
void addComparisonOutput(CLI::App& command, ComparisonOutput& output);
/// Before any work: options that cannot be right.
Status checkComparisonOutput(const ComparisonOutput& output);

/// Writes files and table, all of them or none. `snapshots`: one, or those of the first and the second quantized file.
/// The exit code. `ladder` may be null.
Result<int> writeComparison(const std::vector<SnapshotPtr>& snapshots, const ComparisonOutput& output,
    const Context& context, const Ladder* ladder = nullptr);

} // namespace qs::cli
