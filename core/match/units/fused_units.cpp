// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/units/fused_units.h"

#include "core/base/work/cancel_scope.h"
#include "core/match/graph/channel_steps.h"
#include "core/match/units/region.h"
#include "core/match/units/why_alone.h"
#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

/// A product that adds a bias itself.
bool addsBias(const CanonicalGraph& graph, NodeId id)
{
    const Node& node = graph.graph().node(id);
    constexpr std::array<std::pair<std::string_view, size_t>, 3> biases { { { "MatMulNBits", 5 },
        { "DynamicQuantizeMatMul", 4 }, { "MatMulIntegerToFloat", 6 } } };
    for (const auto& [type, slot] : biases)
        if (node.opType == type)
            return node.hasInput(slot);
    if (qlinearSignature(node) || node.is("Gemm"))
        return ownBias(graph.plan(), id).valid();
    return (node.opType.ends_with("Gemm") || node.opType.starts_with("Conv") || node.opType == "FusedConv")
        && !node.opType.ends_with("Integer") && node.hasInput(2);
}

bool readsConstant(const CanonicalGraph& graph, NodeId id)
{
    const Node& node = graph.graph().node(id);
    const auto isConstant = [&](ValueId in) { return in.valid() && graph.plan().constant(in); };
    const auto signature = qlinearSignature(node);
    if (!signature)
        return std::ranges::any_of(node.inputs, isConstant);
    return std::ranges::any_of(signature->inputs, [&](const auto& operand) {
        return node.hasInput(size_t(operand.codes)) && isConstant(node.inputs[size_t(operand.codes)]);
    });
}

/// Whether a node can do all the steps of a region. One that is the same operator as the last step and has no constants
/// to take in what is before does only this step: the others are missing in its file.
bool canDo(const CanonicalGraph& graph, NodeId id, const CanonicalGraph& other, const Region& region)
{
    return region.steps.size() <= 1 || graph.opClass(id) != other.opClass(region.steps.front())
        || readsConstant(graph, id);
}

using Inside = std::map<ValueId, NodeId>; ///< value -> node of the other file

/// Outputs of the node that makes a root, but for this one.
std::set<ValueId> outputsBeside(const CanonicalGraph& graph, ValueId root)
{
    std::set<ValueId> outputs;
    if (const NodeId producer = graph.graph().value(root).producer; producer.valid())
        for (const ValueId out : graph.graph().node(producer).outputs)
            if (out.valid())
                outputs.insert(graph.root(out));
    outputs.erase(root);
    return outputs;
}

class UnitFinder {
public:
    UnitFinder(const MatchedFile& floats, const MatchedFile& quants)
        : m_floats(floats)
        , m_quants(quants)
    {
    }

    void run()
    {
        for (const auto& [f, partners] : m_floats.partners)
            for (const ValueId q : partners)
                if (!stopAsked())
                    addUnit(f, q);
    }

    Inside insideFloat, insideQuant; ///< float values in nodes of the quantized file, and the reverse
    std::set<ValueId> otherFloat, otherQuant; ///< in regions that have several steps in both files

private:
    void addUnit(ValueId f, ValueId q)
    {
        const Region ours = regionBefore(m_floats, f), theirs = regionBefore(m_quants, q);
        if (!ours.complete || !theirs.complete || (ours.values.empty() && theirs.values.empty()))
            return;
        const NodeId ofQuant = onlyStep(m_quants, theirs, q, m_floats, ours);
        const NodeId ofFloat = onlyStep(m_floats, ours, f, m_quants, theirs);
        const bool oursFollow = follows(m_floats, ours, m_quants, theirs, q);
        const bool theirsFollow = follows(m_quants, theirs, m_floats, ours, f);
        const bool quantFuses = ofQuant.valid() && oursFollow && (theirs.values.empty() || ours.steps.size() > 1)
            && canDo(m_quants.graph, ofQuant, m_floats.graph, ours);
        const bool floatFuses = ofFloat.valid() && theirsFollow && (ours.values.empty() || theirs.steps.size() > 1)
            && canDo(m_floats.graph, ofFloat, m_quants.graph, theirs);
        const bool severalSteps = oursFollow && theirsFollow && !ofQuant.valid() && !ofFloat.valid();
        if (severalSteps) {
            moveBias(m_floats, ours, f, insideFloat, m_quants, theirs, q, insideQuant);
            moveBias(m_quants, theirs, q, insideQuant, m_floats, ours, f, insideFloat);
        }
        if (quantFuses)
            claim(m_floats, ours, ofQuant, insideFloat);
        if (floatFuses)
            claim(m_quants, theirs, ofFloat, insideQuant);
        if (severalSteps || floatFuses)
            otherFloat.insert(ours.values.begin(), ours.values.end());
        if (severalSteps || quantFuses)
            otherQuant.insert(theirs.values.begin(), theirs.values.end());
    }

