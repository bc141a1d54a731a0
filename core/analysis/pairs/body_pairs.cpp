// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/body_pairs.h"

#include <algorithm>

namespace qs {

namespace {

std::vector<NodeId> nodesWithBodies(const Plan& plan)
{
    std::vector<NodeId> nodes;
    for (size_t n = 0; n < plan.graph().nodes().size(); ++n)
        if (!plan.step(NodeId(n)).subPlans.empty())
            nodes.emplace_back(n);
    return nodes;
}

/// The node of the other file that stands for this one; invalid where none does.
NodeId partnerOf(const Plan& f, const Plan& q, NodeId id)
{
    const Node& node = f.graph().node(id);
    std::vector<NodeId> ours, theirs;
    for (const NodeId other : nodesWithBodies(f))
        if (f.graph().node(other).opType == node.opType)
            ours.push_back(other);
    for (const NodeId other : nodesWithBodies(q))
        if (q.graph().node(other).opType == node.opType)
            theirs.push_back(other);
    for (const NodeId other : theirs)
        if (!node.name.empty() && q.graph().node(other).name == node.name)
            return other;
    return ours.size() == theirs.size() ? theirs[size_t(std::ranges::find(ours, id) - ours.begin())] : NodeId();
}

void addBodies(const Plan& f, const Plan& q, const BodyPair* within, std::vector<BodyPair>& found);

/// One body, paired within itself, and those in it.
void addBody(const std::shared_ptr<const Plan>& f, const std::shared_ptr<const Plan>& q, BodyPair body,
    std::vector<BodyPair>& found)
{
    const auto view = std::make_shared<const QuantView>(
        QuantView::of(q->graph(), [plan = q](ValueId id) { return plan->constant(id); }));
    auto alignment = align(*f, *q, *view, {}, true);
    if (!alignment.ok())
        return;
    body.pair = { f, q, view, std::make_shared<const Alignment>(std::move(alignment).value()) };
    found.push_back(body);
    addBodies(*f, *q, &body, found);
}

void addBodies(const Plan& f, const Plan& q, const BodyPair* within, std::vector<BodyPair>& found)
{
    for (const NodeId node : nodesWithBodies(f)) {
        const NodeId partner = partnerOf(f, q, node);
        if (!partner.valid())
            continue;
        const auto &ours = f.step(node).subPlans, &theirs = q.step(partner).subPlans;
        for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
            if (ours[i] && theirs[i])
                addBody(ours[i], theirs[i],
                    { within ? within->floatNode : node, within ? within->quantNode : partner, {} }, found);
    }
}

} // namespace

std::vector<BodyPair> bodyPairs(const ComparePair& pair)
{
    std::vector<BodyPair> found;
    addBodies(*pair.floatPlan, *pair.quantPlan, nullptr, found);
    return found;
}

std::vector<BodyPair> bodyPairs(const UntakenPair& branch)
{
    std::vector<BodyPair> found;
    addBody(branch.floatPlan, branch.quantPlan, {}, found);
    return found;
}

} // namespace qs
