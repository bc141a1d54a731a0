// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/topology.h"

#include "core/base/work/cancel_scope.h"
#include "core/match/graph/channel_steps.h"
#include "core/match/graph/folded_steps.h"
#include "core/match/graph/part_of_step.h"
#include "core/match/graph/product_role.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kAlikeWeights = 0.9; ///< cosine from which two weights count as the same layer's
constexpr size_t kLongestDetour = 5; ///< steps that only the quantized file has

double cosine(const std::vector<float>& a, const std::vector<float>& b)
{
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        ab += double(a[i]) * b[i];
        aa += double(a[i]) * a[i];
        bb += double(b[i]) * b[i];
    }
    return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

/// Weights of both files, made when they are first looked at: where names tell, none is.
class WeightTable {
public:
    WeightTable(const CanonicalGraph& f, const CanonicalGraph& q)
        : m_f(f)
        , m_q(q)
    {
    }

    static std::vector<NodeId> heavyNodes(const CanonicalGraph& g)
    {
        std::vector<NodeId> nodes;
        for (size_t n = 0; n < g.graph().nodes().size(); ++n)
            if (g.isHeavy(NodeId(n)))
                nodes.emplace_back(n);
        return nodes;
    }

    /// False for matrices of other sizes: those beside a packed one (q, k, v) are not it, nor the next layer's.
    bool mayAgree(NodeId f, NodeId q) const
    {
        const auto sa = m_f.isHeavy(f) ? m_f.weightShape(f) : std::nullopt;
        const auto sb = m_q.isHeavy(q) ? m_q.weightShape(q) : std::nullopt;
        return !sa || !sb || sa->size() != 2 || sb->size() != 2 || elementCount(*sa) == elementCount(*sb);
    }

    double likeness(NodeId f, NodeId q) const
    {
        if (!m_f.isHeavy(f) || !m_q.isHeavy(q))
            return 0;
        const auto sa = m_f.weightShape(f), sb = m_q.weightShape(q);
        if (!sa || !sb)
            return 0;
        const double plain = weightLikeness(weightOf(m_f, f, m_ofFloat), weightOf(m_q, q, m_ofQuant), *sa, *sb).cosine;
        const std::vector<float>& folded = foldedOf(f, *sa);
        return folded.empty() || plain > kAlikeWeights
            ? plain
            : std::max(plain, weightLikeness(folded, weightOf(m_q, q, m_ofQuant), *sa, *sb).cosine);
    }

private:
    using Weights = std::map<NodeId, std::vector<float>>;

    static const std::vector<float>& weightOf(const CanonicalGraph& g, NodeId id, Weights& known)
    {
        const auto [it, isNew] = known.try_emplace(id);
        if (isNew)
            it->second = g.weight(id);
        return it->second;
    }

    /// The float weight times what scales its channels behind the product, which the other file may have folded in;
    /// empty where nothing does.
    const std::vector<float>& foldedOf(NodeId f, const Shape& shape) const
    {
        const auto [it, isNew] = m_folded.try_emplace(f);
        const auto channels = isNew ? productChannels(m_f.plan(), f) : std::nullopt;
        if (!channels)
            return it->second;
        std::vector<double> factors(size_t(channels->count), 1);
        bool scaled = false;
        for (const ChannelStep& step : channelSteps(m_f.plan(), nullptr, f, *channels))
            for (size_t c = 0; step.scales && c < factors.size(); ++c) {
                factors[c] *= step.values[c];
                scaled = true;
            }
        if (!scaled)
            return it->second;
        it->second = weightOf(m_f, f, m_ofFloat);
        for (size_t i = 0; i < it->second.size(); ++i)
            it->second[i] = float(it->second[i] * factors[weightChannel(m_f.graph().node(f), shape, i)]);
        return it->second;
    }

    const CanonicalGraph& m_f;
    const CanonicalGraph& m_q;
    mutable Weights m_ofFloat, m_ofQuant, m_folded;
};

/// As a list of one length, what is missing as the operator has it.
std::vector<int64_t> settingOf(const Node& node, const char* name, int64_t missing)
{
    constexpr size_t kMostAxes = 16; // twice those of an image of volumes, with room
    const auto* list = node.attributes.get<std::vector<int64_t>>(name);
    std::vector<int64_t> values = list ? *list : std::vector<int64_t> {};
    values.resize(std::max(values.size(), kMostAxes), missing);
    return values;
}

/// Two convolutions go over their images in one way.
bool setAlike(const Node& a, const Node& b)
{
    return settingOf(a, "strides", 1) == settingOf(b, "strides", 1)
        && settingOf(a, "dilations", 1) == settingOf(b, "dilations", 1)
        && settingOf(a, "pads", 0) == settingOf(b, "pads", 0)
        && a.attributes.integer("group", 1) == b.attributes.integer("group", 1);
}

