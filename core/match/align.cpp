// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/alignment.h"

#include "core/base/work/cancel_scope.h"
#include "core/match/names.h"
#include "core/match/topology.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <set>

namespace qs {

std::string_view matchMethodName(MatchMethod method)
{
    switch (method) {
    case MatchMethod::Manual:
        return "manual";
    case MatchMethod::Name:
        return "name";
    case MatchMethod::Suffix:
        return "suffix";
    case MatchMethod::Unit:
        return "unit";
    case MatchMethod::Topology:
        return "topology";
    case MatchMethod::Numeric:
        return "numeric";
    }
    return "topology";
}

namespace {

class Aligner {
public:
    Aligner(const Plan& floatPlan, const Plan& quantPlan, const QuantView& view)
        : m_view(view)
        , m_f(floatPlan, nullptr)
        , m_q(quantPlan, &view)
    {
    }

    Result<Alignment> run(const ManualLinks& manual, bool oneNetwork)
    {
        QS_CHECK(seedManual(manual.pairs));
        seedNames();
        seedBorders();
        pairNodesOfNames();
        extendByTopology(m_f, m_q, m_found);
        if (!oneNetwork)
            QS_CHECK(sameNetwork());
        emitValues();
        markManual(manual.pairs);
        keepApart(manual.apart);
        emitWeights();
        listUnmatched();
        return std::move(m_result);
    }

private:
    const Graph& fg() const { return m_f.graph(); }
    const Graph& qg() const { return m_q.graph(); }

    Status seedManual(const ManualPairs& manual)
    {
        for (const auto& [floatName, quantName] : manual) {
            const ValueId f = fg().findValue(floatName), q = qg().findValue(quantName);
            for (const auto& [id, plan, name] :
                { std::tuple(f, &m_f.plan(), &floatName), std::tuple(q, &m_q.plan(), &quantName) })
                if (!id.valid()) {
                    Issue issue = badInput(
                        "is in the map but not in this file", plan->model().path, "mend the name in the map");
                    issue.tensor = *name;
                    return issue;
                }
            if (!shapesMayAgree(f, q) && !equalCounts(f, q)) {
                Issue issue = badInput("has shape " + dimsText(*m_q.dims(q)) + ", its partner '" + floatName
                        + "' in the map has " + dimsText(*m_f.dims(f)),
                    m_q.plan().model().path, "pair tensors of one size");
                issue.tensor = quantName;
                return issue;
            }
            m_found.values[f] = { m_q.root(q), MatchMethod::Manual, 1 };
        }
        return {};
    }

    bool equalCounts(ValueId f, ValueId q) const
    {
        const auto a = toShape(*m_f.dims(f)), b = toShape(*m_q.dims(q));
        return a && b && elementCount(*a) == elementCount(*b);
    }

    bool shapesMayAgree(ValueId f, ValueId q) const
    {
        const auto a = m_f.dims(f), b = m_q.dims(q);
        if (!a || !b)
            return true;
        if (a->size() != b->size())
            return false;
        for (size_t i = 0; i < a->size(); ++i)
            if ((*a)[i].known() && (*b)[i].known() && (*a)[i].value != (*b)[i].value)
                return false;
        return true;
    }

    /// The same name means the same tensor if the producers are of one kind, or an activation went into a range.
    bool producersAgree(ValueId f, ValueId q) const
    {
        const NodeId pf = fg().value(f).producer, pq = qg().value(m_q.root(q)).producer;
        if (!pf.valid() || !pq.valid())
            return pf.valid() == pq.valid();
        if (m_f.opClass(pf) == m_q.opClass(pq) || m_f.kind(pf) != FlowKind::Opaque || m_q.kind(pq) != FlowKind::Opaque)
            return true;
        return false;
    }

    void seedNames()
    {
        for (ValueId f : m_f.activations()) {
            if (m_found.values.contains(f))
                continue;
            const std::string& name = fg().value(f).name;
            auto attempt = [&](const std::string& candidate, MatchMethod method) {
                const ValueId q = qg().findValue(candidate);
                if (!q.valid() || m_q.plan().constant(q) || !shapesMayAgree(f, q) || !producersAgree(f, q))
                    return false;
                m_found.values[f] = { m_q.root(q), method, 1 };
                return true;
            };
            if (attempt(name, MatchMethod::Name))
                continue;
            for (const std::string& candidate : quantizedNames(name))
                if (attempt(candidate, MatchMethod::Suffix))
                    break;
        }
    }

