// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/caches_report.h"
#include "core/report/report.h"

#include <string>

namespace qs {

/// `caches --json`.
std::string cachesJson(const CachesReport& report, const ReportInfo& info);

} // namespace qs