/// What speaks for a pair of convolutions beside their weights: both together outvote these, neither does alone.
double besideWeights(const CanonicalGraph& f, NodeId a, const CanonicalGraph& q, NodeId b)
{
    constexpr double kEach = 0.75; // of a cosine that is 1
    if (f.opClass(a) != "Conv")
        return 0;
    return (setAlike(f.graph().node(a), q.graph().node(b)) ? kEach : 0)
        + (areOneBias(f, ownBias(f.plan(), a), q, ownBias(q.plan(), b)) ? kEach : 0);
}

/// Its first one; invalid where it has none.
ValueId output(const CanonicalGraph& g, NodeId id)
{
    const auto& outputs = g.graph().node(id).outputs;
    return outputs.empty() ? ValueId() : outputs[0];
}

/// A step that the other file does in an operator further on: inside a Gelu, or a term behind a product that takes none
/// there.
bool isLater(const GraphPair& g, const Correspondence& found, NodeId step, ValueId root)
{
    const Node& node = g.f.graph().node(step);
    const NodeId product = g.q.graph().value(root).producer;
    if (g.f.kind(step) != FlowKind::Affine || node.is("BatchNormalization"))
        return false;
    if (std::ranges::any_of(
            g.q.readers(root), [&](NodeId reader) { return g.q.graph().node(reader).opType.ends_with("Gelu"); }))
        return true;
    if ((!node.is("Add") && !node.is("Sub")) || !product.valid())
        return false;
    const NodeId own = g.f.graph().value(g.f.dataInputs(step)[0]).producer;
    const auto partner = own.valid() ? found.nodes.find(own) : found.nodes.end();
    return partner != found.nodes.end() && partner->second == product && g.f.isHeavy(own)
        && g.q.graph().node(product).is("MatMul");
}

/// Of several matrix products that read one value, as of queries and keys, two have each other's weights by a fault.
void keepByStructure(const CanonicalGraph& f, NodeId id, const CanonicalGraph& q, std::vector<NodeId>& fitting)
{
    if (fitting.size() < 2 || !f.isHeavy(id) || f.opClass(id) != "MatMul")
        return;
    std::vector<NodeId> others;
    bool known = false;
    for (const NodeId other : fitting) {
        const auto one = standForEachOther(f, id, q, other);
        known |= one.value_or(false);
        if (!one.value_or(true))
            others.push_back(other);
    }
    if (known)
        std::erase_if(fitting, [&](NodeId other) { return std::ranges::find(others, other) != others.end(); });
}

class Walker {
public:
    Walker(const GraphPair& g, Correspondence& found)
        : m_g(g)
        , m_f(g.f)
        , m_q(g.q)
        , m_found(found)
        , m_weights(g.f, g.q)
    {
    }

    void run()
    {
        for (int round = 0; round < 3; ++round) {
            const size_t before = m_found.values.size() + m_found.nodes.size();
            for (size_t n = 0; n < m_f.graph().nodes().size(); ++n)
                visit(NodeId(n));
            if (round == 0)
                anchorByWeights();
            else if (m_found.values.size() + m_found.nodes.size() == before)
                break;
        }
    }

private:
    struct Candidate {
        NodeId node;
        size_t detour = 0;
        double confidence = 0;
        bool changesValues = false; ///< the detour is more than reshapes
    };

    void visit(NodeId id)
    {
        if (stopAsked())
            return;
        if (m_f.kind(id) == FlowKind::Same || m_found.nodes.contains(id) || m_f.graph().node(id).outputs.empty()
            || !output(m_f, id).valid())
            return;
        std::vector<RootMatch> inputs;
        for (ValueId in : m_f.dataInputs(id)) {
            const auto it = m_found.values.find(in);
            if (it == m_found.values.end())
                return;
            inputs.push_back(it->second);
        }
        if (inputs.empty())
            return;
        const Candidate best = findPartner(id, inputs);
        const ValueId out = output(m_f, id);
        if (best.node.valid())
            pair(id, best, inputs);
        else if (m_f.kind(id) != FlowKind::Opaque)
            stay(id, out, inputs);
    }

