// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/stored_weights.h"

#include "core/analysis/bypass/bypass_builder.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/graph/draft_links.h"
#include "core/match/stored_operand.h"
#include "core/prepare/prepare.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <map>
#include <utility>

/// Two networks that differ in their weights, given the same ones.
namespace qs {

namespace {

/// The only reader of what a node makes.
std::optional<size_t> behind(const DraftLinks& links, const DraftNode& node)
{
    const bool single = !node.outputs.empty() && links.readOnce(node.outputs[0]);
    return single ? std::optional(links.readers(node.outputs[0])[0]) : std::nullopt;
}

/// Values of a constant, one a channel; empty for another one.
std::vector<double> perChannel(const Tensor* t, size_t channels)
{
    return t && size_t(t->count()) == channels ? toDoubles(*t) : std::vector<double> {};
}

/// A scaling and a sum behind a convolution, which training with simulated quantization leaves between it and its
/// normalization, go into its weight and bias.
class ScaledConv {
public:
    ScaledConv(GraphDraft& draft, size_t conv)
        : m_draft(draft)
        , m_conv(conv)
    {
        const DraftNode& node = draft.nodes[conv];
        m_weight = node.hasInput(1) ? draft.constant(node.inputs[1]) : nullptr;
        if (!m_weight || m_weight->dtype() != DType::Float32 || m_weight->rank() < 3)
            return;
        const auto channels = size_t(m_weight->dim(0));
        m_factor.assign(channels, 1);
        m_shift = perChannel(node.hasInput(2) ? draft.constant(node.inputs[2]) : nullptr, channels);
        m_ready = !m_shift.empty() || !node.hasInput(2);
        m_shift.resize(channels, 0);
    }

    void fold(const DraftLinks& links)
    {
        if (!m_ready)
            return;
        size_t last = m_conv;
        for (auto next = behind(links, m_draft.nodes[m_conv]); next && take(m_draft.nodes[*next], last);
             next = behind(links, m_draft.nodes[*next]))
            last = *next;
        if (last == m_conv)
            return;
        std::vector<float> w = toFloats(*m_weight), b(m_shift.begin(), m_shift.end());
        const size_t inner = w.size() / m_factor.size();
        for (size_t i = 0; i < w.size(); ++i)
            w[i] = float(double(w[i]) * m_factor[i / inner]);
        DraftNode& conv = m_draft.nodes[m_conv];
        const std::string name = conv.outputs[0];
        m_draft.setConstant(name + "_weight", Tensor::of<float>(m_weight->shape(), w));
        m_draft.setConstant(name + "_bias", Tensor::of<float>({ int64_t(b.size()) }, b));
        conv.inputs = { conv.inputs[0], name + "_weight", name + "_bias" };
        conv.outputs[0] = std::exchange(m_draft.nodes[last].outputs[0], name + "_unread");
    }

private:
    bool take(const DraftNode& node, size_t last)
    {
        if (node.inputs.size() != 2)
            return false;
        const bool first = node.inputs[0] == m_draft.nodes[last].outputs[0];
        const std::vector<double> c = perChannel(m_draft.constant(node.inputs[first ? 1 : 0]), m_factor.size());
        if (c.empty() || (!first && !node.is("Add") && !node.is("Mul")))
            return false;
        const double sign = node.is("Sub") ? -1 : 1;
        for (size_t i = 0; i < c.size(); ++i) {
            if (node.is("Add") || node.is("Sub")) {
                m_shift[i] += sign * c[i];
            } else if (node.is("Div") || node.is("Mul")) {
                const double factor = node.is("Div") ? 1 / c[i] : c[i];
                m_factor[i] *= factor;
                m_shift[i] *= factor;
            } else {
                return false;
            }
        }
        return true;
    }

    GraphDraft& m_draft;
    size_t m_conv;
    const Tensor* m_weight = nullptr;
    std::vector<double> m_factor, m_shift;
    bool m_ready = false;
};

Status foldAll(GraphDraft& draft)
{
    QS_TRY(const PassReport constants, foldConstants(draft));
    QS_TRY(const PassReport before, removeUnused(draft));
    const DraftLinks links(draft);
    for (size_t n = 0; n < draft.nodes.size(); ++n)
        if (draft.nodes[n].is("Conv"))
            ScaledConv(draft, n).fold(links);
    QS_TRY(const PassReport after, removeUnused(draft));
    QS_TRY(const PassReport norms, foldBatchNorm(draft));
    return {};
}

/// Puts the constants of the bypassed file into the float model's draft.
class ConstantTransfer {
public:
    ConstantTransfer(const ComparePair& pair, const GraphDraft& from, GraphDraft& to)
        : m_pair(pair)
        , m_from(from)
        , m_to(to)
    {
        for (size_t n = 0; n < from.nodes.size(); ++n)
            if (from.nodes[n].origin.valid())
                m_fromNodes.emplace(from.nodes[n].origin, n);
        for (const WeightPair& weight : pair.alignment->weights)
            m_partners.emplace(weight.floatNode, &weight);
    }

