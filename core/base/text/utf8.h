// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qs {

/// What stands at the front of a text: a character, or one byte that belongs to none.
struct Utf8Character {
    char32_t point = U'\uFFFD'; ///< the replacement character where it is not valid
    std::string_view bytes; ///< as they stand in the text
    bool valid = false;
};

/// `text` is not empty. Overlong forms, surrogates, what is beyond U+10FFFF, and what is cut off are not valid.
Utf8Character firstCharacter(std::string_view text);

template <class Each> void forEachCharacter(std::string_view text, const Each& each)
{
    while (!text.empty()) {
        const Utf8Character c = firstCharacter(text);
        each(c);
        text.remove_prefix(c.bytes.size());
    }
}

/// `point` in UTF-8.
std::string utf8Text(char32_t point);

/// Text may be cut in front of this byte.
inline bool beginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

/// Bytes that begin a character: as many as there are characters in valid text.
size_t characterCount(std::string_view text);

} // namespace qs
