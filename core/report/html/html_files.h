// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/report.h"

#include <string>
#include <vector>

namespace qs::html {

/// Size, work, time and worth of the models side by side.
std::string filesTable(const std::vector<FileFacts>& files);
/// Two models element by element.
std::string elementsTable(const ElementDifferences& found);

} // namespace qs::html
