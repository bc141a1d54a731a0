// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lowered/content_key.h"
#include "core/project/files/runs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

namespace qs {

namespace {

constexpr std::string_view kData = "data: ";

/// Where measuredOn() goes on behind so many lines; its length where it has fewer.
size_t behindLines(const std::string& text, size_t lines)
{
    size_t at = 0;
    for (size_t line = 0; line < lines; ++line) {
        at = text.find('\n', line == 0 ? 0 : at + 1);
        if (at == std::string::npos)
            return text.size();
    }
    return at;
}

/// As older projects say what was measured: path of the data, that of their description, seed, and what measuredOn()
/// has behind the hash.
struct OldMeasurement {
    static constexpr size_t kLines = 3; ///< that stand for the data
    std::array<std::string, kLines> data;
    std::string rest;

    static OldMeasurement of(const std::string& text)
    {
        OldMeasurement old;
        size_t from = 0;
        for (size_t i = 0; i < kLines; ++i) {
            const size_t end = behindLines(text, i + 1);
            old.data[i] = text.substr(std::min(from, end), end - std::min(from, end));
            from = end + 1;
        }
        old.rest = text.substr(behindLines(text, kLines));
        return old;
    }
};

/// One may be said from the folder that the program was started in.
bool samePath(const std::string& a, const std::string& b)
{
    const auto endsWith = [](const std::string& whole, const std::string& part) {
        return !part.empty() && std::filesystem::path(part).is_relative() && whole.ends_with("/" + part);
    };
    return a == b || endsWith(a, b) || endsWith(b, a);
}

bool isOld(const RecipeRun& run) { return run.numbers && !run.numbers->measuredOn.starts_with(kData); }

} // namespace

std::string measuredOn(const Snapshot& snapshot)
{
    const Inputs& inputs = snapshot.inputs;
    Hash128 data = snapshot.comparison->fed;
    if (snapshot.data) {
        data = combine(data, hashBytes(std::as_bytes(std::span(snapshot.data->labels()))));
        for (const auto& [input, state] : snapshot.data->initialStates())
            data = combine(combine(data, hashText(input)), contentKey(state));
    }
    std::string text = std::string(kData) + data.hex();
    text += "\n" + std::to_string(snapshot.comparison->samples) + "\n" + std::string(profileName(inputs.profile));
    for (const auto& [output, input] : inputs.carry)
        text += "\n" + output + "=" + input;
    for (const auto& [output, task] : inputs.tasks.told)
        text += "\n" + output + ":" + taskText(task);
    return text;
}

Measurement measurementOf(const RunNumbers& before, const RunNumbers& after)
{
    constexpr size_t kDataLines = 2; ///< hash and number of samples
    const std::string &a = before.measuredOn, &b = after.measuredOn;
    if (a == b)
        return Measurement::Same;
    const bool sameData = a.substr(0, behindLines(a, kDataLines)) == b.substr(0, behindLines(b, kDataLines));
    return sameData ? Measurement::OtherArithmetic : Measurement::OtherData;
}

void replacePaths(std::vector<RecipeRun>& runs, RunId current)
{
    const auto shown = std::ranges::find(runs, current, &RecipeRun::id);
    const auto ofProject = shown != runs.end() && isOld(*shown)
        ? std::optional(OldMeasurement::of(shown->numbers->measuredOn))
        : std::nullopt;
    for (RecipeRun& run : runs) {
        if (!isOld(run))
            continue;
        const OldMeasurement old = OldMeasurement::of(run.numbers->measuredOn);
        run.numbers->data = std::filesystem::path(old.data.front()).filename().string();
        if (ofProject && std::ranges::equal(old.data, ofProject->data, samePath))
            run.numbers->measuredOn = std::string(kDataOfProject) + old.rest;
    }
}

} // namespace qs
