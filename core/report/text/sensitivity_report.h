// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/sensitivity/sensitivity.h"
#include "core/project/snapshot/snapshot.h"
#include "core/report/report.h"

#include <string>

namespace qs {

/// What was measured, of which snapshot.
struct SensitivityReport {
    const Snapshot& snapshot;
    const Sensitivity& sensitivity;
    std::string recipe; ///< what the recipe began with
};

/// Formats are those of the command line contract.
std::string sensitivityJson(const SensitivityReport& report, const ReportInfo& info);
/// For a terminal: units by what leaving them out buys, then the exclusions.
std::string sensitivityTable(const SensitivityReport& report, const ReportInfo& info);

} // namespace qs
