// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/tokens/added_tokens.h"

#include "core/base/files/json_text.h"
#include "core/base/text/regex.h"
#include "core/base/text/utf8.h"
#include "core/data/tokens/text_matcher.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

bool isWordCharacter(std::string_view character)
{
    static const Regex kWord("[\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}]");
    return kWord.matchesAll(character);
}

size_t lastCharacter(std::string_view text)
{
    size_t at = text.size() - 1;
    while (at > 0 && !beginsCharacter(text[at]))
        --at;
    return at;
}

/// Bytes of white space that a text ends with.
size_t trailingSpace(std::string_view text)
{
    size_t end = text.size();
    while (end > 0) {
        const size_t at = lastCharacter(text.substr(0, end));
        if (leadingSpace(text.substr(at, end - at)) == 0)
            break;
        end = at;
    }
    return text.size() - end;
}

} // namespace

AddedTokens AddedTokens::read(const nlohmann::ordered_json& json, bool normalized,
    const std::function<std::string(const std::string&)>& normalize)
{
    AddedTokens added;
    for (const auto& entry : json) {
        if (entry.value("normalized", false) != normalized)
            continue;
        const std::string content = entry.at("content").get<std::string>();
        Token token { normalized ? normalize(content) : content, int32_t(naturalOf(entry.at("id"))),
            entry.value("single_word", false), entry.value("lstrip", false), entry.value("rstrip", false) };
        if (token.text.empty())
            continue;
        added.m_begins[static_cast<unsigned char>(token.text[0])] = true;
        added.m_tokens.push_back(std::move(token));
    }
    std::ranges::stable_sort(
        added.m_tokens, [](const Token& a, const Token& b) { return a.text.size() > b.text.size(); });
    return added;
}

const AddedTokens::Token* AddedTokens::at(std::string_view text, size_t place) const
{
    if (!m_begins[static_cast<unsigned char>(text[place])])
        return nullptr;
    const std::string_view rest = text.substr(place);
    const auto token = std::ranges::find_if(m_tokens, [&](const Token& t) { return rest.starts_with(t.text); });
    return token == m_tokens.end() ? nullptr : &*token;
}

void AddedTokens::forEachPart(
    std::string_view text, const std::function<void(std::string_view, std::optional<int32_t>)>& each) const
{
    size_t from = 0;
    for (size_t place = 0; place < text.size();) {
        const Token* const token = at(text, place);
        if (!token) {
            ++place;
            continue;
        }
        size_t begin = place, end = place + token->text.size();
        place = end;
        const bool insideWord = (begin > 0
                                    && isWordCharacter(text.substr(lastCharacter(text.substr(0, begin)),
                                        begin - lastCharacter(text.substr(0, begin)))))
            || (end < text.size() && isWordCharacter(firstCharacter(text.substr(end)).bytes));
        if (token->singleWord && insideWord)
            continue;
        if (token->stripsLeft)
            begin -= trailingSpace(text.substr(from, begin - from));
        if (token->stripsRight)
            end += leadingSpace(text.substr(end));
        if (begin > from)
            each(text.substr(from, begin - from), std::nullopt);
        each(text.substr(begin, end - begin), token->id);
        from = place = end;
    }
    if (from < text.size())
        each(text.substr(from), std::nullopt);
}

} // namespace qs