    /// The quantized file has no such step: its output goes by the root of its input, or by that of a quantizer behind
    /// a reshape where this one does what the activation did.
    void stay(NodeId id, ValueId out, const std::vector<RootMatch>& inputs)
    {
        if (m_f.kind(id) == FlowKind::Activation && isPartOfStep(m_f, id, m_q, inputs[0].root))
            return;
        ValueId root = inputs[0].root;
        const bool replaced = m_g.replaces(root, m_f.dataInputs(id)[0], id);
        if (m_f.kind(id) == FlowKind::Activation && !m_g.cutsBelowZero(root))
            for (ValueId next = behindReshape(root); next.valid(); next = behindReshape(next))
                if (m_g.cutsBelowZero(next)) {
                    root = next;
                    break;
                }
        const bool later = inputs[0].later || isLater(m_g, m_found, id, inputs[0].root);
        set(out, root, inputs, 0.95, replaced);
        if (RootMatch& match = m_found.values[out]; later && m_g.verdict(out, root) != Verdict::Same
            && match.method == MatchMethod::Topology && match.root == root)
            match.wayPoint = match.later = true;
    }

    /// What the only reader of a root makes of it in another shape; invalid where it is another one.
    ValueId behindReshape(ValueId root) const
    {
        const auto& readers = m_q.readers(root);
        return readers.size() == 1 && m_q.kind(readers[0]) == FlowKind::Reshape ? m_q.root(output(m_q, readers[0]))
                                                                                : ValueId();
    }

    void pair(NodeId id, const Candidate& best, const std::vector<RootMatch>& inputs)
    {
        m_found.pairNodes(id, best.node);
        // What the quantized file inserts between belongs to the node before it.
        if (best.detour > 0 && best.changesValues)
            moveInput(m_f.dataInputs(id)[0], m_q.dataInputs(best.node)[0]);
        const auto &fs = m_f.graph().node(id).outputs, &qs = m_q.graph().node(best.node).outputs;
        const ValueId made = m_q.root(qs[0]), whole = m_g.whole(id, best.node);
        const bool plain = m_g.verdict(fs[0], made) == Verdict::Same && m_g.verdict(fs[0], whole) != Verdict::Same;
        const ValueId root = plain ? made : whole;
        const bool surely = m_g.mayBeFault(fs[0], root) && m_weights.likeness(id, best.node) > kAlikeWeights;
        set(fs[0], root, inputs, best.confidence, surely);
        for (size_t i = 1; i < fs.size() && i < qs.size(); ++i)
            if (fs[i].valid() && qs[i].valid())
                set(fs[i], m_q.root(qs[i]), inputs, best.confidence);
        for (const auto& [f, q] : FoldedSteps(m_f.plan(), id, m_q.plan(), m_g.view, best.node).behindCommon())
            set(f, m_q.root(q), inputs, best.confidence);
    }

    void moveInput(ValueId f, ValueId root)
    {
        RootMatch& match = m_found.values[f];
        if (m_g.verdict(f, match.root) != Verdict::Same && m_g.verdict(f, root) != Verdict::Different)
            match.root = root;
    }

    /// `surely`: whatever numbers say.
    void set(ValueId f, ValueId root, const std::vector<RootMatch>& inputs, double confidence, bool surely = false)
    {
        for (const RootMatch& in : inputs)
            confidence = std::min(confidence, in.confidence);
        m_found.set(
            f, { root, MatchMethod::Topology, confidence, !surely && m_g.verdict(f, root) == Verdict::Different });
    }

    /// Readers of the partners' roots with the same operator class; nearest first, then by likeness of weights.
    Candidate findPartner(NodeId id, const std::vector<RootMatch>& inputs) const
    {
        const std::string wanted = m_f.opClass(id);
        std::vector<ValueId> frontier { inputs[0].root };
        const bool activation = m_f.kind(id) == FlowKind::Activation;
        bool changesValues = false;
        for (size_t detour = 0; detour <= kLongestDetour && !frontier.empty(); ++detour) {
            std::vector<NodeId> fitting;
            std::vector<ValueId> next;
            for (ValueId root : frontier)
                for (NodeId reader : m_q.readers(root)) {
                    if (m_q.opClass(reader) == wanted && !m_found.taken.contains(reader)
                        && readsAll(reader, inputs, detour) && m_weights.mayAgree(id, reader))
                        fitting.push_back(reader);
                    else if (!output(m_q, reader).valid())
                        continue;
                    else if (m_q.kind(reader) == FlowKind::Affine || m_q.kind(reader) == FlowKind::Reshape
                        || (m_q.kind(reader) == FlowKind::Activation && !activation))
                        next.push_back(m_q.root(output(m_q, reader)));
                }
            keepByStructure(m_f, id, m_q, fitting);
            if (keepFitting(id, fitting)) {
                Candidate best = choose(id, fitting, detour);
                best.changesValues = changesValues;
                return best;
            }
            frontier = std::move(next);
            for (ValueId root : frontier)
                changesValues |= m_q.kind(m_q.graph().value(root).producer) != FlowKind::Reshape;
        }
        return {};
    }

