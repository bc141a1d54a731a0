// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/recipe_options.h"

#include "core/quant/recipe/recipe_edit.h"
#include "core/quant/recipe/recipe_json.h"

#include <algorithm>
#include <charconv>

namespace qs::cli {

namespace {

Result<DType> codeType(const std::string& option, const std::string& name)
{
    for (DType type : { DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int4, DType::UInt4, DType::Int2,
             DType::UInt2, DType::Float8E4M3FN })
        if (dtypeName(type) == name)
            return type;
    return badUse(option + " '" + name + "' is not known",
        "use int8, uint8, int16, uint16, int4, uint4, int2, uint2 or float8e4m3fn");
}

std::vector<std::string> commaList(const std::vector<std::string>& options)
{
    std::vector<std::string> parts;
    for (const std::string& option : options)
        for (size_t begin = 0; begin <= option.size();) {
            const size_t end = std::min(option.find(',', begin), option.size());
            if (end > begin)
                parts.push_back(option.substr(begin, end - begin));
            begin = end + 1;
        }
    return parts;
}

Status applyCalibration(const RecipeOptions& o, Recipe& recipe)
{
    if (!o.method.empty()) {
        const auto method = calibrationMethodOf(o.method);
        if (!method)
            return badUse("--method '" + o.method + "' is not known",
                "use minmax, moving-average, percentile, entropy, mse or distribution");
        recipe.calibration.method = *method;
    }
    if (o.percentile) {
        if (!(*o.percentile >= 0 && *o.percentile <= 100))
            return badUse("--percentile must lie between 0 and 100", "give a number such as 99.99");
        recipe.calibration.percentile = *o.percentile;
    }
    if (o.bins) {
        if (*o.bins < 1 || *o.bins > (int64_t(1) << 24))
            return badUse("--bins must lie between 1 and 16777216", "leave it out for the method's own number");
        recipe.calibration.bins = static_cast<size_t>(*o.bins);
    }
    return {};
}

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
    const auto method = calibrationMethodOf(name);
    if (!method || *method == CalibrationMethod::Distribution)
        return wrong();
    CalibratorOptions calibrator = recipe.calibration;
    calibrator.method = *method;
    if (asked.size() > name.size()) {
        const char *begin = asked.data() + name.size() + 1, *end = asked.data() + asked.size();
        const auto [stop, error] = std::from_chars(begin, end, calibrator.percentile);
        if (*method != CalibrationMethod::Percentile || error != std::errc() || stop != end
            || !(calibrator.percentile >= 0 && calibrator.percentile <= 100))
            return wrong();
    }
    recipe = withCalibrator(std::move(recipe), text.substr(0, equals), calibrator);
    return {};
}

Status applyWeightOnly(const RecipeOptions& o, Recipe& recipe)
{
    WeightOnlyOptions& w = recipe.weightOnly;
    if (!o.form.empty()) {
        if (o.form != "dequantize" && o.form != "operator")
            return badUse("--form '" + o.form + "' is not known", "use operator or dequantize");
        w.dequantizeForm = o.form == "dequantize";
    }
    if (!o.algorithm.empty()) {
        const auto algorithm = weightOnlyAlgorithmOf(o.algorithm);
        if (!algorithm)
            return badUse("--algorithm '" + o.algorithm + "' is not known", "use default, rtn, hqq, gptq or k-quant");
        w.algorithm = *algorithm;
    }
    if (o.accuracyLevel) {
        if (*o.accuracyLevel < 0 || *o.accuracyLevel > 4)
            return badUse("--accuracy-level " + std::to_string(*o.accuracyLevel) + " is not possible",
                "use 1 (float32), 2 (float16), 3 (bfloat16), 4 (int8) or 0 (unset)");
        w.accuracyLevel = *o.accuracyLevel;
    }
    w.tableAxis = o.quantizeAxis.value_or(w.tableAxis);
    w.channelWise = o.channelWise.value_or(w.channelWise);
    const bool given = !o.form.empty() || !o.algorithm.empty() || o.accuracyLevel || o.quantizeAxis || o.channelWise;
    if (given && recipe.format != RecipeFormat::WeightOnly)
        return badUse("--form, --algorithm, --accuracy-level, --quantize-axis and --channel-wise belong to weights in "
                      "blocks",
            "add --format weight-only");
    return {};
}

Status applyFormat(const RecipeOptions& o, Recipe& recipe)
{
    if (!o.format.empty()) {
        const auto format = recipeFormatOf(o.format);
        if (!format)
            return badUse("--format '" + o.format + "' is not known", "use qdq, qoperator, dynamic or weight-only");
        if (*format != recipe.format && *format == RecipeFormat::WeightOnly)
            recipe.weightType = DType::UInt4;
        recipe.format = *format;
    }
    if (!o.activationType.empty()) {
        QS_TRY(recipe.activationType, codeType("--activation-type", o.activationType));
    }
    if (!o.weightType.empty()) {
        QS_TRY(recipe.weightType, codeType("--weight-type", o.weightType));
    }
    QS_CHECK(applyWeightOnly(o, recipe));
    if (o.blockSize) {
        const bool weightOnly = recipe.format == RecipeFormat::WeightOnly;
        const bool any = recipe.weightOnly.dequantizeForm && *o.blockSize >= 1;
        const bool power = any || (*o.blockSize >= 16 && (*o.blockSize & (*o.blockSize - 1)) == 0);
        if (*o.blockSize < 0 || (weightOnly && !power) || *o.blockSize > (int64_t(1) << 30))
            return badUse("--block-size " + std::to_string(*o.blockSize) + " is not possible",
                weightOnly ? "give a power of two from 16 on" : "give 0 or more");
        (weightOnly ? recipe.weightOnly.blockSize : recipe.blockSize) = *o.blockSize;
    }
    return {};
}

Status applyCorrections(const RecipeOptions& o, Recipe& recipe)
{
    recipe.corrections.equalize = o.equalize.value_or(recipe.corrections.equalize);
    recipe.corrections.equalizeClips = o.equalizeClips.value_or(recipe.corrections.equalizeClips);
    if (recipe.corrections.equalizeClips && !recipe.corrections.equalize)
        return badUse("--equalize-clips is a part of equalization", "add --equalize");
    recipe.corrections.adaround = o.adaround.value_or(recipe.corrections.adaround);
    recipe.corrections.biasCorrection = o.biasCorrection.value_or(recipe.corrections.biasCorrection);
    recipe.smoothQuant = o.smoothQuant.value_or(recipe.smoothQuant);
    recipe.smoothQuantAlpha = o.smoothQuantAlpha.value_or(recipe.smoothQuantAlpha);
    recipe.smoothQuantFolding = o.smoothQuantFolding.value_or(recipe.smoothQuantFolding);
    if (!(recipe.smoothQuantAlpha >= 0 && recipe.smoothQuantAlpha <= 1))
        return badUse("--smooth-quant-alpha must lie between 0 and 1", "give a number such as 0.5");
    return {};
}

/// Options that were given and that nothing in the recipe reads.
std::vector<std::string> idleOptions(const RecipeOptions& o, const Recipe& recipe)
{
    std::vector<std::string> list;
    const auto idle = [&](bool given, const char* option, const char* why) {
        if (given)
            list.push_back(std::string(option) + " has no effect: " + why);
    };
    const CalibrationMethod method = recipe.calibration.method;
    const auto anyTensor = [&](CalibrationMethod wanted) {
        return method == wanted || std::ranges::any_of(recipe.tensors, [&](const auto& entry) {
            return entry.second.calibrator && entry.second.calibrator->method == wanted;
        });
    };
    const bool ranges = recipe.format == RecipeFormat::Qdq || recipe.format == RecipeFormat::QOperator;
    if (ranges) {
        const bool counts = anyTensor(CalibrationMethod::Percentile) || anyTensor(CalibrationMethod::Entropy)
            || anyTensor(CalibrationMethod::Distribution);
        idle(o.percentile && !anyTensor(CalibrationMethod::Percentile), "--percentile",
            "no range is found by --method percentile");
        idle(o.bins && !counts, "--bins", "this method counts no histogram of so many bins");
    } else {
        const char* why = "this format has no calibrated ranges";
        idle(!o.method.empty(), "--method", why);
        idle(o.percentile.has_value(), "--percentile", why);
        idle(o.bins.has_value(), "--bins", why);
        idle(!o.tensorCalibrators.empty(), "--tensor-calibrator", why);
        idle(!o.activationType.empty(), "--activation-type", "this format chooses the types of activations itself");
        idle(o.symmetricActivations.has_value(), "--symmetric-activations", why);
    }
    if (recipe.format == RecipeFormat::WeightOnly) {
        const char* why = "weights in blocks have scales of their own";
        idle(o.perChannel.has_value(), "--per-channel", why);
        idle(o.reduceRange.has_value(), "--reduce-range", why);
        idle(o.symmetricWeights.has_value(), "--symmetric-weights", "the weight type says it (int4: symmetric)");
    }
    idle(o.smoothQuantAlpha && !recipe.smoothQuant, "--smooth-quant-alpha", "--smooth-quant is not given");
    idle(o.smoothQuantFolding && !recipe.smoothQuant, "--smooth-quant-folding", "--smooth-quant is not given");
    return list;
}

} // namespace

