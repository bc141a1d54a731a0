// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/masked_values.h"
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rules/findings.h"
#include "core/base/text/share_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace qs {

namespace {

/// Below this the tensor's own quantizer alone spoils it (noise power above 6 % of the signal).
constexpr double kSpoiledDb = 12;
/// Below this (noise power 1 % of the signal) it is worth a warning.
constexpr double kPoorDb = 20;
/// What rounding may seem to do beyond half a step, by sums in floats.
constexpr double kBeyondRounding = 1.2;
/// An eighth of a range: other data, or another unit.
constexpr double kForeignDb = 18;
/// Above this nobody minds a few values that are cut.
constexpr double kFineDb = 40;
/// Where so many ranges are so many times as wide as the data, and the input's too, they were found with other data.
constexpr double kForeignExcess = 3, kMany = 1.0 / 3;
/// A range this share of the data's width only has to move, by this share of its codes at least.
constexpr double kWideEnough = 0.95, kShiftedShare = 0.125;

/// So much at an output that is not fine is worth a warning wherever it is lost; from ranges of twice the data's width
/// on.
constexpr double kVisibleLossDb = 3, kTwiceDb = 5.5, kProvenLossDb = 0.5; // an error costs the output something
/// Share of the noise at a tensor from which on one source of it counts.
constexpr double kCountingShare = 0.1;

/// What ranges cost at the worst output, by how noise is passed on: nothing is asked of the graph where that is fine.
class OutputCost {
public:
    OutputCost(const ComparePair& pair, const Comparison& c)
    {
        const OutputRow* worst = worstOutput(c.outputs);
        if (worst && worst->similarity.sqnrDb && !(*worst->similarity.sqnrDb > kFineDb))
            m_shares = outputShares(pair, c);
    }
    /// The row's own noise would be `gainDb` less.
    bool isVisible(size_t row, double gainDb, double least = kVisibleLossDb) const
    {
        if (m_shares.empty())
            return false;
        const double less = m_shares[row] * (1 - std::pow(10.0, -std::max(gainDb, 0.0) / 10));
        return 0.0 - 10 * std::log10(1 - std::min(less, kAlmostAll)) >= least;
    }
    void tell(size_t row, Finding& f) const
    {
        f.summary
            += fmt::format(" By how noise is passed on, it makes about {:.0f} % of the noise at the worst output.",
                100 * m_shares[row]);
        f.evidence.push_back(evidence("output_share", m_shares[row]));
    }

private:
    static constexpr double kAlmostAll = 1 - 1e-9;
    std::vector<double> m_shares; ///< by row; empty: the output is fine
};

Severity clippingSeverity(const ActivationRow& row)
{
    if (*row.localSqnrDb < kSpoiledDb)
        return Severity::Error;
    return *row.localSqnrDb < kPoorDb ? Severity::Warning : Severity::Note;
}

/// As many codes on either side of zero.
bool aroundZero(const QuantParams& params)
{
    const int64_t middle = middleCode(params);
    return params.zeroPoint.size() == 1 && (params.zeroPoint[0] == middle || params.zeroPoint[0] == middle - 1);
}

/// Whether most activations of a type have symmetric ranges, as the file was made so: they are cut, not moved.
class Symmetry {
public:
    explicit Symmetry(const Comparison& c)
    {
        for (size_t i = 0; i < c.activations.size(); ++i)
            if (firstOfQuantizer(c, i)) {
                auto& [alike, symmetric] = m_counts[c.activations[i].params.dtype];
                ++alike;
                symmetric += aroundZero(c.activations[i].params);
            }
    }
    /// Of the others, beside this one, the first row of its quantizer.
    bool madeSymmetric(const ActivationRow& row) const
    {
        const bool own = aroundZero(row.params);
        const auto [alike, symmetric] = m_counts.at(row.params.dtype);
        return own && (alike == 1 || 2 * (symmetric - 1) > alike - 1);
    }

private:
    std::map<DType, std::pair<size_t, size_t>> m_counts; ///< quantizers of a type, and those with a symmetric range
};

/// The zero point that would hold the data.
double fittingZeroPoint(const ActivationRow& row)
{
    const double low = std::min(row.floatRange->first, 0.0);
    return double(row.params.codes().low) - std::round(low / double(row.params.scale[0]));
}

/// The values that a typical sample holds are cut, where the zero point that would hold all of them lies: a few that
/// calibration did not see are no shift. Of a single sample nothing tells that.
bool cutsTypicalSamples(const ActivationRow& row)
{
    if (!row.meanEnds)
        return true;
    const double step = row.params.scale[0];
    return fittingZeroPoint(row) > row.params.zero(0)
        ? std::max(row.meanEnds->low, row.floatRange->first) < row.range->first - step
        : std::min(row.meanEnds->high, row.floatRange->second) > row.range->second + step;
}

/// The width would do, but it lies in the wrong place, by more than what a calibrator cuts off.
bool isShifted(const Symmetry& symmetry, const ActivationRow& row)
{
    if (row.params.scale.size() != 1 || !isInteger(row.params.dtype) || symmetry.madeSymmetric(row))
        return false;
    const double used = widthWithZero(*row.floatRange);
    const double codes = double(row.params.codes().high) - double(row.params.codes().low);
    return row.range->second - row.range->first >= kWideEnough * used
        && std::abs(fittingZeroPoint(row) - row.params.zero(0)) >= kShiftedShare * codes;
}

constexpr size_t kMostAsked = 64; ///< tensors with a scale, of which it is asked whether they share it

bool hasScaleOf(const ActivationRow& own, const ActivationRow& other)
{
    return other.params.dtype == own.params.dtype && other.params.scale == own.params.scale
        && other.params.zeroPoint == own.params.zeroPoint && other.quantizer != own.quantizer && hasOwnRange(other);
}

/// A tensor that has the same scale and zero point, as tools give both one, and needs the end that this one does not
/// use; null where there is none.
const ActivationRow* usesOtherEnd(const ComparePair& pair, const Comparison& c, size_t index)
{
    const ActivationRow& row = c.activations[index];
    const bool high = fittingZeroPoint(row) > row.params.zero(0);
    const auto unused = [&](const ActivationRow& r) {
        return high ? row.range->second - r.floatRange->second : r.floatRange->first - row.range->first;
    };
    size_t asked = 0;
    for (const ActivationRow& other : c.activations)
        if (hasScaleOf(row, other) && unused(other) < unused(row) / 2 && asked++ < kMostAsked
            && mayShareScale(pair, row.floatValue, other.floatValue))
            return &other;
    return nullptr;
}

/// What a range has to hold: of the data no more than a Relu or Clip behind lets pass, and no mask before a Softmax.
std::pair<double, double> neededRange(const ActivationRow& row)
{
    std::pair<double, double> ends { std::min(row.floatRange->first, 0.0), std::max(row.floatRange->second, 0.0) };
    if (row.boundsBehind) {
        ends.first = std::min(std::max(ends.first, row.boundsBehind->first), 0.0);
        ends.second = std::max(std::min(ends.second, row.boundsBehind->second), 0.0);
    }
    if (row.lowestUnmasked)
        ends.first = std::max(ends.first, std::min(*row.lowestUnmasked - kMaskedDistance, 0.0));
    return ends;
}

/// Relative distance of neighbouring numbers of a type.
double spacing(DType type) { return type == DType::Float16 ? 0x1p-10 : type == DType::BFloat16 ? 0x1p-7 : 0x1p-23; }

Remedy rangeRemedy(const ActivationRow& row)
{
    const auto [low, high] = neededRange(row);
    return { RemedyKind::SetRange, row.node, row.name, low, high, 0 };
}

/// It only cuts what a Relu or Clip cuts behind it, or what counts for nothing in a Softmax.
bool cutsForNext(const ActivationRow& row)
{
    if ((!row.boundsBehind && !row.lowestUnmasked) || !row.range)
        return false;
    const double step = row.params.scale.empty() ? 0 : double(row.params.scale.front());
    const auto [low, high] = neededRange(row);
    return row.range->first <= low + step && row.range->second >= high - step;
}

/// The gain that may be expected at the tensor, and why that is less than its quantizer gains.
void expectAtTensor(const ActivationRow& row, double gainDb, Finding& f)
{
    constexpr double kNothing = 0.05;
    const double here = std::max(gainAtTensor(row, gainDb), 0.0);
    f.expectedGainDb = here;
    const Number own = ownPartOfNoise(row);
    if (own && *own < 0.5 && gainDb > 0)
        f.summary += fmt::format(" But {} of the noise here was there before this quantizer: alone it gains {} here.",
            percentText(1 - *own), here < kNothing ? std::string("nothing") : fmt::format("{:.1f} dB", here));
}

void addShift(const ActivationRow& row, Finding& f)
{
    const double zero = row.params.zero(0), needed = fittingZeroPoint(row);
    f.rule = Rule::WrongZeroPoint;
    f.title = fmt::format("The zero point at {} is shifted", row.node.empty() ? "the input" : row.node);
    f.summary += fmt::format(
        " The range is wide enough, but its zero point is {} where {} would hold the data.", zero, needed);
    f.evidence.insert(f.evidence.end(), { evidence("zero_point", zero), evidence("fitting_zero_point", needed) });
}

} // namespace

