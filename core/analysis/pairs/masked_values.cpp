// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/masked_values.h"

#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

/// Share of the range that lies empty between the mask and the rest.
constexpr double kMostOfRange = 0.5;
/// So far below the largest score of its row exp is zero in float32.
constexpr float kZeroDistance = 104;
/// No score lies so far below zero: where all of a row do, all are masked, as those of padding are.
constexpr float kLowestScore = -1000;
constexpr int64_t kLastAxisFrom = 13; ///< opset from which a Softmax without an axis has the last one

float largestOf(std::span<const float> scores)
{
    float largest = -std::numeric_limits<float>::infinity();
    for (const float score : scores)
        largest = std::max(largest, score); // not a number: stays out
    return largest;
}

/// Such operators keep rows along the last axis as they are.
bool keepsRows(const Node& node)
{
    return node.is("Cast") || node.is("Identity") || node.is("Reshape") || node.is("Squeeze") || node.is("Unsqueeze");
}

bool normalizesRows(const Plan& plan, const Node& softmax)
{
    const bool old = softmax.opset > 0 && softmax.opset < kLastAxisFrom;
    const int64_t axis = softmax.attributes.integer("axis", old ? 1 : -1);
    const auto& dims = plan.facts().of(softmax.inputs[0]).dims;
    return axis == -1 || (dims && axis + 1 == int64_t(dims->size()));
}

} // namespace

bool isReadByRows(const Plan& plan, ValueId value)
{
    const Graph& graph = plan.graph();
    const auto readers = softmaxReaders(graph, value);
    return !readers.empty() && std::ranges::all_of(readers, [&](NodeId id) {
        const Node& softmax = graph.node(id);
        ValueId from = softmax.inputs[0];
        while (from != value && keepsRows(graph.node(graph.value(from).producer)))
            from = graph.node(graph.value(from).producer).inputs[0];
        return from == value && normalizesRows(plan, softmax);
    });
}

bool isAddedToScores(const Plan& plan, ValueId value)
{
    constexpr size_t kMost = 16; // values
    const Graph& graph = plan.graph();
    std::vector<ValueId> front { value };
    bool added = false;
    for (size_t i = 0; i < front.size(); ++i) {
        if (i == kMost || graph.isOutput(front[i]))
            return false;
        for (const Use& use : graph.value(front[i]).uses) {
            const Node& node = graph.node(use.node);
            if (!node.hasOutput(0))
                return false;
            if (node.is("Add") && isReadByRows(plan, node.outputs[0]))
                added = true;
            else if (node.is("Add") || (use.slot == 0 && (movesElements(node) || node.is("Cast"))))
                front.push_back(node.outputs[0]);
            else
                return false;
        }
    }
    return added;
}

bool isMasking(float x) { return x < kLowestScore; }

ScoreRow::ScoreRow(std::span<const float> x, std::span<const float> y)
    : m_whole(largestOf(x) < kLowestScore)
    , m_zeroX(largestOf(x) - kZeroDistance)
    , m_nothingY(largestOf(y) - float(kMaskedDistance))
{
}

void blankMasked(const Plan& plan, ValueId value, size_t length, std::span<float> x, std::span<float> y)
{
    const bool rows = isReadByRows(plan, value);
    if (length == 0 || x.size() != y.size() || x.size() % length != 0 || (!rows && !isAddedToScores(plan, value)))
        return;
    for (size_t row = 0; row < x.size(); row += length) {
        const ScoreRow scores(x.subspan(row, length), y.subspan(row, length));
        for (size_t i = row; i < row + length; ++i)
            if (rows ? scores.isMasked(x[i], y[i]) : isMasking(x[i]) && isMasking(y[i]))
                x[i] = y[i] = 0;
    }
}

std::vector<NodeId> softmaxReaders(const Graph& graph, ValueId value)
{
    constexpr size_t kMost = 16; // values
    std::vector<NodeId> found;
    std::vector<ValueId> front { value };
    for (size_t i = 0; i < front.size(); ++i) {
        if (i == kMost || graph.isOutput(front[i]))
            return {};
        for (const Use& use : graph.value(front[i]).uses) {
            const Node& node = graph.node(use.node);
            if (use.slot != 0 || !node.hasOutput(0))
                return {};
            if (node.opType == "Softmax")
                found.push_back(use.node);
            else if (movesElements(node) || node.opType == "Cast")
                front.push_back(node.outputs[0]);
            else
                return {};
        }
    }
    std::ranges::sort(found);
    return found;
}

std::optional<double> lowestUnmasked(const Histogram& scores)
{
    const std::vector<uint64_t> counts = scores.counts().toVector();
    size_t widest = 0, end = 0, last = 0;
    for (size_t bin = 0; bin < counts.size(); ++bin) {
        if (counts[bin] == 0)
            continue;
        if (bin - last > widest) {
            widest = bin - last;
            end = bin;
        }
        last = bin;
    }
    const double width = scores.binWidth();
    if (widest < 2 || double(widest - 1) * width <= kMostOfRange * (scores.largest() - scores.smallest()))
        return std::nullopt;
    return scores.low() + double(end) * width;
}

} // namespace qs
