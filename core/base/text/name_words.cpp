// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/name_words.h"

#include "core/base/text/lower_case.h"

#include <cctype>

namespace qs {

std::vector<std::string> nameWords(const std::string& name)
{
    std::vector<std::string> words(1);
    for (const char c : lowerCase(name))
        if (std::isalnum(static_cast<unsigned char>(c)))
            words.back() += c;
        else if (!words.back().empty())
            words.emplace_back();
    return words;
}

} // namespace qs
