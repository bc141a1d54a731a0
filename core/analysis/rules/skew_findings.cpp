// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rules/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// Symmetric activations over values of one side.
namespace qs {

namespace {

/// Half a bit. One side alone gives a whole one, 6.02 dB.
constexpr double kSkewWorthDb = 3;
/// Above this (a noise power of 0.003 %) nobody minds half a bit: types of 16 bits.
constexpr double kSkewMindedDb = 45;

bool hasStaticCodes(const ActivationRow& row)
{
    return !row.params.scale.empty() && !row.dynamic && isInteger(row.params.dtype);
}

/// Zero stands in the middle of the codes.
bool isCentred(const ActivationRow& row)
{
    const int64_t middle = middleCode(row.params);
    const auto& zeros = row.params.zeroPoint;
    return zeros.empty() ? middle == 0 : std::ranges::all_of(zeros, [&](int32_t z) { return z == middle; });
}

/// The recipe was symmetric: most static quantizers are, which calibrated ends of ranges hit by chance alone.
bool symmetricRecipe(const Comparison& c)
{
    size_t all = 0, symmetric = 0;
    for (size_t i = 0; i < c.activations.size(); ++i)
        if (hasStaticCodes(c.activations[i]) && firstOfQuantizer(c, i)) {
            ++all;
            symmetric += isCentred(c.activations[i]);
        }
    return all > 0 && 2 * symmetric > all;
}

/// Width of the symmetric range that the data need over that of the data, of what the range does not cut off.
double skew(const ActivationRow& row)
{
    const double low = std::max(std::min(row.floatRange->first, 0.0), row.range->first);
    const double high = std::min(std::max(row.floatRange->second, 0.0), row.range->second);
    return high > low ? 2 * std::max(-low, high) / (high - low) : 1;
}

/// Of the tensor's own noise the part that is rounding shrinks with the square of the step; what is cut off stays.
double gainWithoutSymmetry(const ActivationRow& row)
{
    const double noise = std::pow(10.0, -*row.localSqnrDb / 10);
    constexpr double kByChance = 1.25; // rounding of few values differs that much from its mean
    const double ideal = std::pow(10.0, -*row.idealSqnrDb / 10);
    const double rounding = noise < kByChance * ideal ? noise : ideal;
    const double narrower = skew(row);
    return 10 * std::log10(noise / (noise - rounding + rounding / (narrower * narrower)));
}

} // namespace

void findSymmetricOnSkewed(const Comparison& c, std::vector<Finding>& found)
{
    if (!symmetricRecipe(c))
        return;
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        if (!hasStaticCodes(row) || !isCentred(row) || !hasOwnRange(row) || row.localExact
            || *row.localSqnrDb > kSkewMindedDb || wastedDb(row) || !firstOfQuantizer(c, i))
            continue;
        const double gain = gainWithoutSymmetry(row);
        if (gain < kSkewWorthDb)
            continue;
        Finding f = activationFinding(c, i, Rule::SymmetricOnSkewed);
        f.summary = fmt::format("The values lie between {:.4g} and {:.4g}, the codes are spread over {:.4g} … {:.4g}. "
                                "Asymmetric codes would give {:.1f} dB more at this tensor, predicted from its step.",
            row.floatRange->first, row.floatRange->second, row.range->first, row.range->second, gain);
        f.evidence = { evidence("gain_db", gain, "dB"), evidence("data_low", row.floatRange->first),
            evidence("data_high", row.floatRange->second), evidence("range_low", row.range->first),
            evidence("range_high", row.range->second), evidence("local_sqnr_db", *row.localSqnrDb, "dB") };
        if (row.usedCodes)
            f.evidence.push_back(evidence("used_codes", *row.usedCodes));
        f.change = { RemedyKind::AsymmetricActivations, row.node, row.name, std::min(row.floatRange->first, 0.0),
            std::max(row.floatRange->second, 0.0), 0 };
        f.expectedGainDb = gain;
        found.push_back(std::move(f));
    }
}

} // namespace qs