std::string percentText(double fraction) { return shareText(fraction); }

namespace {

void addRangeEvidence(const ActivationRow& row, Finding& f)
{
    if (row.clippedFraction)
        f.evidence.push_back(evidence("clipped_fraction", *row.clippedFraction));
    if (row.floatClippedFraction)
        f.evidence.push_back(evidence("float_clipped_fraction", *row.floatClippedFraction));
    f.evidence.push_back(evidence("range_low", row.range->first));
    f.evidence.push_back(evidence("range_high", row.range->second));
    f.evidence.push_back(evidence("data_low", row.floatRange->first));
    f.evidence.push_back(evidence("data_high", row.floatRange->second));
    f.evidence.push_back(evidence("local_sqnr_db", *row.localSqnrDb, "dB"));
    f.evidence.push_back(evidence("ideal_sqnr_db", *row.idealSqnrDb, "dB"));
}

/// `behind`: as the activation behind it sees the row.
std::string clippingSummary(const ActivationRow& row, bool behind)
{
    // Behind a damaged input the quantized model's own values may stay inside a range that the float model's exceed.
    const std::string ofFloat = percentText(row.floatClippedFraction.value_or(0));
    const std::string ofOwn = percentText(row.clippedFraction.value_or(0));
    const std::string share = ofFloat == ofOwn
        ? fmt::format("{} of the values are clipped.", ofFloat)
        : fmt::format("{} of the float model's values lie beyond the range; of the quantized model's own, {} are "
                      "clipped.",
            ofFloat, ofOwn);
    return fmt::format("{}{} The range is {:.4g} … {:.4g}, the float data reach {:.4g} … {:.4g}. "
                       "This quantizer alone leaves {:.1f} dB where its {} allows {:.1f} dB.",
        behind ? "Of what the activation behind it lets pass: " : "", share, row.range->first, row.range->second,
        row.floatRange->first, row.floatRange->second, *row.localSqnrDb, isInteger(row.params.dtype) ? "scale" : "type",
        *row.idealSqnrDb);
}

} // namespace

