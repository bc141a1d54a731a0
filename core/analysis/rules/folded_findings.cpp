// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

/// Findings of one rule and one cause become one with many places.
namespace qs {

namespace {

constexpr size_t kFewestRanges = 3; ///< that are wrong for one reason rather than each for its own
constexpr std::string_view kByInput = "input"; ///< cause of ranges that were found with foreign data
constexpr std::string_view kAnyCause = "*";

/// How findings of a rule are told of together.
struct FoldRule {
    Rule rule;
    std::string_view cause;
    std::string_view title; ///< {0} = their number, {1} = title of the worst
    std::string_view remedy; ///< empty: that of the worst
    size_t fewest = 2; ///< beyond notes
    bool acrossSeverities = false; ///< places differ in degree alone
};

constexpr auto kFoldRules = std::to_array<FoldRule>({
    { Rule::ActivationLost, "", "{0} activations are lost",
        "Keep these nodes, or clamp the ranges to the bounds of the activations.", 2, true },
    { Rule::WeightsDiffer, "twice", "{0} weights are quantized twice", "" },
    { Rule::WeightsDiffer, "changed", "{0} layers have other weights", "" },
    { Rule::WeightsDiffer, "retrained", "{0} layers have other weights", "" },
    { Rule::WeightsDiffer, "unrelated", "{0} layers have weights that are not theirs", "" },
    { Rule::ChannelImbalance, "", "One scale for unequal channels in {0} weights",
        "Quantize these weights per channel.", 2, true },
    { Rule::WeightsTooCoarse, "", "The weights of {0} layers are too coarse", "", 2, true },
    { Rule::WeightsTooCoarse, "costly", "The weights of {0} layers cost most",
        "Quantize these weights to 8 bits, in smaller blocks, or leave these nodes in float." },
    { Rule::WeightsTooCoarse, "scale", "The scales of {0} weights are too large",
        "Quantize these weights anew in the same type, by the ranges of their own elements.", 2, true },
    { Rule::WeightsTooCoarse, "clipped", "The scales of {0} weights are too small",
        "Quantize these weights anew in the same type, by the ranges of their own elements.", 2, true },
    { Rule::RangeTooSmall, kByInput, "{0} more ranges are too small", "", 2, true },
    { Rule::RangeTooSmall, kAveraged, "{0} ranges are averaged over samples", "", 2, true },
    { Rule::RangeTooSmall, "", "Clipping at {0} tensors",
        "Recalibrate with data like these, or widen each range to what its data reach.", kFewestRanges },
    { Rule::RangeTooLarge, "", "{0} ranges are too large", "Narrow each range to what was observed.", kFewestRanges },
    { Rule::RangeTooSmall, kMovedScale, "The scales at {0} tensors were changed after the biases were quantized", "" },
    { Rule::RangeTooLarge, kMovedScale, "The scales at {0} tensors were changed after the biases were quantized", "" },
    { Rule::Outliers, "", "Outliers at {0} tensors",
        "Leave these nodes in float, or cut the outliers off with the percentile or mse calibrator." },
    { Rule::SymmetricOnSkewed, "", "Symmetric codes for one-sided values at {0} tensors", "" },
    { Rule::RangeVaries, "varies", "The ranges of {0} tensors differ from sample to sample", "" },
    { Rule::RangeVaries, "varies, static alone", "The ranges of {0} tensors differ from sample to sample", "" },
    { Rule::SplitProduct, "", "{0} products are quantized before their bias is added", "" },
    { Rule::SensitiveOperator, kAnyCause, "{1}, in {0} places", "Leave these nodes in float." },
    { Rule::ScaleMismatchAtJoin, kAnyCause, "{1}, {0} of them", "" },
    { Rule::ExtremeConstant, "", "Extreme constants rule the scales of {0} tensors",
        "Keep extreme constants in float (the preset does), or leave these nodes out." },
    { Rule::ExtremeConstant, "mask", "Masks take the ranges of {0} tensors",
        "Let each range end where values below count for nothing in Softmax." },
    { Rule::WrongBiasScale, "wrong", "{0} biases are wrong", "" },
    { Rule::WrongBiasScale, "other", "{0} biases have other values", "" },
    { Rule::WrongBiasScale, "without_factors", "{0} biases lack the factors of their weights",
        "Multiply each element of these biases by the factor of its channel, or quantize the float model anew." },
    { Rule::WrongBiasScale, "cut", "{0} biases are clipped", "" },
    { Rule::WrongBiasScale, "shared", "{0} biases are stored in another node's scale", "" },
    { Rule::WrongBiasScale, "own_scale", "{0} biases have scales of their own", "" },
    { Rule::WrongBiasScale, "narrow", "{0} biases are stored in fewer bits than sums have", "" },
    { Rule::SaturatingAccumulation, "", "Sums of {0} operators saturate on CPUs without VNNI", "", 2, true },
    { Rule::SaturatingAccumulation, kOfThisCpu, "Sums of {0} operators can saturate on this CPU, which has no VNNI",
        "" },
    { Rule::ImplementationDiffers, "", "The runtime computes {0} units otherwise than the file says", "" },
});

const FoldRule* foldRule(const Finding& f)
{
    const auto it = std::ranges::find_if(kFoldRules, [&](const FoldRule& rule) {
        return rule.rule == f.rule && (rule.cause == f.cause || rule.cause == kAnyCause);
    });
    return it == kFoldRules.end() ? nullptr : &*it;
}

bool together(const Finding& a, const Finding& b, const FoldRule& rule)
{
    return a.rule == b.rule && a.cause == b.cause && (rule.acrossSeverities || a.severity == b.severity);
}

/// Ranges behind an input that does not fit are off, too.
bool othersAreOff(const std::vector<Finding>& found)
{
    return std::ranges::any_of(
        found, [](const Finding& f) { return f.rule == Rule::RangeTooSmall || f.rule == Rule::RangeTooLarge; });
}

/// Behind an input that does not fit, the ranges were found with the same foreign data: one thing to mend.
void blameInput(std::vector<Finding>& found)
{
    const auto input = std::ranges::find_if(
        found, [](const Finding& f) { return f.rule == Rule::InputMismatch && f.severity != Severity::Note; });
    if (input == found.end())
        return;
    if (othersAreOff(found) && input->remedy.ends_with('.'))
        input->remedy.replace(input->remedy.size() - 1, 1, "; mending the input alone does not help.");
    const Remedy change = input->change;
    const std::string remedy = input->remedy;
    for (Finding& f : found)
        if (f.rule == Rule::RangeTooSmall && f.cause != kMovedScale && f.cause != kAveraged) {
            f.cause = kByInput;
            f.change = change;
            f.remedy = remedy;
        }
}

/// `f` tells of all of `places`, which begin with its own.
void tellOfAll(Finding& f, const FoldRule& rule, std::vector<FindingPlace> places)
{
    const std::string at = f.node.empty() ? f.tensor : f.node;
    if (!at.empty())
        f.summary = fmt::format("Worst at {}: {}", at, f.summary);
    f.title = fmt::format(fmt::runtime(rule.title), places.size(), f.title);
    if (!rule.remedy.empty())
        f.remedy = rule.remedy;
    f.evidence.push_back(evidence("places", double(places.size())));
    f.places = std::move(places);
}

} // namespace

void foldFindings(std::vector<Finding>& found)
{
    blameInput(found);
    std::vector<Finding> kept;
    std::vector<bool> told(found.size(), false);
    for (size_t i = 0; i < found.size(); ++i) {
        if (told[i])
            continue;
        const FoldRule* rule = foldRule(found[i]);
        std::vector<size_t> group;
        for (size_t k = i; rule && k < found.size(); ++k)
            if (!told[k] && together(found[i], found[k], *rule))
                group.push_back(k);
        if (rule && group.size() >= (found[i].severity == Severity::Note ? 2 : rule->fewest)) {
            std::vector<FindingPlace> places;
            for (const size_t k : group) {
                told[k] = true;
                places.push_back(placesOf(found[k]).front());
            }
            tellOfAll(found[i], *rule, std::move(places));
        }
        kept.push_back(std::move(found[i]));
    }
    found = std::move(kept);
}

} // namespace qs
