// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/cli.h"

#include "core/project/snapshot/snapshot.h"

namespace qs::cli {

/// What the quantized model has to keep.
struct Gates {
    std::optional<double> minSqnrDb; ///< of every output
    std::optional<double> maxAccuracyDrop; ///< float minus quantized, percentage points
    std::optional<double> minTop1; ///< share, of every output that has a top-1 agreement
};
void addGates(CLI::App& command, Gates& gates);
/// Before any work: numbers that cannot be meant.
Status checkGates(const Gates& gates);
/// One sentence a miss. An issue where the number that is asked about does not exist.
Result<std::vector<std::string>> missedGates(const Comparison& comparison, const Gates& gates);
/// Says what was missed, on stdout unless that carries a document; the exit code.
int tellGates(const std::vector<std::string>& missed, bool documentOnStdout);

} // namespace qs::cli
