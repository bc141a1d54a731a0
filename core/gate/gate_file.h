// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gate/gates.h"

namespace qs {

/// Reads a gate file (TOML) and the baseline that it names, by a path from its own folder. Issues name the line:
/// unknown keys, other types, numbers that cannot be meant, patterns that are none, a file or a part that checks
/// nothing, a baseline that is none.
Result<Gates> readGateFile(const std::string& path);

} // namespace qs
