// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/recipe_options.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();
constexpr Limits kNotNegative { 0, kEndless }, kShare { 0, 1 };
constexpr Limits kBins { 1, 1 << 24 }; ///< of a histogram

bool calibrated(const Recipe& r) { return isStatic(r.format); }
bool inBlocks(const Recipe& r) { return r.format == RecipeFormat::WeightOnly; }
bool byGptq(const Recipe& r) { return inBlocks(r) && r.weightOnly.algorithm == WeightOnlyAlgorithm::Gptq; }
bool asOperator(const Recipe& r) { return inBlocks(r) && !r.weightOnly.dequantizeForm; }
bool dynamic(const Recipe& r) { return r.format == RecipeFormat::Dynamic; }
bool notInBlocks(const Recipe& r) { return !inBlocks(r); }
template <Calibrator kCalibrator> bool calibratedBy(const Recipe& r)
{
    return calibrated(r) && r.calibration.kind == kCalibrator;
}
bool makesSymmetric(const Recipe& r)
{
    return calibrated(r) && !calibratedBy<Calibrator::Entropy>(r) && !calibratedBy<Calibrator::Distribution>(r);
}
bool smoothed(const Recipe& r) { return calibrated(r) && r.smoothQuant; }
bool equalized(const Recipe& r) { return calibrated(r) && r.corrections.equalize; }

bool anyRangeBy(const Recipe& r, std::initializer_list<Calibrator> kinds)
{
    const auto among = [&](const CalibratorOptions& c) { return std::ranges::find(kinds, c.kind) != kinds.end(); };
    return among(r.calibration) || std::ranges::any_of(r.tensors, [&](const auto& entry) {
        return entry.second.calibrator && among(*entry.second.calibrator);
    });
}

std::string_view withoutRanges(const Recipe& r) { return calibrated(r) ? "" : "this format has no calibrated ranges"; }
std::string_view withoutPercentile(const Recipe& r)
{
    if (!calibrated(r))
        return withoutRanges(r);
    return anyRangeBy(r, { Calibrator::Percentile }) ? "" : "no range is found by --method percentile";
}
std::string_view withoutBins(const Recipe& r)
{
    if (!calibrated(r))
        return withoutRanges(r);
    const bool counts = anyRangeBy(r, { Calibrator::Percentile, Calibrator::Entropy, Calibrator::Distribution });
    return counts ? "" : "this method counts no histogram of so many bins";
}
std::string_view withoutActivationType(const Recipe& r)
{
    return calibrated(r) ? "" : "this format chooses the types of activations itself";
}
std::string_view withOwnScales(const Recipe& r)
{
    return inBlocks(r) ? "weights in blocks have scales of their own" : "";
}
std::string_view symmetricByType(const Recipe& r)
{
    return inBlocks(r) ? "the weight type says it (int4: symmetric)" : "";
}
std::string_view withoutSmoothing(const Recipe& r) { return r.smoothQuant ? "" : "--smooth-quant is not given"; }

std::string_view withoutPreparation(const Recipe& r)
{
    return r.preparation.enabled ? "" : "the graph is not prepared";
}

std::string_view withBlockRules(const Recipe& r)
{
    return inBlocks(r) ? "both releases make the same weights in blocks" : "";
}

constexpr std::string_view kFormWords[] { "operator", "dequantize" };
constexpr RecipeChoice kForms[] { { false, "MatMulNBits" }, { true, "DequantizeLinear" } };
constexpr RecipeChoice kAccuracyLevels[] { { int64_t(0), "unset" }, { int64_t(1), "1: float32" },
    { int64_t(2), "2: float16" }, { int64_t(3), "3: bfloat16" }, { int64_t(4), "4: int8" } };

constexpr RecipeChoice kFormats[] { { "qdq", "Q/DQ" }, { "qoperator", "QOperator" }, { "dynamic", "dynamic" },
    { "weight-only", "weights only" } };
constexpr RecipeChoice kMethods[] { { "minmax", "min-max" }, { "moving-average", "moving average" },
    { "percentile", "percentile" }, { "entropy", "entropy" }, { "mse", "MSE" },
    { "distribution", "distribution (float8)" } };
