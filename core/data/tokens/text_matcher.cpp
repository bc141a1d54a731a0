// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/tokens/text_matcher.h"

#include "core/base/text/utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <sstream>

namespace qs {

namespace {

struct Range {
    char32_t first, last;
};

/// White_Space in Unicode's PropList.txt.
constexpr Range kSpaces[] { { 0x9, 0xD }, { 0x20, 0x20 }, { 0x85, 0x85 }, { 0xA0, 0xA0 }, { 0x1680, 0x1680 },
    { 0x2000, 0x200A }, { 0x2028, 0x2029 }, { 0x202F, 0x202F }, { 0x205F, 0x205F }, { 0x3000, 0x3000 } };
constexpr const char* kWordCharacters = "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}";
constexpr std::string_view kButLast = "\\s+(?!\\S)";

/// All of it, as a class of characters in a pattern.
const std::string& whiteSpace()
{
    static const std::string characters = [] {
        std::ostringstream text;
        for (const Range& range : kSpaces)
            text << std::hex << "\\x{" << uint32_t(range.first) << "}-\\x{" << uint32_t(range.last) << "}";
        return text.str();
    }();
    return characters;
}

bool isSpace(char32_t c)
{
    return std::ranges::any_of(kSpaces, [&](const Range& range) { return range.first <= c && c <= range.last; });
}

/// The alternatives of a pattern that stand outside of all brackets.
std::vector<std::string> alternativesOf(const std::string& pattern)
{
    std::vector<std::string> list(1);
    int depth = 0;
    bool inClass = false;
    for (size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c == '\\' && i + 1 < pattern.size()) {
            list.back() += pattern.substr(i++, 2);
            continue;
        }
        if (c == '[')
            inClass = true;
        else if (c == ']')
            inClass = false;
        else if (!inClass)
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == '|' && !inClass && depth == 0)
            list.emplace_back();
        else
            list.back() += c;
    }
    return list;
}

/// An escape in RE2's words, by whether it stands in a class of characters; empty: there are none for it.
std::string escapeText(char c, bool inClass)
{
    const auto of = [&](const std::string& characters, bool without) {
        if (inClass)
            return without ? std::string() : characters;
        return (without ? "[^" : "[") + characters + "]";
    };
    switch (c) {
    case 's':
    case 'S':
        return of(whiteSpace(), c == 'S');
    case 'd':
    case 'D':
        return of("\\p{Nd}", c == 'D');
    case 'w':
    case 'W':
        return of(kWordCharacters, c == 'W');
    default:
        return { '\\', c };
    }
}

/// A pattern of tokenizers in RE2's words; nothing where it has none for it.
std::optional<std::string> rewritten(const std::string& pattern)
{
    constexpr std::array<std::string_view, 5> kLooking { "(?=", "(?!", "(?<=", "(?<!", "(?>" };
    std::string text;
    bool inClass = false;
    for (size_t i = 0; i < pattern.size(); ++i) {
        const std::string_view rest = std::string_view(pattern).substr(i);
        if (rest[0] == '\\' && rest.size() > 1) {
            const std::string escape = escapeText(rest[1], inClass);
            if (escape.empty())
                return std::nullopt;
            text += escape;
            ++i;
            if (rest.size() > 2 && rest[2] == '{') { // the name of a class, or a number
                const size_t end = std::min(rest.find('}'), rest.size() - 1);
                text += rest.substr(2, end - 1);
                i += end - 1;
            }
            continue;
        }
        if (!inClass && std::ranges::any_of(kLooking, [&](std::string_view look) { return rest.starts_with(look); }))
            return std::nullopt;
        if (inClass && (rest.starts_with("&&") || rest[0] == '['))
            return std::nullopt;
        inClass = (inClass || rest[0] == '[') && rest[0] != ']';
        text += rest[0];
        // What gives nothing back finds the same where the next part cannot begin with it.
        const bool repeats = rest[0] == '?' || rest[0] == '*' || rest[0] == '+' || rest[0] == '}';
        if (!inClass && repeats && rest.size() > 1 && rest[1] == '+' && i > 0)
            ++i;
    }
    return text;
}

Issue faulty(const std::string& pattern, const std::string& why)
{
    return badInput("has the pattern '" + pattern + "', " + why, {}, "use a tokenizer with another pattern");
}

} // namespace

size_t leadingSpace(std::string_view text)
{
    size_t bytes = 0;
    while (bytes < text.size()) {
        const Utf8Character c = firstCharacter(text.substr(bytes));
        if (!isSpace(c.point))
            break;
        bytes += c.bytes.size();
    }
    return bytes;
}

Result<TextMatcher> TextMatcher::ofPattern(const std::string& pattern)
{
    TextMatcher matcher;
    std::string together;
    const auto finish = [&]() -> Status {
        if (together.empty())
            return {};
        matcher.m_alternatives.emplace_back(Regex(together));
        if (const std::string& fault = matcher.m_alternatives.back()->fault(); !fault.empty())
            return faulty(pattern, "which cannot be used: " + fault);
        together.clear();
        return {};
    };
    for (const std::string& alternative : alternativesOf(pattern)) {
        if (alternative == kButLast) {
            QS_CHECK(finish());
            matcher.m_alternatives.emplace_back();
            continue;
        }
        const auto text = rewritten(alternative);
        if (!text)
            return faulty(pattern, "which looks ahead or behind in a way that is not supported");
        together += (together.empty() ? "" : "|") + *text;
    }
    QS_CHECK(finish());
    return matcher;
}

TextMatcher TextMatcher::ofText(const std::string& text)
{
    TextMatcher matcher;
    matcher.m_alternatives.emplace_back(Regex(Regex::quoted(text)));
    return matcher;
}

size_t TextMatcher::lengthAt(std::string_view text, size_t at) const
{
    for (const Alternative& alternative : m_alternatives) {
        if (alternative) {
            if (const auto length = alternative->lengthAt(text, at); length && *length > 0)
                return *length;
            continue;
        }
        size_t bytes = leadingSpace(text.substr(at));
        if (at + bytes < text.size() && bytes > 0) {
            --bytes;
            while (!beginsCharacter(text[at + bytes]))
                --bytes;
        }
        if (bytes > 0)
            return bytes;
    }
    return 0;
}

void TextMatcher::forEachPart(std::string_view text, const Each& each) const
{
    size_t from = 0, at = 0;
    while (at < text.size()) {
        const size_t length = lengthAt(text, at);
        if (length == 0) {
            at += firstCharacter(text.substr(at)).bytes.size();
            continue;
        }
        if (at > from)
            each(text.substr(from, at - from), false);
        each(text.substr(at, length), true);
        from = at += length;
    }
    if (at > from)
        each(text.substr(from), false);
}

} // namespace qs
