// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/search/single_choice.h"

#include "core/analysis/rules/findings.h"
#include "core/project/arithmetic/saturating_node.h"
#include "core/project/search/remedy_verdict.h"
#include "core/quant/recipe/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace qs {

namespace {

using Changes = std::vector<Remedy>;

constexpr double kNearlyDb = 1; ///< at the output: as good as another choice
constexpr size_t kMostInFloat = 8; ///< nodes that are tried

double aloneDb(const RemedyTrials& trials, const Changes& changes)
{
    const Trial* trial = trials.known(changes);
    return trial ? trial->gainDb.value_or(-HUGE_VAL) : -HUGE_VAL;
}

/// The same for all weights, which the options of a command say; in the file's type of codes, but of 8 bits.
std::vector<Changes> ofAllWeights(const Changes& changes, const Recipe* recipe)
{
    const auto all = [&](RemedyKind kind) {
        return std::ranges::all_of(changes, [&](const Remedy& r) { return r.kind == kind; });
    };
    const Remedy channels { RemedyKind::PerChannel, {}, {}, 0, 0, 0 };
    if (all(RemedyKind::PerChannel))
        return { { channels } };
    if (!all(RemedyKind::EightBitWeight))
        return {};
    Remedy eight { RemedyKind::EightBitWeight, {}, {}, 0, 0, 0 };
    eight.type = recipe && !isSigned(recipe->weightType) ? DType::UInt8 : DType::Int8;
    eight.plainBlocks = recipe && recipe->format == RecipeFormat::WeightOnly
        && recipe->weightOnly.algorithm == WeightOnlyAlgorithm::Hqq;
    return { { eight }, { eight, channels } };
}

/// What is said of single weights is done to all where that gains about as much or more: options say it.
Result<Changes> widened(RemedyTrials& trials, const Changes& own)
{
    const std::vector<Changes> wider = ofAllWeights(own, trials.recipe());
    QS_CHECK(trials.measure(wider, wider.size()));
    Changes chosen = own;
    for (const Changes& choice : wider) {
        const double over = chosen == own ? -kNearlyDb : kNearlyDb;
        if (std::isfinite(aloneDb(trials, choice)) && aloneDb(trials, choice) > aloneDb(trials, chosen) + over)
            chosen = choice;
    }
    return chosen;
}

/// Asymmetric codes with ranges as the recipe finds them, where these gain more than all of what the data hold: a
/// calibrator may cut rare values off.
Result<Changes> asCalibrated(RemedyTrials& trials, const Changes& own)
{
    const Recipe* recipe = trials.recipe();
    const auto finds = [&](const Remedy& r) {
        return r.kind == RemedyKind::AsymmetricActivations && !recipe->tensors.contains(r.tensor);
    };
    if (!recipe || trials.inFile() || !recipe->symmetricActivations || !std::ranges::all_of(own, finds))
        return own;
    const Changes plain { { RemedyKind::AsymmetricActivations, {}, {}, 0, 0, 0 } };
    QS_CHECK(trials.measure({ plain }, 1));
    return aloneDb(trials, plain) > aloneDb(trials, own) + GainLimits::nothingDb ? plain : own;
}

/// The sums that it makes saturate on this CPU, and no other finding tells of that.
bool bringsSaturation(const RemedyTrials& trials, const Comparison& c, const Changes& changes)
{
    const auto has = [&](const auto& kinds) {
        return std::ranges::any_of(
            changes, [&](const Remedy& r) { return std::ranges::find(kinds, r.kind) != kinds.end(); });
    };
    constexpr std::array kNewCodes { RemedyKind::DynamicFormat, RemedyKind::EightBitWeight };
    constexpr std::array kOtherWeights { RemedyKind::Equalize, RemedyKind::PerChannel };
    const bool counted = c.profile == ArithmeticProfile::IntegerAvx2;
    return trials.saturates(changes) && (has(kNewCodes) || (!counted && has(kOtherWeights)));
}

/// With weights of 7 bits, where that gains more.
Result<Changes> within16Bits(RemedyTrials& trials, const Comparison& c, const Changes& own)
{
    const Recipe* recipe = trials.recipe();
    if (!recipe || recipe->reduceRange || recipe->weightType != DType::Int8 || !bringsSaturation(trials, c, own))
        return own;
    Changes reduced = own;
    reduced.push_back({ RemedyKind::ReduceRange, {}, {}, 0, 0, 0 });
    QS_CHECK(trials.measure({ reduced }, 1));
    return aloneDb(trials, reduced) > aloneDb(trials, own) + kNearlyDb ? reduced : own;
}

/// Another kernel, whose sums are exact.
Changes unsignedWeights(const Recipe& recipe)
{
    if (recipe.format == RecipeFormat::WeightOnly || recipe.weightType != DType::Int8)
        return {};
    Remedy weights { RemedyKind::EightBitWeight, {}, {}, 0, 0, 0 };
    weights.type = DType::UInt8;
    Changes changes { weights };
    if (recipe.activationType == DType::Int8)
        changes.push_back({ RemedyKind::UnsignedActivations, {}, {}, 0, 0, 0 });
    return changes;
}

const SaturationRow* sumsOf(const Comparison& c, const std::string& node)
{
    const auto row = std::ranges::find(c.saturation, node, &SaturationRow::node);
    return row == c.saturation.end() ? nullptr : &*row;
}

/// One that saturates, in float; empty where its node in the float file is not known.
Changes leftInFloat(const Comparison& c, const std::string& node)
{
    const SaturationRow* row = sumsOf(c, node);
    const std::string known = row ? floatNodeOf(c, row->quantNode) : std::string();
    return known.empty() ? Changes {} : Changes { { RemedyKind::ExcludeNode, known, {}, 0, 0, 0 } };
}

/// The smallest choice within a decibel of the best: all weights of 7 bits, weights as uint8, one node in float.
Result<Changes> keptWithin16Bits(
    RemedyTrials& trials, const Comparison& c, const Finding& finding, const Changes& own, size_t most)
{
    std::vector<Changes> choices { own };
    if (trials.recipe())
        choices.push_back(unsignedWeights(*trials.recipe()));
    const std::vector<FindingPlace> places = placesOf(finding);
    for (size_t i = 0; i < std::min({ places.size(), most, kMostInFloat }); ++i)
        choices.push_back(leftInFloat(c, places[i].node));
    std::erase_if(choices, [](const Changes& choice) { return choice.empty(); });
    QS_CHECK(trials.measure(choices, choices.size()));
    double best = -HUGE_VAL;
    for (const Changes& choice : choices)
        best = std::max(best, aloneDb(trials, choice));
    for (const Changes& choice : choices)
        if (std::isfinite(best) && aloneDb(trials, choice) >= best - kNearlyDb)
            return choice;
    return own;
}

} // namespace

