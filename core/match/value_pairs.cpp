// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/value_pairs.h"

#include "core/qdq/qlinear_signature.h"
#include "core/qdq/same_params.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

using FloatsOfRoots = std::map<ValueId, std::vector<ValueId>>;

/// The quantizer behind a node that only gives its input another shape, and no value of the float model's own.
std::optional<uint32_t> quantizerBehind(
    const GraphPair& g, NodeId reader, ValueId root, const FloatsOfRoots& floatsOf, int depth)
{
    constexpr int kDeepest = 4;
    const auto inputs = g.q.dataInputs(reader);
    if (g.q.kind(reader) != FlowKind::Reshape || inputs.empty() || inputs[0] != root || depth > kDeepest)
        return std::nullopt;
    const ValueId out = g.q.root(g.q.graph().node(reader).outputs[0]);
    if (floatsOf.contains(out) || g.q.graph().isOutput(out))
        return std::nullopt;
    if (const auto q = g.view.ofValue(out))
        return g.view.quantizers()[*q].real == out ? q : std::nullopt;
    const auto& readers = g.q.readers(out);
    return readers.size() == 1 ? quantizerBehind(g, readers[0], out, floatsOf, depth + 1) : std::nullopt;
}

/// The quantizer of a value: its own, or where it has none and whoever reads it has it in another shape first, as ONNX
/// Runtime's preparation writes products of three axes, the first of those behind.
std::optional<uint32_t> quantizerOf(const GraphPair& g, ValueId root, const FloatsOfRoots& floatsOf)
{
    if (const auto own = g.view.ofValue(root); own || g.view.scaledSums(root).valid())
        return own;
    std::optional<uint32_t> first;
    for (const NodeId reader : g.q.readers(root)) {
        const auto behind = quantizerBehind(g, reader, root, floatsOf, 0);
        if (!behind)
            return std::nullopt;
        if (!first)
            first = behind;
    }
    return g.q.graph().isOutput(root) ? std::nullopt : first;
}

/// All pairs of QuantizeLinear and DequantizeLinear by the root that they quantize: readers may have one each, or one
/// stands behind another.
std::map<ValueId, std::vector<uint32_t>> pairsOfRoots(const GraphPair& g)
{
    std::map<ValueId, std::vector<uint32_t>> pairs;
    const auto& all = g.view.quantizers();
    for (size_t i = 0; i < all.size(); ++i)
        if (const Quantizer& q = all[i]; q.role == QuantRole::Activation && q.real.valid() && q.dequantized.valid()
            && !q.dynamic && q.quantize.valid() && isQuantizeLinear(g.q.graph().node(q.quantize)))
            pairs[g.q.root(q.real)].push_back(uint32_t(i));
    return pairs;
}

constexpr size_t kMostQuantizers = 256; ///< of one value, with parameters of their own

/// Those of the root of `first` that have other parameters than it and each other: equal ones give equal values.
std::vector<uint32_t> furtherQuantizers(
    const GraphPair& g, const std::map<ValueId, std::vector<uint32_t>>& byRoot, uint32_t first)
{
    const auto& all = g.view.quantizers();
    const auto it = all[first].real.valid() ? byRoot.find(g.q.root(all[first].real)) : byRoot.end();
    std::vector<uint32_t> different { first };
    if (it != byRoot.end() && std::ranges::find(it->second, first) != it->second.end())
        for (const uint32_t other : it->second)
            if (different.size() < kMostQuantizers && std::ranges::none_of(different, [&](uint32_t known) {
                    return sameParams(all[known].params, all[other].params);
                }))
                different.push_back(other);
    different.erase(different.begin());
    return different;
}

/// Pairs of the float values that share one quantized root.
class RootPairs {
public:
    /// `quantizer`: of what is shown in place of the root.
    RootPairs(const GraphPair& g, const Correspondence& found, ValueId root, std::optional<uint32_t> quantizer,
        std::vector<ValuePair>& pairs)
        : m_g(g)
        , m_found(found)
        , m_root(root)
        , m_quantizer(quantizer)
        , m_pairs(pairs)
    {
        const ValueId scaled = g.view.scaledSums(root);
        m_shown = m_quantizer ? g.view.quantizers()[*m_quantizer].shown() : scaled.valid() ? scaled : root;
    }

    /// `chain`: in topological order. The last is what is shown, and so are those before it that have the same numbers;
    /// one past an activation that the quantizer replaces is the value before the quantizer.
    void add(const std::vector<ValueId>& chain)
    {
        Place place = Place::Shown;
        for (size_t i = chain.size(); i-- > 0;) {
            const bool same = m_g.evidence && m_g.evidence->verdict(chain[i], m_shown) == Verdict::Same;
            const bool byHand = m_found.values.at(chain[i]).method == MatchMethod::Manual;
            if (m_g.evidence && !byHand && isBounded(chain[i], chain))
                place = Place::Before;
            else if (same || byHand)
                place = Place::Shown;
            if (place == Place::Shown)
                addShown(chain[i]);
            else if (place == Place::Before)
                addBefore(chain[i]);
            place = place == Place::Shown && i > 0 ? placeBefore(chain[i], chain[i - 1]) : Place::Elsewhere;
        }
    }