void findInputMismatch(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const AveragedRanges averaged = averagedRanges(c.activations);
    const SeenRows rows(c.activations);
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = rows[i];
        if (!isInputLike(pair.floatPlan->graph(), row) || !firstOfQuantizer(c, i) || !hasOwnRange(row)
            || !clippingDominates(row) || *row.localSqnrDb > kFineDb)
            continue;
        Finding f = activationFinding(c, i, Rule::InputMismatch);
        f.severity = clippingSeverity(row);
        if (f.severity == Severity::Note)
            f.title = "The input's extremes are clipped";
        f.summary = clippingSummary(row, &row != &c.activations[i]) + foreignText(row, averaged);
        addRangeEvidence(row, f);
        // Every tensor behind the input was calibrated on the same data: this is the first thing to say.
        f.rank = std::max(ownNoiseShare(row), 1.0) * 1e6;
        f.change = { RemedyKind::Recalibrate, {}, row.name, 0, 0, 0 };
        expectAtTensor(row, gainOfDataRange(row), f);
        found.push_back(std::move(f));
    }
}

void findRangeTooSmall(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const Symmetry symmetry(c);
    const OutputCost cost(pair, c);
    const SeenRows rows(c.activations);
    // Behind a clipped input a range may cut little of what is left, and is as wrong as those before it.
    const bool foreign = std::ranges::any_of(
        found, [](const Finding& f) { return f.rule == Rule::InputMismatch && f.severity != Severity::Note; });
    const bool moved = c.network && c.network->rearranged; // the float data say nothing of values with factors
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = rows[i];
        if (isInputLike(pair.floatPlan->graph(), row) || !firstOfQuantizer(c, i) || !hasOwnRange(row)
            || !(foreign ? cutsFloatData(row) : clippingDominates(row)) || *row.localSqnrDb > kFineDb
            || cutsForNext(row) || (moved && row.accumulated.sqnrDb.value_or(HUGE_VAL) < kUnrelatedDb))
            continue;
        Finding f = activationFinding(c, i, Rule::RangeTooSmall);
        f.rank = ownNoiseShare(row);
        f.severity = clippingSeverity(row);
        f.summary = clippingSummary(row, &row != &c.activations[i]);
        addRangeEvidence(row, f);
        if (cost.isVisible(i, gainOfDataRange(row))) {
            f.severity = std::min(f.severity, Severity::Warning);
            cost.tell(i, f);
        }
        f.remedy
            = fmt::format("Widen the range of this tensor to {:.4g} … {:.4g}, or recalibrate with data like these.",
                neededRange(row).first, neededRange(row).second);
        f.change = rangeRemedy(row);
        expectAtTensor(row, gainOfDataRange(row), f);
        if (isShifted(symmetry, row)) {
            if (const ActivationRow* other = usesOtherEnd(pair, c, i))
                f.summary += fmt::format(
                    " It has one scale and zero point with {}, which needs the other end.", placeName(*other));
            else if (cutsTypicalSamples(row))
                addShift(row, f);
        }
        found.push_back(std::move(f));
    }
}

