// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace qs {

/// A regular expression in RE2's syntax without flags, Unicode classes and quoting, matched in time linear in the text.
/// Source: R. Cox, Regular Expression Matching: the Virtual Machine Approach.
class Pattern {
public:
    static Result<Pattern> compile(const std::string& text);
    /// The whole text, in UTF-8, matches.
    bool matches(const std::string& text) const;

    enum class Kind { Set, Split, Jump, Begin, End, WordBorder, NoWordBorder, Match };
    /// Set takes a code point in its ranges; Split goes on at both targets, Jump at the first (steps from here).
    struct Step {
        Kind kind = Kind::Match;
        std::vector<std::pair<uint32_t, uint32_t>> ranges = {};
        int64_t first = 0, second = 0;
    };

private:
    std::vector<Step> m_steps;
};

} // namespace qs
