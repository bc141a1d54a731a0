// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/evidence/value_evidence.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kRounding = 1e-4; ///< float32 arithmetic in another order explains as much
constexpr double kApart = 1e-3; ///< values that are nearer are never said to differ
constexpr size_t kFewValues = 64; ///< so many are looked at one by one
constexpr size_t kLongestInside = 16; ///< nodes of a fused unit, one behind the other

/// Sizes are equal whatever the values are.
bool asksForSize(const Node& node) { return node.opType == "Shape" || node.opType == "Size"; }

} // namespace

ValueEvidence::ValueEvidence(const Graph& floatGraph, Sketches floats, Sketches quants, const Closeness& closeness)
    : m_floats(std::move(floats))
    , m_quants(std::move(quants))
    , m_floatGroups(m_floats)
    , m_quantGroups(m_quants)
    , m_floatSizes(bySize(m_floats, m_floatGroups, closeness.nearest))
    , m_quantSizes(bySize(m_quants, m_quantGroups, closeness.nearest))
    , m_closeness(closeness)
    , m_toFloat(m_floats.idEnd(), -1)
    , m_toQuant(m_quants.idEnd(), -1)
{
    findSizes(floatGraph);
    if (closeness.everywhere)
        findInside(floatGraph);
}

void ValueEvidence::findSizes(const Graph& floatGraph)
{
    std::vector<bool> fixed(floatGraph.values().size()); // constants and sizes
    for (size_t v = 0; v < fixed.size(); ++v)
        fixed[v] = floatGraph.values()[v].initializer.has_value();
    const auto isFixed = [&](ValueId in) { return !in.valid() || fixed[in.index()]; };
    for (const Node& node : floatGraph.nodes()) {
        const bool follows = !node.inputs.empty() && node.captures.empty() && std::ranges::all_of(node.inputs, isFixed);
        if (!asksForSize(node) && !follows && !node.is("Constant"))
            continue;
        for (const ValueId out : node.outputs)
            if (out.valid()) {
                fixed[out.index()] = true;
                m_sizes.insert(out);
            }
    }
}

bool ValueEvidence::isOtherSize(ValueId f, ValueId q) const
{
    if (!m_sizes.contains(f))
        return false;
    const ValueSketch *a = m_floats.find(f), *b = m_quants.find(q);
    return a && b && a->isInteger() && b->isInteger() && (a->counts() != b->counts() || a->elements() != b->elements());
}

void ValueEvidence::findInside(const Graph& floatGraph)
{
    std::vector<size_t> steps(floatGraph.values().size(), kLongestInside + 1); // to the next equal value
    for (size_t n = floatGraph.nodes().size(); n-- > 0;)
        for (const ValueId out : floatGraph.nodes()[n].outputs) {
            if (!out.valid())
                continue;
            if (nearestOfFloat(out) <= m_closeness.back) {
                steps[out.index()] = 0;
                continue;
            }
            for (const Use& use : floatGraph.value(out).uses)
                if (!asksForSize(floatGraph.node(use.node)))
                    for (const ValueId next : floatGraph.node(use.node).outputs)
                        if (next.valid())
                            steps[out.index()] = std::min(steps[out.index()], steps[next.index()] + 1);
            if (steps[out.index()] <= kLongestInside)
                m_inside.insert(out);
        }
}

const ValueSketch* ValueEvidence::find(const Sketches& sketches, ValueId id)
{
    const ValueSketch* const sketch = sketches.find(id);
    return sketch && sketch->tells() ? sketch : nullptr;
}

ValueEvidence::BySize ValueEvidence::bySize(const Sketches& sketches, const SketchGroups& groups, double farthest)
{
    BySize sizes;
    for (const ValueId id : groups.firsts())
        sizes[sketches.find(id)->counts()].values.push_back(id);
    for (auto& [size, same] : sizes) {
        same.isIndexed = same.values.size() > kFewValues && farthest <= SketchIndex::kFarthest;
        if (!same.isIndexed)
            continue;
        for (const ValueId id : same.values)
            same.index.add(id, *sketches.find(id));
        same.index.build();
    }
    return sizes;
}

double ValueEvidence::nearest(
    const Sketches& own, ValueId first, const Others& others, std::vector<double>& known, double limit)
{
    if (!first.valid())
        return HUGE_VAL;
    double& least = known[first.index()];
    if (least >= 0)
        return least;
    least = HUGE_VAL;
    const ValueSketch& sketch = *own.find(first);
    const auto look = [&](ValueId other) {
        if (const ValueSketch& there = *others.sketches.find(other); !sketch.isFarFrom(there))
            least = std::min(least, sketch.distance(there, std::min(limit, least)));
        return std::min(limit, least);
    };
    const auto same = others.sizes.find(sketch.counts());
    if (same != others.sizes.end() && same->second.isIndexed)
        same->second.index.visit(sketch, limit, look);
    else if (same != others.sizes.end())
        std::ranges::for_each(same->second.values, look);
    return least;
}

