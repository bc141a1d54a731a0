// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rules/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

/// One range for all samples, or one for each: whether it is the right choice.
namespace qs {

namespace {

constexpr size_t kFewestSpread = 8; ///< that tell how ranges spread
constexpr double kVariesDb = 6; ///< a whole bit
constexpr double kSpreadMindedDb = 35; ///< above this (noise power 0.03 %) nobody minds
constexpr double kSteadyDb = 2; ///< a third of a bit: what computing ranges anew buys at most
constexpr double kGoodStaticDb = 25; ///< with one range for all, too

/// Operators whose inputs the dynamic form quantizes.
constexpr std::array<std::string_view, 5> kDynamic { "MatMul", "Gemm", "Conv", "LSTM", "Attention" };

/// What is cut off, no range of a sample's own mends by the step.
bool roundingRules(const ActivationRow& row)
{
    constexpr double kNearIdealDb = 3;
    return hasOwnRange(row) && *row.localSqnrDb > *row.idealSqnrDb - kNearIdealDb;
}

bool feedsDynamic(const Graph& graph, ValueId value)
{
    return std::ranges::any_of(graph.value(value).uses, [&](const Use& use) {
        return use.slot == 0 && std::ranges::find(kDynamic, graph.node(use.node).opType) != kDynamic.end();
    });
}

void findVarying(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        if (row.params.scale.empty() || row.dynamic || !roundingRules(row) || !row.ownRangesGainDb
            || *row.ownRangesGainDb < kVariesDb || *row.localSqnrDb > kSpreadMindedDb || !firstOfQuantizer(c, i)
            || std::ranges::any_of(found, [&](const Finding& f) {
                   return f.tensor == row.name && f.severity != Severity::Note; // another range is the first thing
               }))
            continue;
        Finding f = activationFinding(c, i, Rule::RangeVaries);
        const std::string place = placeName(row);
        f.cause = "varies";
        f.title = fmt::format("The range at {} differs from sample to sample", place);
        f.summary = fmt::format("Half of the {} samples use less than {} of the range that all of them need. Ranges of "
                                "each sample's own would make {:.1f} dB less noise of rounding here, predicted from "
                                "their steps.",
            c.samples, percentText(*row.medianSampleWidth), *row.ownRangesGainDb);
        f.evidence = { evidence("gain_db", *row.ownRangesGainDb, "dB"),
            evidence("median_sample_width", *row.medianSampleWidth), evidence("samples", double(c.samples)),
            evidence("local_sqnr_db", *row.localSqnrDb, "dB") };
        f.confidence = 0.8;
        f.expectedGainDb = gainAtTensor(row, *row.ownRangesGainDb);
        if (feedsDynamic(pair.floatPlan->graph(), row.floatValue)) {
            f.remedy = "Try the dynamic format, which computes ranges for each sample; it costs a pass over each "
                       "quantized input.";
            f.change = { RemedyKind::DynamicFormat, row.node, row.name, 0, 0, 0 };
        } else {
            f.cause = "varies, static alone";
            f.remedy = "Leave the nodes around it in float, or give this tensor 16 bits; the dynamic format does not "
                       "quantize it.";
        }
        found.push_back(std::move(f));
    }
}

/// Of a file with dynamic quantizers: one range would do as well.
void findSteady(const Comparison& c, std::vector<Finding>& found)
{
    size_t dynamic = 0;
    std::vector<FindingPlace> steady;
    double most = 0;
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        if (!row.dynamic || !firstOfQuantizer(c, i) || !row.ownRangesGainDb || !row.localSqnrDb)
            continue;
        ++dynamic;
        const double cost = std::max(*row.ownRangesGainDb, 0.0);
        if (cost > kSteadyDb || *row.localSqnrDb - cost < kGoodStaticDb)
            continue;
        most = std::max(most, cost);
        steady.push_back({ row.node, row.name, i, {},
            { evidence("cost_db", cost, "dB"), evidence("local_sqnr_db", *row.localSqnrDb, "dB") }, {}, {}, 0.8 });
    }
    if (steady.empty())
        return;
    Finding f = activationFinding(c, *steady.front().activation, Rule::RangeVaries);
    f.cause = "steady";
    f.title = fmt::format("{} of {} dynamic ranges hardly differ from sample to sample", steady.size(), dynamic);
    f.summary = fmt::format("One range for all {} samples would cost at most {:.1f} dB there, predicted from its step, "
                            "and save a pass over the data in each run.",
        c.samples, most);
    f.evidence = { evidence("tensors", double(steady.size())), evidence("quantizers", double(dynamic)),
        evidence("cost_db", most, "dB") };
    f.remedy = "Compare with a static format, which calibrates these ranges once.";
    f.change = { RemedyKind::StaticFormat, {}, {}, 0, 0, 0 };
    f.confidence = 0.8;
    f.rank = 0;
    f.places = std::move(steady);
    found.push_back(std::move(f));
}

} // namespace

void findRangeVaries(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    if (c.samples < kFewestSpread)
        return;
    findVarying(pair, c, found);
    findSteady(c, found);
}

} // namespace qs
