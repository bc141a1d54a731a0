// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <string>

namespace qs {

/// How the error goes on from iteration to iteration of the loops whose bodies were compared, the steepest fall first;
/// empty where none were.
std::string iterationsText(const Snapshot& snapshot, bool verbose);

} // namespace qs
