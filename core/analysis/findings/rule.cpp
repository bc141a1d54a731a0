// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/findings/rule.h"

#include <fmt/format.h>

#include <array>

namespace qs {

namespace {

constexpr auto kRules = std::to_array<RuleInfo>({
    { Rule::ModelsDiffer, "models_differ", Severity::Error, "The two files are not the same network",
        "With every quantizer taken out, the quantized file must compute what the float file computes. It does not, so "
        "the two files are not the same network and no other number can be trusted.",
        "Look for an operator or attribute that the exporter changed there; nothing else is to be trusted before." },
    { Rule::ValueOverflows, "value_overflows", Severity::Error, "Values of {} overflow in float16",
        "Float16 reaches no further than 65504. A larger value becomes infinite, and so does, or becomes no number at "
        "all, what is made of it. Up to there both files compute the same.",
        "Leave {} and what reads it in float32, use bfloat16, or scale the values down before it." },
    { Rule::ActivationLost, "activation_lost", Severity::Warning, "The activation behind {} is lost",
        "A quantizer takes the place of Relu or Clip where its range ends at the same bounds. Here the node was "
        "removed and the range goes beyond its bounds, so values pass that the float model cuts off.",
        "Keep the node, or clamp this range to the bounds of the activation." },
    { Rule::WeightsDiffer, "weights_differ", Severity::Warning, "{} has other weights",
        "Rounding to a grid moves a weight by at most half a step. More than 0.1 % of the elements are further away "
        "without being clipped, so these are other weights: retrained, equalized, or from another file.",
        "Compare with the float model of the same training, or read the numbers as two trained networks." },
    { Rule::WeightsTooCoarse, "weights_too_coarse", Severity::Warning, "The weights of {} are too coarse",
        "Rounding the weights to their own type makes most of the error that is made here. More bits, a scale a "
        "channel, or a scale for each block of elements would leave less.",
        "" },
    { Rule::RangeTooSmall, "range_too_small", Severity::Warning, "Clipping at the output of {}",
        "Values beyond the representable range are cut off (clipped). Here clipping makes most of the noise: the "
        "calibrated range is too narrow for these data.",
        "" },
    { Rule::RangeTooLarge, "range_too_large", Severity::Warning, "The range at the output of {} is too large",
        "The calibrated range is much wider than the data, so only few of the integer codes are used and rounding is "
        "coarser than it needs to be.",
        "" },
    { Rule::SymmetricOnSkewed, "symmetric_on_skewed", Severity::Note, "Symmetric codes for one-sided values at {}",
        "Symmetric activations spend as many codes on either side of zero. Where the values lie on one side, about "
        "half of the codes stay unused, and the step is twice as large as it could be.",
        "Quantize activations asymmetrically, unless the runtime demands symmetric ones." },
    { Rule::RangeVaries, "range_varies", Severity::Note, "",
        "One static range serves all samples. Where the samples' own ranges differ much, it fits none of them well, "
        "and parameters computed for each sample would do better, by a bit (6 dB) or more; where they hardly differ, "
        "computing them anew buys nothing.",
        "" },
    { Rule::InputMismatch, "input_mismatch", Severity::Error, "Calibration does not fit the input",
        "The data at a graph input do not fit the range that was calibrated for it. Either the preprocessing or the "
        "calibration data differ from what is fed now; everything behind suffers.",
        "Recalibrate all activations in one step with data like these, after checking the preprocessing." },
    { Rule::CalibrationSet, "calibration_set", Severity::Note, "",
        "Ranges are as good as the data that they were taken from: enough samples, all classes, the same "
        "preprocessing, and not the samples by which the result is judged. 256 to 1,024 samples are usual.",
        "" },
    { Rule::ChannelImbalance, "channel_imbalance", Severity::Note, "One scale for unequal channels in {}",
        "One scale serves all channels of a weight although their ranges differ much, so the small channels get only a "
        "few codes. Scales per channel remove this.",
        "Quantize this weight per channel." },
    { Rule::Outliers, "outliers", Severity::Warning, "Outliers at {}",
        "A few values are far larger than the rest and stretch the range, so that the bulk shares few codes. "
        "Clipping them, or a calibrator that does, often costs less than it gains.",
        "Leave {} in float, or cut the outliers off with the percentile or mse calibrator." },
    { Rule::WrongZeroPoint, "wrong_zero_point", Severity::Warning, "Quantizing and dequantizing disagree at {}",
        "Codes stand for other values than were meant: whoever reads them has another scale or zero point than "
        "whoever wrote them, or the zero point was calibrated wrongly.",
        "Give both the same scale and zero point, or quantize the float model anew." },
    { Rule::WrongBiasScale, "wrong_bias_scale", Severity::Warning, "The bias of {} is wrong",
        "A bias is added to sums of products, so its scale has to be that of the input times that of the "
        "weight. Another scale, or a bias too large for its codes, shifts every output.",
        "Store the bias in 32 bits with input scale x weight scale: quantize the float model anew." },
    { Rule::ScaleMismatchAtJoin, "scale_mismatch_at_join", Severity::Note, "Branches of {} need very different scales",
        "Branches that meet in Concat or Add share one scale. Where one is far wider than another, the narrow "
        "one keeps only a few codes.",
        "Leave {} in float, or scale its branches alike before it." },
    { Rule::ExtremeConstant, "extreme_constant", Severity::Error, "An extreme constant rules the scale of {}",
        "One constant, as the mask of attention, decides the range, and little is left for the values that "
        "matter. A mask near −3.4e38 leaves nothing; one of −10000 makes steps of 39 where scores lie within ±10, "
        "though whatever lies 12 below the others counts for nothing in Softmax.",
        "Keep extreme constants in float (the preset does), or leave this node out." },
    { Rule::BrokenScale, "broken_scale", Severity::Error, "The scale of {} is none",
        "A scale that is zero, infinite or no number stands for no values at all. Exporters write such ones where a "
        "range was never observed, or was observed on values that are not finite.",
        "Quantize it anew from the float model's values, and find out why its range was not known." },
    { Rule::MovesOtherwise, "moves_otherwise", Severity::Warning, "{} moves its elements otherwise",
        "Resize, Slice, Pad, Gather and the like only move elements, by scales, sizes or indices that have to be "
        "exact: "
        "rounded to codes they take other elements. Behind such an operator no element is further off than those "
        "before it, unless others were taken.",
        "Compare the parameters and attributes of {} with the float model's." },
    { Rule::SensitiveOperator, "sensitive_operator", Severity::Warning, "{} makes the noise grow",
        "Softmax, normalization, Sigmoid, logarithms and attention masks turn small errors of their inputs "
        "into large ones. Left in float they cost little time. Products and sums that cancel the signal and "
        "keep its noise do so, too, and Sin and Cos, which repeat. Codes of less than 8 bits may be too few for "
        "the values of any operator.",
        "Leave {} in float." },
    { Rule::SaturatingAccumulation, "saturating_accumulation", Severity::Note,
        "Sums of {} saturate on CPUs without VNNI",
        "CPUs without wide dot products add pairs of 8-bit products in 16 bits. Sums that do not fit are cut "
        "off; weights of 7 bits (reduced range) always fit. On such a CPU weights that can saturate, of "
        "nodes that compute on codes, are named under any arithmetic.",
        "Quantize the weights to 7 bits (reduce range) or to uint8, or run on a CPU with VNNI." },
    { Rule::ImplementationDiffers, "implementation_differs", Severity::Warning,
        "The runtime computes {} otherwise than the file says",
        "The same codes give other codes under integer arithmetic than the file says, by more than one step: "
        "what is seen here is not what the runtime will compute.",
        "Store this unit's weight and bias as codes, the bias with input scale x weight scale, so that the runtime has "
        "nothing to choose." },
    { Rule::RuntimeRejects, "runtime_rejects", Severity::Warning, "ONNX Runtime refuses scales of shape [1] here",
        "A runtime is known to refuse this form, whether or not the standard allows it, or to run it unfused and "
        "slowly.",
        "Store these scales and zero points as scalars." },
    { Rule::SlowForm, "slow_form", Severity::Note, "Operators on int8 activations are slow on x86",
        "This form of quantization was measured to be slower than float on x86, so nothing is gained by it "
        "there.",
        "Quantize activations to uint8, or use the Q/DQ form." },
    { Rule::RequantizationPingPong, "requantization_ping_pong", Severity::Note,
        "Values are dequantized only to be quantized again",
        "Values are quantized and dequantized without an integer operator between: that adds noise and time "
        "and buys nothing.",
        "Give both sides the same scale, or leave one pair out." },
    { Rule::SplitProduct, "split_product", Severity::Note, "The product {} is quantized before its bias is added",
        "A product and the addition of its bias are one operator, whose sums are rounded once. Apart, as MatMul and "
        "Add, "
        "the product has a quantizer of its own, which adds noise and a pass over the data.",
        "Fuse MatMul and Add into Gemm before quantizing, as ONNX Runtime's optimizer does." },
    { Rule::LeftInFloat, "left_in_float", Severity::Note, "",
        "Nodes that could be quantized and are not, with the reason of each and the share of the multiplications that "
        "they do.",
        "" },
    { Rule::AccuracyDrop, "accuracy_drop", Severity::Warning, "The quantized model is right less often",
        "With labels, the share of samples that the quantized model gets right is more than one percentage point below "
        "the float model's. Where so many samples lost and gained may be chance (exact McNemar test, 5 %), it is a "
        "note.",
        "" },
    { Rule::DataSensitive, "data_sensitive", Severity::Note, "Few samples carry the error",
        "A few samples carry most of the error. They are listed under Samples; look at what they have in "
        "common.",
        "" },
    { Rule::DataInsensitive, "data_insensitive", Severity::Note, "All samples have their share of the error",
        "All samples have about the same error: it comes from the parameters, not from single inputs.",
        "Mend the model's ranges and operators: no single samples are to blame." },
    { Rule::Inherited, "inherited", Severity::Note, "",
        "These tensors only pass on error that came in: their own quantizers are near the ideal. Nothing to do here; "
        "look at the source.",
        "Nothing to do here: look at {}." },
    { Rule::Unmatched, "unmatched", Severity::Note, "",
        "Tensors without a partner in the other file cannot be compared. Fused or renamed nodes are the usual "
        "reason.",
        "Link them by hand with a map file (--map) if they stand for the same tensors." },
});

constexpr bool inOrder()
{
    for (size_t i = 0; i < kRules.size(); ++i)
        if (kRules[i].rule != Rule(i))
            return false;
    return kRules.back().rule == Rule::Unmatched;
}
static_assert(inOrder(), "one entry a rule, in the order of the enum");

} // namespace

std::string_view severityName(Severity severity)
{
    switch (severity) {
    case Severity::Error:
        return "error";
    case Severity::Warning:
        return "warning";
    case Severity::Note:
        return "note";
    }
    return "note";
}

std::span<const RuleInfo> ruleTable() { return kRules; }

const RuleInfo& ruleInfo(Rule rule) { return kRules[static_cast<size_t>(rule)]; }

std::string ruleTitle(Rule rule, std::string_view place)
{
    return fmt::format(fmt::runtime(ruleInfo(rule).title), place);
}

std::string ruleRemedy(Rule rule, std::string_view place)
{
    return fmt::format(fmt::runtime(ruleInfo(rule).remedy), place);
}

} // namespace qs
