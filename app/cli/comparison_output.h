// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/cli.h"
#include "app/cli/gates.h"

#include "core/analysis/blame/token_blame.h"
#include "core/analysis/lab/element_differences.h"
#include "core/analysis/lab/ladder.h"
#include "core/data/tokens/token_words.h"
#include "core/project/arithmetic/saturation_lab.h"
#include "core/project/snapshot/snapshot.h"

namespace qs::cli {

/// What a finished comparison is written to; --json is among the common options.
struct ComparisonOutput {
    std::string csv, html, junit, sarif, markdown;
    GateOptions gates;
};
void addComparisonOutput(CLI::App& command, ComparisonOutput& output);
void addFilesOf(FileRoles& files, const ComparisonOutput& output);
/// What was asked for beside the comparison.
struct Asides {
    std::optional<Ladder> ladder;
    std::optional<ElementDifferences> elements;
    std::optional<SaturationLab> saturation;
    std::optional<TokenBlame> blame;
    std::optional<TokenWords> words; ///< how tokens are written
    size_t timedRuns = 0; ///< of each model; 0: time is not measured
};

/// Writes files and table, all of them or none. `snapshots`: one, or those of the first and the second quantized file,
/// which gates are about. The exit code; a gate that cannot be judged is an issue.
Result<int> writeComparison(const std::vector<SnapshotPtr>& snapshots, const ComparisonOutput& output,
    const Gates& gates, const Context& context, const Asides& asides = {});

} // namespace qs::cli
