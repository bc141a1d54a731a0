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

std::string remedyCommand(const Snapshot& s)
{
    const bool any = std::ranges::any_of(s.comparison->findings,
        [](const Finding& f) { return !f.remedy.empty() && !remedyOptions(changesOf(f)).empty(); });
    if (!any)
        return {};
    const std::string from = shellWord(s.floatModel->model->path);
    return s.quantization ? fmt::format("quantscope-cli quantize {} OPTIONS-OF-THIS-RUN OPTIONS -o MENDED.onnx", from)
                          : fmt::format("quantscope-cli quantize {} --like {} OPTIONS -o MENDED.onnx", from,
                              shellWord(s.quantModel->model->path));
}

} // namespace qs::text