namespace {

/// By what the range is wider than the data; 0 where that is not known.
double excessOf(const ActivationRow& row)
{
    const bool inside = hasOwnRange(row) && !exceedsRange(row) && widthWithZero(*row.floatRange) > 0;
    return inside ? std::pow(10.0, unusedDb(row) / 20) : 0;
}

/// Many ranges are far wider than the data: found with other ones, where the input's is.
bool manyAreTooWide(const Comparison& c)
{
    size_t own = 0, wide = 0;
    for (size_t i = 0; i < c.activations.size(); ++i)
        if (hasOwnRange(c.activations[i]) && firstOfQuantizer(c, i)) {
            ++own;
            wide += excessOf(c.activations[i]) >= kForeignExcess;
        }
    return own > 2 && double(wide) > kMany * double(own);
}

/// Another tensor has the same scale and needs it, and tools give both one.
bool isShared(const ComparePair& pair, const Comparison& c, size_t row)
{
    const ActivationRow& own = c.activations[row];
    size_t asked = 0;
    return std::ranges::any_of(c.activations, [&](const ActivationRow& other) {
        return hasScaleOf(own, other) && 20 * std::log10(std::max(excessOf(other), 1.0)) < kTwiceDb
            && asked++ < kMostAsked && mayShareScale(pair, own.floatValue, other.floatValue);
    });
}

/// What the range's own data would give over it, dB: with as many codes on either side of zero, where the file has it
/// so.
double idleDb(const Symmetry& symmetry, const Comparison& c, size_t index)
{
    const ActivationRow& row = c.activations[index];
    if (!firstOfQuantizer(c, index) || excessOf(row) <= 1 || !isInteger(row.params.dtype) || isWholeOfOperator(row))
        return 0;
    const auto& [low, high] = *row.floatRange;
    const double needed
        = symmetry.madeSymmetric(row) ? 2 * std::max(std::fabs(low), std::fabs(high)) : widthWithZero(*row.floatRange);
    return 20 * std::log10((row.range->second - row.range->first) / needed);
}

/// A join that needs one scale for all its branches is told of where it is; a mask that takes the range, as such; what
/// the range cuts, too, where that is most.
bool isToldOfWidth(const std::vector<Finding>& found, const ActivationRow& row, size_t index)
{
    return std::ranges::any_of(found, [&](const Finding& f) {
        const bool ofTensor = f.rule == Rule::ScaleMismatchAtJoin || f.rule == Rule::ExtremeConstant;
        const bool ofRange
            = f.rule == Rule::InputMismatch || f.rule == Rule::RangeTooSmall || f.rule == Rule::WrongZeroPoint;
        return (ofTensor && f.tensor == row.name) || (ofRange && f.activation == index);
    });
}

/// What a range that is too wide leaves unused.
std::string wideSummary(const ActivationRow& row, double wastedDb)
{
    const double share = widthWithZero(*row.floatRange) / (row.range->second - row.range->first);
    if (exceedsRange(row))
        return fmt::format(
            "The data, {:.4g} … {:.4g}, would use {} of a range as wide as {:.4g} … {:.4g}, and {} of them lie beyond "
            "it. With the range that was observed, this quantizer would make {:.1f} dB less noise.",
            row.floatRange->first, row.floatRange->second, percentText(share), row.range->first, row.range->second,
            percentText(row.floatClippedFraction.value_or(0)), gainOfDataRange(row));
    return fmt::format(
        "The data use {} of the range {:.4g} … {:.4g}. With the range that was observed, this quantizer would make "
        "{:.1f} dB less noise.",
        percentText(share), row.range->first, row.range->second, wastedDb);
}

/// A quantizer of more bits than a byte whose data use no more codes than a byte has, where its own noise counts: dB
/// that are wasted; 0: it is none.
double wastedBeyondByteDb(const ActivationRow& row, double idle)
{
    const double beyond = dtypeBits(row.params.dtype) - 8; // bits
    const bool fewer = beyond > 0 && idle >= 20 * std::log10(2.0) * beyond;
    return fewer && ownPartOfNoise(row).value_or(0) >= kCountingShare ? idle : 0;
}

} // namespace

