// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qs {

inline constexpr std::string_view kElision = "..."; ///< stands for what is left out

/// At most `widest` (3 or more) code points, "..." in place of the middle.
std::string elided(const std::string& text, size_t widest);

} // namespace qs
