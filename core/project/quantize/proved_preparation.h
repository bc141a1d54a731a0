// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/work_context.h"
#include "core/data/data_source.h"
#include "core/graph/draft.h"
#include "core/prepare/prepare.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// A node as a list of changes names it.
struct NamedNode {
    std::string name, opType;
};

/// What one pass did, and whether the outputs stayed as they were.
struct ProvedPass {
    PassReport report;
    size_t nodesBefore = 0, nodesAfter = 0;
    std::vector<NamedNode> removed, added;
    /// Largest ‖x − y‖ / ‖x‖ of an output over the samples, x before and y after the pass; nothing where it changed
    /// nothing.
    std::optional<double> distance;
    bool undone = false; ///< the outputs did not stay the same, or the changed model cannot run
    std::string reason; ///< why it was undone
};

struct ProvedPreparation {
    GraphDraft draft;
    std::vector<ProvedPass> passes; ///< in the order in which they ran
    size_t samples = 0; ///< that each was proved on
};

/// Passes that are run where nobody chooses: those of the usual recipe that change the file, and fuse_gemm.
std::vector<std::string> usualPreparation();

/// Samples that a pass is proved on, at most.
inline constexpr size_t kProofSamples = 4;

/// Runs the passes of these names, in their own order, and the model before and after each that changed something over
/// the first samples. A pass that moves an output by more than kSameNetwork is taken back. Issues: no samples, the
/// model cannot run, cancelled.
Result<ProvedPreparation> provedPreparation(const std::shared_ptr<const Model>& model,
    const std::vector<std::string>& passes, const DataSource& data, const WorkContext& work);

} // namespace qs
