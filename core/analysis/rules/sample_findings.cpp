// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

/// Whether a few samples carry the error or all of them, and what none of them shows.
namespace qs {

namespace {

constexpr size_t kFewestSamples = 8;
constexpr double kWorthTellingDb = 25;
constexpr double kFewShare = 0.1; ///< of the samples ...
constexpr double kMostNoise = 0.5; ///< ... that carry this much of the noise
constexpr double kEven = 2; ///< times their share of the samples, up to which noise is spread evenly
constexpr size_t kListed = 10;
constexpr size_t kNamedUnreached = 3;

} // namespace

void findUnreachedByData(const Comparison& c, std::vector<Finding>& found)
{
    if (!c.network || !c.network->same() || c.network->unreached.empty())
        return;
    const std::vector<std::string>& all = c.network->unreached;
    const size_t named = std::min(all.size(), kNamedUnreached);
    Finding f = makeFinding(Rule::ModelsDiffer);
    f.severity = Severity::Note;
    f.cause = "unreached";
    f.title = "The files differ where these data do not reach";
    f.summary = asSentence(
        fmt::format("{}{}. On the samples that both were run on without quantizers this moves no output: on "
                    "others (longer texts, other tokens, larger values) it may.",
            fmt::join(all.begin(), all.begin() + std::ptrdiff_t(named), "; "),
            all.size() > named ? fmt::format("; and {} more", all.size() - named) : std::string()));
    f.evidence = { evidence("differences", double(all.size())) };
    f.remedy = "Compare with data that reach it, or give the quantized file what the float model has there.";
    found.push_back(std::move(f));
}

namespace {

/// Nothing else is quantized, or nothing else adds as much.
bool weightsCostMost(const Comparison& c, const std::vector<Finding>& found)
{
    return onlyWeightsQuantized(c) || std::ranges::any_of(found, [](const Finding& f) {
        return f.rule == Rule::WeightsTooCoarse && f.cause == "costly";
    });
}

} // namespace

void findSampleSpread(const Comparison& c, std::vector<Finding>& found)
{
    for (const OutputRow& out : c.outputs) {
        if (out.choices)
            continue;
        const std::vector<double>& noise = out.sampleNoise;
        const double total = std::accumulate(noise.begin(), noise.end(), 0.0);
        if (noise.size() < kFewestSamples || total <= 0
            || out.similarity.sqnrDb.value_or(kWorthTellingDb) >= kWorthTellingDb)
            continue;
        std::vector<size_t> order(noise.size());
        std::iota(order.begin(), order.end(), size_t(0));
        std::ranges::stable_sort(order, [&](size_t a, size_t b) { return noise[a] > noise[b]; });
        const size_t few = std::max<size_t>(size_t(kFewShare * double(noise.size())), 1);
        double carried = 0;
        std::string list;
        for (size_t i = 0; i < few; ++i) {
            carried += noise[order[i]];
            if (i < kListed)
                list += (list.empty() ? "" : ", ") + std::to_string(order[i]);
        }
        const bool sensitive = carried > kMostNoise * total;
        const double even = double(few) / double(noise.size());
        if (!sensitive && carried > kEven * even * total)
            return; // neither
        Finding f = makeFinding(sensitive ? Rule::DataSensitive : Rule::DataInsensitive);
        f.tensor = out.name;
        f.summary = fmt::format("The worst {} of {} samples {} {} of the noise at {}; their even share would be {}.",
            few, noise.size(), few == 1 ? "carries" : "carry", percentText(carried / total), out.name,
            percentText(even));
        f.evidence = { evidence("samples", double(few)), evidence("noise_share", carried / total),
            { "worst", std::nullopt, list, {} } };
        if (sensitive)
            f.remedy = "Look at these samples, and calibrate with more like them: " + list + ".";
        else if (weightsCostMost(c, found))
            f.remedy = "Store the weights finer, in more bits or smaller blocks: other data would not change this.";
        f.confidence = 0.7;
        found.push_back(std::move(f));
        return; // one output says it
    }
}

} // namespace qs
