// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/ci/ci_text.h"

#include "core/base/text/distinct_names.h"
#include "core/base/text/one_line.h"
#include "core/report/format.h"
#include "core/report/remedy_text.h"

#include <cctype>
#include <filesystem>
#include <fmt/format.h>

namespace qs::ci {

namespace {

constexpr size_t kMostOfText = 1000; ///< characters: names may have megabytes

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Underscores that do not lie within a word.
bool isEmphasis(std::string_view text, size_t i)
{
    const size_t before = text.find_last_not_of('_', i), after = text.find_first_not_of('_', i);
    return before == std::string_view::npos || after == std::string_view::npos || !isWord(text[before])
        || !isWord(text[after]);
}

/// It could be markup, a link or a reference; what is so at the beginning of a line alone does not stand there.
bool actsInMarkdown(std::string_view text, size_t i)
{
    const char c = text[i], before = i > 0 ? text[i - 1] : ' ', after = i + 1 < text.size() ? text[i + 1] : ' ';
    if (c == '_')
        return isEmphasis(text, i);
    if (c == '.') // of "www."
        return i > 2 && std::tolower(static_cast<unsigned char>(text[i - 2])) == 'w'
            && std::tolower(static_cast<unsigned char>(before)) == 'w';
    if (c == ':') // of "https://" and ":smile:"
        return after != ' ';
    return std::string_view("&<>|\\`*[]~@#$!{}").find(c) != std::string_view::npos;
}

/// Below the working folder a path stands as it was given, whatever links it goes through.
std::string fromWorkingFolder(const std::filesystem::path& path)
{
    namespace fs = std::filesystem;
    const fs::path normal = path.lexically_normal();
    if (normal.is_relative() && *normal.begin() != "..")
        return normal.generic_string();
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(fs::absolute(normal).parent_path(), error) / normal.filename();
    const fs::path relative = error ? fs::path() : whole.lexically_relative(fs::current_path(error));
    return (error || relative.empty() ? normal : relative).generic_string();
}

} // namespace

std::string comparedText(const Snapshot& s)
{
    const Comparison& c = *s.comparison;
    const auto [floatName, quantName] = distinctFileNames(s.floatModel->model->path, s.quantModel->model->path);
    return fmt::format("{} against {} ({}), {}, {}{}", floatName, quantName, quantFormName(s.quantModel->quant->form()),
        text::counted(c.samples, "sample"), profileName(c.profile), c.partial ? ", partial" : "");
}

std::string findingText(const Finding& f, const std::optional<Accuracy>& accuracy)
{
    std::string text = f.title;
    for (const std::string& more :
        { f.summary, f.remedy.empty() ? std::string() : f.remedy + text::remedyDetails(f, accuracy) })
        if (!more.empty())
            text += (text.empty() || text.ends_with('.') ? " " : ". ") + more;
    return oneLine(text, kMostOfText);
}

const std::string& modelPath(const Snapshot& s) { return (s.quantization ? s.floatModel : s.quantModel)->model->path; }

std::string relativeUri(const std::string& path)
{
    std::string uri;
    for (const char c : fromWorkingFolder(path)) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = std::isalnum(byte) != 0 || std::string_view("-._~/").find(c) != std::string_view::npos;
        uri += plain ? std::string(1, c) : fmt::format("%{:02X}", unsigned(byte));
    }
    return uri;
}

std::string markdown(std::string_view given)
{
    const std::string text = oneLine(given, kMostOfText);
    std::string made;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        made += actsInMarkdown(text, i) ? fmt::format("&#{};", int(c)) : std::string(1, c);
        if (c == '@' || c == '#') // references are looked for in the page that was made of the text
            made += "<!-- -->";
    }
    return made;
}

std::string markdownCode(std::string_view text)
{
    return text.empty() ? std::string() : "<code>" + markdown(text) + "</code>";
}

} // namespace qs::ci
