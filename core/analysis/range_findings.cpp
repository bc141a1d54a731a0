// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Clipping is worth a word when this much of the tensor's own quality is lost to it.
constexpr double kLostDb = 6;
/// Below this the tensor's own quantizer alone spoils it (noise power above 6 % of the signal).
constexpr double kSpoiledDb = 12;
/// Below this (noise power 1 % of the signal) it is worth a warning.
constexpr double kPoorDb = 20;
/// A range is too large when at most a quarter of it is used: two bits lost.
constexpr double kWastedDb = 12;

bool hasOwnRange(const ActivationRow& row) { return row.range && row.floatRange && row.localSqnrDb && row.idealSqnrDb; }

bool clippingDominates(const ActivationRow& row)
{
    return exceedsRange(row) && *row.localSqnrDb < *row.idealSqnrDb - kLostDb
        && row.noise.clipping.value_or(0) > row.noise.rounding.value_or(0);
}

Severity clippingSeverity(const ActivationRow& row)
{
    if (*row.localSqnrDb < kSpoiledDb)
        return Severity::Error;
    return *row.localSqnrDb < kPoorDb ? Severity::Warning : Severity::Note;
}

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

void addRangeEvidence(const ActivationRow& row, Finding& f)
{
    if (row.clippedFraction)
        f.evidence.push_back(evidence("clipped_fraction", *row.clippedFraction));
    f.evidence.push_back(evidence("range_low", row.range->first));
    f.evidence.push_back(evidence("range_high", row.range->second));
    f.evidence.push_back(evidence("data_low", row.floatRange->first));
    f.evidence.push_back(evidence("data_high", row.floatRange->second));
    f.evidence.push_back(evidence("local_sqnr_db", *row.localSqnrDb, "dB"));
    f.evidence.push_back(evidence("ideal_sqnr_db", *row.idealSqnrDb, "dB"));
}

std::string clippingSummary(const ActivationRow& row)
{
    // Behind a damaged input the quantized model's own values may stay inside a range that the float model's exceed.
    const double clipped = row.clippedFraction.value_or(0);
    const std::string share = clipped >= 0.0005
        ? fmt::format("{} of the values are clipped.", percent(clipped))
        : std::string("The float model's values do not fit the range, though the quantized model's hardly reach it.");
    return fmt::format("{} The range is {:.4g} … {:.4g}, the data reach {:.4g} … {:.4g}. "
                       "This quantizer alone leaves {:.1f} dB where its scale allows {:.1f} dB.",
        share, row.range->first, row.range->second, row.floatRange->first, row.floatRange->second, *row.localSqnrDb,
        *row.idealSqnrDb);
}

} // namespace

void findInputMismatch(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        if (!isInputLike(pair.floatPlan->graph(), row) || !firstOfQuantizer(c, i) || !hasOwnRange(row)
            || !clippingDominates(row))
            continue;
        const Severity severity = clippingSeverity(row);
        Finding f = activationFinding(c, i, "input_mismatch", severity);
        f.title
            = severity == Severity::Note ? "The input's extremes are clipped" : "Calibration does not fit the input";
        f.summary = clippingSummary(row) + " Calibration data or preprocessing differ from the data given here.";
        addRangeEvidence(row, f);
        f.remedy = "Recalibrate all activations in one step with data like these, after checking the preprocessing; "
                   "mending the input alone does not help.";
        // Every tensor behind the input was calibrated on the same data: this is the first thing to say.
        f.rank = std::max(f.rank, 1.0) * 1e6;
        found.push_back(std::move(f));
    }
}

void findRangeTooSmall(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        if (isInputLike(pair.floatPlan->graph(), row) || !firstOfQuantizer(c, i) || !hasOwnRange(row)
            || !clippingDominates(row))
            continue;
        Finding f = activationFinding(c, i, "range_too_small", clippingSeverity(row));
        f.title = fmt::format("Clipping at the output of {}", row.node);
        f.summary = clippingSummary(row);
        addRangeEvidence(row, f);
        f.remedy
            = fmt::format("Widen the range of this tensor to {:.4g} … {:.4g}, or recalibrate with data like these.",
                std::min(row.floatRange->first, 0.0), std::max(row.floatRange->second, 0.0));
        found.push_back(std::move(f));
    }
}

void findRangeTooLarge(const Comparison& c, std::vector<Finding>& found)
{
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        if (!hasOwnRange(row) || exceedsRange(row) || !firstOfQuantizer(c, i))
            continue;
        const double used = std::max(row.floatRange->second, 0.0) - std::min(row.floatRange->first, 0.0);
        const double whole = row.range->second - row.range->first;
        if (used <= 0 || whole <= 0)
            continue;
        const double wasted = 20 * std::log10(whole / used);
        if (wasted < kWastedDb || *row.localSqnrDb > 30)
            continue;
        const bool spoiled = *row.localSqnrDb < kSpoiledDb && wasted > 18;
        Finding f = activationFinding(c, i, "range_too_large",
            spoiled                          ? Severity::Error
                : *row.localSqnrDb < kPoorDb ? Severity::Warning
                                             : Severity::Note);
        f.title = row.node.empty() ? "The input uses little of its range"
                                   : fmt::format("The range at the output of {} is too large", row.node);
        f.summary = fmt::format(
            "The data use {} of the range {:.4g} … {:.4g}. The range that was observed would give {:.1f} dB more.",
            percent(used / whole), row.range->first, row.range->second, wasted);
        if (row.usedCodes)
            f.evidence.push_back(evidence("used_codes", *row.usedCodes));
        f.evidence.push_back(evidence("gain_db", wasted, "dB"));
        addRangeEvidence(row, f);
        f.remedy = fmt::format("Narrow the range of this tensor to {:.4g} … {:.4g}.",
            std::min(row.floatRange->first, 0.0), std::max(row.floatRange->second, 0.0));
        found.push_back(std::move(f));
    }
}

} // namespace qs
