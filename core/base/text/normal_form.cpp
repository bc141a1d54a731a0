// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/normal_form.h"

#include "core/base/text/unicode_tables.h"
#include "core/base/text/utf8.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

// Syllables of Hangul are made of a leading, a vowel and maybe a trailing part (Unicode Standard, section 3.12).
constexpr char32_t kSyllables = 0xAC00, kLeading = 0x1100, kVowels = 0x1161, kTrailing = 0x11A7;
constexpr char32_t kLeadingCount = 19, kVowelCount = 21, kTrailingCount = 28;
constexpr char32_t kSyllableCount = kLeadingCount * kVowelCount * kTrailingCount;

bool isAscii(std::string_view text)
{
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

uint8_t orderOf(char32_t point)
{
    const auto classes = combiningClasses();
    const auto found = std::ranges::lower_bound(classes, point, {}, &CombiningClass::last);
    return found != classes.end() && point >= found->first ? found->order : uint8_t(0);
}

void decompose(char32_t point, std::u32string& to)
{
    if (point >= kSyllables && point < kSyllables + kSyllableCount) {
        const char32_t index = point - kSyllables, trailing = index % kTrailingCount;
        to += kLeading + index / (kVowelCount * kTrailingCount);
        to += kVowels + index / kTrailingCount % kVowelCount;
        if (trailing > 0)
            to += kTrailing + trailing;
        return;
    }
    const auto all = decompositions();
    const auto found = std::ranges::lower_bound(all, point, {}, &Decomposition::point);
    if (found == all.end() || found->point != point) {
        to += point;
        return;
    }
    decompose(found->first, to); // chains are three long at most
    if (found->second != 0)
        decompose(found->second, to);
}

/// Marks behind a letter by their order; equal ones stay as they stand.
void sortMarks(std::u32string& text)
{
    for (size_t begin = 0; begin < text.size(); ++begin) {
        size_t end = begin;
        while (end < text.size() && orderOf(text[end]) > 0)
            ++end;
        if (end > begin + 1)
            std::stable_sort(text.begin() + ptrdiff_t(begin), text.begin() + ptrdiff_t(end),
                [](char32_t a, char32_t b) { return orderOf(a) < orderOf(b); });
        begin = end;
    }
}

std::u32string decomposed(std::string_view text)
{
    std::u32string points;
    forEachCharacter(text, [&](const Utf8Character& c) { decompose(c.point, points); });
    sortMarks(points);
    return points;
}

/// What two characters become; 0: they stay two.
char32_t composition(char32_t first, char32_t second)
{
    if (first >= kLeading && first < kLeading + kLeadingCount && second >= kVowels && second < kVowels + kVowelCount)
        return kSyllables + ((first - kLeading) * kVowelCount + (second - kVowels)) * kTrailingCount;
    const bool open
        = first >= kSyllables && first < kSyllables + kSyllableCount && (first - kSyllables) % kTrailingCount == 0;
    if (open && second > kTrailing && second < kTrailing + kTrailingCount)
        return first + (second - kTrailing);
    static const std::map<std::pair<char32_t, char32_t>, char32_t> kPairs = [] {
        std::map<std::pair<char32_t, char32_t>, char32_t> pairs;
        for (const Decomposition& d : decompositions())
            if (d.composes)
                pairs.emplace(std::pair(d.first, d.second), d.point);
        return pairs;
    }();
    const auto found = kPairs.find({ first, second });
    return found == kPairs.end() ? 0 : found->second;
}

std::u32string composed(const std::u32string& text)
{
    std::u32string result;
    size_t starter = std::u32string::npos; // in the result
    uint8_t last = 0; // order of the mark before
    for (const char32_t c : text) {
        const uint8_t order = orderOf(c);
        const bool adjacent = starter != std::u32string::npos && starter + 1 == result.size();
        const bool reaches = starter != std::u32string::npos && (adjacent || last < order);
        if (const char32_t both = reaches ? composition(result[starter], c) : 0) {
            result[starter] = both;
            continue;
        }
        if (order == 0)
            starter = result.size();
        last = order;
        result += c;
    }
    return result;
}

std::string utf8(const std::u32string& points)
{
    std::string text;
    for (const char32_t c : points)
        text += utf8Text(c);
    return text;
}

char32_t smallLetter(char32_t point)
{
    const auto all = lowerCases();
    const auto found = std::ranges::lower_bound(all, point, {}, &LowerCase::last);
    const bool capital = found != all.end() && point >= found->first && (point - found->first) % found->step == 0;
    return capital ? char32_t(int64_t(point) + found->distance) : point;
}

} // namespace

std::string decomposedText(std::string_view text) { return isAscii(text) ? std::string(text) : utf8(decomposed(text)); }

std::string composedText(std::string_view text)
{
    return isAscii(text) ? std::string(text) : utf8(composed(decomposed(text)));
}

std::string smallLetters(std::string_view text)
{
    std::string small;
    forEachCharacter(text, [&](const Utf8Character& c) {
        constexpr char32_t kDottedCapital = 0x130; // the one capital whose small letter is two characters
        small += c.point == kDottedCapital ? "i\u0307" : utf8Text(smallLetter(c.point));
    });
    return small;
}

} // namespace qs
