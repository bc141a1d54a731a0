// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/text_ml/letter_case.h"

#include "core/base/text/utf8.h"

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

char32_t changed(char32_t c, LetterCase wanted)
{
    const auto w = static_cast<wint_t>(c);
    if (unicodeLocale())
        return static_cast<char32_t>(
            wanted == LetterCase::Upper ? towupper_l(w, unicodeLocale()) : towlower_l(w, unicodeLocale()));
    const bool letter = wanted == LetterCase::Upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
    return letter ? c ^ 0x20 : c;
}

} // namespace

std::string inCase(const std::string& text, LetterCase wanted)
{
    std::string out;
    forEachCharacter(text, [&](const Utf8Character& c) {
        if (c.valid)
            out += utf8Text(changed(c.point, wanted));
        else
            out += c.bytes;
    });
    return out;
}

} // namespace qs
