// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"

#include <string_view>

namespace qs {

namespace {

/// Bytes of the UTF-8 character at the front; 0 where there is none.
size_t characterBytes(std::string_view text)
{
    const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const size_t bytes = byte(0) < 0x80 ? 1 : byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
    if (bytes == 1)
        return 1;
    for (size_t i = 1; i < bytes; ++i)
        if ((byte(i) & 0xC0) != 0x80)
            return 0;
    const bool overlong = byte(0) < 0xC2 || (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xF0 && byte(1) < 0x90);
    const bool beyond = byte(0) > 0xF4 || (byte(0) == 0xF4 && byte(1) > 0x8F) || (byte(0) == 0xED && byte(1) > 0x9F);
    return overlong || beyond ? 0 : bytes;
}

/// One line of UTF-8: names come from files, which may hold anything.
std::string oneLine(std::string_view text)
{
    std::string line;
    while (!text.empty()) {
        const size_t bytes = characterBytes(text);
        const bool control = bytes == 1 && (static_cast<unsigned char>(text[0]) < 0x20 || text[0] == 0x7F);
        if (control)
            line += ' ';
        else if (bytes == 0)
            line += "\uFFFD";
        else
            line += text.substr(0, bytes);
        text.remove_prefix(bytes ? bytes : 1);
    }
    return line;
}

} // namespace

std::string issueText(const Issue& issue)
{
    std::string text;
    auto place = [&](const std::string& part) {
        if (!text.empty())
            text += ": ";
        text += part;
    };
    if (!issue.file.empty())
        place(issue.file);
    if (!issue.node.empty())
        place("node '" + issue.node + "'");
    if (!issue.tensor.empty())
        place("tensor '" + issue.tensor + "'");
    place(issue.what);
    if (!issue.remedy.empty())
        text += "; " + issue.remedy;
    return oneLine(text);
}

} // namespace qs