bool RecipeOptions::any() const
{
    return !file.empty() || ortDefaults || !format.empty() || !method.empty() || !activationType.empty()
        || !weightType.empty() || !form.empty() || !algorithm.empty() || accuracyLevel || quantizeAxis || channelWise
        || percentile || bins || blockSize || perChannel || reduceRange || symmetricActivations || symmetricWeights
        || preprocessGraph || equalize || equalizeClips || smoothQuant || smoothQuantFolding || smoothQuantAlpha
        || adaround || biasCorrection || completeOverrides || !calibrationCache.empty() || !calibrationData.empty()
        || calibrationLimit || !opTypes.empty() || !exclude.empty() || !include.empty() || !preparation.empty()
        || !tensorCalibrators.empty();
}

void addRecipeOptions(CLI::App& app, RecipeOptions& o)
{
    app.add_option("--recipe", o.file, "recipe file to start from");
    app.add_flag("--ort-defaults", o.ortDefaults, "start from the defaults of ONNX Runtime's quantization tools");
    app.add_option("--format", o.format, "qdq, qoperator, dynamic or weight-only");
    app.add_option("--form", o.form, "weight-only: operator (MatMulNBits) or dequantize (DequantizeLinear)");
    app.add_option("--algorithm", o.algorithm, "weight-only: default, rtn, hqq, gptq (needs --data) or k-quant");
    app.add_option("--accuracy-level", o.accuracyLevel, "weight-only: attribute of MatMulNBits, 1 to 4");
    app.add_option("--quantize-axis", o.quantizeAxis,
        "weight-only with --op-types Gather: axis of the blocks in a table (1 if not given)");
    app.add_option("--method", o.method,
        "how ranges are chosen: minmax, moving-average, percentile, entropy or mse; distribution for float8e4m3fn");
    app.add_option("--percentile", o.percentile, "share of the values that a range holds, in percent");
    app.add_option("--bins", o.bins, "bins of the histograms");
    app.add_option(
        "--activation-type", o.activationType, "int8, uint8, int16 or uint16; float8e4m3fn together with such weights");
    app.add_option(
        "--weight-type", o.weightType, "int8, uint8, int16, uint16, int4 or uint4; weight-only: int2 or uint2, too");
    const auto flag = [&](const std::string& name, std::optional<bool>& value, const char* help) {
        app.add_flag_callback(
            "--" + name, [&value] { value = true; }, help);
        app.add_flag_callback(
            "--no-" + name, [&value] { value = false; }, "the opposite of --" + name);
    };
    flag("per-channel", o.perChannel, "scales for each channel of a weight");
    flag("reduce-range", o.reduceRange, "one bit less for weights");
    flag("symmetric-activations", o.symmetricActivations, "ranges of activations symmetric about zero");
    flag("symmetric-weights", o.symmetricWeights, "ranges of weights symmetric about zero");
    flag("channel-wise", o.channelWise, "weight-only with --form dequantize: one block a column");
    flag("preprocess-graph", o.preprocessGraph, "fold constants and BatchNormalization first");
    flag("equalize", o.equalize, "equalize the ranges of weights across layers first");
    flag("equalize-clips", o.equalizeClips,
        "with --equalize: a Clip from 0 on (Relu6) that stands between two layers becomes a Relu");
    flag("smooth-quant", o.smoothQuant, "move outliers of activations into weights first (SmoothQuant)");
    app.add_option("--smooth-quant-alpha", o.smoothQuantAlpha, "share of them that is moved, from 0 to 1");
    flag("smooth-quant-folding", o.smoothQuantFolding, "without new nodes where earlier constants take the factors");
    flag("adaround", o.adaround, "round weights up or down by what it does to their layer's outputs");
    flag("bias-correction", o.biasCorrection, "take out of biases what quantization adds to the mean of outputs");
    flag("complete-overrides", o.completeOverrides,
        "qdq: give the nodes around a tensor that a recipe overrides its type, too, and convert at the borders");
    app.add_option("--preparation", o.preparation,
        "only these preparation passes, by comma: fold_constants, remove_unused, fold_batch_norm, fuse_layer_norm, "
        "fuse_gelu, keep_attention, infer_shapes");
    const auto list = [&](const char* name, std::vector<std::string>& values, const char* help) {
        app.add_option(name, values, help)->allow_extra_args(false);
    };
    list("--op-types", o.opTypes, "operator types to quantize, by comma");
    list("--exclude", o.exclude, "nodes that stay float: names, globs or re:REGEX, by comma");
    list("--include", o.include, "only these nodes are quantized");
    list("--tensor-calibrator", o.tensorCalibrators,
        "NAME=METHOD or NAME=percentile:P: how the range of this activation is chosen, in place of --method");
    app.add_option("--block-size", o.blockSize, "elements of a weight that share a scale");
    app.add_option("--calibration-cache", o.calibrationCache,
        "file that keeps what calibration found, for any method: read where model and samples are the same (without "
        "--data: where the model is), else written");
}

