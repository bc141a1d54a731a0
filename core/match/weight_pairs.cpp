// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/weight_pairs.h"

#include "core/base/work/cancel_scope.h"
#include "core/graph/domains.h"
#include "core/match/graph/channel_steps.h"
#include "core/match/packed_weights.h"
#include "core/match/stored_operand.h"
#include "core/qdq/block_weights.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace qs {

namespace {

constexpr size_t kBiasSlot = 2; ///< of a product of floats

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
            list.push_back({ kBiasSlot, qn.inputs[size_t(s->bias)] });
    } else if (qn.is("QMoE", kMicrosoftDomain)) {
        for (const ExpertSlots& slots : kExpertSlots)
            if (qn.hasInput(slots.codes))
                list.push_back({ slots.plain, qn.inputs[slots.codes] });
    } else {
        for (size_t i = 0; i < g.f.graph().node(f).inputs.size() && i < qn.inputs.size(); ++i)
            if (qn.hasInput(i))
                list.push_back({ i, qn.inputs[i] });
    }
    return list;
}

/// Whether these nodes read this input with its axes exchanged against each other, where they tell.
std::optional<bool> readsExchanged(const GraphPair& g, NodeId f, NodeId q, size_t slot)
{
    const Node &a = g.f.graph().node(f), &b = g.q.graph().node(q);
    if (b.is("QMoE", kMicrosoftDomain))
        return false; // as MoE
    const auto rowsA = outputsInRows(a.opType, floatOpType(a), a.attributes, slot);
    const auto rowsB = outputsInRows(b.opType, floatOpType(b), b.attributes, slot);
    return rowsA && rowsB ? std::optional(*rowsA != *rowsB) : std::nullopt;
}

/// Whether the operand has the last two axes of the float weight exchanged. Where both ways fit, as with square
/// matrices, the operators tell, else the numbers have to.
bool isExchanged(const GraphPair& g, const Tensor& weight, ValueId id, const StoredOperand& operand,
    const std::optional<bool>& read = {})
{
    const Shape &a = weight.shape(), &b = operand.shape;
    const size_t r = a.size();
    if (r < 2 || b.size() != r || weight.count() == 0 || a[r - 1] != b[r - 2] || a[r - 2] != b[r - 1]
        || !std::equal(a.begin(), a.end() - 2, b.begin()))
        return false;
    if (a != b)
        return true;
    if (read)
        return *read;
    const auto x = toFloats(weight), y = operandValues(g, id, operand);
    double same = 0, exchanged = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        same += double(x[i]) * y[i];
        exchanged += double(x[i]) * y[exchangedPlace(a, i)];
    }
    return exchanged > same;
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
            if (it != m_found.nodes.end()) {
                const auto moved = movedBias(NodeId(n), it->second);
                addWeightsOf(NodeId(n), it->second, moved.has_value());
                if (moved)
                    pairWeight(moved->floatValue, moved->floatNode, moved->quantNode, moved->stored,
                        { m_g.f.plan().constant(moved->floatValue)->shape(), false, {}, {} });
            }
        }
        addRecurrent();
        addSingleBiases();
        for (WeightPair& pair : packedWeightPairs(m_g, m_pairs))
            m_pairs.push_back(std::move(pair));
        return std::move(m_pairs);
    }

