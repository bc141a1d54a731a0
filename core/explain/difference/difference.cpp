// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/difference/difference.h"

#include "core/explain/difference/float_twins.h"
#include "core/explain/difference/split.h"
#include "core/explain/run/operand_codes.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

size_t countOf(const Shape& shape) { return size_t(elementCount(shape).value_or(0)); }

/// What the Relu or Clip that makes a value lets pass; open where another node does.
PairActivation boundsOf(const Plan& plan, ValueId value)
{
    PairActivation bounds;
    const NodeId id = value.valid() ? plan.graph().value(value).producer : NodeId();
    if (!id.valid())
        return bounds;
    const Node& node = plan.graph().node(id);
    if (node.is("Relu"))
        bounds.low = 0;
    if (!node.is("Clip"))
        return bounds;
    const auto bound = [&](size_t slot, const char* name, auto open) {
        const Tensor* given = node.hasInput(slot) ? plan.constant(node.inputs[slot]) : nullptr;
        const double fallback = node.attributes.has(name) ? double(node.attributes.real(name, 0)) : double(open);
        return static_cast<decltype(open)>(given && given->count() == 1 ? elementAsDouble(*given, 0) : fallback);
    };
    bounds.low = bound(1, "min", bounds.low);
    bounds.high = bound(2, "max", bounds.high);
    return bounds;
}

/// One explanation with what the float network has for it.
struct Twinned {
    ElementExplanation* e = nullptr;
    std::optional<FloatTwin> own;
    std::vector<std::optional<FloatTwin>> sources;
};

/// `product`: the last node of the chain, whose bias the float network may have inside.
Twinned twinnedOf(const FloatTwins& twins, ElementExplanation& e, NodeId product)
{
    Twinned t { &e, twins.of(e.value, {}, 0), {} };
    for (OperandSource& source : e.sources) {
        t.sources.push_back(twins.of(source.value, e.nodeId, source.operand));
        if (!t.sources.back() && source.constant && e.relation == Relation::Sum && product != e.nodeId)
            t.sources.back() = twins.of(source.value, product, 2);
        if (t.sources.back())
            source.twin = t.sources.back()->name;
    }
    return t;
}

void addTwins(const Twinned& t, const SampleValues& values)
{
    forEachOperand(*t.e, [&](Operand& operand) {
        if (const auto& twin = t.sources[operand.source])
            operand.twin = twin->at(operand.element, countOf(t.e->sources[operand.source].shape), values);
    });
}

PairActivation narrower(const PairActivation& a, const PairActivation& b)
{
    return { std::max(a.low, b.low), std::min(a.high, b.high) };
}

} // namespace

Status addDifferences(const ComparePair& pair, const SampleRuns& runs, size_t sample, const WorkContext& work,
    std::span<const std::shared_ptr<ElementExplanation>> chain)
{
    const FloatTwins twins(pair);
    std::vector<Twinned> all;
    std::vector<ValueId> needed;
    for (const auto& e : chain) {
        all.push_back(twinnedOf(twins, *e, chain.back()->nodeId));
        for (const auto& source : all.back().sources)
            if (source && !source->constant)
                needed.push_back(source->value);
        if (all.back().own && !all.back().own->constant)
            needed.push_back(all.back().own->value);
    }
    QS_TRY(const SampleValues values, SampleValues::read(pair.floatPlan, needed, runs, sample, work));
    std::optional<FollowedOperand> behind;
    for (size_t i = all.size(); i-- > 0;) {
        ElementExplanation& e = *all[i].e;
        addTwins(all[i], values);
        const auto& own = all[i].own;
        const auto reference
            = own ? own->at(elementOf(e.shape, e.at), countOf(e.shape), values) : std::optional<double>();
        const PairActivation bounds
            = own ? narrower(own->bounds, boundsOf(*pair.floatPlan, own->value)) : PairActivation();
        ErrorSplit split = splitOf(e, behind);
        const double share = split.keepWithin(double(bounds.low), double(bounds.high));
        for (ElementTerm& term : e.terms)
            for (std::optional<double>* part : { &term.fromA, &term.fromB })
                if (*part)
                    **part *= share;
        split.round(e);
        if (reference) {
            e.difference = split.difference(e.real, *reference);
            e.difference->floatTensor = own->name;
        } else if (i == 0 && e.relation != Relation::None)
            e.addNote("the float network has no partner for this tensor");
        behind = FollowedOperand { split, e.value };
    }
    return {};
}

} // namespace qs
