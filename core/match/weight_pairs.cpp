// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/weight_pairs.h"

#include "core/base/work/cancel_scope.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <set>

namespace qs {

namespace {

struct WeightOperand {
    size_t floatSlot;
    ValueId quantValue;
};

std::vector<WeightOperand> weightOperands(const GraphPair& g, NodeId f, NodeId q)
{
    std::vector<WeightOperand> list;
    const Node& qn = g.q.graph().node(q);
    if (const auto s = qlinearSignature(qn)) {
        // What is no codes comes first as in the float operator; a Concat's own parameters are no input there.
        const size_t first = qn.opType == "QLinearConcat" || s->inputs.empty() ? 0 : size_t(s->inputs.front().codes);
        for (size_t i = 0; i < s->inputs.size(); ++i)
            if (qn.hasInput(size_t(s->inputs[i].codes)))
                list.push_back({ first + i, qn.inputs[size_t(s->inputs[i].codes)] });
        if (s->bias >= 0 && qn.hasInput(size_t(s->bias)))
            list.push_back({ 2, qn.inputs[size_t(s->bias)] });
    } else {
        for (size_t i = 0; i < g.f.graph().node(f).inputs.size() && i < qn.inputs.size(); ++i)
            if (qn.hasInput(i))
                list.push_back({ i, qn.inputs[i] });
    }
    return list;
}

/// Whether rows and columns are exchanged; only of square matrices the numbers have to tell.
bool isTransposed(const Tensor& weight, const Tensor& codes, const Quantizer& q)
{
    const Shape &a = weight.shape(), &b = codes.shape();
    if (a.size() != 2 || b.size() != 2 || a[0] != b[1] || a[1] != b[0] || weight.count() == 0)
        return false;
    return a != b || weightLikeness(toFloats(weight), dequantized(codes, q.params), a, b).transposed;
}

class WeightPairing {
public:
    WeightPairing(const GraphPair& g, const Correspondence& found)
        : m_g(g)
        , m_found(found)
    {
    }

    std::vector<WeightPair> run() &&
    {
        for (size_t n = 0; n < m_g.f.graph().nodes().size() && !stopAsked(); ++n) {
            const auto it = m_found.nodes.find(NodeId(n));
            if (it != m_found.nodes.end())
                addWeightsOf(NodeId(n), it->second);
        }
        addSingleBiases();
        return std::move(m_pairs);
    }

private:
    void addWeightsOf(NodeId f, NodeId q)
    {
        const Node& fn = m_g.f.graph().node(f);
        for (const WeightOperand& operand : weightOperands(m_g, f, q)) {
            if (!fn.hasInput(operand.floatSlot))
                continue;
            const Tensor* a = m_g.f.plan().constant(fn.inputs[operand.floatSlot]);
            const auto quantizer = m_g.view.ofQuantized(operand.quantValue);
            if (!a || !isFloat(a->dtype()) || !quantizer)
                continue;
            const Quantizer& qz = m_g.view.quantizers()[*quantizer];
            const Tensor* b = storedCodes(m_g.q.plan(), qz);
            if (!b || b->count() != a->count() || qz.params.scale.empty())
                continue;
            pairWeight(fn.inputs[operand.floatSlot], *quantizer, f, q, isTransposed(*a, *b, qz));
        }
    }

    void pairWeight(ValueId f, uint32_t quantizer, NodeId fn, NodeId qn, bool transposed)
    {
        if (!m_known.insert({ f, quantizer }).second)
            return;
        const Quantizer& qz = m_g.view.quantizers()[quantizer];
        const std::string& a = m_g.f.graph().value(f).name;
        const std::string& b = m_g.q.graph().value(qz.codes).name;
        const bool suffix
            = b == a + "_quantized" || (qz.dequantized.valid() && m_g.q.graph().value(qz.dequantized).name == a);
        const auto match = m_found.values.find(m_g.f.graph().node(fn).outputs[0]);
        WeightPair pair;
        pair.floatValue = f;
        pair.quantizer = quantizer;
        pair.floatNode = fn;
        pair.quantNode = qn;
        pair.method = suffix ? MatchMethod::Suffix : MatchMethod::Unit;
        pair.confidence = suffix ? 1 : match == m_found.values.end() ? 0.9 : match->second.confidence;
        pair.transposed = transposed;
        m_pairs.push_back(pair);
    }

    /// Constants of operators that only the float file keeps apart (MatMul + Add against QGemm): by ONNX Runtime's
    /// names.
    void addSingleBiases()
    {
        std::set<ValueId> done;
        for (const WeightPair& w : m_pairs)
            done.insert(w.floatValue);
        for (size_t v = 0; v < m_g.f.graph().values().size(); ++v) {
            const Value& value = m_g.f.graph().values()[v];
            if (!value.initializer || value.uses.empty() || done.contains(ValueId(v)) || !isFloat(value.type.dtype))
                continue;
            const ValueId q = m_g.q.graph().findValue(value.name + "_quantized");
            const auto quantizer = q.valid() ? m_g.view.ofQuantized(q) : std::nullopt;
            const Tensor* b = quantizer ? m_g.q.plan().constant(m_g.view.quantizers()[*quantizer].codes) : nullptr;
            if (!b || b->count() != value.initializer->count()
                || m_g.view.quantizers()[*quantizer].params.scale.empty())
                continue;
            const auto& qz = m_g.view.quantizers()[*quantizer];
            const ValueId reads = qz.dequantized.valid() ? qz.dequantized : qz.codes;
            const auto& uses = m_g.q.graph().value(reads).uses;
            pairWeight(ValueId(v), *quantizer, value.uses[0].node, uses.empty() ? NodeId() : uses[0].node,
                isTransposed(*value.initializer, *b, qz));
        }
    }

    const GraphPair& m_g;
    const Correspondence& m_found;
    std::vector<WeightPair> m_pairs;
    std::set<std::pair<ValueId, uint32_t>> m_known; ///< pairs so far
};

} // namespace

std::vector<WeightPair> weightPairs(const GraphPair& g, const Correspondence& found)
{
    return WeightPairing(g, found).run();
}

} // namespace qs
