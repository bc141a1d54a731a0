// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/tokens/text_matcher.h"
#include "core/data/tokens/text_steps.h"

#include "core/base/text/utf8.h"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kGpt2Pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// What becomes of what a pattern finds.
enum class Found { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

std::optional<Found> foundOf(const std::string& name)
{
    constexpr std::array<std::pair<const char*, Found>, 5> kAll { { { "Removed", Found::Removed },
        { "Isolated", Found::Isolated }, { "MergedWithPrevious", Found::MergedWithPrevious },
        { "MergedWithNext", Found::MergedWithNext }, { "Contiguous", Found::Contiguous } } };
    for (const auto& [known, found] : kAll)
        if (name == known)
            return found;
    return std::nullopt;
}

/// Cuts pieces where a pattern tells.
class Splitter {
public:
    Splitter(TextMatcher matcher, Found found, bool invert = false)
        : m_matcher(std::move(matcher))
        , m_found(found)
        , m_invert(invert)
    {
    }

    void operator()(const TextPiece& piece, const TakePiece& take) const
    {
        std::string_view held; // what may still grow
        bool heldFound = false;
        const auto give = [&] {
            if (!held.empty())
                take({ held, piece.first && held.data() == piece.text.data() });
            held = {};
        };
        m_matcher.forEachPart(piece.text, [&](std::string_view part, bool matches) {
            const bool found = matches != m_invert;
            if (found && m_found == Found::Removed) {
                give();
                return;
            }
            if (joins(held, heldFound, found)) {
                held = { held.data(), held.size() + part.size() };
            } else {
                give();
                held = part;
            }
            heldFound = found;
        });
        give();
    }

private:
    bool joins(std::string_view held, bool heldFound, bool found) const
    {
        if (held.empty())
            return false;
        switch (m_found) {
        case Found::MergedWithPrevious:
            return found && !heldFound;
        case Found::MergedWithNext:
            return !found && heldFound;
        case Found::Contiguous:
            return found == heldFound;
        default:
            return false;
        }
    }
    TextMatcher m_matcher;
    Found m_found;
    bool m_invert;
};

Result<TextStep> splitBy(const std::string& pattern, Found found, bool invert = false)
{
    QS_TRY(TextMatcher matcher, TextMatcher::ofPattern(pattern));
    return TextStep(Splitter(std::move(matcher), found, invert));
}

Result<std::vector<TextStep>> byteLevel(const Json& json)
{
    std::vector<TextStep> steps;
    if (json.value("add_prefix_space", true))
        steps.emplace_back([](const TextPiece& piece, const TakePiece& take) {
            if (piece.text.starts_with(' '))
                return take(piece);
            const std::string spaced = ' ' + std::string(piece.text);
            take({ spaced, piece.first });
        });
    if (json.value("use_regex", true)) {
        QS_TRY(TextStep split, splitBy(kGpt2Pattern, Found::Isolated));
        steps.push_back(std::move(split));
    }
    steps.emplace_back([](const TextPiece& piece, const TakePiece& take) {
        const std::string visible = visibleBytes(piece.text);
        take({ visible, piece.first });
    });
    return steps;
}

Issue unsupported(const std::string& what)
{
    return badInput("cuts its texts by " + what + ", which is not supported", {},
        "make the token ids with the tokenizer's own library and give them as .npz");
}

Result<std::vector<TextStep>> split(const Json& json)
{
    const auto found = foundOf(json.at("behavior").get<std::string>());
    if (!found)
        return unsupported("the behaviour '" + json.at("behavior").get<std::string>() + "'");
    const Json& pattern = json.at("pattern");
    const bool invert = json.value("invert", false);
    if (const auto text = pattern.find("String"); text != pattern.end())
        return std::vector<TextStep> { Splitter(TextMatcher::ofText(text->get<std::string>()), *found, invert) };
    QS_TRY(TextStep step, splitBy(pattern.at("Regex").get<std::string>(), *found, invert));
    return std::vector<TextStep> { std::move(step) };
}

std::string replacedSpaces(std::string_view text, const std::string& by)
{
    std::string replaced;
    for (const char c : text)
        c == ' ' ? replaced += by : replaced += c;
    return replaced;
}

Result<std::vector<TextStep>> metaspace(const Json& json)
{
    const std::string mark = json.at("replacement").get<std::string>();
    std::string scheme = json.value("add_prefix_space", true) ? "always" : "never";
    scheme = json.value("prepend_scheme", scheme);
    if (mark.empty() || (scheme != "always" && scheme != "never" && scheme != "first"))
        return unsupported("a Metaspace with the scheme '" + scheme + "'");
    std::vector<TextStep> steps { [mark, scheme](const TextPiece& piece, const TakePiece& take) {
        std::string text = replacedSpaces(piece.text, mark);
        if ((scheme == "always" || (scheme == "first" && piece.first)) && !text.starts_with(mark))
            text = mark + text;
        take({ text, piece.first });
    } };
    if (json.value("split", true))
        steps.emplace_back(Splitter(TextMatcher::ofText(mark), Found::MergedWithNext));
    return steps;
}

Result<std::vector<TextStep>> one(Result<TextStep> made)
{
    QS_TRY(TextStep step, std::move(made));
    return std::vector<TextStep> { std::move(step) };
}

/// Of ASCII all that is no letter, digit or space, and what Unicode calls so.
constexpr const char* kPunctuation = "[!-/:-@\\[-`{-~\\p{P}]";

Result<std::vector<TextStep>> punctuation(const Json& json)
{
    const auto found = foundOf(json.value("behavior", std::string("Isolated")));
    if (!found)
        return unsupported("the behaviour '" + json.at("behavior").get<std::string>() + "'");
    return one(splitBy(kPunctuation, *found));
}

Result<std::vector<TextStep>> bert()
{
    QS_TRY(TextStep spaces, splitBy("\\s+", Found::Removed));
    QS_TRY(TextStep marks, splitBy(kPunctuation, Found::Isolated));
    return std::vector<TextStep> { std::move(spaces), std::move(marks) };
}

} // namespace

