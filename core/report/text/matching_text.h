// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <string>

namespace qs {

/// What is not compared: values inside a node of the other file, those without a partner and why, and those that are
/// alike beside the pairs. "" when there are none; without `verbose` a few of each.
std::string matchingText(const Snapshot& snapshot, bool verbose);

} // namespace qs
