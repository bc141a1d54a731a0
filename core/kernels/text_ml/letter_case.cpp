// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/text_ml/letter_case.h"

#include <clocale>
#include <cwchar>
#include <cwctype>
#include <locale.h>

namespace qs {

namespace {

/// Null where the system has no such locale; then only ASCII letters change.
locale_t unicodeLocale()
{
    static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t {});
    return locale;
}

std::string encoded(char32_t c)
{
    std::string out;
    const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
    if (c < 0x80) {
        put(c);
    } else if (c < 0x800) {
        put(0xC0 | c >> 6);
        put(0x80 | (c & 0x3F));
    } else {
        put(0xE0 | c >> 12);
        put(0x80 | (c >> 6 & 0x3F));
        put(0x80 | (c & 0x3F));
    }
    return out;
}

char32_t changed(char32_t c, LetterCase wanted)
{
    const auto w = static_cast<wint_t>(c);
    if (unicodeLocale())
        return static_cast<char32_t>(
            wanted == LetterCase::Upper ? towupper_l(w, unicodeLocale()) : towlower_l(w, unicodeLocale()));
    const bool letter = wanted == LetterCase::Upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
    return letter ? c ^ 0x20 : c;
}

/// Length of the character that begins at i, when it has two or three bytes and is well formed; else 1.
size_t characterBytes(const std::string& text, size_t i)
{
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t bytes = lead >= 0xE0 && lead < 0xF0 ? 3 : lead >= 0xC2 && lead < 0xE0 ? 2 : 1;
    if (i + bytes > text.size())
        return 1;
    for (size_t k = 1; k < bytes; ++k)
        if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80)
            return 1;
    return bytes;
}

} // namespace

std::string inCase(const std::string& text, LetterCase wanted)
{
    std::string out;
    for (size_t i = 0; i < text.size();) {
        const size_t bytes = characterBytes(text, i);
        const auto byte = [&](size_t k) { return char32_t(static_cast<unsigned char>(text[i + k])); };
        char32_t c = byte(0);
        if (bytes > 1)
            c &= bytes == 2 ? 0x1F : 0x0F;
        for (size_t k = 1; k < bytes; ++k)
            c = c << 6 | (byte(k) & 0x3F);
        if (bytes == 1 && c >= 0x80)
            out += text[i]; // part of a longer character, or of none
        else
            out += encoded(changed(c, wanted));
        i += bytes;
    }
    return out;
}

} // namespace qs
