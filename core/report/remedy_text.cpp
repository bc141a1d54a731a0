// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/remedy_text.h"

#include "core/project/search/lacking_ranges.h"
#include "core/project/snapshot/quantized_example.h"
#include "core/quant/read_back/quantized_file.h"
#include "core/report/format.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <set>
#include <string_view>

namespace qs::text {

using Words = std::vector<std::string>;

std::string shellWord(const std::string& text)
{
    const bool plain = std::ranges::all_of(text, [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0
            || std::string_view("_-./+=:,@%").find(c) != std::string_view::npos;
    });
    if (plain && !text.empty())
        return text;
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

namespace {

constexpr size_t kMostTried = 1000; ///< by a command, where all were
constexpr size_t kFirstTried = 10; ///< by one, where none was

/// A path, which no option begins like.
std::string pathWord(const std::string& path) { return shellWord(path.starts_with('-') ? "./" + path : path); }

void addData(const DataRequest& data, std::string_view option, Words& words)
{
    words.push_back(std::string(option) + " " + (data.spec.empty() ? "DATA" : pathWord(data.spec)));
    if (!data.preprocess.empty())
        words.push_back("--preprocess " + pathWord(data.preprocess));
    for (const auto& [name, shape] : data.shapes)
        words.push_back("--shape " + shellWord(fmt::format("{}={}", name, fmt::join(shape, "x"))));
    if (data.limit)
        words.push_back(fmt::format("--limit {}", *data.limit));
    if (data.seed)
        words.push_back(fmt::format("--seed {}", *data.seed));
}

/// In place of the samples that judge.
Words calibrationWords(const Inputs& inputs)
{
    Words words;
    addData(inputs.calibration.spec.empty() ? inputs.data : inputs.calibration, "--data", words);
    return words;
}

void addCarry(const Inputs& inputs, Words& words)
{
    for (const auto& [output, input] : inputs.carry)
        words.push_back("--carry " + shellWord(output + "=" + input));
}

/// In the folder where the command runs.
std::string mendedName(const Snapshot& s)
{
    const std::filesystem::path of = s.quantization ? s.floatModel->model->path : s.quantModel->model->path;
    return pathWord(of.stem().string() + "_mended.onnx");
}

bool wasMadeByRecipe(const Snapshot& s) { return s.quantization != nullptr; }

/// The names of what an option of a remedy sets: of "--format qdq --no-per-channel" format and per-channel.
std::set<std::string> namesIn(const std::string& option)
{
    std::set<std::string> names;
    for (size_t at = 0; at < option.size() && option.compare(at, 2, "--") == 0;) {
        const size_t end = std::min(option.find(' ', at), option.size());
        const size_t from = at + (option.compare(at, 5, "--no-") == 0 ? 5 : 2);
        names.insert(option.substr(from, end - from));
        const size_t next = option.find(" --", end); // a quoted value ends the text
        at = next == std::string::npos || option.find('\'') < next ? option.size() : next + 1;
    }
    return names;
}

/// The options of this run without those that a change sets otherwise.
Words recipeWords(const Inputs& inputs, const Words& changes = {})
{
    static const std::set<std::string> kLists { "exclude", "preparation", "tensor-range" };
    if (inputs.recipeWords.empty())
        return { "OPTIONS-OF-THIS-RUN" };
    std::set<std::string> changed;
    for (const std::string& change : changes)
        changed.merge(namesIn(change));
    if (changed.contains("method")) // what other calibrators are given says nothing of this one
        changed.insert("percentile");
    Words kept;
    std::ranges::copy_if(inputs.recipeWords, std::back_inserter(kept), [&](const std::string& word) {
        const std::set<std::string> names = namesIn(word);
        return std::ranges::none_of(
            names, [&](auto& name) { return changed.contains(name) && !kLists.contains(name); });
    });
    return kept;
}

Words quantizeCommand(const Snapshot& s, std::span<const Remedy> changes)
{
    Words words { "quantscope-cli quantize", pathWord(s.floatModel->model->path) };
    const LackingRanges lacking = wasMadeByRecipe(s) ? LackingRanges {} : lackingRanges(s, changes);
    std::vector<Remedy> all(changes.begin(), changes.end());
    all.insert(all.end(), lacking.constants.begin(), lacking.constants.end());
    all.insert(all.end(), lacking.ranges.begin(), lacking.ranges.end());
    const bool takes = lacking.needData || std::ranges::any_of(changes, takesData);
    Words options = remedyOptionList(all, {});
    std::erase_if(options, [](const std::string& option) { return option.empty(); });
    if (s.floatModel->draft && needsOpset(changes, *s.floatModel->draft))
        options.insert(options.begin(), "--preparation +infer_shapes");
    const Words before = wasMadeByRecipe(s) ? recipeWords(s.inputs, options)
                                            : Words { "--like " + pathWord(s.quantModel->model->path) };
    words.insert(words.end(), before.begin(), before.end());
    words.insert(words.end(), options.begin(), options.end());
    const bool ranges = wasMadeByRecipe(s) && !s.inputs.rangesPath.empty() && !takes;
    if (ranges)
        words.push_back("--ranges " + pathWord(s.inputs.rangesPath));
    else if (takes || wasMadeByRecipe(s))
        std::ranges::move(calibrationWords(s.inputs), std::back_inserter(words));
    addCarry(s.inputs, words);
    words.push_back("-o " + mendedName(s));
    return words;
}

/// The same trials once more; their result is written.
Words compareCommand(const Snapshot& s, const Finding& f)
{
    const auto& findings = s.comparison->findings;
    const auto number = 1 + std::ranges::count_if(findings.data(), &f, isOffered);
    Words words { "quantscope-cli compare", pathWord(s.floatModel->model->path) };
    const Words made = wasMadeByRecipe(s) ? recipeWords(s.inputs) : Words { pathWord(s.quantModel->model->path) };
    words.insert(words.end(), made.begin(), made.end());
    addData(s.inputs.data, "--data", words);
    if (!s.inputs.calibration.spec.empty())
        words.push_back("--calibration-data " + pathWord(s.inputs.calibration.spec));
    if (!s.inputs.rangesPath.empty())
        words.push_back("--ranges " + pathWord(s.inputs.rangesPath));
    if (!s.inputs.mapPath.empty())
        words.push_back("--map " + pathWord(s.inputs.mapPath));
    if (s.inputs.profile != ArithmeticProfile::Simulated)
        words.push_back("--arithmetic " + std::string(profileName(s.inputs.profile)));
    addCarry(s.inputs, words);
    const size_t most = s.comparison->trials ? s.comparison->trials->most : kFirstTried;
    words.push_back(fmt::format("--try-remedies {}", std::min(most, kMostTried)));
    if (number > 1)
        words.push_back(fmt::format("--mend {}", number));
    words.push_back("--save-mended " + mendedName(s));
    return words;
}

/// The first that changes anything, which trials measure and write.
bool isFirst(const Finding& f, const std::vector<Finding>& findings)
{
    const auto changes = [](const Finding& other) { return other.change.kind != RemedyKind::None; };
    const auto first = std::ranges::find_if(findings, changes);
    return first != findings.end() && &*first == &f;
}

bool isOneOf(const Finding& f, const std::vector<Finding>& findings)
{
    return std::ranges::any_of(findings, [&](const Finding& other) { return &other == &f; });
}

/// Made anew, codes of which a Clip leaves fewer than their type has would have all bits of the type: its gain would be
/// of more bits. Biases have as many as they need in any case.
bool widensCodes(const LoadedModel& quantized, std::span<const Remedy> changes)
{
    const auto keeps = [](const Remedy& r) { // or means to have other types
        return r.kind == RemedyKind::ExcludeNode || r.kind == RemedyKind::KeepExtremeConstants
            || r.kind == RemedyKind::EightBitWeight || r.kind == RemedyKind::ActivationType
            || r.kind == RemedyKind::DynamicFormat || r.kind == RemedyKind::StoreConstant;
    };
    const auto fewer = [](const Quantizer& q) {
        return dtypeBits(q.params.dtype) <= 16 && q.params.bits() < dtypeBits(q.params.dtype);
    };
    return !std::ranges::all_of(changes, keeps) && std::ranges::any_of(quantized.quant->quantizers(), fewer);
}

/// Layers that were equalized hold together: quantized as the float model has it, one of them does not fit the others.
bool breaksLayers(const Comparison& c, std::span<const Remedy> changes)
{
    const auto keeps = [](const Remedy& r) {
        return r.kind == RemedyKind::SetRange || r.kind == RemedyKind::KeepExtremeConstants
            || r.kind == RemedyKind::KeepActivations;
    };
    return std::ranges::any_of(c.weights, &WeightRow::equalized) && !std::ranges::all_of(changes, keeps);
}

/// Its recipe, changed so, would make another file than this one with the change.
bool isMendedItself(const Snapshot& s, std::span<const Remedy> changes)
{
    return !recipesKeepBlocks(*s.quantModel) || widensCodes(*s.quantModel, changes)
        || breaksLayers(*s.comparison, changes) || !recipeMakesFile(s);
}

/// Trials find ranges that the file does not tell by the data; a command without data leaves in float what operators on
/// codes have no range of.
bool isTriedOtherwise(const Snapshot& s, const Finding& f)
{
    return f.measuredGainDb && !wasMadeByRecipe(s) && s.comparison->trials && s.comparison->trials->inFile
        && s.quantModel->quant->form() == QuantForm::QOperator && isOffered(f) && isOneOf(f, s.comparison->findings);
}

} // namespace

std::string remedyOptionsOf(const Finding& f, std::span<const Remedy> changes)
{
    const bool others = f.measuredGainDb && (f.triedInFile || optionsDoMore(changes));
    return others || f.remedy.empty() ? std::string() : remedyOptions(changes);
}

std::string remedyDetails(const Finding& f, const std::optional<Accuracy>& accuracy)
{
    const std::string options = remedyOptionsOf(f, changesOf(f)), gain = gainSentence(f, accuracy);
    return (gain.empty() ? "" : " " + gain) + (options.empty() ? "" : " Options: " + options);
}

Words remedyCommand(const Snapshot& s, const Finding& f, std::span<const Remedy> changes)
{
    const std::vector<Remedy> own = changesOf(f); // what was measured is its own
    const std::span<const Remedy> made = f.measuredGainDb ? own : changes;
    const bool options = !remedyOptionsOf(f, made).empty();
    if (options && !f.measuredGainDb && !wasMadeByRecipe(s) && isMendedItself(s, made))
        return isFirst(f, s.comparison->findings) && !s.comparison->trials ? compareCommand(s, f) : Words {};
    if (options)
        return isTriedOtherwise(s, f) ? compareCommand(s, f) : quantizeCommand(s, made);
    const bool tried = isOffered(f) && s.comparison->trials && isOneOf(f, s.comparison->findings);
    return tried ? compareCommand(s, f) : Words {};
}

std::string remedyCommandLine(const Snapshot& s, const Finding& f)
{
    return fmt::format("{}", fmt::join(remedyCommand(s, f, changesOf(f)), " "));
}

std::string remedyCommandLine(const Snapshot& s)
{
    for (const Finding& f : s.comparison->findings)
        if (std::string line = remedyCommandLine(s, f); !line.empty())
            return line;
    return {};
}

} // namespace qs::text