    /// The issue names a constant of the float model that training may change and that has no counterpart.
    Status run()
    {
        for (DraftNode& node : m_to.nodes) {
            const auto partner = node.origin.valid() ? m_partners.find(node.origin) : m_partners.end();
            const bool paired = partner != m_partners.end() && takeAll(node, *partner->second);
            for (const std::string& in : node.inputs)
                if (!paired && !in.empty() && !isShared(in)) {
                    Issue issue = badInput("a constant of the float model has no counterpart in the quantized file");
                    issue.node = node.name;
                    issue.tensor = in;
                    return issue;
                }
        }
        return {};
    }

private:
    /// Every constant of a node from its partner's slots.
    bool takeAll(DraftNode& node, const WeightPair& pair)
    {
        const auto at = m_fromNodes.find(pair.quantNode);
        if (at == m_fromNodes.end())
            return false;
        const DraftNode& from = m_from.nodes[at->second];
        if (takesBias(from) && !takesBias(node) && (node.is("Add") || node.is("Sub")))
            return takeBias(node, from);
        if (takesBias(node) && from.inputs.size() > node.inputs.size())
            node.inputs.resize(from.inputs.size());
        for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
            const Tensor* old = node.hasInput(slot) ? m_to.constant(node.inputs[slot]) : nullptr;
            const Tensor* now
                = slot < from.inputs.size() && from.hasInput(slot) ? m_from.constant(from.inputs[slot]) : nullptr;
            if (!old && !now)
                continue;
            if (!now || (old && old->count() != now->count()) || (!old && node.hasInput(slot)))
                return false; // a bias that stands elsewhere
            const std::string name = node.outputs[0] + "_stored_" + std::to_string(slot);
            const bool exchange = old && old->rank() == 2 && isExchanged(node, from, slot, pair);
            if (exchange && (now->rank() != 2 || !isFloat(now->dtype())))
                return false;
            const Tensor turned = exchange ? exchangedAxes(convertedTo(*now, DType::Float32)) : *now;
            const Tensor fitting = old ? convertedTo(turned, old->dtype()) : turned;
            m_to.setConstant(name, exchange || !old ? fitting : fitting.reshaped(old->shape()));
            node.inputs[slot] = name;
        }
        return true;
    }

    /// The term of a sum from the bias of the product that has taken it in.
    bool takeBias(DraftNode& node, const DraftNode& from)
    {
        const size_t slot = node.hasInput(1) && m_to.constant(node.inputs[1]) ? 1 : 0;
        const Tensor* old = node.hasInput(slot) ? m_to.constant(node.inputs[slot]) : nullptr;
        const Tensor* now = from.hasInput(2) ? m_from.constant(from.inputs[2]) : nullptr;
        if (!old || !now || old->count() != now->count() || node.is("Sub"))
            return false;
        const std::string name = node.outputs[0] + "_stored";
        m_to.setConstant(name, convertedTo(*now, old->dtype()).reshaped(old->shape()));
        node.inputs[slot] = name;
        return true;
    }

    static bool takesBias(const DraftNode& node)
    {
        return node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm");
    }

    /// The nodes read it with rows and columns exchanged against each other; where they do not tell, it lies so in the
    /// bypassed file, too. Blocks were turned round there.
    bool isExchanged(const DraftNode& node, const DraftNode& from, size_t slot, const WeightPair& pair) const
    {
        const auto a = outputsInRows(node.opType, node.opType, node.attributes, slot);
        const auto b = outputsInRows(from.opType, from.opType, from.attributes, slot);
        if (a && b)
            return *a != *b;
        return pair.transposed && m_pair.quantPlan->graph().node(pair.quantNode).opType != "MatMulNBits";
    }

    /// Not a trained constant, or one that the bypassed file has, too.
    bool isShared(const std::string& name)
    {
        const Tensor* t = m_to.constant(name);
        if (!t || !isFloat(t->dtype()) || t->count() < 2)
            return true;
        return std::ranges::any_of(m_from.constants(), [&](const std::string& other) {
            const Tensor* o = m_from.constant(other);
            return o && o->dtype() == t->dtype() && std::ranges::equal(o->bytes(), t->bytes());
        });
    }

    const ComparePair& m_pair;
    const GraphDraft& m_from;
    GraphDraft& m_to;
    std::map<NodeId, size_t> m_fromNodes;
    std::map<NodeId, const WeightPair*> m_partners;
};

} // namespace

Result<BypassedPair> bypassWithStoredWeights(const ComparePair& pair, const std::vector<PairPlan>& pairs)
{
    QS_TRY(GraphDraft quantized, BypassBuilder(pair, pairs, BypassBuilder::Weights::Stored).make());
    GraphDraft floats(std::make_shared<const Model>(pair.floatPlan->model()));
    QS_CHECK(foldAll(quantized));
    QS_CHECK(foldAll(floats));
    QS_CHECK(ConstantTransfer(pair, quantized, floats).run());
    QS_TRY(const auto q, quantized.build());
    QS_TRY(const auto f, floats.build());
    return BypassedPair { Plan::make(f), Plan::make(q) };
}

} // namespace qs
