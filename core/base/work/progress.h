// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace qs {

/// Called from worker threads: phase name ("load", "run" ...), units done, units in all (0 = unknown).
using ProgressFn = std::function<void(std::string_view phase, size_t done, size_t total)>;

} // namespace qs
