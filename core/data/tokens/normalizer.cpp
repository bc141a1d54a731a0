// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/normal_form.h"
#include "core/base/text/utf8.h"
#include "core/data/tokens/character_map.h"
#include "core/data/tokens/text_matcher.h"
#include "core/data/tokens/text_steps.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

/// A step that makes one text of another.
template <class Make> TextStep changing(Make make)
{
    return [make](const TextPiece& piece, const TakePiece& take) {
        const std::string text = make(piece.text);
        take({ text, piece.first });
    };
}

/// Categories of characters, as a regular expression names them.
bool isOf(std::string_view character, const Regex& category)
{
    return static_cast<unsigned char>(character[0]) >= 0x80 && category.matchesAll(character);
}

std::string withoutMarks(std::string_view text, bool all)
{
    static const Regex kMarks("\\p{M}"), kNonSpacing("\\p{Mn}");
    std::string left;
    forEachCharacter(text, [&](const Utf8Character& c) {
        if (!isOf(c.bytes, all ? kMarks : kNonSpacing))
            left += c.bytes;
    });
    return left;
}

/// Without control characters, and with blanks in place of other white space.
std::string cleaned(std::string_view text)
{
    static const Regex kOther("\\p{C}");
    std::string clean;
    forEachCharacter(text, [&](const Utf8Character& c) {
        const bool blank = leadingSpace(c.bytes) > 0;
        const bool lineOrTab = c.point == '\t' || c.point == '\n' || c.point == '\r';
        const bool control
            = c.point < 0x20 || (c.point >= 0x7F && c.point < 0xA0) || c.point == 0xFFFD || isOf(c.bytes, kOther);
        if (lineOrTab || !control)
            clean += blank ? std::string_view(" ") : c.bytes;
    });
    return clean;
}

/// With blanks around the ideographs of Chinese, Japanese and Korean.
std::string spacedIdeographs(std::string_view text)
{
    constexpr std::pair<char32_t, char32_t> kIdeographs[] { { 0x4E00, 0x9FFF }, { 0x3400, 0x4DBF },
        { 0x20000, 0x2A6DF }, { 0x2A700, 0x2B73F }, { 0x2B740, 0x2B81F }, { 0x2B920, 0x2CEAF }, { 0xF900, 0xFAFF },
        { 0x2F800, 0x2FA1F } };
    std::string spaced;
    forEachCharacter(text, [&](const Utf8Character& c) {
        const bool ideograph = std::ranges::any_of(
            kIdeographs, [&](const auto& range) { return c.point >= range.first && c.point <= range.second; });
        spaced += ideograph ? " " + std::string(c.bytes) + " " : std::string(c.bytes);
    });
    return spaced;
}

TextStep bertNormalizer(const Json& json)
{
    const bool clean = json.value("clean_text", true), ideographs = json.value("handle_chinese_chars", true);
    const bool lower = json.value("lowercase", true);
    const Json strip = json.value("strip_accents", Json());
    const bool accents = strip.is_null() ? lower : strip.get<bool>();
    return changing([=](std::string_view given) {
        std::string text(given);
        text = clean ? cleaned(text) : text;
        text = ideographs ? spacedIdeographs(text) : text;
        text = accents ? withoutMarks(decomposedText(text), false) : text;
        return lower ? smallLetters(text) : text;
    });
}

/// A normalizer without options; nothing: there is none of this type.
std::optional<TextStep> plainNormalizer(const std::string& type)
{
    if (type == "NFC")
        return changing(composedText);
    if (type == "NFD")
        return changing(decomposedText);
    if (type == "NFKC")
        return changing(plainComposedText);
    if (type == "NFKD")
        return changing(plainDecomposedText);
    if (type == "ByteLevel")
        return changing(visibleBytes);
    if (type == "Lowercase")
        return changing(smallLetters);
    if (type == "StripAccents")
        return changing([](std::string_view text) { return withoutMarks(text, true); });
    return std::nullopt;
}

Result<TextStep> replace(const Json& json)
{
    const Json& pattern = json.at("pattern");
    const std::string content = json.at("content").get<std::string>();
    TextMatcher matcher = TextMatcher::ofText({});
    if (const auto text = pattern.find("String"); text != pattern.end()) {
        matcher = TextMatcher::ofText(text->get<std::string>());
    } else {
        QS_TRY(matcher, TextMatcher::ofPattern(pattern.at("Regex").get<std::string>()));
    }
    return changing([matcher, content](std::string_view text) {
        std::string replaced;
        matcher.forEachPart(text, [&](std::string_view part, bool found) { replaced += found ? content : part; });
        return replaced;
    });
}

std::string stripped(std::string_view text, bool left, bool right)
{
    text.remove_prefix(left ? leadingSpace(text) : 0);
    size_t end = text.size();
    for (size_t at = 0; right && at < text.size();) { // white space that nothing follows
        const size_t space = leadingSpace(text.substr(at));
        end = at + space == text.size() ? at : text.size();
        at += std::max<size_t>(space, 1);
    }
    return std::string(text.substr(0, end));
}

} // namespace

Result<std::vector<TextStep>> readNormalizer(const Json& json)
{
    std::vector<TextStep> steps;
    if (json.is_null())
        return steps;
    const std::string type = json.at("type").get<std::string>();
    if (type == "Sequence") {
        for (const Json& part : json.at("normalizers")) {
            QS_TRY(const auto more, readNormalizer(part));
            steps.insert(steps.end(), more.begin(), more.end());
        }
        return steps;
    }
    if (auto plain = plainNormalizer(type)) {
        steps.push_back(std::move(*plain));
    } else if (type == "BertNormalizer") {
        steps.push_back(bertNormalizer(json));
    } else if (type == "Prepend") {
        steps.push_back(changing([before = json.at("prepend").get<std::string>()](
                                     std::string_view text) { return before + std::string(text); }));
    } else if (type == "Strip") {
        const bool left = json.value("strip_left", true), right = json.value("strip_right", true);
        steps.push_back(changing([=](std::string_view text) { return stripped(text, left, right); }));
    } else if (type == "Precompiled") {
        QS_TRY(const CharacterMap map, CharacterMap::decoded(json.at("precompiled_charsmap").get<std::string>()));
        steps.push_back(changing([map](std::string_view text) { return map.mapped(text); }));
    } else if (type == "Replace") {
        QS_TRY(TextStep step, replace(json));
        steps.push_back(std::move(step));
    } else {
        return badInput("changes its texts by a normalizer of the type '" + type + "', which is not supported", {},
            "make the token ids with the tokenizer's own library and give them as .npz");
    }
    return steps;
}

} // namespace qs
