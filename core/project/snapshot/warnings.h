// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

namespace qs {

/// Sentences on all that a comparison begins with: models, data, what the recipe made.
std::vector<std::string> warningsOf(const Snapshot& snapshot);

/// On pairs that were made by hand and do not hold the same values.
std::vector<std::string> disputeWarnings(const Snapshot& snapshot);

/// The data have labels, and nothing is held against them. `ofFolders`: the labels are the folders that pictures lie
/// in, which nobody may have meant so.
std::optional<std::string> unusedLabelsWarning(
    const Comparison& comparison, const std::vector<int64_t>& labels, bool ofFolders);

/// Numbers leave out what is not finite; nobody should overlook that. Nothing when all is finite.
std::optional<std::string> nonFiniteWarning(const Comparison& comparison);

} // namespace qs
