// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/utf8.h"

#include <algorithm>

namespace qs {

namespace {

/// How the first byte of a sequence looks, and what its length is made for.
struct SequenceForm {
    size_t length;
    unsigned lowest, highest; ///< first bytes
    char32_t least; ///< what is smaller is overlong
};
constexpr SequenceForm kForms[] { { 1, 0x00, 0x7F, 0 }, { 2, 0xC0, 0xDF, 0x80 }, { 3, 0xE0, 0xEF, 0x800 },
    { 4, 0xF0, 0xF7, 0x10000 } };

bool isSurrogate(char32_t point) { return point >= 0xD800 && point <= 0xDFFF; }

} // namespace

Utf8Character firstCharacter(std::string_view text)
{
    const Utf8Character none { U'\uFFFD', text.substr(0, 1), false };
    const unsigned lead = static_cast<unsigned char>(text[0]);
    const auto* form
        = std::ranges::find_if(kForms, [&](const auto& f) { return lead >= f.lowest && lead <= f.highest; });
    if (form == std::end(kForms) || text.size() < form->length)
        return none;
    char32_t point = lead - form->lowest;
    for (const char byte : text.substr(1, form->length - 1)) {
        if (beginsCharacter(byte))
            return none;
        point = point << 6 | (static_cast<unsigned char>(byte) & 0x3F);
    }
    if (point < form->least || isSurrogate(point) || point > 0x10FFFF)
        return none;
    return { point, text.substr(0, form->length), true };
}

std::string utf8Text(char32_t point)
{
    const SequenceForm& form = kForms[point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3];
    std::string text(form.length, '\0');
    for (size_t i = form.length; i-- > 1; point >>= 6)
        text[i] = static_cast<char>(0x80 | (point & 0x3F));
    text[0] = static_cast<char>(form.lowest | point);
    return text;
}

size_t characterCount(std::string_view text)
{
    return static_cast<size_t>(std::ranges::count_if(text, beginsCharacter));
}

} // namespace qs
