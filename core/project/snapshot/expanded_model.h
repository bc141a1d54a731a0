// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"
#include "core/project/snapshot/build_context.h"

namespace qs {

/// The model as it is compared: where the samples agree on it, the branch that is taken stands in the place of each If,
/// and the iterations of Loop and Scan one after the other in theirs, so that what is inside has numbers. Without data
/// and where nothing can be expanded it is the model itself. Images are in the order of ONNX's operators, whichever
/// the file keeps them in.
Result<LoadedModel> expandedModel(const ExpansionKey& key, const BuildContext& context);

/// On what stays in bodies and is not compared.
std::vector<std::string> bodyWarnings(const LoadedModel& model);

/// "the else_branch of 'if'"
std::string branchName(const UntakenBranch& branch);

/// On branches that no sample takes and that hold weights: how many of these are compared.
std::vector<std::string> untakenWarnings(const LoadedModel& floatModel, const Comparison& c);

} // namespace qs
