// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace qs {

/// A regular expression in RE2's syntax: neither back references nor looking ahead or behind, so that no pattern takes
/// long on any text.
class Regex {
public:
    enum class Text {
        Utf8,
        Bytes ///< each byte is a character of its own; nothing is invalid
    };
    explicit Regex(const std::string& pattern, Text text = Text::Utf8);
    /// Why the pattern is none, or too large; empty when it is one. A faulty one matches nothing.
    const std::string& fault() const;
    bool matchesAll(std::string_view text) const;
    bool matchesPart(std::string_view text) const;
    /// Bytes of what it finds at this place, where it finds something there.
    std::optional<size_t> lengthAt(std::string_view text, size_t at) const;

    /// A pattern that matches this text alone.
    static std::string quoted(std::string_view text);

private:
    std::shared_ptr<const re2::RE2> m_regex;
};

} // namespace qs
