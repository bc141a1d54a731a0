// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <string>

namespace qs {

/// Writes the report of the snapshot's comparison as HTML, JSON or CSV, by the path's suffix: what the command line
/// writes. A file that was there stays as it was when this fails.
Status writeReport(const Snapshot& snapshot, const std::string& path);

} // namespace qs
