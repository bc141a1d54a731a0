// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace qs {

/// Text in UTF-8 in Unicode's normal forms (Unicode Standard Annex 15). What is not valid becomes U+FFFD.
std::string decomposedText(std::string_view text); ///< NFD: letters and marks apart
std::string composedText(std::string_view text); ///< NFC: as few characters as they give
std::string plainDecomposedText(std::string_view text); ///< NFKD: also without what is only another look ("ﬁ", "²")
std::string plainComposedText(std::string_view text); ///< NFKC

/// Calls `each` with what a reader sees as one character, the marks included (extended grapheme clusters of Unicode
/// Standard Annex 29). Bytes that are not valid stand alone.
void forEachGrapheme(std::string_view text, const std::function<void(std::string_view grapheme)>& each);

/// With small letters of all alphabets in place of capitals, character by character.
std::string smallLetters(std::string_view text);

} // namespace qs
