// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"

#include "core/base/text/one_line.h"

namespace qs {

namespace {

constexpr size_t kMostOfName = 400, kMostOfWhat = 4000; ///< characters: names may have megabytes

}

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
        place("node '" + oneLine(issue.node, kMostOfName) + "'");
    if (!issue.tensor.empty())
        place("tensor '" + oneLine(issue.tensor, kMostOfName) + "'");
    place(oneLine(issue.what, kMostOfWhat));
    if (!issue.remedy.empty())
        text += "; " + issue.remedy;
    return oneLine(text);
}

} // namespace qs
