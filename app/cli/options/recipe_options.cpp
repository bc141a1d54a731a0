// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/options/recipe_options.h"

#include "core/quant/recipe/recipe_edit.h"
#include "core/quant/recipe/recipe_json.h"
#include "core/report/remedy_text.h"

#include <charconv>
#include <cmath>

namespace qs::cli {

namespace {

/// NAME=METHOD or NAME=percentile:P; names may hold equals signs.
Status applyTensorCalibrator(const std::string& text, Recipe& recipe)
{
    const auto wrong = [&] {
        return badUse("--tensor-calibrator '" + text + "' is not known",
            "write NAME=METHOD with minmax, moving-average, percentile, percentile:99.9, entropy or mse");
    };
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
        return wrong();
    const std::string asked = text.substr(equals + 1), name = asked.substr(0, asked.find(':'));
    const auto kind = valueIn(kCalibrators, std::string_view(name));
    if (!kind || *kind == Calibrator::Distribution)
        return wrong();
    CalibratorOptions calibrator = recipe.calibration;
    calibrator.kind = *kind;
    if (asked.size() > name.size()) {
        const char *begin = asked.data() + name.size() + 1, *end = asked.data() + asked.size();
        const auto [stop, error] = std::from_chars(begin, end, calibrator.percentile);
        if (*kind != Calibrator::Percentile || error != std::errc() || stop != end
            || !(calibrator.percentile > 0 && calibrator.percentile <= 100))
            return wrong();
    }
    recipe = withCalibrator(std::move(recipe), text.substr(0, equals), calibrator);
    return {};
}

/// NAME=LOW:HIGH; the name is one tensor's, and may hold equals signs and colons.
Status applyTensorRange(const std::string& text, Recipe& recipe)
{
    const size_t equals = text.rfind('='), colon = text.rfind(':');
    double low = 0, high = 0;
    const auto read = [&](size_t begin, size_t end, double& value) {
        const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, value);
        return error == std::errc() && stop == text.data() + end && std::isfinite(static_cast<float>(value));
    };
    const bool parts = equals != std::string::npos && equals > 0 && colon != std::string::npos && colon > equals;
    if (!parts || !read(equals + 1, colon, low) || !read(colon + 1, text.size(), high) || low >= high)
        return badUse("--tensor-range '" + text + "' is not a range", "write NAME=LOW:HIGH with LOW below HIGH");
    recipe = withRange(std::move(recipe), text.substr(0, equals), low, high);
    return {};
}

Status applyBlockSize(int64_t size, Recipe& recipe)
{
    const bool weightOnly = recipe.format == RecipeFormat::WeightOnly;
    const bool any = recipe.weightOnly.dequantizeForm && size >= 1;
    const bool power = any || (size >= 16 && (size & (size - 1)) == 0);
    if (size < 0 || (weightOnly && !power) || size > (int64_t(1) << 30))
        return badUse("--block-size " + std::to_string(size) + " is not possible",
            weightOnly ? "give a power of two from 16 on" : "give 0 or more");
    (weightOnly ? recipe.weightOnly.blockSize : recipe.blockSize) = size;
    return {};
}

std::vector<std::string> passNames()
{
    std::vector<std::string> names;
    for (const RecipeOption& pass : passOptions())
        names.emplace_back(pass.key());
    return names;
}

Status applyPreparation(const RecipeOptions& o, Recipe& recipe)
{
    const auto asked = o.flags.find("preparation.enabled");
    if (asked != o.flags.end() && asked->second == RecipeValue(false))
        return badUse("--preparation names passes that --no-preprocess-graph leaves out", "give one of them");
    const auto names = commaList(o.preparation);
    const bool more
        = !names.empty() && std::ranges::all_of(names, [](const std::string& name) { return name.starts_with('+'); });
    for (const RecipeOption& pass : passOptions())
        if (!more || !recipe.preparation.enabled)
            pass.value.set(recipe, false);
    recipe.preparation.enabled = true;
    for (const std::string& word : names) {
        const std::string name = more ? word.substr(1) : word;
        const auto passes = passOptions();
        const auto pass = std::ranges::find(passes, name, &RecipeOption::key);
        if (pass == passes.end())
            return badUse("--preparation '" + word + "' is not known", "use " + listed(passNames(), " or "));
        pass->value.set(recipe, true);
    }
    return {};
}

} // namespace

bool RecipeOptions::any() const
{
    return !file.empty() || ortDefaults || !flags.empty() || blockSize || !calibrationCache.empty()
        || !calibrationData.empty() || calibrationLimit || !preparation.empty() || !tensorCalibrators.empty()
        || !tensorRanges.empty();
}

std::vector<std::string> RecipeOptions::words() const
{
    std::vector<std::string> all;
    for (const CLI::Option* option : options)
        for (const std::string& value : option->results()) {
            const bool isSwitch = option->get_items_expected_max() == 0;
            all.push_back(
                "--" + option->get_lnames().front() + (isSwitch ? std::string() : " " + text::shellWord(value)));
        }
    return all;
}

