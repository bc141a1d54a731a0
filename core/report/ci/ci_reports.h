// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gate/judge.h"
#include "core/project/snapshot/snapshot.h"

#include <string>

namespace qs {

/// What continuous integration reads. The snapshot must hold the comparison that was judged. Names out of files stand
/// in them as text that neither acts nor ends what it stands in.

/// JUnit XML: a suite for outputs, tensors, findings and baseline, a test case a check.
/// `timestamp`: UTC, "2026-01-31T12:00:00".
std::string compareJunit(const Snapshot& snapshot, const Judgement& judgement, const std::string& timestamp);
/// SARIF 2.1.0: findings and missed gates, at the model file.
std::string compareSarif(const Snapshot& snapshot, const Judgement& judgement);
/// Markdown for a summary page or a comment: verdict, gates, outputs, worst tensors, findings.
std::string compareMarkdown(const Snapshot& snapshot, const Judgement& judgement);

} // namespace qs