Result<Changes> bestAlone(
    RemedyTrials& trials, const Comparison& comparison, const Finding& finding, const Changes& own, size_t most)
{
    if (finding.rule == Rule::SaturatingAccumulation)
        return keptWithin16Bits(trials, comparison, finding, own, most);
    QS_TRY(const Changes wide, widened(trials, own));
    QS_TRY(const Changes found, asCalibrated(trials, wide));
    return within16Bits(trials, comparison, found);
}

void putBestPlaceFirst(const RemedyTrials& trials, const Comparison& comparison, Finding& f)
{
    if (f.rule != Rule::SaturatingAccumulation || f.places.size() < 2)
        return;
    const auto gain = [&](const FindingPlace& p) { return aloneDb(trials, leftInFloat(comparison, p.node)); };
    std::ranges::stable_sort(f.places, [&](const auto& a, const auto& b) { return gain(a) > gain(b); });
    const FindingPlace& first = f.places.front();
    const SaturationRow* sums = sumsOf(comparison, first.node);
    if (first.node == f.node || !sums)
        return;
    f.node = first.node;
    f.tensor = first.tensor;
    f.activation = first.activation;
    f.weight = first.weight;
    f.evidence = first.evidence;
    f.evidence.push_back(evidence("places", double(f.places.size())));
    f.summary = fmt::format("Worst at {}: {}", f.node, saturatedPairsText(*sums, f.evidence));
}

} // namespace qs
