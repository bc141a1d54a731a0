// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/rounding.h"
#include "core/explain/operators/operation.h"
#include "core/explain/operators/pool_places.h"
#include "core/graph/domains.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <numeric>

/// Pools of floats and of codes, and reductions to a mean, a sum or the largest element.
namespace qs {

namespace {

struct PoolKind {
    Relation relation = Relation::Mean;
    bool global = false, reduces = false, codes = false;
};

std::optional<PoolKind> kindOf(const Node& node)
{
    const std::string& type = node.opType;
    if (node.domain == kMicrosoftDomain) {
        if (type == "QLinearAveragePool" || type == "QLinearGlobalAveragePool")
            return PoolKind { Relation::Mean, type == "QLinearGlobalAveragePool", false, true };
        return type == "NhwcMaxPool" ? std::optional(PoolKind { Relation::Largest }) : std::nullopt;
    }
    if (type == "MaxPool" || type == "AveragePool")
        return PoolKind { type == "MaxPool" ? Relation::Largest : Relation::Mean };
    if (type == "GlobalMaxPool" || type == "GlobalAveragePool")
        return PoolKind { type == "GlobalMaxPool" ? Relation::Largest : Relation::Mean, true };
    if (type == "ReduceMean" || type == "ReduceSum" || type == "ReduceMax")
        return PoolKind { type == "ReduceMean" ? Relation::Mean
                : type == "ReduceSum"          ? Relation::Sum
                                               : Relation::Largest,
            false, true };
    return std::nullopt;
}

std::optional<PoolPlaces> known(Result<PoolPlaces> places)
{
    return places.ok() ? std::optional(*std::move(places)) : std::nullopt;
}

std::optional<PoolPlaces> reduced(const Operation& op, int64_t element)
{
    const Shape& x = op.inputs[0].shape();
    std::vector<int64_t> given = op.node->attributes.integers("axes");
    if (given.empty() && op.in(1)) // as the engine reads them
        given = toInts(op.inputs[1]);
    std::vector<size_t> axes;
    for (const int64_t axis : given) {
        const auto own = normalizedAxis(axis, x.size());
        if (!own)
            return std::nullopt;
        axes.push_back(*own);
    }
    if (axes.empty() && op.node->attributes.integer("noop_with_empty_axes", 0) == 0) {
        axes.resize(x.size());
        std::iota(axes.begin(), axes.end(), 0);
    }
    std::ranges::sort(axes);
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    return known(reducedPlaces(x, op.output.shape(), element, axes, op.node->attributes.integer("keepdims", 1) != 0));
}

std::optional<PoolPlaces> placesOf(const Operation& op, const PoolKind& kind, int64_t element)
{
    const Shape& x = op.inputs[0].shape();
    if (kind.reduces)
        return reduced(op, element);
    const bool last = op.node->is("NhwcMaxPool", kMicrosoftDomain)
        || (kind.codes && op.node->attributes.integer("channels_last", 0) != 0);
    if (x.size() < 3 || op.output.rank() != x.size())
        return std::nullopt;
    if (kind.global)
        return known(globalPlaces(x, op.output.shape(), element, last));
    return known(windowPlaces(*op.node, x, op.output.shape(), element, last));
}

/// The float32 steps of a pool of codes. Source: core/kernels/quantize/qlinear.h.
void finishCodes(const Operation& op, const PoolKind& kind, int64_t element, ElementExplanation& e)
{
    const CodeGrid in = gridOf(op, 1, 2), out = gridOf(op, 3, 4);
    int64_t code = 0;
    e.kind = ElementExplanation::Kind::Integer;
    if (kind.global) {
        int64_t sum = 0;
        for (const ElementTerm& term : e.terms)
            sum += *term.a.code - in.zeroPoint;
        const float multiplier = in.scale / (out.scale * float(e.divisor));
        const float v = float(sum) * multiplier;
        e.multiplier = double(multiplier);
        e.steps.push_back({ "sum of codes less zero point", double(sum) });
        e.steps.push_back({ "times input scale / (output scale * count)", double(v) });
        code = roundToCode(e, v, op.output.dtype(), out, true);
    } else {
        float sum = 0;
        for (const ElementTerm& term : e.terms)
            sum += static_cast<float>(term.a.real);
        const float average = sum / float(e.divisor), v = average / out.scale + float(out.zeroPoint);
        const CodeRange range = *codeRange(op.output.dtype());
        e.steps.push_back({ "average", double(average) });
        e.steps.push_back({ "divided by output scale, plus zero point", double(v) });
        e.steps.push_back({ "rounded half to even", double(roundHalfEven(v)) });
        e.beforeRounding = double(v) - double(out.zeroPoint);
        e.clipped = roundHalfEven(v) < float(range.low) || roundHalfEven(v) > float(range.high);
        code = static_cast<int64_t>(
            clampOr(double(roundHalfEven(v)), double(range.low), double(range.high), double(range.low)));
        e.steps.push_back({ "kept within the codes", double(code) });
    }
    e.confirmed = code == elementAsInt(op.output, element);
    setCode(e, elementAsInt(op.output, element), out);
}

void finishNumbers(const Operation& op, int64_t element, ElementExplanation& e)
{
    const double made = elementAsDouble(op.output, element);
    double sum = 0, size = 0;
    ElementTerm* largest = nullptr;
    for (ElementTerm& term : e.terms) {
        sum += term.a.real;
        size += std::abs(term.a.real);
        // A NaN is chosen where the engine has one, and left out of what is compared where it has none.
        const bool nan = std::isnan(term.a.real);
        if (std::isnan(made) ? nan && !largest : !nan && (!largest || term.a.real > largest->a.real))
            largest = &term;
    }
    if (e.relation == Relation::Largest) {
        if (largest)
            largest->chosen = true;
        e.confirmed = largest && (largest->a.real == made || std::isnan(made));
        return;
    }
    e.steps.push_back({ "sum", sum });
    if (e.relation == Relation::Mean) {
        e.steps.push_back({ "over their number", sum / e.divisor });
        sum /= e.divisor;
        size /= e.divisor;
    }
    const double near = op.output.dtype() == DType::Float32 ? 1e-5 : 2e-2;
    e.steps.push_back({ "as the engine has it", made });
    if (isFloat(op.output.dtype()))
        e.confirmed = !std::isfinite(sum) || std::abs(sum - made) <= near * size;
}

} // namespace

bool explainPool(const Operation& op, int64_t element, ElementExplanation& e)
{
    const auto kind = kindOf(*op.node);
    if (!kind || !op.in(0) || op.outputIndex != 0 || dtypeBits(op.inputs[0].dtype()) == 0)
        return false;
    const auto places = placesOf(op, *kind, element);
    if (!places)
        return false;
    e.kind = isFloat(op.output.dtype()) ? ElementExplanation::Kind::Float : ElementExplanation::Kind::Other;
    e.relation = kind->relation;
    e.divisor = double(std::max<int64_t>(places->padded, 1));
    const CodeGrid grid = kind->codes ? gridOf(op, 1, 2) : CodeGrid {};
    for (const int64_t from : places->elements) {
        ElementTerm term;
        term.a = kind->codes ? codeAt(op, 0, from, grid) : operandAt(op, 0, from);
        e.terms.push_back(std::move(term));
    }
    if (kind->codes)
        finishCodes(op, *kind, element, e);
    else
        finishNumbers(op, element, e);
    return true;
}

} // namespace qs
