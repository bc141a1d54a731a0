// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/pair_memory.h"

#include "core/engine/lowered/content_key.h"

#include <algorithm>
#include <bit>

namespace qs {

namespace {

uint64_t bytesOf(const PairStatistics& s)
{
    const auto counts = [](const Histogram& h) { return h.counts().bytes(); };
    const PairHistograms& h = s.histograms;
    return sizeof(s) + s.sums.size() * (sizeof(PairSums) + 3 * sizeof(double) + 2 * sizeof(int64_t) + 1) + counts(h.x)
        + counts(h.y) + counts(h.error) + counts(h.before) + s.scores.size() * sizeof(ScoreSums)
        + s.masks.size() * sizeof(MaskSums) + s.boxes.size() * sizeof(BoxSums)
        + 2 * s.parts.all.size() * sizeof(uint64_t);
}

/// Collects what a measurement follows from; nothing where a part has no key.
class PartsKey {
public:
    PartsKey& value(const Plan& plan, ValueId id)
    {
        const Hash128* key = id.valid() ? plan.key(id) : nullptr;
        m_whole = m_whole && (!id.valid() || key);
        m_key.add(int64_t(id.valid()));
        if (key)
            m_key.add(*key);
        return *this;
    }
    PartsKey& number(int64_t n)
    {
        m_key.add(n);
        return *this;
    }
    PartsKey& real(float x) { return number(std::bit_cast<int32_t>(x)); }
    PartsKey& params(const QuantParams& p)
    {
        number(int64_t(p.dtype)).number(p.axis.value_or(-1)).number(p.blockSize).number(int64_t(p.scale.size()));
        for (float s : p.scale)
            real(s);
        for (int32_t z : p.zeroPoint)
            number(z);
        for (float z : p.zeroRest)
            real(z);
        return *this;
    }
    std::optional<Hash128> key() const { return m_whole ? std::optional(m_key.key()) : std::nullopt; }

private:
    KeyBuilder m_key;
    bool m_whole = true;
};

/// A node names its value before rounding, which follows from what its output does.
ValueId firstOutput(const Plan& plan, NodeId node)
{
    return node.valid() ? plan.graph().node(node).outputs[0] : ValueId();
}

void addFactors(const PairPlan& p, PartsKey& key)
{
    key.number(p.factors ? int64_t(p.factors->factors.size()) : 0).number(p.factors && p.factors->last);
    for (size_t i = 0; p.factors && i < p.factors->factors.size(); ++i)
        key.real(p.factors->factors[i]);
}

std::optional<Hash128> keyOf(const ComparePair& pair, const PairPlan& p, bool histograms)
{
    const Plan& q = *pair.quantPlan;
    PartsKey key;
    key.number(histograms || p.needsHistograms()).number(p.scoreRows).number(p.addedMask).value(*pair.floatPlan, p.x);
    for (ValueId id : { p.y, p.p, p.codes, p.dynamicScale, p.dynamicZero, firstOutput(q, p.unrounded),
             firstOutput(q, p.beforeRounding) })
        key.value(q, id);
    addFactors(p, key);
    return key.params(p.params).number(p.ownQuantizer).real(p.activation.low).real(p.activation.high).key();
}

void addOutput(const ComparePair& pair, const OutputPair& out, PartsKey& key)
{
    key.value(*pair.floatPlan, out.x).value(*pair.quantPlan, out.y);
    if (out.quantizer)
        key.params(pair.quantView->quantizers()[*out.quantizer].params);
}

std::optional<Hash128> keyOf(const ComparePair& pair, const std::vector<OutputPair>& outputs, size_t index)
{
    const OutputPair& out = outputs[index];
    PartsKey key;
    key.number(2);
    addOutput(pair, out, key);
    const OutputTask& task = out.task;
    key.number(int64_t(task.what.kind)).number(int64_t(task.what.form)).number(int64_t(task.scores));
    key.number(task.channelsLast).number(task.holdsClasses).number(task.centres).number(int64_t(task.parts.size()));
    for (const size_t part : task.parts)
        addOutput(pair, outputs[part], key);
    for (const double share : { pair.tasks.boxes.score, pair.tasks.boxes.suppression, pair.tasks.boxes.match })
        key.number(task.parts.empty() ? 0 : std::bit_cast<int64_t>(share));
    return key.key();
}

/// Of the histogram of x alone.
std::optional<Hash128> floatKey(const ComparePair& pair, const PairPlan& p)
{
    PartsKey key;
    key.number(3).value(*pair.floatPlan, p.x);
    addFactors(p, key);
    return key.key();
}

/// One row of a table by [row * columns + column].
template <class T> std::vector<T> rowOf(const std::vector<T>& table, size_t row, size_t columns)
{
    const auto begin = table.begin() + static_cast<std::ptrdiff_t>(row * columns);
    return { begin, begin + static_cast<std::ptrdiff_t>(columns) };
}
template <class T> void setRow(std::vector<T>& table, size_t row, const std::vector<T>& values)
{
    std::ranges::copy(values, table.begin() + static_cast<std::ptrdiff_t>(row * values.size()));
}

} // namespace

std::shared_ptr<const PairStatistics> PairMemory::find(Hash128 key)
{
    const std::lock_guard lock(m_mutex);
    const auto it = m_index.find(key);
    if (it == m_index.end())
        return nullptr;
    m_entries.splice(m_entries.end(), m_entries, it->second);
    return it->second->statistics;
}

void PairMemory::keep(Hash128 key, std::shared_ptr<const PairStatistics> statistics)
{
    const std::lock_guard lock(m_mutex);
    if (m_index.contains(key))
        return;
    m_used += bytesOf(*statistics);
    m_index[key] = m_entries.insert(m_entries.end(), { key, std::move(statistics) });
    while (m_used > m_budget && m_entries.size() > 1) {
        m_used -= bytesOf(*m_entries.front().statistics);
        m_index.erase(m_entries.front().key);
        m_entries.pop_front();
    }
}

std::shared_ptr<const WeightRow> PairMemory::findWeight(Hash128 key)
{
    const std::lock_guard lock(m_mutex);
    const auto it = m_weights.find(key);
    return it == m_weights.end() ? nullptr : it->second;
}

std::shared_ptr<const InputStatistics> PairMemory::inputs()
{
    const std::lock_guard lock(m_mutex);
    return m_inputs;
}

void PairMemory::keepInputs(std::shared_ptr<const InputStatistics> inputs)
{
    const std::lock_guard lock(m_mutex);
    m_inputs = std::move(inputs);
}

std::optional<std::map<std::string, uint8_t>> PairMemory::readsAhead()
{
    const std::lock_guard lock(m_mutex);
    return m_readsAhead;
}

void PairMemory::keepReadsAhead(std::map<std::string, uint8_t> found)
{
    const std::lock_guard lock(m_mutex);
    m_readsAhead = std::move(found);
}

void PairMemory::keepWeight(Hash128 key, std::shared_ptr<const WeightRow> row)
{
    constexpr size_t kMost = 4096; // rows; some kilobytes each
    const std::lock_guard lock(m_mutex);
    if (m_weights.size() >= kMost)
        m_weights.clear();
    m_weights[key] = std::move(row);
}

std::optional<Hash128> weightKey(
    const ComparePair& pair, ValueId floatValue, uint32_t quantizer, std::initializer_list<int64_t> layout)
{
    const Quantizer& q = pair.quantView->quantizers()[quantizer];
    if (q.logicalCodes.valid())
        return std::nullopt;
    PartsKey key;
    key.number(4).value(*pair.floatPlan, floatValue).value(*pair.quantPlan, q.codes).params(q.params);
    for (int64_t number : layout)
        key.number(number);
    return key.key();
}

RememberedPairs::RememberedPairs(PairMemory& memory, const ComparePair& pair, const std::vector<OutputPair>& outputs,
    bool histograms, Measured& measured)
    : m_memory(memory)
    , m_measured(measured)
{
    for (size_t i = 0; i < measured.pairs.size(); ++i) {
        m_pairs.push_back(keyOf(pair, measured.pairs[i], histograms));
        if (const auto known = m_pairs[i] ? memory.find(*m_pairs[i]) : nullptr)
            take(i, *known);
        m_floats.push_back(histograms ? floatKey(pair, measured.pairs[i]) : std::nullopt);
        const auto seen = m_floats[i] && !measured.knownPairs[i] ? memory.find(*m_floats[i]) : nullptr;
        measured.knownFloats[i] = seen != nullptr;
        if (seen)
            measured.shared[i]->histograms.x = seen->histograms.x;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
        m_outputs.push_back(keyOf(pair, outputs, i));
        if (const auto known = m_outputs[i] ? memory.find(*m_outputs[i]) : nullptr)
            takeOutput(i, *known);
    }
}

void RememberedPairs::take(size_t pair, const PairStatistics& known)
{
    m_measured.knownPairs[pair] = true;
    setRow(m_measured.sums, pair, known.sums);
    setRow(m_measured.scaleSquares, pair, known.scaleSquares);
    PairShared& shared = *m_measured.shared[pair];
    shared.histograms = known.histograms;
    shared.codes = known.codes;
    shared.shape = known.shape;
    shared.cachePeaks = known.cachePeaks;
}

void RememberedPairs::takeOutput(size_t output, const PairStatistics& known)
{
    m_measured.knownOutputs[output] = true;
    setRow(m_measured.outputSums, output, known.sums);
    setRow(m_measured.floatClass, output, known.floatClass);
    setRow(m_measured.quantClass, output, known.quantClass);
    setRow(m_measured.floatMargin, output, known.floatMargin);
    setRow(m_measured.quantMargin, output, known.quantMargin);
    setRow(m_measured.scores, output, known.scores);
    setRow(m_measured.tokens, output, known.tokens);
    setRow(m_measured.masks, output, known.masks);
    setRow(m_measured.boxes, output, known.boxes);
    m_measured.parts[output]->merge(known.parts);
}

bool RememberedPairs::complete() const
{
    const auto all = [](const std::vector<bool>& known) { return std::ranges::find(known, false) == known.end(); };
    return all(m_measured.knownPairs) && all(m_measured.knownOutputs);
}

void RememberedPairs::keep()
{
    const Measured& m = m_measured;
    for (size_t i = 0; i < m_pairs.size(); ++i) {
        if (!m_pairs[i] || m.knownPairs[i])
            continue;
        auto now = std::make_shared<PairStatistics>();
        now->sums = rowOf(m.sums, i, m.samples);
        now->scaleSquares = rowOf(m.scaleSquares, i, m.samples);
        now->histograms = m.shared[i]->histograms;
        now->codes = m.shared[i]->codes;
        now->shape = m.shared[i]->shape;
        now->cachePeaks = m.shared[i]->cachePeaks;
        if (m_floats[i] && !m.knownFloats[i]) {
            auto floats = std::make_shared<PairStatistics>();
            floats->histograms.x = now->histograms.x;
            m_memory.keep(*m_floats[i], std::move(floats));
        }
        m_memory.keep(*m_pairs[i], std::move(now));
    }
    for (size_t i = 0; i < m_outputs.size(); ++i) {
        if (!m_outputs[i] || m.knownOutputs[i])
            continue;
        auto now = std::make_shared<PairStatistics>();
        now->sums = rowOf(m.outputSums, i, m.samples);
        now->floatClass = rowOf(m.floatClass, i, m.samples);
        now->quantClass = rowOf(m.quantClass, i, m.samples);
        now->floatMargin = rowOf(m.floatMargin, i, m.samples);
        now->quantMargin = rowOf(m.quantMargin, i, m.samples);
        now->scores = rowOf(m.scores, i, m.samples);
        now->tokens = rowOf(m.tokens, i, m.samples);
        now->masks = rowOf(m.masks, i, m.samples);
        now->boxes = rowOf(m.boxes, i, m.samples);
        now->parts = m.parts[i]->now();
        m_memory.keep(*m_outputs[i], std::move(now));
    }
}

} // namespace qs
