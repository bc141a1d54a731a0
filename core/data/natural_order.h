// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace qs {

/// Runs of digits compare by their number: "set_2" before "set_10".
bool naturalLess(std::string_view a, std::string_view b);

} // namespace qs
