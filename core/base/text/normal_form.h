// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace qs {

/// Text in UTF-8 in Unicode's normal forms (Unicode Standard Annex 15). What is not valid becomes U+FFFD.
std::string decomposedText(std::string_view text); ///< NFD: letters and marks apart
std::string composedText(std::string_view text); ///< NFC: as few characters as they give

/// With small letters of all alphabets in place of capitals, character by character.
std::string smallLetters(std::string_view text);

} // namespace qs
