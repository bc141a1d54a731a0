// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"

#include "core/base/text/utf8.h"

namespace qs {

namespace {

/// One line of UTF-8: names come from files, which may hold anything.
std::string oneLine(std::string_view text)
{
    std::string line;
    forEachCharacter(text, [&](const Utf8Character& c) {
        const bool control = c.point < 0x20 || c.point == 0x7F;
        if (control)
            line += ' ';
        else if (c.valid)
            line += c.bytes;
        else
            line += "\uFFFD";
    });
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
