// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/text/regex.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Bytes of the white space of Unicode that a text begins with.
size_t leadingSpace(std::string_view text);

/// What of a text a pattern finds, as tokenizers' patterns do: the first alternative that fits at a place, \s, \S, \d
/// and \w of all of Unicode, `\s+(?!\S)` (white space but for the last one before something else).
class TextMatcher {
public:
    /// An Issue, without file, where the pattern looks ahead or behind otherwise, or is none.
    static Result<TextMatcher> ofPattern(const std::string& pattern);
    static TextMatcher ofText(const std::string& text); ///< that finds this text alone

    using Each = std::function<void(std::string_view part, bool found)>;
    /// All parts of the text in order, what was found and what lies between. No part is empty.
    void forEachPart(std::string_view text, const Each& each) const;

private:
    /// One alternative, or several; nothing: white space but for the last.
    using Alternative = std::optional<Regex>;
    size_t lengthAt(std::string_view text, size_t at) const;
    std::vector<Alternative> m_alternatives;
};

} // namespace qs