void findRangeTooLarge(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const bool foreign = manyAreTooWide(c);
    const Symmetry symmetry(c);
    const OutputCost cost(pair, c);
    const SeenRows rows(c.activations);
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = exceedsRange(c.activations[i]) ? rows[i] : c.activations[i];
        const bool input = isInputLike(pair.floatPlan->graph(), row);
        double wasted = firstOfQuantizer(c, i) ? wastedDb(row).value_or(0) : 0; // dB; 0: nothing worth a word
        if (foreign && input && wasted <= 0 && firstOfQuantizer(c, i) && excessOf(row) >= kForeignExcess)
            wasted = 20 * std::log10(excessOf(row));
        const double idle = idleDb(symmetry, c, i);
        const bool visible = idle >= kTwiceDb && cost.isVisible(i, idle) && !isShared(pair, c, i);
        if (visible && wasted <= 0)
            wasted = idle;
        if (const double beyond = wasted > 0 ? 0 : wastedBeyondByteDb(row, idle); beyond > 0 && !isShared(pair, c, i))
            wasted = beyond;
        if (wasted <= 0 || isToldOfWidth(found, row, i))
            continue;
        const bool spoiled
            = *row.localSqnrDb < kSpoiledDb && wasted > kForeignDb && cost.isVisible(i, wasted, kProvenLossDb);
        Finding f = activationFinding(c, i, Rule::RangeTooLarge);
        if (spoiled)
            f.severity = Severity::Error;
        else if (*row.localSqnrDb >= kPoorDb && !visible)
            f.severity = Severity::Note;
        if (row.node.empty())
            f.title = "The input uses little of its range";
        f.summary = wideSummary(row, wasted);
        if (visible)
            cost.tell(i, f);
        if (!isInteger(row.params.dtype))
            f.summary += " Values so near to zero lie between the last codes before it, or become zero.";
        if (row.usedCodes)
            f.evidence.push_back(evidence("used_codes", *row.usedCodes));
        f.evidence.push_back(evidence("gain_db", wasted, "dB"));
        addRangeEvidence(row, f);
        f.remedy = fmt::format("Narrow the range of this tensor to {:.4g} … {:.4g}.",
            std::min(row.floatRange->first, 0.0), std::max(row.floatRange->second, 0.0));
        f.change = rangeRemedy(row);
        expectAtTensor(row, gainOfDataRange(row), f);
        if ((wasted > kForeignDb || foreign) && input) {
            f.rule = Rule::InputMismatch;
            if (foreign && f.severity == Severity::Note) // it is not the input's own
                f.severity = Severity::Warning;
            f.rank = std::max(f.rank, 1.0) * 1e6;
            f.title = "The data are far smaller than what the input was calibrated for";
            f.remedy = ruleInfo(f.rule).remedy;
            f.change = { RemedyKind::Recalibrate, {}, row.name, 0, 0, 0 };
        }
        found.push_back(std::move(f));
    }
}

