// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/base/result.h"
#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

class FoldedConstants;

/// The one path from inputs to a Snapshot, for the command line and the window alike. Loads, pairs, and (when both
/// models and data are there) runs both in lockstep. Parts whose inputs did not change are taken from `previous`.
/// An Issue leaves `previous` as it was; cancellation is an Issue of kind Cancelled.
Result<SnapshotPtr> buildSnapshot(
    const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress, const CancelToken& cancel);

/// Called now and then while a comparison runs, from a worker thread, with the numbers so far (Comparison::partial).
using PartialFn = std::function<void(SnapshotPtr)>;
Result<SnapshotPtr> buildSnapshot(const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress,
    const CancelToken& cancel, const PartialFn& partial);

/// Opens one model file and prepares it (plan, quantization view).
Result<LoadedModel> loadModel(const std::string& path, const PlanOptions& options = {});
/// The same for a model in memory.
LoadedModel loadedModel(std::shared_ptr<const Model> model, const PlanOptions& options = {});

/// The two models of a snapshot that holds both and their alignment, ready to compare in its arithmetic.
ComparePair comparePairOf(const Snapshot& snapshot);

/// The float model's constants as the snapshot's quantized model stores them.
FoldedConstants foldedConstantsOf(const Snapshot& snapshot);

/// Numbers leave out what is not finite; nobody should overlook that. Nothing when all is finite.
std::optional<std::string> nonFiniteWarning(const Comparison& comparison);

/// Inputs that data must provide: graph inputs without initializer, without carried ones.
std::vector<InputSpec> dataInputs(
    const Graph& graph, const std::vector<std::pair<std::string, std::string>>& carry = {});

} // namespace qs
