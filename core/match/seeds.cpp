// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/seeds.h"

#include "core/match/graph/names.h"
#include "core/match/graph/product_role.h"

#include <algorithm>
#include <map>
#include <set>
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
    return g.madeByOneOperator(f, g.q.root(q)) || g.f.kind(pf) != FlowKind::Opaque || g.q.kind(pq) != FlowKind::Opaque;
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
        auto attempt = [&](const std::string& candidate, MatchMethod method, bool byOneOperator = false) {
            const ValueId q = g.q.graph().findValue(candidate);
            if (!q.valid() || g.q.plan().constant(q) || !shapesMayAgree(g, f, q))
                return false;
            const ValueId root = g.q.root(q);
            // Converters cut what they fuse out of names, so that a name may stand for an earlier or later value.
            if (byOneOperator && !g.madeByOneOperator(f, root))
                return false;
            const Verdict verdict = g.verdict(f, root);
            if ((verdict == Verdict::Different && !g.mayBeFault(f, root))
                || (verdict == Verdict::Unknown && !producersAgree(g, f, q)))
                return false; // a fused file may keep a name for another value
            found.values[f] = { root, method, 1 };
            return true;
        };
        if (attempt(name, MatchMethod::Name))
            continue;
        for (const std::string& candidate : quantizedNames(name))
            if (attempt(candidate, MatchMethod::Suffix))
                break;
        if (found.values.contains(f))
            continue;
        for (const std::string& candidate : convertedNames(name))
            if (attempt(candidate, MatchMethod::Suffix, true))
                break;
    }
}

/// Roots that float values are the same as. Those of equal values are looked for and kept once.
class EqualRoots {
public:
    explicit EqualRoots(const GraphPair& pair)
        : m_pair(pair)
    {
    }
    /// The same list for lists of the same roots.
    const std::vector<ValueId>* of(ValueId f)
    {
        const auto [it, isNew] = m_known.try_emplace(&m_pair.evidence->equalsOfFloat(f));
        if (isNew)
            it->second = &*m_lists.insert(m_pair.equalRoots(f)).first;
        return it->second;
    }
    bool isOfOneFloat(ValueId root)
    {
        const auto [it, isNew] = m_ofOne.try_emplace(root);
        if (isNew)
            it->second = m_pair.equalFloats(root).size() == 1;
        return it->second;
    }

private:
    const GraphPair& m_pair;
    std::map<const std::vector<ValueId>*, const std::vector<ValueId>*> m_known;
    std::set<std::vector<ValueId>> m_lists;
    std::map<ValueId, bool> m_ofOne;
};

/// What is the same as one value of the other file and as no other.
void seedNumbers(const GraphPair& g, Correspondence& found)
{
    if (!g.evidence)
        return;
    EqualRoots equal(g);
    for (const ValueId f : g.f.activations())
        if (!found.values.contains(f))
            if (const auto& roots = *equal.of(f);
                roots.size() == 1 && equal.isOfOneFloat(roots[0]) && !areCrossed(g.f, f, g.q, roots[0]))
                found.values[f] = { roots[0], MatchMethod::Numeric, 1 };
}

/// Graph inputs and outputs correspond by position where names do not tell.
void seedBorders(const GraphPair& g, Correspondence& found)
{
    auto pairLists = [&](auto fs, auto qs, double confidence) {
        if (fs.size() != qs.size())
            return;
        for (size_t i = 0; i < fs.size(); ++i)
            if (const ValueId root = g.q.root(qs[i]);
                shapesMayAgree(g, fs[i], qs[i]) && g.verdict(fs[i], root) != Verdict::Different)
                found.values.try_emplace(fs[i], RootMatch { root, MatchMethod::Topology, confidence });
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
    seedNumbers(g, found);
    seedBorders(g, found);
    pairNodesOfNames(g, found);
    return found;
}

bool pairEquals(const GraphPair& g, Correspondence& found)
{
    if (!g.evidence)
        return false;
    EqualRoots equal(g);
    const auto less = [](const auto* a, const auto* b) { return a != b && *a < *b; };
    // Float values by the roots that they are the same as.
    std::map<const std::vector<ValueId>*, std::vector<ValueId>, decltype(less)> left(less);
    for (const ValueId f : g.f.activations())
        if (const auto it = found.values.find(f); it == found.values.end() || it->second.wayPoint)
            if (const auto* roots = equal.of(f); !roots->empty())
                left[roots].push_back(f);
    std::set<ValueId> used;
    for (const auto& [f, match] : found.values)
        if (!match.wayPoint)
            used.insert(match.root);
    for (const auto& [roots, floats] : left) {
        std::vector<ValueId> free;
        std::ranges::copy_if(*roots, std::back_inserter(free), [&](ValueId root) { return !used.contains(root); });
        const auto& ours = free.empty() ? *roots : free;
        for (size_t i = 0; i < floats.size(); ++i)
            if (const ValueId root = ours[std::min(i, ours.size() - 1)]; !areCrossed(g.f, floats[i], g.q, root))
                found.set(floats[i], { root, MatchMethod::Numeric, 1 });
    }
    return !left.empty();
}

} // namespace qs