void findBrokenPairs(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        if (row.params.scale.empty() || !row.noise.rounding || !row.accumulated.rmse || !firstOfQuantizer(c, i)
            || !isInteger(row.params.dtype)) // codes of float8 are not equally far apart
            continue;
        // Rounding never moves a value by more than half a step, so its part of the noise is bounded; neither do the
        // numbers of the tensor's own type, before and behind it, lie closer than they can.
        const double step = double(std::ranges::max(row.params.scale)), rmse = *row.accumulated.rmse;
        const double peak = row.observedRange
            ? std::max(std::fabs(row.observedRange->first), std::fabs(row.observedRange->second))
            : 0;
        const double unit = spacing(pair.quantPlan->facts().of(row.quantValue).dtype) * peak;
        const double largest = (step / 2 + unit) * rmse;
        if (*row.noise.rounding <= kBeyondRounding * largest || step <= 0)
            continue;
        const double off = *row.noise.rounding / (rmse * step);
        Finding f = activationFinding(c, i, Rule::WrongZeroPoint);
        if (row.accumulated.sqnrDb.value_or(kPoorDb) < kPoorDb)
            f.severity = Severity::Error;
        f.summary = fmt::format("Values inside the range come back {:.1f} steps away, which rounding cannot do: "
                                "QuantizeLinear and DequantizeLinear have other scales or zero points.",
            off);
        f.evidence = { evidence("steps", off), evidence("scale", step),
            evidence("mean_error", row.accumulated.meanError.value_or(0)),
            evidence("sqnr_db", row.accumulated.sqnrDb.value_or(0), "dB") };
        f.change = { RemedyKind::Requantize, row.node, row.name, 0, 0, 0 };
        found.push_back(std::move(f));
    }
}

namespace {

/// By what a cache's scales are wrong, each over the one that the channel's largest magnitude asks for.
struct ScaleFit {
    double factor = 0; ///< the median, 0 where there is nothing to fit
    double spread = 0; ///< of the logarithms to base 2, mean square root
    bool isGood() const { return factor > 1 / kAlike && factor < kAlike && spread < kEven; }
    bool isOneFactor() const { return factor > 0 && spread < kEven; }