    /// Leaves those that compute the same, if there are any. Where a reader is known to compute something else, only
    /// nodes with weights correspond: what stands behind them is folded into one of the two. False when none is left.
    bool keepFitting(NodeId id, std::vector<NodeId>& fitting) const
    {
        const ValueId out = output(m_f, id);
        const auto verdict = [&](NodeId q) { return m_g.verdict(out, m_q.root(output(m_q, q))); };
        const auto whole = [&](NodeId q) { return m_g.verdict(out, m_g.whole(id, q)); };
        const auto same = [&](NodeId q) { return verdict(q) == Verdict::Same || whole(q) == Verdict::Same; };
        if (std::ranges::any_of(fitting, same))
            std::erase_if(fitting, [&](NodeId q) { return !same(q); });
        else if (!m_f.isHeavy(id))
            std::erase_if(fitting, [&](NodeId q) { return verdict(q) == Verdict::Different; });
        return !fitting.empty();
    }

    bool readsAll(NodeId reader, const std::vector<RootMatch>& inputs, size_t detour) const
    {
        const auto roots = m_q.dataInputs(reader);
        if (roots.size() != inputs.size())
            return false;
        if (detour > 0)
            return inputs.size() == 1;
        for (const RootMatch& in : inputs)
            if (std::ranges::find(roots, in.root) == roots.end())
                return false;
        return true;
    }

    Candidate choose(NodeId id, const std::vector<NodeId>& fitting, size_t detour) const
    {
        Candidate best { fitting[0], detour, fitting.size() == 1 ? 0.97 : 0.6, false };
        double bestScore = -2, bestLikeness = bestScore;
        const auto dims = m_f.dims(output(m_f, id));
        for (NodeId q : fitting) {
            const double likeness = m_weights.likeness(id, q);
            double score = likeness + (fitting.size() > 1 ? besideWeights(m_f, id, m_q, q) : 0);
            if (dims && m_q.dims(output(m_q, q)) && dims->size() == m_q.dims(output(m_q, q))->size())
                for (size_t i = 0; i < dims->size(); ++i)
                    if ((*dims)[i].known() && (*m_q.dims(output(m_q, q)))[i].known()
                        && (*dims)[i].value != (*m_q.dims(output(m_q, q)))[i].value)
                        score -= 1;
            if (score > bestScore) {
                bestScore = score;
                bestLikeness = likeness;
                best.node = q;
            }
        }
        if (bestLikeness > kAlikeWeights)
            best.confidence = 0.99;
        else if (detour > 0)
            best.confidence = std::min(best.confidence, 0.9);
        return best;
    }

    /// Heavy nodes that are still single: pair those whose weights are alike and unlike all others.
    void anchorByWeights()
    {
        const std::vector<NodeId> candidates = WeightTable::heavyNodes(m_q);
        for (const NodeId f : WeightTable::heavyNodes(m_f)) {
            if (m_found.nodes.contains(f))
                continue;
            NodeId best;
            double first = 0, second = 0;
            for (const NodeId q : candidates) {
                if (m_found.taken.contains(q))
                    continue;
                const double l = m_weights.likeness(f, q);
                if (l > first) {
                    second = first;
                    first = l;
                    best = q;
                } else {
                    second = std::max(second, l);
                }
            }
            if (first < kAlikeWeights || second > 0.8 * first)
                continue;
            m_found.pairNodes(f, best);
            const ValueId root = m_g.whole(f, best);
            set(output(m_f, f), root, {}, 0.9 * first, m_g.mayBeFault(output(m_f, f), root));
        }
    }

    const GraphPair& m_g;
    const CanonicalGraph& m_f;
    const CanonicalGraph& m_q;
    Correspondence& m_found;
    WeightTable m_weights;
};

} // namespace

WeightLikeness weightLikeness(
    const std::vector<float>& a, const std::vector<float>& b, const Shape& shapeA, const Shape& shapeB)
{
    if (a.size() != b.size() || a.empty())
        return {};
    WeightLikeness best;
    if (shapeA == shapeB || shapeA.size() != 2 || shapeB.size() != 2)
        best.cosine = cosine(a, b);
    if (shapeA.size() == 2 && shapeB.size() == 2 && shapeA[0] == shapeB[1] && shapeA[1] == shapeB[0]) {
        std::vector<float> t(b.size());
        for (int64_t r = 0; r < shapeB[0]; ++r)
            for (int64_t c = 0; c < shapeB[1]; ++c)
                t[size_t(c * shapeB[0] + r)] = b[size_t(r * shapeB[1] + c)];
        if (const double other = cosine(a, t); shapeA != shapeB || other > best.cosine)
            best = { other, true };
    }
    return best;
}

void extendByTopology(const GraphPair& g, Correspondence& found) { Walker(g, found).run(); }

} // namespace qs
