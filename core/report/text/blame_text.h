// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/blame/token_blame.h"

#include <string>

namespace qs {

/// Layers and nodes that moved the two rivals apart or together, most first; `verbose` shows all.
std::string blameText(const TokenBlame& blame, bool verbose);

} // namespace qs
