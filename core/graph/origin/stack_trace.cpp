// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/origin/stack_trace.h"

#include "core/base/text/one_line.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace qs {

namespace {

constexpr size_t kMostTraceBytes = size_t(1) << 18; ///< bytes of a trace
constexpr size_t kMostFrames = 500;
constexpr size_t kMostLineCharacters = 1000; ///< characters of a path or a line of code

std::string boundedLine(std::string_view text) { return oneLine(text, kMostLineCharacters); }

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view kSpaces = " \t\r";
    const size_t first = std::min(text.find_first_not_of(kSpaces), text.size());
    text.remove_prefix(first);
    return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

std::optional<int64_t> number(std::string_view text)
{
    int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    return whole && value > 0 ? std::optional(value) : std::nullopt;
}

/// File "model.py", line 42, in forward
std::optional<SourceFrame> pythonFrame(std::string_view line)
{
    constexpr std::string_view kFile = "File \"", kLine = "\", line ", kFunction = ", in ";
    const size_t fileEnd = line.rfind(kLine);
    if (!line.starts_with(kFile) || fileEnd == std::string_view::npos || fileEnd < kFile.size())
        return std::nullopt;
    const std::string_view rest = line.substr(fileEnd + kLine.size());
    const size_t comma = rest.find(kFunction);
    const auto at = number(rest.substr(0, comma));
    if (!at)
        return std::nullopt;
    const std::string_view function
        = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + kFunction.size());
    return SourceFrame { boundedLine(line.substr(kFile.size(), fileEnd - kFile.size())), *at, boundedLine(function),
        {} };
}

bool isFileName(std::string_view text)
{
    return text.starts_with('<') || (text.find('.') != std::string_view::npos && !text.ends_with(' '));
}

/// model.py(42): forward
std::optional<SourceFrame> torchScriptFrame(std::string_view line)
{
    const size_t close = line.rfind("): ");
    const size_t open = close == std::string_view::npos ? close : line.rfind('(', close);
    if (open == std::string_view::npos || !isFileName(line.substr(0, open)))
        return std::nullopt;
    const auto at = number(line.substr(open + 1, close - open - 1));
    if (!at)
        return std::nullopt;
    return SourceFrame { boundedLine(line.substr(0, open)), *at, boundedLine(line.substr(close + 3)), {} };
}

/// Marks below the part of the line that was running.
bool isMarks(std::string_view line) { return line.find_first_not_of("^~ ") == std::string_view::npos; }

std::vector<std::string_view> pathParts(std::string_view path)
{
    std::vector<std::string_view> parts;
    while (!path.empty()) {
        const size_t end = std::min(path.find_first_of("/\\"), path.size());
        if (end > 0)
            parts.push_back(path.substr(0, end));
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return parts;
}

bool isLibrary(const SourceFrame& frame)
{
    constexpr std::array kTorchRooms { "nn", "jit", "onnx", "fx", "export", "utils", "autograd", "functional.py",
        "_tensor.py", "_ops.py", "_dynamo", "_export", "_decomp", "_refs", "_functorch", "_higher_order_ops" };
    constexpr std::array kTorchPackages { "torch", "functorch", "onnxscript" };
    if (frame.file.starts_with('<')) // "<eval_with_key>.7"
        return true;
    const std::vector<std::string_view> parts = pathParts(frame.file);
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
        const std::string_view next = parts[i + 1];
        if (parts[i] == "site-packages" || parts[i] == "dist-packages")
            return std::ranges::find(kTorchPackages, next) != kTorchPackages.end();
        if (parts[i] == "torch" && std::ranges::find(kTorchRooms, next) != kTorchRooms.end())
            return true;
    }
    const auto python = std::ranges::find_if(parts, [](std::string_view part) { return part.starts_with("python3."); });
    return python != parts.begin() && python != parts.end() && *(python - 1) == "lib";
}

} // namespace

std::vector<SourceFrame> stackFrames(std::string_view trace)
{
    trace = trace.substr(0, kMostTraceBytes);
    std::vector<SourceFrame> frames;
    bool innermostFirst = false;
    while (!trace.empty() && frames.size() < kMostFrames) {
        const size_t end = std::min(trace.find('\n'), trace.size());
        const std::string_view line = trimmed(trace.substr(0, end));
        trace.remove_prefix(std::min(end + 1, trace.size()));
        if (auto frame = pythonFrame(line)) {
            frames.push_back(std::move(*frame));
        } else if (auto other = torchScriptFrame(line); other && (frames.empty() || innermostFirst)) {
            innermostFirst = true;
            frames.push_back(std::move(*other));
        } else if (!frames.empty() && !innermostFirst && frames.back().code.empty() && !isMarks(line)) {
            frames.back().code = boundedLine(line);
        }
    }
    if (innermostFirst)
        std::ranges::reverse(frames);
    return frames;
}

std::optional<size_t> userFrame(const std::vector<SourceFrame>& frames, std::span<const std::string> libraryFiles)
{
    for (size_t i = frames.size(); i-- > 0;)
        if (!isLibrary(frames[i]) && std::ranges::find(libraryFiles, frames[i].file) == libraryFiles.end())
            return i;
    return frames.empty() ? std::nullopt : std::optional(frames.size() - 1);
}

} // namespace qs
