// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/fill_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace qs {

namespace {

constexpr double kSettled = 0.99;
constexpr double kBrightest = 255; ///< of raw pixels
constexpr double kFarWider = 8; ///< times the calibrated width
constexpr double kWider = 1.25;
constexpr double kHardlyUsed = 0.25;

std::optional<InputMoments> momentsOf(const InputSums& s)
{
    if (s.count == 0)
        return std::nullopt;
    const double mean = s.sum / double(s.count);
    return InputMoments { mean, std::sqrt(std::max(0.0, s.squares / double(s.count) - mean * mean)), s.low, s.high };
}

/// How the values lie against the range that calibration found.
std::string noteOn(const InputMoments& m, const std::optional<std::pair<double, double>>& calibrated)
{
    if (m.lowest == m.highest)
        return fmt::format("every value is {:.4g}", m.lowest);
    if (!calibrated)
        return {};
    const auto [low, high] = *calibrated;
    const double width = high - low, seen = m.highest - m.lowest;
    const std::string both
        = fmt::format("values from {:.4g} to {:.4g}, calibrated for {:.4g} to {:.4g}", m.lowest, m.highest, low, high);
    if (m.lowest >= 0 && m.highest > 1 && m.highest <= kBrightest && seen > kFarWider * width)
        return both + ": these look like raw pixels, which this model expects scaled and normalized";
    if (m.lowest >= 0 && m.highest <= 1 && low < -0.1 * width)
        return both + ": these look like pixels of 0..1, from which mean and deviation were not taken";
    if (seen > kWider * width || m.lowest < low - width * (kWider - 1) || m.highest > high + width * (kWider - 1))
        return both + ": another normalization, or other data than calibration had";
    if (seen < kHardlyUsed * width)
        return both + ": they fill little of it";
    return {};
}

void fillInputs(const ComparePair& pair, const Measured& m, Comparison& c)
{
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
            row.note = noteOn(*row.all, row.calibrated);
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
}

void fillCoverage(Comparison& c)
{
    CalibrationCoverage coverage;
    double outside = 0;
    for (const ActivationRow& row : c.activations) {
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

/// Width of a range that holds zero.
struct GrowingRange {
    double low = 0, high = 0;
    void add(const PairSums& s)
    {
        low = std::min(low, s.lowX);
        high = std::max(high, s.highX);
    }
    double width() const { return high - low; }
};

void fillGrowth(const Measured& m, Comparison& c)
{
    std::vector<size_t> steps;
    for (size_t n = 1; n < c.samples; n *= 2)
        steps.push_back(n);
    if (c.samples > 0)
        steps.push_back(c.samples);
    std::vector<double> shares(steps.size()), settled(steps.size());
    size_t tensors = 0;
    for (size_t p = 0; p < m.pairs.size(); ++p) {
        if (m.pairs[p].params.scale.empty())
            continue;
        GrowingRange range;
        std::vector<double> widths;
        size_t seen = 0;
        for (size_t s = 0; s < m.samples; ++s) {
            if (!m.done[s])
                continue;
            range.add(m.sums[p * m.samples + s]);
            if (widths.size() < steps.size() && ++seen == steps[widths.size()])
                widths.push_back(range.width());
        }
        if (!(range.width() > 0) || widths.size() != steps.size())
            continue;
        ++tensors;
        for (size_t i = 0; i < steps.size(); ++i) {
            shares[i] += widths[i] / range.width();
            settled[i] += widths[i] >= kSettled * range.width();
        }
    }
    for (size_t i = 0; tensors > 0 && i < steps.size(); ++i)
        c.rangeGrowth.push_back({ steps[i], shares[i] / double(tensors), settled[i] / double(tensors) });
}

} // namespace

void fillSamples(const ComparePair& pair, const Measured& measured, Comparison& result)
{
    fillInputs(pair, measured, result);
    fillDuplicates(measured, result);
    fillCoverage(result);
    fillGrowth(measured, result);
}

} // namespace qs
