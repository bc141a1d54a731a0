// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/work_context.h"
#include "core/project/snapshot/snapshot.h"

#include <array>
#include <string>
#include <string_view>

namespace qs {

/// A form of the report of a comparison.
struct ReportForm {
    std::string_view name, mimeType, help;
};
inline constexpr std::array<ReportForm, 6> kReportForms { {
    { "html", "text/html", "self-contained page with graph, charts and tables" },
    { "json", "application/json", "all numbers: the document of `compare --json`" },
    { "csv", "text/csv", "all rows" },
    { "markdown", "text/markdown", "summary" },
    { "junit", "application/xml", "findings as JUnit XML" },
    { "sarif", "application/sarif+json", "findings as SARIF 2.1.0" },
} };

/// The report of a snapshot with a comparison. Issues: cancelled; an unknown form.
Result<std::string> reportText(const Snapshot& snapshot, std::string_view form, const WorkContext& work);

} // namespace qs
