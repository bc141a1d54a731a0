// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>

namespace qs {

/// At most `widest` (3 or more) code points, "..." in place of the middle.
std::string elided(const std::string& text, size_t widest);

} // namespace qs
