// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/normal_form.h"

#include "core/base/text/utf8.h"

#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <utf8proc.h>

namespace qs {

namespace {

std::string mapped(std::string_view text, int options)
{
    std::string valid;
    forEachCharacter(
        text, [&](const Utf8Character& c) { valid += c.valid ? std::string(c.bytes) : utf8Text(c.point); });
    utf8proc_uint8_t* made = nullptr;
    const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(valid.data()),
        static_cast<utf8proc_ssize_t>(valid.size()), &made, static_cast<utf8proc_option_t>(options));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(made, &std::free);
    if (size < 0) // of valid text, only for want of memory
        throw std::bad_alloc();
    return { reinterpret_cast<const char*>(made), static_cast<size_t>(size) };
}

std::string composed(std::string_view text, int options)
{
    // utf8proc 2.8 takes U+11A7 for a trailing consonant of Hangul and loses it. Nothing is composed with it, so texts
    // may be cut in front of it.
    constexpr std::string_view kNoTrailing = "\u11A7";
    std::string made;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find(kNoTrailing, 1));
        made += mapped(part, UTF8PROC_STABLE | UTF8PROC_COMPOSE | options);
        text.remove_prefix(part.size());
    }
    return made;
}

} // namespace

std::string decomposedText(std::string_view text) { return mapped(text, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE); }

std::string composedText(std::string_view text) { return composed(text, 0); }

std::string plainDecomposedText(std::string_view text)
{
    return mapped(text, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
}

std::string plainComposedText(std::string_view text) { return composed(text, UTF8PROC_COMPAT); }

void forEachGrapheme(std::string_view text, const std::function<void(std::string_view grapheme)>& each)
{
    utf8proc_int32_t state = 0;
    std::optional<char32_t> before; // nothing: a grapheme begins in any case
    size_t begin = 0, at = 0;
    forEachCharacter(text, [&](const Utf8Character& c) {
        const bool goesOn = before && c.valid
            && !utf8proc_grapheme_break_stateful(utf8proc_int32_t(*before), utf8proc_int32_t(c.point), &state);
        if (!goesOn && at > begin) {
            each(text.substr(begin, at - begin));
            begin = at;
        }
        state = before ? state : 0;
        before = c.valid ? std::optional(c.point) : std::nullopt;
        at += c.bytes.size();
    });
    if (at > begin)
        each(text.substr(begin));
}

std::string smallLetters(std::string_view text)
{
    std::string small;
    forEachCharacter(text, [&](const Utf8Character& c) {
        constexpr char32_t kDottedCapital = 0x130; // the one capital whose small letter is two characters
        small
            += c.point == kDottedCapital ? "i\u0307" : utf8Text(char32_t(utf8proc_tolower(utf8proc_int32_t(c.point))));
    });
    return small;
}

} // namespace qs
