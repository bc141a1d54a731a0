// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace qs {

inline constexpr std::string_view kTrueMinus = "\u2212"; ///< as people read it; files and what is typed have '-'

/// Of the text of a number.
inline std::string withTrueMinus(std::string number)
{
    for (size_t at = number.find('-'); at != std::string::npos; at = number.find('-', at + kTrueMinus.size()))
        number.replace(at, 1, kTrueMinus);
    return number;
}

/// The other way round, for what was typed or copied.
inline std::string withHyphens(std::string number)
{
    for (size_t at = number.find(kTrueMinus); at != std::string::npos; at = number.find(kTrueMinus, at + 1))
        number.replace(at, kTrueMinus.size(), "-");
    return number;
}

} // namespace qs
