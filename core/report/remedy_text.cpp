// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/remedy_text.h"

#include "core/report/format.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <string_view>

namespace qs::text {

namespace {

/// A path as a word of a shell.
std::string shellWord(const std::string& text)
{
    const bool plain = std::ranges::all_of(text, [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0
            || std::string_view("_-./+=:,@%").find(c) != std::string_view::npos;
    });
    if (plain && !text.empty() && text[0] != '-')
        return text;
    std::string quoted = text.starts_with('-') ? "'./" : "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

} // namespace

std::string remedyDetails(const Finding& f, const std::optional<Accuracy>& accuracy)
{
    const std::string options = remedyOptions(changesOf(f)), gain = gainSentence(f, accuracy);
    return (gain.empty() ? "" : " " + gain) + (options.empty() ? "" : " Options: " + options);
}

std::vector<std::string> remedyCommand(const Snapshot& s)
{
    const bool any = std::ranges::any_of(s.comparison->findings,
        [](const Finding& f) { return !f.remedy.empty() && !remedyOptions(changesOf(f)).empty(); });
    if (!any)
        return {};
    return { "quantscope-cli quantize " + shellWord(s.floatModel->model->path),
        s.quantization ? "OPTIONS-OF-THIS-RUN" : "--like " + shellWord(s.quantModel->model->path),
        "OPTIONS -o MENDED.onnx" };
}

std::string remedyCommandLine(const Snapshot& s)
{
    std::string line;
    for (const std::string& part : remedyCommand(s))
        line += (line.empty() ? "" : " ") + part;
    return line;
}

} // namespace qs::text
