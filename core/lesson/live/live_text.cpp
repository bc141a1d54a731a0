// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/live/live_text.h"

#include "core/base/text/one_line.h"
#include "core/base/text/true_minus.h"

#include <algorithm>
#include <utility>

namespace qs {

namespace {

std::string stripped(std::string_view text)
{
    const size_t from = text.find_first_not_of(" \n\t");
    return from == std::string_view::npos ? std::string()
                                          : std::string(text.substr(from, text.find_last_not_of(" \n\t") + 1 - from));
}

/// Where a placeholder ends: at a brace outside of quotes.
size_t endOf(const std::string& text, size_t from)
{
    char quote = '\0';
    for (size_t i = from; i < text.size(); ++i) {
        if (quote != '\0')
            quote = text[i] == quote ? '\0' : quote;
        else if (text[i] == '"' || text[i] == '\'')
            quote = text[i];
        else if (text[i] == '}')
            return i;
    }
    return std::string::npos;
}

enum class NumbersFor { People, Recipes };

Result<std::string> computed(const std::string& inside, const Vocabulary& vocabulary, NumbersFor who)
{
    const size_t bar = std::min(inside.rfind('|'), inside.size());
    const std::string written = stripped(std::string_view(inside).substr(0, bar));
    const std::string format
        = bar == inside.size() ? std::string() : stripped(std::string_view(inside).substr(bar + 1));
    const auto inText
        = [&](const Issue& issue) { return badInput("'{= " + oneLine(written, 120) + "}': " + issue.what); };
    const auto expression = parseExpression(written);
    if (!expression.ok())
        return inText(expression.issue());
    const auto value = evaluate(*expression, vocabulary);
    if (!value.ok())
        return inText(value.issue());
    auto shown = valueText(*value, format);
    if (!shown.ok())
        return inText(shown.issue());
    const bool read = who == NumbersFor::People && std::holds_alternative<double>(*value);
    return read ? withTrueMinus(std::move(shown).value()) : shown;
}

Result<std::string> filledIn(const std::string& text, const Vocabulary& vocabulary, NumbersFor who)
{
    std::string filled;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text.compare(i, 2, "\\{") == 0) {
            filled += '{';
            ++i;
        } else if (text.compare(i, 2, "{=") == 0) {
            const size_t end = endOf(text, i + 2);
            if (end == std::string::npos)
                return badInput("'" + oneLine(text.substr(i), 60) + "' has no '}'");
            QS_TRY(const std::string value, computed(text.substr(i + 2, end - i - 2), vocabulary, who));
            filled += value;
            i = end;
        } else {
            filled += text[i];
        }
    }
    return filled;
}

} // namespace

Result<std::string> liveText(const std::string& text, const Vocabulary& vocabulary)
{
    return filledIn(text, vocabulary, NumbersFor::People);
}

Result<LessonJson> liveJson(const LessonJson& json, const Vocabulary& vocabulary)
{
    if (json.is_string()) {
        QS_TRY(std::string text, filledIn(json.get_ref<const std::string&>(), vocabulary, NumbersFor::Recipes));
        return LessonJson(std::move(text));
    }
    if (!json.is_structured())
        return json;
    LessonJson filled = json.is_array() ? LessonJson::array() : LessonJson::object();
    for (const auto& [key, value] : json.items()) {
        QS_TRY(LessonJson inner, liveJson(value, vocabulary));
        if (json.is_array()) {
            filled.push_back(std::move(inner));
            continue;
        }
        QS_TRY(const std::string name, filledIn(key, vocabulary, NumbersFor::Recipes));
        filled[name] = std::move(inner);
    }
    return filled;
}

} // namespace qs