    /// Graph inputs and outputs correspond by position where names do not tell.
    void seedBorders()
    {
        auto pairLists = [&](auto fs, auto qs, double confidence) {
            if (fs.size() != qs.size())
                return;
            for (size_t i = 0; i < fs.size(); ++i)
                if (shapesMayAgree(fs[i], qs[i]))
                    m_found.values.try_emplace(fs[i], RootMatch { m_q.root(qs[i]), MatchMethod::Topology, confidence });
        };
        pairLists(fg().inputs(), qg().inputs(), 1.0);
        pairLists(fg().outputs(), qg().outputs(), 0.99);
    }

    /// Values paired by name pair their producers, so that weights and the walk agree with them.
    void pairNodesOfNames()
    {
        for (const auto& [f, match] : m_found.values) {
            const NodeId pf = fg().value(f).producer, pq = qg().value(match.root).producer;
            if (pf.valid() && pq.valid() && m_f.opClass(pf) == m_q.opClass(pq) && !m_found.taken.contains(pq))
                m_found.pairNodes(pf, pq);
        }
    }

    Status sameNetwork() const
    {
        size_t heavy = 0, paired = 0, alike = 0;
        for (size_t n = 0; n < fg().nodes().size(); ++n) {
            if (stopAsked())
                return cancelled();
            if (!m_f.isHeavy(NodeId(n)))
                continue;
            ++heavy;
            const auto it = m_found.nodes.find(NodeId(n));
            if (it == m_found.nodes.end())
                continue;
            ++paired;
            const auto a = m_f.weight(NodeId(n)), b = m_q.weight(it->second);
            alike += b.empty() || bestLikeness(NodeId(n), it->second, a, b) > 0.5;
        }
        const std::string remedy = "give the float model that this file was quantized from";
        if (heavy > 0 && paired * 4 < heavy)
            return badInput("only " + std::to_string(paired) + " of the float model's " + std::to_string(heavy)
                    + " convolutions and matrix products have a partner here: it is another network",
                m_q.plan().model().path, remedy);
        if (paired > 0 && alike * 4 < paired)
            return badInput("the weights of " + std::to_string(paired - alike) + " of " + std::to_string(paired)
                    + " layers have nothing in common with the float model's: it is another network",
                m_q.plan().model().path, remedy);
        return {};
    }

    double bestLikeness(NodeId f, NodeId q, const std::vector<float>& a, const std::vector<float>& b) const
    {
        const auto shapeA = m_f.weightShape(f), shapeB = m_q.weightShape(q);
        return shapeA && shapeB ? weightLikeness(a, b, *shapeA, *shapeB).cosine : 0;
    }

    /// The quantizer whose tensor has this root, if any.
    std::optional<uint32_t> quantizerOf(ValueId root) const { return m_view.ofValue(root); }

    void emitValues()
    {
        // Float values that share one quantized root, in topological order.
        std::map<ValueId, std::vector<ValueId>> byRoot;
        for (ValueId f : m_f.activations())
            if (const auto it = m_found.values.find(f); it != m_found.values.end())
                byRoot[it->second.root].push_back(f);
        for (const auto& [root, chain] : byRoot)
            emitChain(root, chain);
        std::ranges::sort(m_result.values, {}, [&](const ValuePair& p) { return position(p.floatValue); });
    }

    size_t position(ValueId f) const
    {
        const NodeId producer = fg().value(f).producer;
        return producer.valid() ? producer.index() + 1 : 0;
    }

