// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/fill_rows.h"

#include "core/analysis/rows/range_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace qs {

namespace {

constexpr double kBrightest = 255; ///< of raw pixels
constexpr double kFarWider = 8; ///< times the calibrated width
constexpr double kWider = 1.25;
constexpr double kHardlyUsed = 0.25;
constexpr double kNothing = 1e-4; ///< of a range's width: what its four digits cannot show is 0

std::optional<InputMoments> momentsOf(const InputSums& s)
{
    if (s.count == 0)
        return std::nullopt;
    const double mean = s.sum / double(s.count);
    return InputMoments { mean, std::sqrt(std::max(0.0, s.squares / double(s.count) - mean * mean)), s.low, s.high };
}

/// Values that were scaled or normalized otherwise than those of the calibration; empty: nothing speaks for it.
std::string otherScale(const InputMoments& m, double low, double high, const std::string& both)
{
    const double width = high - low, seen = m.highest - m.lowest;
    if (m.lowest >= 0 && m.highest > 1 && m.highest <= kBrightest && seen > kFarWider * width)
        return both + ": these look like raw pixels, which this model expects scaled and normalized";
    if (m.lowest >= 0 && m.highest <= 1 && low < -0.1 * width)
        return both + ": these look like pixels of 0..1, from which mean and deviation were not taken";
    if (seen > kWider * width || m.lowest < low - width * (kWider - 1) || m.highest > high + width * (kWider - 1))
        return both + ": another normalization, or other data than calibration had";
    return {};
}

/// "0 to 1", also of a lowest value of 7.7e-07.
std::string rangeText(double low, double high)
{
    const auto shown = [least = kNothing * (high - low)](double value) { return std::fabs(value) < least ? 0 : value; };
    return fmt::format("{:.4g} to {:.4g}", shown(low), shown(high));
}

/// How the values lie against the range that calibration found.
void addNote(const InputMoments& m, AveragedRanges averaged, InputRow& row)
{
    if (m.lowest == m.highest) {
        row.note = fmt::format("every value is {:.4g}", m.lowest);
        return;
    }
    if (!row.calibrated)
        return;
    const auto [low, high] = *row.calibrated;
    const std::string both
        = fmt::format("values from {}, calibrated for {}", rangeText(m.lowest, m.highest), rangeText(low, high));
    row.note = otherScale(m, low, high, both);
    row.otherScale = !row.note.empty() && averaged == AveragedRanges::No;
    if (!row.note.empty() && averaged == AveragedRanges::Yes)
        row.note = both + ": ranges are the means over samples of each one's lowest and highest value";
    if (!row.note.empty() && averaged == AveragedRanges::Perhaps)
        row.note += ", or ranges are means over samples of each one's lowest and highest value";
    if (row.note.empty() && m.highest - m.lowest < kHardlyUsed * (high - low))
        row.note = both + ": they fill little of it";
}

void fillInputs(const ComparePair& pair, const Measured& m, Comparison& c)
{
    const AveragedRanges averaged = averagedRanges(c.activations);
    for (const FedInput& input : m.inputs.inputs) {
        InputRow row;
        row.name = input.name;
        InputSums all;
        for (size_t channel = 0; channel < input.channels; ++channel) {
            InputSums sums;
            for (size_t s = 0; s < m.samples; ++s)
                if (m.done[s])
                    sums.merge(m.inputs.sums[(input.firstRow + channel) * m.samples + s]);
            if (const auto moments = momentsOf(sums); moments && input.channels > 1)
                row.channels.push_back(*moments);
            all.merge(sums);
        }
        row.all = momentsOf(all);
        const auto paired = std::ranges::find(c.activations, input.value, &ActivationRow::floatValue);
        if (paired != c.activations.end() && !paired->params.scale.empty())
            row.calibrated = paired->range;
        if (row.all && isFloat(pair.floatPlan->facts().of(input.value).dtype))
            addNote(*row.all, averaged, row);
        c.inputs.push_back(std::move(row));
    }
}

void fillDuplicates(const Measured& m, Comparison& c)
{
    std::unordered_map<uint64_t, size_t> groups;
    std::vector<std::vector<size_t>> all;
    for (size_t s = 0; s < m.inputs.hashes.size(); ++s) {
        if (!m.done[s] || m.inputs.hashes[s] == 0)
            continue;
        const auto [at, isNew] = groups.try_emplace(m.inputs.hashes[s], all.size());
        if (isNew)
            all.emplace_back();
        all[at->second].push_back(m.firstSample + s);
    }
    std::erase_if(all, [](const auto& group) { return group.size() < 2; });
    c.duplicates = std::move(all);
    c.fed = hashBytes(std::as_bytes(std::span(m.inputs.hashes)));
}

void fillCoverage(Comparison& c)
{
    CalibrationCoverage coverage;
    double outside = 0;
    const SeenRows rows(c.activations); // what a Relu behind cuts off may lie outside
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = rows[i];
        if (row.params.scale.empty() || row.dynamic || !row.clippedFraction || row.accumulated.elements == 0)
            continue;
        ++coverage.tensors;
        coverage.values += row.accumulated.elements;
        outside += *row.clippedFraction * double(row.accumulated.elements);
        coverage.tensorsOutside += *row.clippedFraction > 0;
        if (*row.clippedFraction > coverage.worstShare) {
            coverage.worstShare = *row.clippedFraction;
            coverage.worst = row.name;
        }
    }
    if (coverage.tensors == 0)
        return;
    coverage.outside = coverage.values > 0 ? outside / double(coverage.values) : 0;
    c.coverage = std::move(coverage);
}

