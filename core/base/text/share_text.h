// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace qs {

/// In percent, with one decimal; halves away from zero, wherever a share is shown.
inline double roundedPercent(double share) { return std::round(share * 1000) / 10; }

/// "6.3 %". What is no whole part, and not all of it, does not look like that: "<0.1 %", ">99.9 %".
inline std::string shareText(double share)
{
    constexpr double kLeastShown = 0.0005, kSame = 1e-11;
    if (std::fabs(share) < kLeastShown)
        return share > 0 ? "<0.1 %" : "0 %"; // a share of noise may be below zero by a little
    if (std::fabs(share - 1) < kSame || (share > 1 && share < 1 + kLeastShown))
        return "100 %";
    if (share > 1 - kLeastShown && share < 1)
        return ">99.9 %";
    constexpr size_t kLongest = 320; // of finite numbers
    std::array<char, kLongest> text {};
    const auto end
        = std::to_chars(text.data(), text.data() + text.size(), roundedPercent(share), std::chars_format::fixed, 1);
    return std::string(text.data(), end.ptr) + " %";
}

} // namespace qs