void runSteps(const std::vector<TextStep>& steps, const TextPiece& piece, const TakePiece& take, size_t from)
{
    if (piece.text.empty())
        return;
    if (from == steps.size())
        return take(piece);
    steps[from](piece, [&](const TextPiece& next) { runSteps(steps, next, take, from + 1); });
}

std::string visibleBytes(std::string_view bytes)
{
    static const std::array<std::string, 256> kVisible = [] {
        std::array<std::string, 256> all;
        char32_t next = 256;
        for (char32_t b = 0; b < 256; ++b) {
            const bool shown = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
            all[b] = utf8Text(shown ? b : next++);
        }
        return all;
    }();
    std::string text;
    for (const char b : bytes)
        text += kVisible[static_cast<unsigned char>(b)];
    return text;
}

Result<std::vector<TextStep>> readPreTokenizer(const Json& json)
{
    std::vector<TextStep> steps;
    if (json.is_null())
        return steps;
    const std::string type = json.at("type").get<std::string>();
    if (type == "Sequence") {
        for (const Json& part : json.at("pretokenizers")) {
            QS_TRY(const auto more, readPreTokenizer(part));
            steps.insert(steps.end(), more.begin(), more.end());
        }
        return steps;
    }
    if (type == "ByteLevel")
        return byteLevel(json);
    if (type == "Split")
        return split(json);
    if (type == "Metaspace")
        return metaspace(json);
    if (type == "Whitespace")
        return one(splitBy("\\w+|[^\\w\\s]+", Found::Removed, true));
    if (type == "WhitespaceSplit")
        return one(splitBy("\\s", Found::Removed));
    if (type == "Digits")
        return one(splitBy("\\p{N}", json.value("individual_digits", false) ? Found::Isolated : Found::Contiguous));
    if (type == "Punctuation")
        return punctuation(json);
    if (type == "BertPreTokenizer")
        return bert();
    return unsupported("a pre-tokenizer of the type '" + type + "'");
}

} // namespace qs
