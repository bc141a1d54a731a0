// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/seeds.h"

#include "core/match/names.h"

#include <tuple>

namespace qs {

namespace {

bool equalCounts(const GraphPair& g, ValueId f, ValueId q)
{
    const auto a = toShape(*g.f.dims(f)), b = toShape(*g.q.dims(q));
    return a && b && elementCount(*a) == elementCount(*b);
}

bool shapesMayAgree(const GraphPair& g, ValueId f, ValueId q)
{
    const auto a = g.f.dims(f), b = g.q.dims(q);
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
bool producersAgree(const GraphPair& g, ValueId f, ValueId q)
{
    const NodeId pf = g.f.graph().value(f).producer, pq = g.q.graph().value(g.q.root(q)).producer;
    if (!pf.valid() || !pq.valid())
        return pf.valid() == pq.valid();
    if (g.f.opClass(pf) == g.q.opClass(pq) || g.f.kind(pf) != FlowKind::Opaque || g.q.kind(pq) != FlowKind::Opaque)
        return true;
    return false;
}

Status seedManual(const GraphPair& g, const ManualPairs& manual, Correspondence& found)
{
    for (const auto& [floatName, quantName] : manual) {
        const ValueId f = g.f.graph().findValue(floatName), q = g.q.graph().findValue(quantName);
        for (const auto& [id, plan, name] :
            { std::tuple(f, &g.f.plan(), &floatName), std::tuple(q, &g.q.plan(), &quantName) })
            if (!id.valid()) {
                Issue issue
                    = badInput("is in the map but not in this file", plan->model().path, "mend the name in the map");
                issue.tensor = *name;
                return issue;
            }
        if (!shapesMayAgree(g, f, q) && !equalCounts(g, f, q)) {
            Issue issue = badInput("has shape " + dimsText(*g.q.dims(q)) + ", its partner '" + floatName
                    + "' in the map has " + dimsText(*g.f.dims(f)),
                g.q.plan().model().path, "pair tensors of one size");
            issue.tensor = quantName;
            return issue;
        }
        found.values[f] = { g.q.root(q), MatchMethod::Manual, 1 };
    }
    return {};
}

void seedNames(const GraphPair& g, Correspondence& found)
{
    for (ValueId f : g.f.activations()) {
        if (found.values.contains(f))
            continue;
        const std::string& name = g.f.graph().value(f).name;
        auto attempt = [&](const std::string& candidate, MatchMethod method) {
            const ValueId q = g.q.graph().findValue(candidate);
            if (!q.valid() || g.q.plan().constant(q) || !shapesMayAgree(g, f, q) || !producersAgree(g, f, q))
                return false;
            found.values[f] = { g.q.root(q), method, 1 };
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
void seedBorders(const GraphPair& g, Correspondence& found)
{
    auto pairLists = [&](auto fs, auto qs, double confidence) {
        if (fs.size() != qs.size())
            return;
        for (size_t i = 0; i < fs.size(); ++i)
            if (shapesMayAgree(g, fs[i], qs[i]))
                found.values.try_emplace(fs[i], RootMatch { g.q.root(qs[i]), MatchMethod::Topology, confidence });
    };
    pairLists(g.f.graph().inputs(), g.q.graph().inputs(), 1.0);
    pairLists(g.f.graph().outputs(), g.q.graph().outputs(), 0.99);
}

/// Values paired by name pair their producers, so that weights and the walk agree with them.
void pairNodesOfNames(const GraphPair& g, Correspondence& found)
{
    for (const auto& [f, match] : found.values) {
        const NodeId pf = g.f.graph().value(f).producer, pq = g.q.graph().value(match.root).producer;
        if (pf.valid() && pq.valid() && g.f.opClass(pf) == g.q.opClass(pq) && !found.taken.contains(pq))
            found.pairNodes(pf, pq);
    }
}

} // namespace

Result<Correspondence> seedPairs(const GraphPair& g, const ManualPairs& manual)
{
    Correspondence found;
    QS_CHECK(seedManual(g, manual, found));
    seedNames(g, found);
    seedBorders(g, found);
    pairNodesOfNames(g, found);
    return found;
}

} // namespace qs
