// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/difference/split.h"

#include "core/tensor/quant_params.h"

#include <algorithm>

namespace qs {

namespace {

/// Bounds out of files may be exchanged: the upper one counts, as in Clip.
double kept(double v, double low, double high) { return std::min(std::max(v, low), high); }

/// An operand without a partner counts as right, and the remainder becomes `input`.
double twinOf(const Operand& operand, const ElementExplanation& e, ErrorSplit& split)
{
    if (operand.twin)
        return *operand.twin;
    if (!split.open) {
        const std::string& name = e.sources[operand.source].name;
        split.open = true;
        split.reservation = "'" + name + "' has no partner in the float network: what it brings is in the input's part";
    }
    return operand.real;
}

double& partOf(const Operand& operand, const ElementExplanation& e, ErrorSplit& split)
{
    return e.sources[operand.source].constant ? split.weight : split.input;
}

void splitProducts(ElementExplanation& e, ErrorSplit& split)
{
    double from = 0, to = 0;
    for (ElementTerm& term : e.terms) {
        const double a = twinOf(term.a, e, split), b = twinOf(*term.b, e, split);
        from += a * b;
        to += term.a.real * term.b->real;
        term.fromA = e.factor * (term.a.real - a) * (term.b->real + b) / 2;
        term.fromB = e.factor * (term.b->real - b) * (term.a.real + a) / 2;
        partOf(term.a, e, split) += *term.fromA;
        partOf(*term.b, e, split) += *term.fromB;
    }
    split.from = e.factor * from;
    split.to = e.factor * to;
    if (e.bias) {
        const double bias = twinOf(*e.bias, e, split);
        split.from += e.biasFactor * bias;
        split.to += e.biasFactor * e.bias->real;
        split.bias = e.biasFactor * (e.bias->real - bias);
    }
    for (const SaturatedTerms& pair : e.saturated) {
        const double step = e.terms.empty() ? 0 : e.terms[0].a.scale.value_or(0) * e.terms[0].b->scale.value_or(0);
        split.saturation -= e.factor * step * double(pair.lost);
    }
    split.to += split.saturation;
}

void splitSum(ElementExplanation& e, ErrorSplit& split)
{
    const double share = e.relation == Relation::Mean ? 1 / e.divisor : 1;
    for (ElementTerm& term : e.terms) {
        const double a = twinOf(term.a, e, split);
        term.fromA = share * term.sign * (term.a.real - a);
        partOf(term.a, e, split) += *term.fromA;
        split.from += share * term.sign * a;
        split.to += share * term.sign * term.a.real;
    }
}

void splitLargest(ElementExplanation& e, ErrorSplit& split)
{
    for (size_t i = 0; i < e.terms.size(); ++i) {
        const double a = twinOf(e.terms[i].a, e, split);
        split.from = i == 0 ? a : std::max(split.from, a);
        split.to = i == 0 ? e.terms[i].a.real : std::max(split.to, e.terms[i].a.real);
    }
    split.input = split.to - split.from;
}

} // namespace

double ErrorSplit::keepWithin(double low, double high)
{
    const double first = kept(from, low, high), last = kept(to, low, high);
    if (first == from && last == to)
        return 1;
    const double share = to != from ? (last - first) / (to - from) : 0;
    for (double* part : { &input, &weight, &bias, &rounding, &clipping, &saturation })
        *part *= share;
    from = first;
    to = last;
    return share;
}

void ErrorSplit::round(const ElementExplanation& e)
{
    const bool makes = e.kind == ElementExplanation::Kind::Integer || e.kind == ElementExplanation::Kind::Quantize;
    const bool hasCode = e.code || e.kind == ElementExplanation::Kind::Quantize; // float8 has no whole numbers
    if (!makes || !hasCode || !e.scale || e.relation == Relation::Copy)
        return;
    const CodeValues codes = codeValues(e.dtype);
    const double zero = double(e.zeroPoint.value_or(0));
    const double within = kept(to, *e.scale * (codes.low - zero), *e.scale * (codes.high - zero));
    clipping += within - to;
    rounding += e.real - within;
    to = e.real;
}

ElementDifference ErrorSplit::difference(double real, double reference) const
{
    ElementDifference d;
    d.reference = reference;
    d.total = real - reference;
    d.input = input;
    d.weight = weight;
    d.bias = bias;
    d.rounding = rounding;
    d.clipping = clipping;
    d.saturation = saturation;
    d.reservation = reservation;
    const double rest = d.total - (input + weight + bias + rounding + clipping + saturation);
    (open ? d.input : d.summation) += rest;
    return d;
}

namespace {

/// The other terms of a sum join what is behind one of them.
void addToBehind(ElementExplanation& e, ValueId followed, ErrorSplit& split)
{
    for (ElementTerm& term : e.terms) {
        const OperandSource& source = e.sources[term.a.source];
        if (source.value == followed)
            continue;
        const double a = twinOf(term.a, e, split);
        term.fromA = term.sign * (term.a.real - a);
        (source.constant ? split.bias : split.input) += *term.fromA;
        split.from += term.sign * a;
        split.to += term.sign * term.a.real;
    }
}

/// All that is known is the difference to the float network's own number.
void leaveOpen(ElementExplanation& e, ErrorSplit& split)
{
    split.to = split.from = e.beforeRounding && e.scale ? *e.beforeRounding * *e.scale : e.real;
    split.open = true;
    if (e.relation == Relation::Function && e.terms.size() > 1)
        split.reservation = "a function of several terms: what they bring is all in the input's part";
    else if (e.relation != Relation::Function && e.nodeId.valid())
        split.reservation = "the steps of this operator are not followed: all of it counts as the input's part";
    for (ElementTerm& term : e.terms)
        if (term.a.twin)
            term.fromA = term.a.real - *term.a.twin;
}

/// Sums of codes stand for real numbers only where their scales are known.
bool hasScales(const ElementExplanation& e)
{
    return std::ranges::all_of(e.terms, [](const ElementTerm& term) {
        return (!term.a.code || term.a.scale) && (!term.b || !term.b->code || term.b->scale);
    });
}

} // namespace

ErrorSplit splitOf(ElementExplanation& e, const std::optional<FollowedOperand>& behind)
{
    ErrorSplit split;
    if (behind && e.relation == Relation::Sum) {
        split = behind->split;
        addToBehind(e, behind->value, split);
    } else if (behind) {
        split = behind->split;
    } else if (e.relation == Relation::Products && hasScales(e)) {
        splitProducts(e, split);
    } else if (e.relation == Relation::Largest) {
        splitLargest(e, split);
    } else if (e.relation == Relation::Products || e.relation == Relation::Function || e.relation == Relation::None) {
        leaveOpen(e, split);
    } else {
        splitSum(e, split);
    }
    if (e.relation == Relation::Clamp)
        split.keepWithin(e.low, e.high);
    return split;
}

} // namespace qs