    void emitChain(ValueId root, const std::vector<ValueId>& chain)
    {
        const auto quantizer = quantizerOf(root);
        const ValueId scaled = m_view.scaledSums(root);
        const ValueId shown = quantizer ? m_view.quantizers()[*quantizer].shown() : scaled.valid() ? scaled : root;
        bool before = false; // past an activation that the quantizer replaces: only the value before the quantizer fits
        for (size_t i = chain.size(); i-- > 0;) {
            const RootMatch& match = m_found.values.at(chain[i]);
            if (!before) {
                m_result.values.push_back({ chain[i], shown, match.method, match.confidence, quantizer, NodeId() });
            } else {
                const ValueId real = quantizer ? m_view.quantizers()[*quantizer].real : ValueId();
                const NodeId pf = fg().value(chain[i]).producer, pq = qg().value(root).producer;
                if (pf.valid() && pq.valid() && m_f.opClass(pf) == m_q.opClass(pq)) {
                    if (real.valid())
                        m_result.values.push_back(
                            { chain[i], real, MatchMethod::Unit, 0.95 * match.confidence, std::nullopt, NodeId() });
                    else if (quantizer && m_q.plan().step(pq).lowered && m_q.plan().step(pq).lowered->offersUnrounded)
                        m_result.values.push_back(
                            { chain[i], shown, MatchMethod::Unit, 0.95 * match.confidence, std::nullopt, pq });
                }
                return;
            }
            const NodeId producer = fg().value(chain[i]).producer;
            if (i == 0 || !producer.valid())
                return;
            switch (m_f.kind(producer)) {
            case FlowKind::Reshape:
                break;
            case FlowKind::Activation:
                before = true;
                break;
            default:
                return;
            }
            const auto inputs = m_f.dataInputs(producer);
            if (inputs.empty() || inputs[0] != chain[i - 1])
                return;
        }
    }

    /// A pair made by hand stays one where the value shown is another than the one named: inside a Q/DQ unit.
    void markManual(const ManualPairs& manual)
    {
        for (const auto& [floatName, quantName] : manual) {
            const auto pair = std::ranges::find(m_result.values, fg().findValue(floatName), &ValuePair::floatValue);
            if (pair == m_result.values.end() || m_q.root(pair->quantValue) != m_q.root(qg().findValue(quantName)))
                continue;
            pair->method = MatchMethod::Manual;
            pair->confidence = 1;
        }
    }

    void keepApart(const ManualPairs& apart)
    {
        for (const auto& [floatName, quantName] : apart)
            m_result.apart.emplace_back(fg().findValue(floatName), qg().findValue(quantName));
        std::erase_if(m_result.values, [&](const ValuePair& pair) {
            return std::ranges::count(m_result.apart, std::pair(pair.floatValue, pair.quantValue)) > 0;
        });
    }

    void emitWeights()
    {
        for (size_t n = 0; n < fg().nodes().size() && !stopAsked(); ++n) {
            const auto it = m_found.nodes.find(NodeId(n));
            if (it != m_found.nodes.end())
                emitWeightsOf(NodeId(n), it->second);
        }
        emitSingleBiases();
    }

    struct Operand {
        size_t floatSlot;
        ValueId quantValue;
    };

    std::vector<Operand> operands(NodeId f, NodeId q) const
    {
        std::vector<Operand> list;
        const Node& qn = qg().node(q);
        if (const auto s = qlinearSignature(qn)) {
            // What is no codes comes first as in the float operator; a Concat's own parameters are no input there.
            const size_t first
                = qn.opType == "QLinearConcat" || s->inputs.empty() ? 0 : size_t(s->inputs.front().codes);
            for (size_t i = 0; i < s->inputs.size(); ++i)
                if (qn.hasInput(size_t(s->inputs[i].codes)))
                    list.push_back({ first + i, qn.inputs[size_t(s->inputs[i].codes)] });
            if (s->bias >= 0 && qn.hasInput(size_t(s->bias)))
                list.push_back({ 2, qn.inputs[size_t(s->bias)] });
        } else {
            for (size_t i = 0; i < fg().node(f).inputs.size() && i < qn.inputs.size(); ++i)
                if (qn.hasInput(i))
                    list.push_back({ i, qn.inputs[i] });
        }
        return list;
    }

    void emitWeightsOf(NodeId f, NodeId q)
    {
        const Node& fn = fg().node(f);
        for (const Operand& operand : operands(f, q)) {
            if (!fn.hasInput(operand.floatSlot))
                continue;
            const Tensor* a = m_f.plan().constant(fn.inputs[operand.floatSlot]);
            const auto quantizer = m_view.ofQuantized(operand.quantValue);
            if (!a || !isFloat(a->dtype()) || !quantizer)
                continue;
            const Quantizer& qz = m_view.quantizers()[*quantizer];
            const Tensor* b = storedCodes(m_q.plan(), qz);
            if (!b || b->count() != a->count() || qz.params.scale.empty())
                continue;
            pairWeight(fn.inputs[operand.floatSlot], *quantizer, f, q, isTransposed(*a, *b, qz));
        }
    }

