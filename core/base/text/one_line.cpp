// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/one_line.h"

#include "core/base/text/utf8.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace qs {

bool isShown(char32_t c)
{
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
    const bool lineEnd = c == 0x2028 || c == 0x2029;
    const bool direction
        = c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    return !control && !lineEnd && !direction;
}

std::string oneLine(std::string_view text, size_t mostCharacters)
{
    std::string line;
    for (size_t count = 0; !text.empty(); ++count) {
        if (count == mostCharacters)
            return line + "…";
        const Utf8Character c = firstCharacter(text);
        if (!isShown(c.point))
            line += ' ';
        else if (c.valid)
            line += c.bytes;
        else
            line += "\uFFFD";
        text.remove_prefix(c.bytes.size());
    }
    return line;
}

std::string visible(std::string_view text)
{
    std::string made;
    made.reserve(text.size());
    const auto isPlain = [](char c) { return (c >= ' ' && c < '\x7F') || c == '\n' || c == '\t'; };
    while (true) {
        const size_t plain = size_t(std::ranges::find_if_not(text, isPlain) - text.begin());
        made += text.substr(0, plain); // all of most texts
        text.remove_prefix(plain);
        if (text.empty())
            break;
        const Utf8Character c = firstCharacter(text);
        const bool stays = c.point == '\n' || c.point == '\t' || text.starts_with("\r\n") || isShown(c.point);
        if (!c.valid) {
            made += "\uFFFD";
        } else if (stays) {
            made += c.bytes;
        } else {
            std::array<char, 8> escape {};
            std::snprintf(escape.data(), escape.size(), "\\u%04X", unsigned(c.point));
            made += escape.data();
        }
        text.remove_prefix(c.bytes.size());
    }
    return made;
}

} // namespace qs
