// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/agreement/task_rows.h"
#include "core/analysis/rows/fill_rows.h"
#include "core/data/data_source.h"
#include "core/graph/handed_on.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

/// Samples that differ at the first output with a task that counts them.
void fillFlipped(const Measured& m, Comparison& result)
{
    const auto counting = std::ranges::find_if(result.outputs,
        [](const OutputRow& row) { return row.task.what.kind != TaskKind::Mask && !row.task.samples.empty(); });
    if (counting == result.outputs.end())
        return;
    auto sample = counting->task.samples.begin();
    for (size_t s = 0; s < m.samples; ++s)
        if (m.done[s] && (sample++)->differs)
            result.flipped.push_back(m.firstSample + s);
}

void fillScores(const ScoreSums& scores, OutputRow& row)
{
    row.positions = scores.positions;
    if (scores.positions > 0) {
        row.top1Agreement = scores.agreeing / scores.positions;
        row.top5Agreement = scores.amongFive / scores.positions;
    }
    if (scores.distributions > 0) {
        row.klMean = scores.divergence / scores.distributions;
        row.klMax = scores.largestDivergence;
    }
}

void fillClasses(const Measured& m, const std::vector<int64_t>& all, Comparison& result)
{
    for (size_t s = 0; s < m.samples; ++s)
        if (m.done[s] && m.floatClass[s] == kNoScores)
            return fillFlipped(m, result); // no scores, or several positions a sample
    Accuracy accuracy;
    size_t right = 0, quantRight = 0;
    for (size_t s = 0; s < m.samples; ++s) {
        if (!m.done[s])
            continue;
        result.floatClass.push_back(m.floatClass[s]);
        result.quantClass.push_back(m.quantClass[s]);
        result.floatMargin.push_back(m.floatMargin[s]);
        result.quantMargin.push_back(m.quantMargin[s]);
        if (m.floatClass[s] != m.quantClass[s])
            result.flipped.push_back(m.firstSample + s);
        if (const auto label = labelOf(all, m.firstSample + s)) {
            const bool before = m.floatClass[s] == *label;
            const bool after = m.quantClass[s] == *label;
            ++accuracy.labels;
            right += before;
            quantRight += after;
            accuracy.lost += before && !after;
            accuracy.gained += after && !before;
        }
    }
    if (accuracy.labels == 0)
        return;
    accuracy.floatAccuracy = double(right) / double(accuracy.labels);
    accuracy.quantizedAccuracy = double(quantRight) / double(accuracy.labels);
    result.accuracy = accuracy;
}

} // namespace

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::max(), kNoNoise = std::numeric_limits<double>::infinity();

} // namespace

std::vector<const OutputRow*> resultOutputs(const std::vector<OutputRow>& outputs)
{
    const auto rank = [](const OutputRow& row) { return row.handedOn ? 2 : row.choices ? 1 : 0; };
    int best = 2;
    for (const OutputRow& row : outputs)
        best = std::min(best, rank(row));
    std::vector<const OutputRow*> results;
    for (const OutputRow& row : outputs)
        if (rank(row) == best)
            results.push_back(&row);
    return results;
}

const OutputRow* worstOutput(const std::vector<OutputRow>& outputs)
{
    const auto quality = [](const OutputRow* row) {
        return row->similarity.exact ? kNoNoise : row->similarity.sqnrDb.value_or(kNoNumber);
    };
    const std::vector<const OutputRow*> results = resultOutputs(outputs);
    const auto worst = std::ranges::min_element(results, {}, quality);
    return worst == results.end() ? nullptr : *worst;
}

void fillOutputs(const ComparePair& pair, const Measured& m, const std::vector<int64_t>& labels, Comparison& result)
{
    const auto outputs = pairOutputs(pair);
    for (size_t o = 0; o < outputs.size(); ++o) {
        OutputRow row;
        row.name = outputs[o].name;
        row.quantizedName = outputs[o].quantizedName;
        row.floatValue = outputs[o].x;
        row.quantValue = outputs[o].y;
        row.handedOn = isHandedOn(pair.floatPlan->graph(), row.floatValue);
        row.choices = outputs[o].task.choices;
        PairSums sums, written;
        ScoreSums scores;
        std::vector<MeasuredPrompt> prompts;
        for (size_t s = 0; s < m.samples; ++s) {
            if (!m.done[s])
                continue;
            const size_t at = o * m.samples + s;
            sums.merge(m.outputSums[at]);
            row.sampleSqnrDb.push_back(powerRatioDb(m.outputSums[at].xx, m.outputSums[at].ee));
            row.sampleNoise.push_back(m.outputSums[at].ee);
            if (!m.writtenSums.empty())
                written.merge(m.writtenSums[at]);
            scores.merge(m.scores[at]);
            if (!m.tokens[at].empty())
                prompts.push_back({ s, &m.tokens[at] });
        }
        row.similarity = similarityOf(sums);
        if (!m.writtenSums.empty())
            row.implementation = similarityOf(written);
        fillScores(scores, row);
        if (!prompts.empty())
            row.language = languageRow(
                prompts, size_t(scores.positions), m.readsAhead[o] != 0 ? ScoredToken::Own : ScoredToken::Next);
        row.task = taskRow(pair, outputs, o, m);
        row.task.scored = row.language ? row.language->scored : ScoredToken::None;
        result.outputs.push_back(std::move(row));
    }
    if (!outputs.empty())
        fillClasses(m, labels, result);
}

} // namespace qs
