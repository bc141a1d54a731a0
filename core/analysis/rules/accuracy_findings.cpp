// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// Whether the quantized model is right less often, and whether the labels suffice to say so.
namespace qs {

namespace {

/// One percentage point: the usual limit of accuracy-aware quantization (NNCF, Intel Neural Compressor).
constexpr double kDropLimit = 0.01;
constexpr double kSignificant = 0.05; ///< chance of so many losses where both models are equally good

/// Exact one-sided McNemar test: chance that of lost + gained samples, each lost or gained with equal chance, at least
/// `lost` are lost. Source: McNemar 1947, with the binomial distribution in place of its approximation.
double chanceOf(size_t lost, size_t gained)
{
    const auto n = double(lost + gained);
    double chance = 0;
    for (size_t k = lost; k <= lost + gained; ++k)
        chance += std::exp(
            std::lgamma(n + 1) - std::lgamma(double(k) + 1) - std::lgamma(n - double(k) + 1) - n * std::log(2.0));
    return std::min(chance, 1.0);
}

std::string chanceText(double chance)
{
    constexpr double kTiny = 1e-6;
    return chance < kTiny ? "below one in a million" : fmt::format("of {:.2g}", chance);
}

} // namespace

void findAccuracyDrop(const Comparison& c, std::vector<Finding>& found)
{
    if (!c.accuracy || c.outputs.empty())
        return;
    const Accuracy& a = *c.accuracy;
    const double drop = a.floatAccuracy - a.quantizedAccuracy;
    constexpr double kRounding = 1e-9; // of the shares
    if (!(drop > kDropLimit + kRounding))
        return;
    const double chance = chanceOf(a.lost, a.gained);
    const bool sure = chance <= kSignificant;
    Finding f = makeFinding(Rule::AccuracyDrop);
    f.tensor = c.outputs.front().name;
    f.summary = fmt::format("It is right for {} of {} labelled samples, the float model for {}: {:.1f} points less "
                            "(samples lost: {}, gained: {}). Equally good models show that with a chance {} (exact "
                            "McNemar test){}.",
        percentText(a.quantizedAccuracy), a.labels, percentText(a.floatAccuracy), 100 * drop, a.lost, a.gained,
        chanceText(chance),
        sure ? std::string()
             : fmt::format(
                 ": not sure. One sample is {:.1f} points; more labelled ones would tell", 100 / double(a.labels)));
    if (!sure) {
        f.severity = Severity::Note;
        f.title = "The quantized model is right less often, which may be chance";
    }
    f.evidence = { evidence("drop_points", 100 * drop), evidence("labels", double(a.labels)),
        evidence("float_accuracy", a.floatAccuracy), evidence("quantized_accuracy", a.quantizedAccuracy),
        evidence("lost", double(a.lost)), evidence("gained", double(a.gained)), evidence("chance", chance) };
    f.remedy = "Mend what else is found here first; where nothing is, leave the nodes in float that the sensitivity "
               "analysis ranks first.";
    f.confidence = std::clamp(1 - chance, 0.0, 1.0);
    f.rank = 0; // what makes the drop comes first
    found.push_back(std::move(f));
}

} // namespace qs