void addRecipeOptions(CLI::App& app, RecipeOptions& o)
{
    const size_t before = app.get_options().size();
    app.add_option("--recipe", o.file, "recipe file to start from");
    app.add_flag("--ort-defaults", o.ortDefaults, "start from the defaults of ONNX Runtime's quantization tools");
    addRecipeFlags(app, FlagValues::One, o.flags);
    takesWords(app.add_option("--preparation", o.preparation,
                   "only these preparation passes, by comma (each with a + before it: these beside the recipe's): "
                       + listed(passNames(), ", ")),
        passNames());
    addRecipeFlags(app, FlagValues::List, o.flags);
    app.add_option("--tensor-calibrator", o.tensorCalibrators,
           "NAME=METHOD or NAME=percentile:P: how the range of this activation is chosen, in place of --method")
        ->allow_extra_args(false);
    app.add_option(
           "--tensor-range", o.tensorRanges, "NAME=LOW:HIGH: the range of this activation, in place of calibrating it")
        ->allow_extra_args(false);
    app.add_option("--block-size", o.blockSize, "elements of a weight that share a scale");
    app.add_option("--calibration-cache", o.calibrationCache,
        "file that keeps what calibration found, for any method: read where model and samples are the same (without "
        "--data: where the model is), else written");
    const auto all = app.get_options();
    o.options.assign(all.begin() + std::ptrdiff_t(before), all.end());
}

void addCalibrationData(CLI::App& app, RecipeOptions& o)
{
    app.add_option("--calibration-data", o.calibrationData,
        "samples to find ranges with, given as --data, which then only judges; those of --data if not given");
    app.add_option("--calibration-limit", o.calibrationLimit, "use the first N of them");
}

void addFilesOf(FileRoles& files, const RecipeOptions& o)
{
    files.reads(o.file, "the recipe to start from");
    files.writes(o.calibrationCache, "the calibration cache");
}

Result<DataRequest> calibrationRequest(
    const RecipeOptions& o, const std::string& rangesPath, DataOptions data, const CommonOptions& common)
{
    if (o.calibrationData.empty() && o.calibrationLimit)
        return badUse("--calibration-limit counts the samples of --calibration-data, which is not given",
            "add --calibration-data, or use --limit");
    if (o.calibrationData.empty())
        return DataRequest {};
    if (!rangesPath.empty())
        return badUse("with --ranges nothing is calibrated, so --calibration-data has no use", "give one of them");
    data.text.clear();
    data.tokenizer.clear();
    data.positions.reset();
    data.data = o.calibrationData;
    data.limit = o.calibrationLimit;
    return dataRequest(data, common);
}

Status checkCalibrationCache(const RecipeOptions& o, const std::string& rangesPath)
{
    if (!o.calibrationCache.empty() && !rangesPath.empty())
        return badUse("with --ranges nothing is calibrated that --calibration-cache could keep", "give one of them");
    return {};
}

Result<ChosenRecipe> chosenRecipe(const RecipeOptions& o, const std::optional<ChosenRecipe>& begin)
{
    if (o.ortDefaults && !o.file.empty())
        return badUse("--recipe and --ort-defaults both say where to start", "give one of them");
    if (begin && (o.ortDefaults || !o.file.empty()))
        return badUse(
            "--like and " + std::string(o.ortDefaults ? "--ort-defaults" : "--recipe") + " both say where to start",
            "give one of them");
    ChosenRecipe chosen;
    if (begin) {
        chosen = *begin;
    } else if (!o.file.empty()) {
        chosen.start = o.file;
        QS_TRY(chosen.recipe, readRecipe(o.file));
    } else {
        chosen.start = o.ortDefaults ? "onnxruntime" : "quantscope";
        chosen.recipe = o.ortDefaults ? Recipe {} : quantscopeRecipe();
    }
    Recipe& recipe = chosen.recipe;
    const std::vector<std::string> excluded = begin ? recipe.exclude : std::vector<std::string>();
    QS_CHECK(applyRecipeFlags(o.flags, recipe));
    if (o.flags.contains("exclude")) // beside those that the example leaves in float
        recipe.exclude.insert(recipe.exclude.begin(), excluded.begin(), excluded.end());
    if (o.blockSize)
        QS_CHECK(applyBlockSize(*o.blockSize, recipe));
    for (const std::string& text : o.tensorCalibrators)
        QS_CHECK(applyTensorCalibrator(text, recipe));
    for (const std::string& text : o.tensorRanges)
        QS_CHECK(applyTensorRange(text, recipe));
    if (!o.preparation.empty())
        QS_CHECK(applyPreparation(o, recipe));
    if (recipe.corrections.equalizeClips && !recipe.corrections.equalize)
        return badUse("--equalize-clips is a part of equalization", "add --equalize");
    chosen.warnings = idleFlags(o.flags, recipe);
    if (!isStatic(recipe.format) && !o.tensorRanges.empty())
        chosen.warnings.push_back("--tensor-range has no effect: this format has no ranges");
    if (!isStatic(recipe.format) && !o.tensorCalibrators.empty())
        chosen.warnings.push_back("--tensor-calibrator has no effect: this format has no calibrated ranges");
    return chosen;
}

} // namespace qs::cli