    /// `moved`: the scale of so many channels on.
    static ScaleFit of(const std::vector<float>& scales, const ActivationRow& row, size_t moved = 0)
    {
        std::vector<double> ratios;
        const auto high = double(row.params.codes().high);
        for (size_t c = 0; c < row.cachePeaks.size() && scales.size() == row.cachePeaks.size(); ++c)
            if (const double scale = scales[(c + moved) % scales.size()]; row.cachePeaks[c] > 0 && scale > 0)
                ratios.push_back(std::log2(scale * high / double(row.cachePeaks[c])));
        if (ratios.empty())
            return {};
        const auto middle = ratios.begin() + std::ptrdiff_t(ratios.size() / 2);
        std::ranges::nth_element(ratios, middle);
        double squares = 0;
        for (const double ratio : ratios)
            squares += (ratio - *middle) * (ratio - *middle);
        return { std::exp2(*middle), std::sqrt(squares / double(ratios.size())) };
    }

private:
    static constexpr double kAlike = 1.7; ///< what calibrations differ by
    static constexpr double kEven = 0.5;
};

/// Of codes by the largest magnitudes of these values, dB.
double fittingCacheDb(const ActivationRow& row)
{
    double squares = 0;
    for (const float peak : row.cachePeaks)
        squares += double(peak) * double(peak);
    const double step2 = squares / double(row.cachePeaks.size()) / std::pow(double(row.params.codes().high), 2);
    return 10 * std::log10(*row.signalPower / (step2 / 12));
}

/// What its scales are, where that is seen.
std::string cacheScalesText(const Comparison& c, const ActivationRow& row)
{
    const ScaleFit own = ScaleFit::of(row.params.scale, row);
    const auto isBetter = [&](const ScaleFit& fit) { return fit.isGood() && 2 * fit.spread < own.spread; };
    if (own.isOneFactor() && !own.isGood())
        return fmt::format(" They are about {:.3g} times what the values' largest magnitudes ask for.", own.factor);
    for (const ActivationRow& other : c.activations)
        if (&other != &row && other.cachePeaks.size() == row.cachePeaks.size() && other.floatNode == row.floatNode
            && isBetter(ScaleFit::of(other.params.scale, row)) && ScaleFit::of(row.params.scale, other).isGood())
            return fmt::format(" Those of {} would fit, and these would fit there: they are exchanged.", other.name);
    for (size_t moved = 1; moved < row.params.scale.size(); ++moved)
        if (isBetter(ScaleFit::of(row.params.scale, row, moved)))
            return fmt::format(" Moved by {} of {} channels they would fit.", moved, row.params.scale.size());
    return {};
}

/// How to find scales anew, and where they go.
std::string cacheRemedy(const ComparePair& pair, const ActivationRow& row)
{
    const Graph& graph = pair.quantPlan->graph();
    const NodeId reader = graph.value(row.quantValue).producer;
    return fmt::format("Find the scales of {} anew, as `quantscope-cli caches FLOAT --data DATA --bits {} --per {} "
                       "--scales F.json` does, and write them to {}.",
        row.name, dtypeBits(row.params.dtype), row.params.perTensor() ? "tensor" : "channel",
        reader.valid() ? graph.value(graph.node(reader).inputs[1]).name : "the file");
}

/// Noise of the codes over that of scales which fit; 6 dB is a factor of two.
constexpr double kForeignScalesDb = 12;

} // namespace

void findCacheScales(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        if (row.cachePeaks.empty() || !row.localSqnrDb || !row.idealSqnrDb || row.signalPower.value_or(0) <= 0
            || *row.localSqnrDb > kFineDb || !firstOfQuantizer(c, i))
            continue;
        const double fitting = fittingCacheDb(row), gain = fitting - *row.localSqnrDb;
        const bool clips = *row.idealSqnrDb - *row.localSqnrDb > kVisibleLossDb; // more than its steps round off
        if (!(gain >= (clips ? 20 * std::log10(2.0) : kForeignScalesDb)))
            continue;
        Finding f = activationFinding(c, i, clips ? Rule::RangeTooSmall : Rule::RangeTooLarge);
        f.cause = "cache";
        f.severity = clippingSeverity(row);
        f.title = fmt::format("The scales of the cache {} are {}", row.name, clips ? "too small" : "too large");
        f.summary = fmt::format("{} keeps it as {} codes. {} of the float model's values lie beyond them. These scales "
                                "leave {:.1f} dB, those that the values' largest magnitudes ask for {:.1f} dB.",
            placeName(row), dtypeName(row.params.dtype), percentText(row.floatClippedFraction.value_or(0)),
            *row.localSqnrDb, fitting);
        f.summary += cacheScalesText(c, row);
        f.evidence = { evidence("float_clipped_fraction", row.floatClippedFraction.value_or(0)),
            evidence("clipped_fraction", row.clippedFraction.value_or(0)),
            evidence("local_sqnr_db", *row.localSqnrDb, "dB"), evidence("fitting_sqnr_db", fitting, "dB") };
        f.remedy = cacheRemedy(pair, row);
        expectAtTensor(row, gain, f);
        found.push_back(std::move(f));
    }
}

} // namespace qs
