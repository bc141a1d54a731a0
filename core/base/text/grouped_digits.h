// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace qs {

/// In groups of three: "6,668,032".
inline std::string groupedDigits(uint64_t count)
{
    std::string digits = std::to_string(count);
    for (auto at = static_cast<ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<size_t>(at), 1, ',');
    return digits;
}

} // namespace qs