void fillGrowth(const Measured& m, Comparison& c)
{
    RangeCurve curve(c.samples);
    for (size_t p = 0; p < m.pairs.size(); ++p) {
        if (m.pairs[p].params.scale.empty())
            continue;
        std::vector<std::pair<double, double>> extremes;
        for (size_t s = 0; s < m.samples; ++s)
            if (m.done[s])
                extremes.emplace_back(m.sums[p * m.samples + s].lowX, m.sums[p * m.samples + s].highX);
        curve.add(extremes);
    }
    c.rangeGrowth = curve.steps();
    c.rangesSettledAfter = curve.settledAfter();
}

/// Repeated ones among the samples, and how many of the judged ones are among those that calibrated.
void fillSharedSamples(const CalibrationSet& set, const Measured& m, const Comparison& c, CalibrationSummary& summary)
{
    if (set.judged) {
        summary.judged = c.samples;
        for (const auto& group : c.duplicates)
            summary.repeated += group.size() - 1;
        return;
    }
    const std::unordered_set<uint64_t> known(set.hashes.begin(), set.hashes.end());
    summary.repeated = set.hashes.size() - known.size();
    for (size_t s = 0; s < m.inputs.hashes.size(); ++s)
        summary.judged += m.done[s] && m.inputs.hashes[s] != 0 && known.contains(m.inputs.hashes[s]);
}

void fillCalibration(const ComparePair& pair, const Measured& m, Comparison& c)
{
    if (!pair.provenance || !pair.provenance->calibration)
        return;
    const CalibrationSet& set = *pair.provenance->calibration;
    CalibrationSummary summary;
    summary.samples = set.samples;
    summary.extremes = set.extremes;
    summary.settledAfter = set.settledAfter;
    summary.halfShare = set.halfShare;
    fillSharedSamples(set, m, c, summary);
    std::map<int64_t, size_t> classes;
    for (const int64_t label : set.labels)
        summary.largestClass = std::max(summary.largestClass, double(++classes[label]));
    summary.labels = set.labels.size();
    summary.classes = classes.size();
    summary.largestClass /= std::max(double(summary.labels), 1.0);
    c.calibration = summary;
}

} // namespace

void fillSamples(const ComparePair& pair, const Measured& measured, Comparison& result)
{
    fillInputs(pair, measured, result);
    fillDuplicates(measured, result);
    fillCoverage(result);
    fillGrowth(measured, result);
    fillCalibration(pair, measured, result);
}

} // namespace qs
