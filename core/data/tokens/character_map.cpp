// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/tokens/character_map.h"

#include "core/base/text/normal_form.h"
#include "core/base/text/utf8.h"

#include <array>
#include <optional>

namespace qs {

namespace {

constexpr size_t kLongestGrapheme = 6; ///< bytes; longer ones are mapped character by character

/// One element of the double array: a label and the way to its children, or a value.
struct Unit {
    uint32_t bits;
    bool hasLeaf() const { return (bits >> 8) & 1; }
    uint32_t value() const { return bits & 0x7FFFFFFF; }
    uint32_t label() const { return bits & 0x800000FF; }
    uint32_t offset() const { return (bits >> 10) << ((bits & 0x200) >> 6); }
};

std::optional<uint32_t> sextet(char c)
{
    constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t at = kAlphabet.find(c);
    return at == std::string_view::npos ? std::nullopt : std::optional(uint32_t(at));
}

/// RFC 4648, section 4.
std::optional<std::string> fromBase64(std::string_view text)
{
    while (text.ends_with('='))
        text.remove_suffix(1);
    std::string bytes;
    uint32_t bits = 0;
    int held = 0;
    for (const char c : text) {
        const auto more = sextet(c);
        if (!more)
            return std::nullopt;
        bits = (bits << 6) | *more;
        held += 6;
        if (held >= 8)
            bytes += char(bits >> (held -= 8));
    }
    return bytes;
}

uint32_t littleEndian(std::string_view bytes)
{
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i)
        value |= uint32_t(static_cast<unsigned char>(bytes[i])) << (8 * i);
    return value;
}

} // namespace

Result<CharacterMap> CharacterMap::decoded(std::string_view base64)
{
    const auto bytes = fromBase64(base64);
    const size_t size = bytes && bytes->size() >= 4 ? littleEndian(*bytes) : 0;
    if (size == 0 || size % 4 != 0 || size > bytes->size() - 4)
        return badInput("has a damaged precompiled_charsmap", {}, "save the tokenizer again with its own library");
    CharacterMap map;
    for (size_t at = 4; at < 4 + size; at += 4)
        map.m_units.push_back(littleEndian(std::string_view(*bytes).substr(at)));
    map.m_texts = bytes->substr(4 + size);
    return map;
}

std::string_view CharacterMap::found(std::string_view text) const
{
    size_t node = Unit { m_units[0] }.offset();
    for (const char c : text) {
        const uint32_t label = static_cast<unsigned char>(c);
        node ^= label;
        if (label == 0 || node >= m_units.size() || Unit { m_units[node] }.label() != label)
            return {};
        const Unit unit { m_units[node] };
        node ^= unit.offset();
        if (!unit.hasLeaf())
            continue;
        const size_t begin = node < m_units.size() ? Unit { m_units[node] }.value() : m_texts.size();
        const size_t end = m_texts.find('\0', std::min(begin, m_texts.size()));
        if (end != std::string::npos)
            return std::string_view(m_texts).substr(begin, end - begin);
        return {};
    }
    return {};
}

std::string CharacterMap::mapped(std::string_view text) const
{
    std::string made;
    forEachGrapheme(text, [&](std::string_view grapheme) {
        const std::string_view whole = grapheme.size() < kLongestGrapheme ? found(grapheme) : std::string_view();
        if (whole.data()) {
            made += whole;
            return;
        }
        forEachCharacter(grapheme, [&](const Utf8Character& c) {
            const std::string_view one = found(c.bytes);
            made += one.data() ? one : c.bytes;
        });
    });
    return made;
}

} // namespace qs
