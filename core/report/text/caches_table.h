// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/caches_report.h"
#include "core/report/report.h"

#include <string>

namespace qs {

/// For a terminal: a line a layer and kind, with --verbose also one a head.
std::string cachesTable(const CachesReport& report, const ReportInfo& info);

} // namespace qs
