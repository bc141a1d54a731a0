// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/build_context.h"

namespace qs {

/// Pairs made by hand: those of a file (empty path: none), and these after them.
Result<ManualLinks> manualLinks(const std::string& mapPath, const ManualLinks& links);

/// Pairs the values of both models: by hand, by names and structure, and what these left single by the values of two
/// samples. An Issue where the models do not take the same data.
Result<std::shared_ptr<const Alignment>> pairValues(const AlignmentKey& key, const BuildContext& context);

} // namespace qs