    /// A product that adds its bias here, while the other file has a bare product and adds the bias in the operator
    /// behind it: what is behind our product is inside that operator, and the bare product is inside ours.
    static void moveBias(const MatchedFile& file, const Region& region, ValueId root, Inside& inside,
        const MatchedFile& other, const Region& counterpart, ValueId otherRoot, Inside& otherInside)
    {
        if (region.steps.empty() || counterpart.steps.size() != 2)
            return;
        const NodeId product = region.steps.back(), bare = counterpart.steps[1], behind = counterpart.steps[0];
        const Node &ours = file.graph.graph().node(product), &theirs = other.graph.graph().node(bare);
        if (!file.graph.isHeavy(product) || file.graph.opClass(product) != other.graph.opClass(bare)
            || !addsBias(file.graph, product) || addsBias(other.graph, bare))
            return;
        claimBehind(file, region, root, file.graph.root(ours.outputs[0]), behind, inside);
        claimBehind(other, counterpart, otherRoot, other.graph.root(theirs.outputs[0]), product, otherInside);
    }

    /// A region without what is before `first`.
    static void claimBehind(
        const MatchedFile& file, const Region& region, ValueId root, ValueId first, NodeId node, Inside& inside)
    {
        if (first == root)
            return;
        const Region before = regionBefore(file, first);
        Region rest;
        std::ranges::copy_if(region.values, std::back_inserter(rest.values),
            [&](ValueId value) { return std::ranges::find(before.values, value) == before.values.end(); });
        claim(file, rest, node, inside);
    }

    /// The node that does all that a region does, or what its counterpart does from another output of that node;
    /// invalid where there are several steps.
    static NodeId onlyStep(const MatchedFile& file, const Region& region, ValueId root, const MatchedFile& other,
        const Region& counterpart)
    {
        const NodeId producer = file.graph.graph().value(root).producer;
        if (region.steps.size() > 1 && !comesFrom(other, counterpart, outputsBeside(file.graph, root)))
            return {};
        return region.steps.size() == 1 ? region.steps[0] : producer;
    }

    /// A region is computed from partners of these alone.
    static bool comesFrom(const MatchedFile& file, const Region& region, const std::set<ValueId>& sources)
    {
        return !region.border.empty() && std::ranges::all_of(region.border, [&](ValueId id) {
            const auto it = file.partners.find(id);
            return it != file.partners.end()
                && std::ranges::any_of(it->second, [&](ValueId partner) { return sources.contains(partner); });
        });
    }

    /// A region is computed from nothing but the partners of what the other one is computed from. One output of a node
    /// may follow from another, as a normalized sum from the sum.
    static bool follows(const MatchedFile& file, const Region& region, const MatchedFile& other,
        const Region& counterpart, ValueId otherRoot)
    {
        std::set<ValueId> sources = outputsBeside(other.graph, otherRoot);
        sources.insert(counterpart.border.begin(), counterpart.border.end());
        sources.erase(otherRoot);
        return comesFrom(file, region, sources)
            && std::ranges::none_of(region.border, [&](ValueId id) { return file.partners.at(id).contains(otherRoot); })
            && std::ranges::none_of(
                region.values, [&](ValueId value) { return isRemovedActivation(file, other, value); });
    }

    /// What several units read is inside the first of them.
    static void claim(const MatchedFile& file, const Region& region, NodeId node, Inside& inside)
    {
        for (const ValueId value : region.values)
            if (file.unmatched.contains(value))
                inside.try_emplace(value, node);
    }

    const MatchedFile &m_floats, &m_quants;
};

void connect(MatchedFile& floats, MatchedFile& quants, ValueId f, ValueId q)
{
    floats.partners[floats.graph.root(f)].insert(quants.graph.root(q));
    quants.partners[quants.graph.root(q)].insert(floats.graph.root(f));
}

/// From the list of what is unmatched to the list of what is inside, in its order.
void moveInside(const Inside& found, std::vector<ValueId>& unmatched, std::vector<InsideValue>& inside)
{
    inside.clear();
    for (const ValueId value : unmatched)
        if (const auto it = found.find(value); it != found.end())
            inside.push_back({ value, it->second });
    std::erase_if(unmatched, [&](ValueId value) { return found.contains(value); });
}

} // namespace

void addUnits(const Plan& floatPlan, const Plan& quantPlan, const QuantView& quantView, Alignment& alignment)
{
    if (alignment.unmatchedFloat.empty() && alignment.unmatchedQuant.empty())
        return;
    const CanonicalGraph f(floatPlan, nullptr), q(quantPlan, &quantView);
    MatchedFile floats { f, {}, { alignment.unmatchedFloat.begin(), alignment.unmatchedFloat.end() }, {} };
    MatchedFile quants { q, {}, { alignment.unmatchedQuant.begin(), alignment.unmatchedQuant.end() }, {} };
    for (const ValuePair& pair : alignment.values)
        connect(floats, quants, pair.floatValue, pair.quantValue);
    for (const NumericLink& link : alignment.links) {
        if (!link.permuted)
            connect(floats, quants, link.floatValue, link.quantValue);
        floats.linked.insert(link.floatValue);
        quants.linked.insert(link.quantValue);
    }
    for (const auto& [ours, theirs] : alignment.apart) { // of these the user knows better
        floats.unmatched.erase(ours);
        quants.unmatched.erase(theirs);
    }
    UnitFinder finder(floats, quants);
    finder.run();
    moveInside(finder.insideFloat, alignment.unmatchedFloat, alignment.insideFloat);
    moveInside(finder.insideQuant, alignment.unmatchedQuant, alignment.insideQuant);
    alignment.whyFloat = whyAlone(floats, quants, alignment.unmatchedFloat, finder.otherFloat);
    alignment.whyQuant = whyAlone(quants, floats, alignment.unmatchedQuant, finder.otherQuant);
}

} // namespace qs
