// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/elided.h"

#include "core/base/text/utf8.h"

#include <string_view>

namespace qs {

namespace {

/// Byte offset of a code point.
size_t offsetOf(const std::string& text, size_t codePoint)
{
    size_t seen = 0;
    for (size_t i = 0; i < text.size(); ++i)
        if (beginsCharacter(text[i]) && seen++ == codePoint)
            return i;
    return text.size();
}

} // namespace

std::string elided(const std::string& text, size_t widest)
{
    const size_t width = characterCount(text);
    if (width <= widest)
        return text;
    const size_t kept = widest - kElision.size();
    return text.substr(0, offsetOf(text, kept / 2)) + std::string(kElision)
        + text.substr(offsetOf(text, width - (kept - kept / 2)));
}

} // namespace qs
