// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace qs {

/// What a number of a comparison is, in English. Tool tips and reports say it from here, and docs/metrics.md has the
/// same sentences.
struct Definition {
    std::string_view key; ///< in JSON and CSV
    std::string_view brief; ///< for the head of a column
    std::string_view text; ///< sentences, with unit and direction where they do not go without saying; {} = the formula
    std::string_view formula = {};
};
/// Its sentences with the formula in them.
std::string sentencesOf(const Definition& definition);

namespace definition {

inline constexpr Definition kAccumulated { "sqnr_db", "SQNR of the quantized model's value against the float one",
    "How far the quantized network has drifted here: {}, x from the float model, y dequantized from the quantized "
    "model, over all samples together. Higher is better.",
    "20·log10(‖x‖ / ‖x − y‖)" };
inline constexpr Definition kAdded { "local_sqnr_db", "SQNR of the float value through this quantizer alone",
    "The float model's own x passed through this tensor's quantizer alone: {}. Tells whether this scale is a good one "
    "for this tensor. Higher is better.",
    "20·log10(‖x‖ / ‖x − DQ(Q(x))‖)" };
inline constexpr Definition kNodeAlone { "node_sqnr_db", "SQNR of the quantized node alone (--node-alone)",
    "The quantized node alone, fed with the float model's inputs through its own input quantizers and weights, against "
    "the float result. Tells whether the trouble starts in this node. Higher is better." };
inline constexpr Definition kIncrease { "increase_db", "noise-to-signal here minus the largest among the inputs",
    "Noise-to-signal here minus the largest among the node's inputs (minus their sum where Mul multiplies them), each "
    "not below the tensor's ideal. An input with more than 144.5 dB, what float32 can hold, does not count: a few huge "
    "elements are its power. Tells where along the path the error grows; null for a part of an input (Split, Slice, "
    "Gather, keys and values that attention hands on). Lower is better." };
inline constexpr Definition kIdeal { "ideal_sqnr_db", "signal power over s²/12",
    "Signal power over scale²/12, the noise of uniform rounding. A reference line, not a bound. Of float8 and float4, "
    "whose steps grow with the values: what their digits allow, 32.5 dB for three (e4m3), 26.5 for two, 20.5 for one.",
    "10·log10(signal power / (scale² / 12))" };
inline constexpr Definition kNoise { "noise", "clipping, rounding, weights, kernel, inputs",
    "The squared error split by origin: clipping (values beyond the range), rounding (inside the range), weights (made "
    "here by the node's own quantized weights, estimated), kernel (made here by integer arithmetic: sums that "
    "saturate, "
    "other rounding) and inputs (it came in with them). They add up to the squared error; a part can be "
    "negative or exceed the whole where parts cancel." };
inline constexpr Definition kClipped { "clipped_fraction",
    "share of the quantized model's own elements beyond the range",
    "Share of elements, of the quantized model's own, beyond the representable range by more than half a step (of "
    "float8 and float4: at all). Lower is better." };
inline constexpr Definition kRmse { "rmse", "root of the mean squared error",
    "Root of the mean squared error, in the tensor's own unit. Lower is better." };
inline constexpr Definition kMaxError { "max_abs_error", "largest absolute error",
    "Largest absolute error, in the tensor's own unit. Lower is better." };
inline constexpr Definition kMeanError { "mean_error", "mean of quantized minus float",
    "Mean of y − x, in the tensor's own unit: a shift of the whole tensor. Closer to 0 is better." };
inline constexpr Definition kCosine { "cosine", "cosine similarity",
    "Cosine similarity of both tensors. Higher is better." };
inline constexpr Definition kRange { "range", "representable range",
    "Lowest and highest value that the codes can express." };
inline constexpr Definition kObservedRange { "observed_range", "range of the values before the quantizer",
    "Lowest and highest value that occurred before quantization." };
inline constexpr Definition kRangeRatio { "range_ratio", "largest over median absolute maximum of the channels",
    "Largest over median absolute maximum of the channels. Above about 10, one scale for all channels wastes codes." };
inline constexpr Definition kPerTensor { "per_tensor_sqnr_db", "what one scale would give, in its own type",
    "SQNR that one scale would give, in the weight's own type and bits. Higher is better." };
inline constexpr Definition kPerChannel { "per_channel_sqnr_db", "what a scale a channel would give, in its own type",
    "SQNR that scales per channel would give, in the weight's own type and bits. Higher is better." };
inline constexpr Definition kTop1 { "top1_agreement", "same largest element",
    "Share of samples, or of their positions where the output is [batch, positions, classes], with the same largest "
    "element "
    "in both models. Higher is better." };
inline constexpr Definition kTop5 { "top5_agreement", "float class among the five largest",
    "Share of samples or positions whose float class is among the quantized model's five largest. Higher is better." };
inline constexpr Definition kKl { "kl_mean", "KL divergence of the classes' probabilities",
    "Mean KL divergence of the probabilities of the classes (softmax of the output, where it is none yet), float model "
    "against quantized. 0 is equal; lower is better." };

inline constexpr Definition kTask { "agreement", "what the output's task asks for: classes, positions, masks, boxes",
    "What the task of the output asks for: the share of samples with the same class, of positions with the same class, "
    "the mean IoU of masks over their classes, or the share of both models' boxes that have a counterpart of their "
    "class. Higher is better." };
inline constexpr Definition kMatched { "matched", "boxes with a counterpart",
    "Boxes of both models that are one: pairs of one class, largest IoU first, each box once, from the IoU that is set "
    "on." };

inline constexpr std::array kAll { &kAccumulated, &kAdded, &kNodeAlone, &kIncrease, &kIdeal, &kNoise, &kClipped, &kRmse,
    &kMaxError, &kMeanError, &kCosine, &kRange, &kObservedRange, &kRangeRatio, &kPerTensor, &kPerChannel, &kTop1,
    &kTop5, &kKl, &kTask, &kMatched };

} // namespace definition

} // namespace qs
