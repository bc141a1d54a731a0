// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/agreement/padded_positions.h"

#include "core/analysis/pairs/cache_pairs.h"
#include "core/analysis/tasks/position_paths.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

void addRun(size_t begin, size_t end, ElementRuns& runs)
{
    if (!runs.empty() && runs.back().second == begin)
        runs.back().second = end;
    else
        runs.emplace_back(begin, end);
}

/// Whether an axis of this size by the types can be that of the positions.
bool mayBePositions(const Dim& size, const Dim& positions)
{
    if (size.known())
        return positions.known() && size.value == positions.value;
    return size.symbol.empty() || positions.symbol.empty() || size.symbol == positions.symbol;
}

} // namespace

std::optional<TextPositions> textPositions(const Plan& floatPlan, const std::vector<OutputPair>& outputs)
{
    const auto scores
        = std::ranges::find_if(outputs, [](const OutputPair& out) { return out.task.tokens && out.task.tokens->mask; });
    if (scores == outputs.end())
        return std::nullopt;
    const Graph& graph = floatPlan.graph();
    TextPositions text { *scores->task.tokens, {}, {}, {} };
    const ValueId ids = graph.inputs()[text.tokens.ids];
    text.idsDims = floatPlan.facts().of(ids).dims.value_or(Dims());
    if (text.idsDims.size() != 2)
        return std::nullopt;
    text.values = valuesByPosition(floatPlan, ids);
    for (const auto& [output, input] : cachePairs(graph, true))
        for (const ValueId out : graph.outputs())
            if (graph.value(out).name == output)
                text.caches.insert(out);
    return text;
}

std::optional<PaddedPositions> PaddedPositions::of(const Plan& floatPlan, const TextPositions& text, const Feed& feed)
{
    const Tensor& ids = feed.inputs[text.tokens.ids];
    const Tensor& mask = feed.inputs[*text.tokens.mask];
    if (!ids.valid() || !mask.valid() || ids.rank() != 2 || feed.samples == 0 || ids.dim(0) != int64_t(feed.samples)
        || mask.count() % int64_t(feed.samples) != 0)
        return std::nullopt;
    PaddedPositions padded(floatPlan, text, feed.samples);
    padded.m_positions = size_t(ids.dim(1));
    padded.m_width = size_t(mask.count()) / feed.samples; // longer than the ids where a past is given
    for (const int64_t shown : toInts(mask))
        padded.m_counts.push_back(shown != 0);
    if (padded.m_width < padded.m_positions || std::ranges::find(padded.m_counts, uint8_t(0)) == padded.m_counts.end())
        return std::nullopt;
    return padded;
}

std::optional<std::pair<size_t, bool>> PaddedPositions::axisOf(
    ValueId value, const Shape& shape, size_t positions, bool cache) const
{
    const auto& dims = m_plan->facts().of(value).dims;
    const bool typed = dims && dims->size() == shape.size();
    std::vector<size_t> found;
    for (size_t axis = 1; axis < shape.size(); ++axis) {
        const bool fits
            = !typed || (cache ? !(*dims)[axis].known() : mayBePositions((*dims)[axis], m_text->idsDims[1]));
        if (shape[axis] == int64_t(positions) && fits)
            found.push_back(axis);
    }
    // [.., positions, positions]: scores of attention, a row for each position.
    const bool scores = found.size() == 2 && found[1] + 1 == shape.size() && found[0] + 1 == found[1];
    if (found.size() != 1 && !scores)
        return std::nullopt;
    const bool named = typed && !(*dims)[found[0]].symbol.empty();
    if (shape.size() == 2 && !named && value != m_plan->graph().inputs()[m_text->tokens.ids])
        return std::nullopt; // as many features as positions
    return std::pair(found[0], scores);
}

std::optional<PaddedPositions::Place> PaddedPositions::placeOf(ValueId value, const Shape& shape) const
{
    const bool cache = m_text->caches.contains(value);
    if (shape.size() < 2 || (!cache && !m_text->values.contains(value)))
        return std::nullopt;
    Place place;
    place.positions = cache ? m_width : m_positions;
    place.first = m_width - place.positions;
    size_t axis = 0;
    if (shape[0] == int64_t(m_samples)) {
        const auto found = axisOf(value, shape, place.positions, cache);
        if (!found)
            return std::nullopt;
        axis = found->first;
        place.scores = found->second;
    } else { // rows of all samples, one after the other?
        const auto& dims = m_plan->facts().of(value).dims;
        const bool fixed = dims && !dims->empty() && (*dims)[0].known() && !m_text->idsDims[1].known();
        if (cache || fixed || shape[0] != int64_t(m_samples * m_positions))
            return std::nullopt;
    }
    for (size_t d = 1; d < shape.size(); ++d)
        if (d != axis)
            (d < axis ? place.outer : place.inner) *= size_t(shape[d]);
    return place;
}

/// The elements of one position from `begin` on.
void PaddedPositions::addRuns(const Place& place, size_t row, size_t begin, ElementRuns& runs) const
{
    if (!place.scores)
        return addRun(begin, begin + place.inner, runs);
    for (size_t i = 0; i < place.positions; ++i)
        if (m_counts[row + i])
            addRun(begin + i, begin + i + 1, runs);
}

std::optional<ElementRuns> PaddedPositions::counted(
    ValueId value, const Shape& shape, size_t sample, bool wholeRows) const
{
    auto place = placeOf(value, shape);
    if (!place || sample >= m_samples)
        return std::nullopt;
    place->scores = place->scores && !wholeRows;
    ElementRuns runs;
    const size_t row = sample * m_width + place->first;
    for (size_t outer = 0; outer < place->outer; ++outer)
        for (size_t i = 0; i < place->positions; ++i) {
            if (!m_counts[row + i])
                continue;
            addRuns(*place, row, (outer * place->positions + i) * place->inner, runs);
        }
    return runs;
}

std::optional<ElementRuns> PaddedPositions::countedOfAll(ValueId value, const Shape& shape) const
{
    const auto place = placeOf(value, shape);
    if (!place)
        return std::nullopt;
    const size_t each = place->outer * place->positions * place->inner;
    ElementRuns all;
    for (size_t s = 0; s < m_samples; ++s) {
        const auto runs = counted(value, shape, s);
        for (const auto& [begin, end] : *runs)
            all.emplace_back(s * each + begin, s * each + end);
    }
    return all;
}

CountedElements countedElements(
    std::shared_ptr<const Plan> floatPlan, std::shared_ptr<const TextPositions> text, const Feed& feed)
{
    auto padded = text ? PaddedPositions::of(*floatPlan, *text, feed) : std::nullopt;
    if (!padded)
        return {};
    return [floatPlan = std::move(floatPlan), text = std::move(text), padded = std::move(*padded)](
               ValueId value, const Shape& shape) { return padded.countedOfAll(value, shape); };
}

} // namespace qs
