// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/findings.h"

#include "core/qdq/qlinear_signature.h"

#include <fmt/format.h>

namespace qs {

namespace {

constexpr double kWorthwhileDb = 6; ///< a bit
constexpr double kPoorWeightDb = 25;
constexpr double kDifferingShare = 0.001;

} // namespace

void findChannelImbalance(const Comparison& c, std::vector<Finding>& found)
{
    for (size_t i = 0; i < c.weights.size(); ++i) {
        const WeightRow& row = c.weights[i];
        if (row.bias || !row.params.perTensor() || !row.perChannelSqnrDb || !row.similarity.sqnrDb || !row.rangeRatio
            || dtypeBits(row.params.dtype) != 8)
            continue;
        const double gain = *row.perChannelSqnrDb - *row.similarity.sqnrDb;
        // Weights that differ for another reason would not gain by another granularity.
        if (gain < kWorthwhileDb || row.offByMoreThanHalfStep.value_or(0) > kDifferingShare)
            continue;
        Finding f = weightFinding(
            c, i, "channel_imbalance", *row.similarity.sqnrDb < kPoorWeightDb ? Severity::Warning : Severity::Note);
        f.title = fmt::format("One scale for unequal channels in {}", row.node);
        f.summary = fmt::format("The largest channel is {:.1f} times the median one; a scale per channel would give "
                                "{:.1f} dB instead of {:.1f} dB.",
            *row.rangeRatio, *row.perChannelSqnrDb, *row.similarity.sqnrDb);
        f.evidence = { evidence("range_ratio", *row.rangeRatio), evidence("sqnr_db", *row.similarity.sqnrDb, "dB"),
            evidence("per_channel_sqnr_db", *row.perChannelSqnrDb, "dB"), evidence("gain_db", gain, "dB") };
        f.remedy = "Quantize this weight per channel.";
        found.push_back(std::move(f));
    }
}

void findWeightsDiffer(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const Graph& graph = pair.floatPlan->graph();
    for (size_t i = 0; i < c.weights.size(); ++i) {
        const WeightRow& row = c.weights[i];
        const NodeId maker = graph.value(row.floatValue).producer;
        const bool rounded = maker.valid() && isDequantizeLinear(graph.node(maker)); // on a grid of its own
        if (row.bias || rounded || row.offByMoreThanHalfStep.value_or(0) <= kDifferingShare)
            continue;
        Finding f = weightFinding(c, i, "weights_differ", Severity::Warning);
        f.title = fmt::format("{} has other weights", row.node);
        f.summary
            = fmt::format("{:.1f} % of the elements are off by more than half a step without being clipped: retrained "
                          "(quantization-aware), equalized or other weights.",
                100 * *row.offByMoreThanHalfStep);
        f.evidence = { evidence("off_by_more_than_half_step", *row.offByMoreThanHalfStep),
            evidence("sqnr_db", row.similarity.sqnrDb.value_or(0), "dB") };
        f.remedy = "Compare with the float model of the same training, or read the numbers as two trained networks.";
        found.push_back(std::move(f));
    }
}

} // namespace qs