void addCalibrationData(CLI::App& app, RecipeOptions& o)
{
    app.add_option("--calibration-data", o.calibrationData,
        "samples to find ranges with, given as --data, which then only judges; those of --data if not given");
    app.add_option("--calibration-limit", o.calibrationLimit, "use the first N of them");
}

namespace {

Status applyPreparation(const RecipeOptions& o, Recipe& recipe)
{
    recipe.preparation.enabled = o.preprocessGraph.value_or(recipe.preparation.enabled);
    if (o.preparation.empty())
        return {};
    if (o.preprocessGraph == false)
        return badUse("--preparation names passes that --no-preprocess-graph leaves out", "give one of them");
    recipe.preparation = { true, false, false, false, false, false, false, false };
    for (const std::string& pass : commaList(o.preparation)) {
        bool* chosen = preparationSwitch(recipe.preparation, pass);
        if (!chosen)
            return badUse("--preparation '" + pass + "' is not known",
                "use fold_constants, remove_unused, fold_batch_norm, fuse_layer_norm, fuse_gelu, keep_attention or "
                "infer_shapes");
        *chosen = true;
    }
    return {};
}

} // namespace

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
    QS_CHECK(applyFormat(o, recipe));
    QS_CHECK(applyCalibration(o, recipe));
    for (const std::string& text : o.tensorCalibrators)
        QS_CHECK(applyTensorCalibrator(text, recipe));
    recipe.perChannel = o.perChannel.value_or(recipe.perChannel);
    recipe.reduceRange = o.reduceRange.value_or(recipe.reduceRange);
    recipe.symmetricActivations = o.symmetricActivations.value_or(recipe.symmetricActivations);
    if (o.symmetricWeights)
        recipe.symmetricWeights = o.symmetricWeights;
    recipe.completeOverrides = o.completeOverrides.value_or(recipe.completeOverrides);
    QS_CHECK(applyPreparation(o, recipe));
    QS_CHECK(applyCorrections(o, recipe));
    if (!o.opTypes.empty())
        recipe.opTypes = commaList(o.opTypes);
    if (!o.exclude.empty())
        recipe.exclude = o.exclude;
    if (!o.include.empty())
        recipe.include = o.include;
    chosen.warnings = idleOptions(o, recipe);
    return chosen;
}

} // namespace qs::cli