constexpr RecipeChoice kOrtReleases[] { { "1.31", "1.31" }, { "1.32", "1.32" } };
constexpr RecipeChoice kActivationTypes[] { { "int8", "int8" }, { "uint8", "uint8" }, { "int16", "int16" },
    { "uint16", "uint16" }, { "float8e4m3fn", "float8e4m3fn" } };
constexpr RecipeChoice kWeightTypes[] { { "int8", "int8" }, { "uint8", "uint8" }, { "int4", "int4" },
    { "uint4", "uint4" }, { "int16", "int16" }, { "float8e4m3fn", "float8e4m3fn" } };
constexpr RecipeChoice kGranularities[] { { false, "per tensor" }, { true, "per channel" } };
constexpr RecipeChoice kAlgorithms[] { { "default", "default" }, { "rtn", "round to nearest" }, { "hqq", "HQQ" },
    { "gptq", "GPTQ" }, { "k-quant", "k-quant" } };
constexpr RecipeChoice kBlockSizes[] { { int64_t(16), "16" }, { int64_t(32), "32" }, { int64_t(64), "64" },
    { int64_t(128), "128" }, { int64_t(256), "256" } };

constexpr RecipeOption kTable[] {
    { .path = "format",
        .value = setting<&Recipe::format>(),
        .step = RecipeStep::Observation,
        .flag = { .name = "format", .help = "qdq, qoperator, dynamic or weight-only", .place = 1 },
        .line = { .title = "Format",
            .toolTip = "Q/DQ pairs around float operators, operators on codes, dynamic ranges, or weights alone in "
                       "blocks",
            .place = 1,
            .choices = kFormats } },
    { .path = "activation_type",
        .value = setting<&Recipe::activationType>(),
        .step = RecipeStep::RangesAndGraph, // the least squared error depends on it
        .flag = { .name = "activation-type",
            .help = "int8, uint8, int16 or uint16; float8e4m3fn together with such weights",
            .place = 9,
            .idle = withoutActivationType },
        .line = { .title = "Activations",
            .toolTip = "Type of the codes of activations",
            .place = 7,
            .choices = kActivationTypes,
            .shown = calibrated } },
    { .path = "weight_type",
        .value = setting<&Recipe::weightType>(),
        .flag = { .name = "weight-type",
            .help = "int8, uint8, int16, uint16, int4 or uint4; weight-only: int2 or uint2, too",
            .place = 10 },
        .line
        = { .title = "Weights", .toolTip = "Type of the codes of weights", .place = 9, .choices = kWeightTypes } },
    { .path = "per_channel",
        .value = setting<&Recipe::perChannel>(),
        .flag
        = { .name = "per-channel", .help = "scales for each channel of a weight", .place = 11, .idle = withOwnScales },
        .line = { .title = "Weights: granularity",
            .toolTip = "One scale for a whole weight, or one for each output channel",
            .place = 11,
            .choices = kGranularities,
            .shown = notInBlocks } },
    { .path = "reduce_range",
        .value = setting<&Recipe::reduceRange>(),
        .flag = { .name = "reduce-range", .help = "one bit less for weights", .place = 12, .idle = withOwnScales },
        .line = { .title = "Weights: reduce range",
            .toolTip = "Weights take 7 bits, so that pairs of products fit 16 bits on CPUs without VNNI",
            .place = 12,
            .shown = notInBlocks } },
    { .path = "op_types",
        .value = setting<&Recipe::opTypes>(),
        .step = RecipeStep::Observation,
        .flag = { .name = "op-types", .help = "operator types to quantize, by comma", .place = 1, .byComma = true } },
    { .path = "include",
        .value = setting<&Recipe::include>(),
        .flag = { .name = "include", .help = "only these nodes are quantized", .place = 3 } },
    { .path = "exclude",
        .value = setting<&Recipe::exclude>(),
        .flag
        = { .name = "exclude", .help = "nodes that stay float: names, globs or re:REGEX, by comma", .place = 2 } },

    { .path = "calibration.method",
        .value = setting<&Recipe::calibration, &CalibratorOptions::kind>(),
        .step = RecipeStep::Ranges,
        .flag = { .name = "method",
            .help = "how ranges are chosen: minmax, moving-average, percentile, entropy or mse; distribution for "
                    "float8e4m3fn",
            .place = 6,
            .idle = withoutRanges },
        .line = { .title = "Calibrator",
            .toolTip = "How ranges of activations are chosen from what they were seen to hold",
            .place = 2,
            .choices = kMethods,
            .shown = calibrated } },
    { .path = "calibration.symmetric",
        .value = setting<&Recipe::calibration, &CalibratorOptions::symmetric>(),
        .step = RecipeStep::Ranges,
        .line = { .title = "Calibrator: symmetric",
            .toolTip = "The calibrator makes ranges symmetric around zero; default: percentile alone does",
            .place = 6,
            .shown = makesSymmetric } },
    { .path = "calibration.percentile",
        .value = setting<&Recipe::calibration, &CalibratorOptions::percentile>(),
        .step = RecipeStep::Ranges,
        .limits = Limits { std::numeric_limits<double>::min(), 100 }, // 0 would leave no range
        .flag = { .name = "percentile",
            .help = "share of the values that a range holds, in percent",
            .place = 7,
            .remedy = "give a number such as 99.99",
            .idle = withoutPercentile },
        .line = { .title = "Calibrator: percentile, %",
            .toolTip = "Share of the values that the range holds",
            .place = 3,
            .limits = { 50, 100 },
            .decimals = 4,
            .shown = calibratedBy<Calibrator::Percentile> } },
    { .path = "calibration.bins",
        .value = setting<&Recipe::calibration, &CalibratorOptions::bins>(),
        .step = RecipeStep::Ranges,
        .limits = kBins,
        .flag = { .name = "bins",
            .help = "bins of the histograms",
            .place = 8,
            .remedy = "leave it out for the method's own number",
            .most = static_cast<int64_t>(kBins.most),
            .idle = withoutBins } },
    { .path = "calibration.quantized_bins",
        .value = setting<&Recipe::calibration, &CalibratorOptions::quantizedBins>(),
        .step = RecipeStep::Ranges,
        .limits = kBins,
        .line = { .title = "Calibrator: quantized bins",
            .toolTip = "Steps that the entropy search quantizes its histogram to",
            .place = 5,
            .limits = { 2, 2048 },
            .shown = calibratedBy<Calibrator::Entropy> } },
    { .path = "calibration.averaging_constant",
        .value = setting<&Recipe::calibration, &CalibratorOptions::averagingConstant>(),
        .step = RecipeStep::Ranges,
        .limits = kShare,
        .line = { .title = "Calibrator: averaging",
            .toolTip = "Weight of the newest chunk in the moving average",
            .place = 4,
            .limits = kShare,
            .decimals = 3,
            .shown = calibratedBy<Calibrator::MovingAverage> } },
    { .path = "calibration.stride",
        .value = setting<&Recipe::calibration, &CalibratorOptions::stride>(),
        .step = RecipeStep::Ranges },
    { .path = "calibration.max_intermediate_outputs",
        .value = setting<&Recipe::calibration, &CalibratorOptions::maxIntermediateOutputs>(),
        .step = RecipeStep::Ranges },
    { .path = "calibration.cube_root",
        .value = setting<&Recipe::calibration, &CalibratorOptions::cubeRoot>(),
        .step = RecipeStep::Ranges },
    { .path = "calibration.mse_levels",
        .value = setting<&Recipe::calibration, &CalibratorOptions::mseLevels>(),
        .step = RecipeStep::Ranges,
        .limits = kBins },

    { .path = "symmetric_activations",
        .value = setting<&Recipe::symmetricActivations>(),
        .ort = { "ActivationSymmetric" },
        .flag = { .name = "symmetric-activations",
            .help = "ranges of activations symmetric about zero",
            .place = 13,
            .idle = withoutRanges },
        .line = { .title = "Activations: symmetric",
            .toolTip = "Zero points of activations stand in the middle of the codes",
            .place = 8,
            .shown = calibrated } },
    { .path = "restricted_asymmetric",
        .value = setting<&Recipe::restrictedAsymmetric>(),
        .ort = { "ActivationRestrictedAsymmetric" } },
    { .path = "symmetric_weights",
        .value = setting<&Recipe::symmetricWeights>(),
        .ort = { "WeightSymmetric" },
        .flag = { .name = "symmetric-weights",
            .help = "ranges of weights symmetric about zero",
            .place = 14,
            .idle = symmetricByType },
        .line = { .title = "Weights: symmetric",
            .toolTip = "Default: signed types are",
            .place = 10,
            .shown = notInBlocks } },
    { .path = "minimum_range",
        .value = setting<&Recipe::minimumRange>(),
        .limits = kNotNegative,
        .ort = { "MinimumRealRange" } },
    { .path = "quantize_unquantized_inputs",
        .value = setting<&Recipe::quantizeUnquantizedInputs>(),
        .ort = { "ForceQuantizeNoInputCheck" } },
    { .path = "matmul_constant_only", .value = setting<&Recipe::matmulConstantOnly>(), .ort = { "MatMulConstBOnly" } },
    { .path = "pairs_for_weights", .value = setting<&Recipe::pairsForWeights>(), .ort = { "AddQDQPairToWeight" } },
    { .path = "dedicated_pairs", .value = setting<&Recipe::dedicatedPairs>(), .ort = { "DedicatedQDQPair" } },
    { .path = "quantize_bias", .value = setting<&Recipe::quantizeBias>(), .ort = { "QuantizeBias" } },
    { .path = "keep_removable", .value = setting<&Recipe::keepRemovable>(), .ort = { "QDQKeepRemovableActivations" } },
    { .path = "adjust_weights_for_bias",
        .value = setting<&Recipe::adjustWeightsForBias>(),
        .ort = { .key = "QDQDisableWeightAdjustForInt32Bias", .inverted = true } },
    { .path = "contrib_operators", .value = setting<&Recipe::contribOperators>(), .ort = { "UseQDQContribOps" } },
    { .path = "subgraphs",
        .value = setting<&Recipe::subgraphs>(),
        .ort = { "EnableSubgraph" },
        .flag = { .name = "enable-subgraph",
            .help = "dynamic: quantize the nodes in the bodies of If, Loop and Scan, too",
            .place = 27 },
        .line = { .title = "Bodies of If, Loop, Scan",
            .toolTip = "The nodes in them are quantized, too; the dynamic format alone can do that",
            .place = 28,
            .shown = dynamic } },
    { .path = "sigmoid_nnapi", .value = setting<&Recipe::sigmoidNnapi>(), .ort = { "extra.Sigmoid.nnapi" } },
    { .path = "block_size", .value = setting<&Recipe::blockSize>(), .limits = kNotNegative, .ort = { "BlockSize" } },
    { .path = "no_output_types",
        .value = setting<&Recipe::noOutputTypes>(),
        .ort = { "OpTypesToExcludeOutputQuantization" } },
    { .path = "per_channel_axis",
        .value = setting<&Recipe::perChannelAxis>(),
        .ort = { "QDQOpTypePerChannelSupportToAxis" } },
    { .path = "tensors", .step = RecipeStep::RangesAndGraph, .ort = { "TensorQuantOverrides" } },
    { .path = "placement.nodes", .value = setting<&Recipe::placement, &FilePlacement::nodes>() },
    { .path = "placement.tensors", .value = setting<&Recipe::placement, &FilePlacement::tensors>() },
    { .path = "codes.file", .value = setting<&Recipe::codes, &FileCodes::file>() },
    { .path = "codes.constants" },
    { .path = "complete_overrides",
        .value = setting<&Recipe::completeOverrides>(),
        .flag = { .name = "complete-overrides",
            .help = "qdq: give the nodes around a tensor that a recipe overrides its type, too, and convert at the "
                    "borders",
            .place = 24 } },

    { .path = "smooth_quant",
        .value = setting<&Recipe::smoothQuant>(),
        .step = RecipeStep::Observation,
        .flag = { .name = "smooth-quant",
            .help = "move outliers of activations into weights first (SmoothQuant)",
            .place = 19 },
        .line = { .title = "SmoothQuant",
            .toolTip = "Moves scale from activations to weights, per channel",
            .place = 21,
            .shown = calibrated } },
    { .path = "smooth_quant_alpha",
        .value = setting<&Recipe::smoothQuantAlpha>(),
        .step = RecipeStep::Observation,
        .limits = kShare,
        .flag = { .name = "smooth-quant-alpha",
            .help = "share of them that is moved, from 0 to 1",
            .place = 20,
            .remedy = "give a number such as 0.5",
            .idle = withoutSmoothing },
        .line = { .title = "SmoothQuant: alpha",
            .toolTip = "How much of it is moved: 0 nothing, 1 all",
            .place = 22,
            .limits = kShare,
            .decimals = 2,
            .shown = smoothed } },
    { .path = "smooth_quant_folding",
        .value = setting<&Recipe::smoothQuantFolding>(),
        .step = RecipeStep::Observation,
        .flag = { .name = "smooth-quant-folding",
            .help = "without new nodes where earlier constants take the factors",
            .place = 21,
            .idle = withoutSmoothing } },
    { .path = "corrections.equalize",
        .value = setting<&Recipe::corrections, &CorrectionOptions::equalize>(),
        .step = RecipeStep::Observation,
        .flag = { .name = "equalize", .help = "equalize the ranges of weights across layers first", .place = 17 },
        .line = { .title = "Equalize layers",
            .toolTip = "Evens out the ranges of channels between neighbouring layers",
            .place = 23,
            .shown = calibrated } },
    { .path = "corrections.equalize_clips",
        .value = setting<&Recipe::corrections, &CorrectionOptions::equalizeClips>(),
        .step = RecipeStep::Observation,
        .flag = { .name = "equalize-clips",
            .help = "with --equalize: a Clip from 0 on (Relu6) that stands between two layers becomes a Relu",
            .place = 18 },
        .line = { .title = "Equalize: Clip as Relu",
            .toolTip = "A Clip from 0 on (Relu6) between two layers becomes a Relu, so that they can be equalized",
            .place = 24,
            .shown = equalized } },
    { .path = "corrections.adaround",
        .value = setting<&Recipe::corrections, &CorrectionOptions::adaround>(),
        .flag = { .name = "adaround",
            .help = "round weights up or down by what it does to their layer's outputs",
            .place = 22 },
        .line = { .title = "Round by outputs",
            .toolTip = "Weights are rounded up or down by what it does to the outputs of their layer",
            .place = 25,
            .shown = calibrated } },
    { .path = "corrections.bias",
        .value = setting<&Recipe::corrections, &CorrectionOptions::biasCorrection>(),
        .flag = { .name = "bias-correction",
            .help = "take out of biases what quantization adds to the mean of outputs",
            .place = 23 },
        .line = { .title = "Correct biases",
            .toolTip = "Takes the mean error that quantization makes out of the biases",
            .place = 26,
            .shown = calibrated } },

    { .path = "weight_only.block_size",
        .value = setting<&Recipe::weightOnly, &WeightOnlyOptions::blockSize>(),
        .line = { .title = "Block size",
            .toolTip = "Elements that share a scale",
            .place = 14,
            .choices = kBlockSizes,
            .shown = inBlocks } },
    { .path = "weight_only.algorithm",
        .value = setting<&Recipe::weightOnly, &WeightOnlyOptions::algorithm>(),
        .flag
        = { .name = "algorithm", .help = "weight-only: default, rtn, hqq, gptq (needs --data) or k-quant", .place = 3 },
        .line = { .title = "Algorithm",
            .toolTip = "How the codes of a block are found",
            .place = 13,
            .choices = kAlgorithms,
            .shown = inBlocks } },
    { .path = "weight_only.dequantize_form",
        .value = setting<&Recipe::weightOnly, &WeightOnlyOptions::dequantizeForm>(),
        .flag = { .name = "form",
            .help = "weight-only: operator (MatMulNBits) or dequantize (DequantizeLinear)",
            .place = 2,
            .words = kFormWords },
        .line = { .title = "Form",
            .toolTip = "An operator on blocks of codes (MatMulNBits), or DequantizeLinear before the float operator",
            .place = 17,
            .choices = kForms,
            .shown = inBlocks } },
    { .path = "weight_only.channel_wise",
        .value = setting<&Recipe::weightOnly, &WeightOnlyOptions::channelWise>(),
        .flag
        = { .name = "channel-wise", .help = "weight-only with --form dequantize: one block a column", .place = 15 } },
    { .path = "weight_only.accuracy_level",
        .value = setting<&Recipe::weightOnly, &WeightOnlyOptions::accuracyLevel>(),
        .limits = Limits { 0, 4 },
        .flag = { .name = "accuracy-level",
            .help = "weight-only: attribute of MatMulNBits, 1 to 4",
            .place = 4,
            .remedy = "use 1 (float32), 2 (float16), 3 (bfloat16), 4 (int8) or 0 (unset)" },
        .line = { .title = "Accuracy level",
            .toolTip = "How MatMulNBits may compute: with int8 activations is fast and rounds them, too",
            .place = 18,
            .choices = kAccuracyLevels,
            .shown = asOperator } },
    { .path = "weight_only.table_axis",
        .value = setting<&Recipe::weightOnly, &WeightOnlyOptions::tableAxis>(),
        .flag = { .name = "quantize-axis",
            .help = "weight-only with --op-types Gather: axis of the blocks in a table (1 if not given)",
            .place = 5 } },
    { .path = "weight_only.clip_ratios", .value = setting<&Recipe::weightOnly, &WeightOnlyOptions::clipRatios>() },
    { .path = "weight_only.gptq.damping",
        .value = setting<&Recipe::weightOnly, &WeightOnlyOptions::gptq, &GptqOptions::damping>(),
        .limits = kNotNegative,
        .ort = { "percdamp" } },
    { .path = "weight_only.gptq.reorder",
        .value = setting<&Recipe::weightOnly, &WeightOnlyOptions::gptq, &GptqOptions::reorder>(),
        .ort = { "actorder" },
        .line = { .title = "GPTQ: reorder rows",
            .toolTip = "Rows of large activations are rounded first (actorder)",
            .place = 16,
            .shown = byGptq } },
    { .path = "weight_only.gptq.search_scale",
        .value = setting<&Recipe::weightOnly, &WeightOnlyOptions::gptq, &GptqOptions::searchScale>(),
        .ort = { "mse" } },
    { .path = "weight_only.gptq.per_channel",
        .value = setting<&Recipe::weightOnly, &WeightOnlyOptions::gptq, &GptqOptions::perChannel>(),
        .ort = { "perchannel" } },
    { .path = "weight_only.gptq.spread_errors",
        .value = setting<&Recipe::weightOnly, &WeightOnlyOptions::gptq, &GptqOptions::spreadErrors>(),
        .line = { .title = "GPTQ: spread errors",
            .toolTip = "What rounding one row leaves is made up for by the rows after it, as GPTQ's authors mean it. "
                       "Off: as ONNX Runtime's code computes it",
            .place = 15,
            .shown = byGptq } },
    { .path = "weight_only.nodes" },

    { .path = "fixed_inputs",
        .value = setting<&Recipe::preparation, &GraphPreparation::fixedInputs>(),
        .step = RecipeStep::Observation,
        .flag = { .name = "fix-input",
            .help = "NAME=VALUE: the input always has this value, so that an If that depends on it is folded",
            .place = 25,
            .idle = withoutPreparation } },
    { .path = "fixed_shapes",
        .value = setting<&Recipe::preparation, &GraphPreparation::fixedShapes>(),
        .step = RecipeStep::Observation,
        .flag = { .name = "fix-shape",
            .help = "NAME=2x3x4: the input always has these sizes",
            .place = 26,
            .idle = withoutPreparation } },
    { .path = "preparation.enabled",
        .value = setting<&Recipe::preparation, &GraphPreparation::enabled>(),
        .step = RecipeStep::Observation,
        .flag = { .name = "preprocess-graph", .help = "fold constants and BatchNormalization first", .place = 16 },
        .line = { .title = "Prepare the graph",
            .toolTip = "Constants and BatchNormalization are folded before anything is quantized",
            .place = 19,
            .section = "Before and after",
            .sectionShown = notInBlocks } },
    { .path = "preparation.fold_branches",
        .value = setting<&Recipe::preparation, &GraphPreparation::foldBranches>(),
        .step = RecipeStep::Observation },
    { .path = "preparation.fold_constants",
        .value = setting<&Recipe::preparation, &GraphPreparation::foldConstants>(),
        .step = RecipeStep::Observation },
    { .path = "preparation.remove_unused",
        .value = setting<&Recipe::preparation, &GraphPreparation::removeUnused>(),
        .step = RecipeStep::Observation },
    { .path = "preparation.fold_batch_norm",
        .value = setting<&Recipe::preparation, &GraphPreparation::foldBatchNorm>(),
        .step = RecipeStep::Observation },
    { .path = "preparation.fuse_layer_norm",
        .value = setting<&Recipe::preparation, &GraphPreparation::fuseLayerNorm>(),
        .step = RecipeStep::Observation },
    { .path = "preparation.fuse_gelu",
        .value = setting<&Recipe::preparation, &GraphPreparation::fuseGelu>(),
        .step = RecipeStep::Observation },
    { .path = "preparation.fuse_attention",
        .value = setting<&Recipe::preparation, &GraphPreparation::fuseAttention>(),
        .step = RecipeStep::Observation },
    { .path = "preparation.fuse_skip_layer_norm",
        .value = setting<&Recipe::preparation, &GraphPreparation::fuseSkipLayerNorm>(),
        .step = RecipeStep::Observation },
    { .path = "preparation.fuse_gemm",
        .value = setting<&Recipe::preparation, &GraphPreparation::fuseGemm>(),
        .step = RecipeStep::Observation },
    { .path = "preparation.keep_attention",
        .value = setting<&Recipe::preparation, &GraphPreparation::keepAttention>(),
        .step = RecipeStep::Observation },
    { .path = "preparation.infer_shapes",
        .value = setting<&Recipe::preparation, &GraphPreparation::inferShapes>(),
        .step = RecipeStep::Observation },
    { .path = "keep_extreme_constants",
        .value = setting<&Recipe::keepExtremeConstants>(),
        .step = RecipeStep::RangesAndGraph,
        .flag = { .name = "keep-extreme-constants",
            .help = "tensors with values beyond any useful scale (-3.4e38 in attention masks) stay float (the preset "
                    "does so)",
            .place = 29,
            .idle = withOwnScales },
        .line = { .title = "Extremes float",
            .toolTip = "Constants beyond any useful scale (−3.4e38 in attention masks) are not quantized",
            .place = 20,
            .shown = notInBlocks } },
    { .path = "exact_activations",
        .value = setting<&Recipe::exactActivations>(),
        .flag = { .name = "exact-activations",
            .help = "Relu and Clip are left out only where the range cuts as they do (the preset does so)",
            .place = 25,
            .idle = withoutRanges },
        .line = { .title = "Relu and Clip",
            .toolTip = "They are left out only where the range does their work; otherwise the node stays. ONNX "
                       "Runtime's tools leave them out without looking",
            .place = 27,
            .shown = calibrated } },
    { .path = "ort_version",
        .value = setting<&Recipe::ortVersion>(),
        .flag = { .name = "ort-version",
            .help = "1.31 or 1.32: release of ONNX Runtime whose quantization tools are followed; they differ for "
                    "float16 and for Gemm in the dynamic format (the preset: 1.32)",
            .place = 28,
            .idle = withBlockRules },
        .line = { .title = "As ONNX Runtime",
            .toolTip
            = "Release of ONNX Runtime whose quantization tools are followed to the bit. They differ for small "
              "scales and biases of float16, and for Gemm in the dynamic format",
            .place = 30,
            .choices = kOrtReleases,
            .shown = notInBlocks } },
};

} // namespace

std::span<const RecipeOption> recipeOptions() { return kTable; }

} // namespace qs