    /// Another quantizer of what the last one shows.
    void addFurther(ValueId f, uint32_t quantizer)
    {
        const auto known = std::find_if(m_pairs.rbegin(), m_pairs.rend(), // it is one of the last
            [&](const ValuePair& pair) { return pair.floatValue == f && pair.quantValue == m_shown && m_quantizer; });
        if (known == m_pairs.rend())
            return;
        ValuePair pair = *known;
        pair.quantValue = m_g.view.quantizers()[quantizer].shown();
        pair.quantizer = quantizer;
        m_pairs.push_back(std::move(pair));
    }

private:
    enum class Place { Shown, Before, Elsewhere };

    /// An activation of the float model, which the quantizer replaces, reads it and makes another value of the chain.
    bool isBounded(ValueId f, const std::vector<ValueId>& chain) const
    {
        return std::ranges::any_of(chain, [&](ValueId other) {
            const NodeId producer = m_g.f.graph().value(other).producer;
            if (!producer.valid() || m_g.f.kind(producer) != FlowKind::Activation)
                return false;
            const auto inputs = m_g.f.dataInputs(producer);
            return !inputs.empty() && inputs[0] == f;
        });
    }

    void addShown(ValueId f)
    {
        const RootMatch& match = m_found.values.at(f);
        m_pairs.push_back({ f, m_shown, match.method, match.confidence, m_quantizer, NodeId() });
    }

    void addBefore(ValueId f)
    {
        const double confidence = 0.95 * m_found.values.at(f).confidence;
        const ValueId real = m_quantizer ? m_g.view.quantizers()[*m_quantizer].real : ValueId();
        const NodeId pf = m_g.f.graph().value(f).producer, pq = m_g.q.graph().value(m_root).producer;
        if (!pf.valid() || !pq.valid() || !m_quantizer
            || (m_g.f.opClass(pf) != m_g.q.opClass(pq) && m_g.verdict(f, m_root) != Verdict::Same))
            return;
        const auto& lowered = m_g.q.plan().step(pq).lowered;
        if (real.valid())
            m_pairs.push_back({ f, real, MatchMethod::Unit, confidence, std::nullopt, NodeId() });
        else if (lowered && lowered->offersUnrounded && m_g.q.graph().node(pq).outputs.size() == 1)
            m_pairs.push_back({ f, m_root, MatchMethod::Unit, confidence, std::nullopt, pq });
    }

    Place placeBefore(ValueId f, ValueId before) const
    {
        const NodeId producer = m_g.f.graph().value(f).producer;
        const auto inputs = producer.valid() ? m_g.f.dataInputs(producer) : std::vector<ValueId> {};
        if (inputs.empty() || inputs[0] != before)
            return Place::Elsewhere;
        const FlowKind kind = m_g.f.kind(producer);
        return kind == FlowKind::Reshape   ? Place::Shown
            : kind == FlowKind::Activation ? Place::Before
                                           : Place::Elsewhere;
    }

    const GraphPair& m_g;
    const Correspondence& m_found;
    ValueId m_root, m_shown;
    std::optional<uint32_t> m_quantizer;
    std::vector<ValuePair>& m_pairs;
};

} // namespace

size_t placeOf(const Graph& floatGraph, const ValuePair& pair)
{
    const NodeId producer = floatGraph.value(pair.floatValue).producer;
    return producer.valid() ? producer.index() + 1 : 0;
}

std::vector<ValuePair> valuePairs(const GraphPair& g, const Correspondence& found)
{
    FloatsOfRoots byRoot;
    for (ValueId f : g.f.activations())
        if (const auto it = found.values.find(f); it != found.values.end() && !it->second.wayPoint)
            byRoot[it->second.root].push_back(f);
    std::vector<ValuePair> pairs;
    const auto quantizersOf = pairsOfRoots(g);
    for (const auto& [root, chain] : byRoot) {
        const bool byHand
            = std::ranges::any_of(chain, [&](ValueId f) { return found.values.at(f).method == MatchMethod::Manual; });
        const auto quantizer = byHand ? g.view.ofValue(root) : quantizerOf(g, root, byRoot);
        RootPairs made(g, found, root, quantizer, pairs);
        made.add(chain);
        for (const uint32_t further :
            quantizer ? furtherQuantizers(g, quantizersOf, *quantizer) : std::vector<uint32_t> {})
            made.addFurther(chain.back(), further);
    }
    std::ranges::stable_sort(pairs, {}, [&](const ValuePair& pair) { return placeOf(g.f.graph(), pair); });
    return pairs;
}

} // namespace qs