    void pairWeight(ValueId f, uint32_t quantizer, NodeId fn, NodeId qn, bool transposed)
    {
        if (!m_pairedWeights.insert({ f, quantizer }).second)
            return;
        const Quantizer& qz = m_view.quantizers()[quantizer];
        const std::string& a = fg().value(f).name;
        const std::string& b = qg().value(qz.codes).name;
        const bool suffix = b == a + "_quantized" || (qz.dequantized.valid() && qg().value(qz.dequantized).name == a);
        const auto match = m_found.values.find(fg().node(fn).outputs[0]);
        WeightPair pair;
        pair.floatValue = f;
        pair.quantizer = quantizer;
        pair.floatNode = fn;
        pair.quantNode = qn;
        pair.method = suffix ? MatchMethod::Suffix : MatchMethod::Unit;
        pair.confidence = suffix ? 1 : match == m_found.values.end() ? 0.9 : match->second.confidence;
        pair.transposed = transposed;
        m_result.weights.push_back(pair);
    }

    /// Constants of operators that only the float file keeps apart (MatMul + Add against QGemm): by ONNX Runtime's
    /// names.
    void emitSingleBiases()
    {
        std::set<ValueId> done;
        for (const WeightPair& w : m_result.weights)
            done.insert(w.floatValue);
        for (size_t v = 0; v < fg().values().size(); ++v) {
            const Value& value = fg().values()[v];
            if (!value.initializer || value.uses.empty() || done.contains(ValueId(v)) || !isFloat(value.type.dtype))
                continue;
            const ValueId q = qg().findValue(value.name + "_quantized");
            const auto quantizer = q.valid() ? m_view.ofQuantized(q) : std::nullopt;
            const Tensor* b = quantizer ? m_q.plan().constant(m_view.quantizers()[*quantizer].codes) : nullptr;
            if (!b || b->count() != value.initializer->count() || m_view.quantizers()[*quantizer].params.scale.empty())
                continue;
            const auto& qz = m_view.quantizers()[*quantizer];
            const ValueId reads = qz.dequantized.valid() ? qz.dequantized : qz.codes;
            const auto& uses = qg().value(reads).uses;
            pairWeight(ValueId(v), *quantizer, value.uses[0].node, uses.empty() ? NodeId() : uses[0].node,
                isTransposed(*value.initializer, *b, qz));
        }
    }

    /// Whether rows and columns are exchanged; only of square matrices the numbers have to tell.
    static bool isTransposed(const Tensor& weight, const Tensor& codes, const Quantizer& q)
    {
        const Shape &a = weight.shape(), &b = codes.shape();
        if (a.size() != 2 || b.size() != 2 || a[0] != b[1] || a[1] != b[0] || weight.count() == 0)
            return false;
        return a != b || weightLikeness(toFloats(weight), dequantized(codes, q.params), a, b).transposed;
    }

    void listUnmatched()
    {
        std::set<ValueId> floatDone, quantDone;
        for (const ValuePair& p : m_result.values) {
            floatDone.insert(p.floatValue);
            quantDone.insert(m_q.root(p.quantValue));
            quantDone.insert(p.quantValue);
        }
        for (const auto& [f, match] : m_found.values)
            m_pairedRoots.insert(match.root);
        for (ValueId f : m_f.activations())
            if (!floatDone.contains(f))
                m_result.unmatchedFloat.push_back(f);
        for (ValueId q : m_q.activations())
            if (!quantDone.contains(q) && !isInner(q))
                m_result.unmatchedQuant.push_back(q);
    }

    /// Values inside a unit: the integer accumulator and what scales it.
    bool isInner(ValueId q) const
    {
        const NodeId producer = qg().value(q).producer;
        if (producer.valid() && m_q.kind(producer) == FlowKind::Reshape && !m_q.dataInputs(producer).empty()
            && m_pairedRoots.contains(m_q.dataInputs(producer)[0]))
            return true; // a copy of a paired value in another shape
        return producer.valid()
            && (m_view.isPlumbing(producer) || qg().node(producer).opType == "ConvInteger"
                || qg().node(producer).opType == "MatMulInteger");
    }

    const QuantView& m_view;
    CanonicalGraph m_f, m_q;
    Correspondence m_found;
    Alignment m_result;
    std::set<std::pair<ValueId, uint32_t>> m_pairedWeights;
    std::set<ValueId> m_pairedRoots;
};

} // namespace

Result<Alignment> align(const Plan& floatPlan, const Plan& quantPlan, const QuantView& quantView,
    const ManualLinks& manual, bool oneNetwork)
{
    return Aligner(floatPlan, quantPlan, quantView).run(manual, oneNetwork);
}

} // namespace qs