private:
    /// `biasMoved`: the bias of one file stands where the other has none, or zeros.
    void addWeightsOf(NodeId f, NodeId q, bool biasMoved)
    {
        const Node& fn = m_g.f.graph().node(f);
        for (const WeightOperand& operand : weightOperands(m_g, f, q)) {
            if (!fn.hasInput(operand.floatSlot) || (biasMoved && operand.floatSlot == kBiasSlot))
                continue;
            const ValueId value = fn.inputs[constantSlot(fn, operand.floatSlot)];
            const Tensor* a = m_g.f.plan().constant(value);
            const auto stored = a && isFloat(a->dtype()) ? storedOperand(m_g, operand.quantValue) : std::nullopt;
            if (stored && elementCount(stored->shape) == a->count())
                pairWeight(value, f, q, *stored,
                    { a->shape(),
                        isExchanged(m_g, *a, operand.quantValue, *stored, readsExchanged(m_g, f, q, operand.floatSlot)),
                        {}, {} });
        }
    }

    /// A bias that one file adds inside the product and the other behind it.
    struct MovedBias {
        ValueId floatValue;
        NodeId floatNode, quantNode;
        StoredOperand stored;
    };

    std::optional<MovedBias> movedBias(NodeId f, NodeId q) const
    {
        const auto channels = productChannels(m_g.f.plan(), f);
        const ValueId inFloat = ownBias(m_g.f.plan(), f), inQuant = ownBias(m_g.q.plan(), q);
        if (!channels || inFloat.valid() == inQuant.valid())
            return std::nullopt;
        const auto ofFloat = channelSteps(m_g.f.plan(), nullptr, f, *channels);
        const auto ofQuant = channelSteps(m_g.q.plan(), &m_g.view, q, *channels);
        const OwnSteps own = ownSteps(ofFloat, ofQuant);
        const ChannelStep* step = inQuant.valid() ? lastTerm(ofFloat, own.ofFloat) : lastTerm(ofQuant, own.ofQuant);
        if (!step)
            return std::nullopt;
        const Graph& graph = inQuant.valid() ? m_g.f.graph() : m_g.q.graph();
        const ValueId term = graph.node(step->node).inputs[step->slot];
        const ValueId value = inQuant.valid() ? term : inFloat, other = inQuant.valid() ? inQuant : term;
        const Tensor* a = m_g.f.plan().constant(value);
        auto stored = a && isFloat(a->dtype()) ? storedOperand(m_g, other) : std::nullopt;
        if (!stored || elementCount(stored->shape) != a->count())
            return std::nullopt;
        return MovedBias { value, inQuant.valid() ? step->node : f, inQuant.valid() ? q : step->node,
            std::move(*stored) };
    }

    static const ChannelStep* lastTerm(const std::vector<ChannelStep>& steps, size_t end)
    {
        for (size_t i = end; i-- > 0;)
            if (!steps[i].scales)
                return &steps[i];
        return nullptr;
    }

    /// Exporters write the constant of a sum first or second.
    size_t constantSlot(const Node& fn, size_t slot) const
    {
        const bool sum = (fn.is("Add") || fn.is("Mul")) && fn.inputs.size() == 2;
        const auto constant = [&](size_t i) { return m_g.f.plan().constant(fn.inputs[i]) != nullptr; };
        return sum && !constant(slot) && constant(1 - slot) ? 1 - slot : slot;
    }

    void pairWeight(ValueId f, NodeId fn, NodeId qn, const StoredOperand& operand, const SameElements& same)
    {
        for (const uint32_t q : operand.quantizers)
            if (m_known.contains({ f, q }))
                return;
        for (WeightPair& pair : pairElements(m_g, operand, same)) {
            m_known.insert({ f, pair.quantizer });
            const Quantizer& qz = m_g.view.quantizers()[pair.quantizer];
            const std::string& a = m_g.f.graph().value(f).name;
            const std::string& b = m_g.q.graph().value(qz.codes).name;
            const bool suffix
                = b == a + "_quantized" || (qz.dequantized.valid() && m_g.q.graph().value(qz.dequantized).name == a);
            const Node& reader = m_g.f.graph().node(fn); // of a damaged file it may make nothing
            const auto match = reader.hasOutput(0) ? m_found.values.find(reader.outputs[0]) : m_found.values.end();
            pair.floatValue = f;
            pair.floatNode = fn;
            pair.quantNode = qn;
            pair.method = suffix ? MatchMethod::Suffix : MatchMethod::Unit;
            pair.confidence = suffix ? 1 : match == m_found.values.end() ? 0.9 : match->second.confidence;
            m_pairs.push_back(std::move(pair));
        }
    }

    /// Recurrent nodes that stayed single, as where one file makes their first states of data: by their input weights.
    void addRecurrent()
    {
        std::set<NodeId> taken;
        for (size_t f = 0; f < m_g.f.graph().nodes().size(); ++f) {
            if (m_g.f.opClass(NodeId(f)) != "LSTM" || m_found.nodes.contains(NodeId(f)) || stopAsked())
                continue;
            for (size_t q = 0; q < m_g.q.graph().nodes().size(); ++q)
                if (m_g.q.opClass(NodeId(q)) == "LSTM" && !m_found.taken.contains(NodeId(q))
                    && !taken.contains(NodeId(q)) && multiplyAlike(NodeId(f), NodeId(q))) {
                    taken.insert(NodeId(q));
                    addWeightsOf(NodeId(f), NodeId(q), false);
                    break;
                }
        }
    }

    /// The second inputs are one weight.
    bool multiplyAlike(NodeId f, NodeId q) const
    {
        constexpr double kAlike = 0.9; // cosine
        const Node &fn = m_g.f.graph().node(f), &qn = m_g.q.graph().node(q);
        const Tensor* a = fn.hasInput(1) ? m_g.f.plan().constant(fn.inputs[1]) : nullptr;
        const auto stored
            = a && isFloat(a->dtype()) && qn.hasInput(1) ? storedOperand(m_g, qn.inputs[1]) : std::nullopt;
        if (!stored || elementCount(stored->shape) != a->count() || a->rank() < 2)
            return false;
        const auto x = toFloats(*a), y = operandValues(m_g, qn.inputs[1], *stored);
        const bool exchanged = isExchanged(m_g, *a, qn.inputs[1], *stored);
        double ab = 0, aa = 0, bb = 0;
        for (size_t i = 0; i < x.size(); ++i) {
            const double other = y[exchanged ? exchangedPlace(a->shape(), i) : i];
            ab += x[i] * other;
            aa += double(x[i]) * x[i];
            bb += other * other;
        }
        return ab > kAlike * std::sqrt(aa * bb);
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
            const auto stored = q.valid() ? storedOperand(m_g, q) : std::nullopt;
            if (!stored || elementCount(stored->shape) != value.initializer->count())
                continue;
            const auto& qz = m_g.view.quantizers()[stored->quantizers[0]];
            const auto& uses = m_g.q.graph().value(qz.shown()).uses;
            pairWeight(ValueId(v), value.uses[0].node, uses.empty() ? NodeId() : uses[0].node, *stored,
                { value.initializer->shape(), isExchanged(m_g, *value.initializer, q, *stored), {}, {} });
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