double ValueEvidence::nearestOfFloat(ValueId f) const
{
    return nearest(
        m_floats, m_floatGroups.first(f), { m_quants, m_quantGroups, m_quantSizes }, m_toFloat, m_closeness.nearest);
}

double ValueEvidence::nearestOfQuant(ValueId q) const
{
    return nearest(
        m_quants, m_quantGroups.first(q), { m_floats, m_floatGroups, m_floatSizes }, m_toQuant, m_closeness.nearest);
}

double ValueEvidence::farthest() const { return std::max(m_closeness.different * m_closeness.nearest, kApart); }

double ValueEvidence::agreement() const
{
    size_t telling = 0, found = 0;
    for (const auto& [size, same] : m_quantSizes)
        for (const ValueId first : same.values) {
            const size_t equals = m_quantGroups.equals(first).size();
            telling += equals;
            found += nearestOfQuant(first) <= m_closeness.nearest ? equals : 0;
        }
    return telling > 0 ? double(found) / double(telling) : 0;
}

double ValueEvidence::nearestOfEither(ValueId f, ValueId q) const
{
    const double toFloat = nearestOfQuant(q);
    return m_closeness.bothWays ? std::min(toFloat, nearestOfFloat(f)) : toFloat;
}

bool ValueEvidence::mayBeFault(ValueId f, ValueId q) const
{
    return m_outputsPart && find(m_floats, f) && find(m_quants, q) && !isOtherSize(f, q)
        && nearestOfEither(f, q) > m_closeness.nearest;
}

bool ValueEvidence::mayBeOne(ValueId f, ValueId q) const
{
    const ValueSketch *a = find(m_floats, f), *b = find(m_quants, q);
    return !a || !b || (!a->isFarFrom(*b) && a->distance(*b, m_closeness.nearest) <= m_closeness.back);
}

Verdict ValueEvidence::verdict(ValueId f, ValueId q) const
{
    if (isOtherSize(f, q))
        return Verdict::Different;
    const ValueSketch *a = find(m_floats, f), *b = find(m_quants, q);
    if (!a || !b)
        return Verdict::Unknown;
    const double d = a->isFarFrom(*b) ? HUGE_VAL : a->distance(*b, farthest());
    if (d <= kRounding)
        return Verdict::Same;
    const double best = nearestOfEither(f, q);
    if (best > m_closeness.nearest)
        // What is near may be the same with another constant in it, as a bias that was corrected.
        return m_inside.contains(f) && d > farthest() ? Verdict::Different : Verdict::Unknown;
    if (d <= m_closeness.same * best && d <= m_closeness.nearest)
        return Verdict::Same;
    return d > std::max(m_closeness.different * best, kApart) ? Verdict::Different : Verdict::Unknown;
}

double ValueEvidence::farthestSame(double nearest) const
{
    return std::max(kRounding, std::min(m_closeness.nearest, m_closeness.same * nearest));
}

std::vector<ValueId> ValueEvidence::equals(
    const ValueSketch& sketch, double farthest, const Others& others, const std::function<bool(ValueId)>& isSame)
{
    std::vector<ValueId> found;
    const auto look = [&](ValueId other) {
        if (!sketch.isFarFrom(*others.sketches.find(other)) && isSame(other))
            found.insert(found.end(), others.groups.equals(other).begin(), others.groups.equals(other).end());
        return farthest;
    };
    const auto same = others.sizes.find(sketch.counts());
    if (same != others.sizes.end() && same->second.isIndexed)
        same->second.index.visit(sketch, farthest, look);
    else if (same != others.sizes.end())
        std::ranges::for_each(same->second.values, look);
    std::ranges::sort(found);
    return found;
}

const std::vector<ValueId>& ValueEvidence::equalsOfFloat(ValueId f) const
{
    const ValueId first = m_floatGroups.first(f);
    const auto [it, isNew] = m_ofFloat.try_emplace(first);
    if (isNew && first.valid())
        it->second = equals(*m_floats.find(first), farthestSame(m_closeness.bothWays ? nearestOfFloat(f) : HUGE_VAL),
            { m_quants, m_quantGroups, m_quantSizes }, [&](ValueId q) { return verdict(first, q) == Verdict::Same; });
    return it->second;
}

const std::vector<ValueId>& ValueEvidence::equalsOfQuant(ValueId q) const
{
    const ValueId first = m_quantGroups.first(q);
    const auto [it, isNew] = m_ofQuant.try_emplace(first);
    if (isNew && first.valid())
        it->second = equals(*m_quants.find(first), farthestSame(nearestOfQuant(q)),
            { m_floats, m_floatGroups, m_floatSizes }, [&](ValueId f) { return verdict(f, first) == Verdict::Same; });
    return it->second;
}

} // namespace qs
