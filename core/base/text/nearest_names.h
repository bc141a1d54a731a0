// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace qs {

/// The names that a mistyped one most likely means, the nearest first, `most` at most: those that it is a part of, then
/// those that the fewest changes of single bytes lead to, upper and lower case alike. None is as far away as it is
/// long.
std::vector<std::string> nearestNames(
    const std::string& mistyped, const std::vector<std::string>& names, size_t most = 3);

} // namespace qs
