// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/fact_tools.h"

#include <algorithm>

namespace qs {

namespace {

/// Dims with the given axes set to 1 or taken out.
Dims withoutAxes(const Dims& dims, const std::vector<size_t>& axes, bool keep)
{
    Dims out;
    for (size_t d = 0; d < dims.size(); ++d) {
        const bool reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
        if (!reduced)
            out.push_back(dims[d]);
        else if (keep)
            out.push_back(knownDim(1));
    }
    return out;
}

Result<std::vector<Fact>> inferReduce(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& x = *c.input(0);
    std::vector<Fact> out { fact(x.dtype) };
    const bool keep = c.node.attributes.integer("keepdims", 1) != 0;
    const ListArgument axes = listArgument(c, "axes", 1);
    const bool nothingNamed = !axes.given || (axes.values && axes.values->empty());
    if (nothingNamed && c.node.attributes.integer("noop_with_empty_axes", 0)) {
        out[0].dims = x.dims;
        return out;
    }
    if (nothingNamed && !keep)
        out[0].dims = Dims {};
    if (!x.dims)
        return out;
    if (nothingNamed && keep)
        out[0].dims = Dims(x.dims->size(), knownDim(1));
    if (nothingNamed)
        return out;
    if (axes.values) {
        QS_TRY(const std::vector<size_t> known, axesArgument(c.node, *axes.values, x.dims->size()));
        out[0].dims = withoutAxes(*x.dims, known, keep);
    } else if (keep) {
        out[0].dims = Dims(x.dims->size());
    }
    return out;
}

Result<std::vector<Fact>> inferArg(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& x = *c.input(0);
    std::vector<Fact> out { fact(DType::Int64) };
    if (!x.dims)
        return out;
    QS_TRY(const size_t axis, axisArgument(c.node, c.node.attributes.integer("axis", 0), x.dims->size()));
    out[0].dims = withoutAxes(*x.dims, { axis }, c.node.attributes.integer("keepdims", 1) != 0);
    return out;
}

Result<std::vector<Fact>> inferCumSum(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    return std::vector<Fact> { fact(c.input(0)->dtype, c.input(0)->dims) };
}

} // namespace

void registerReduceOps(OpRegistry& r)
{
    for (const char* type : { "ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
             "ReduceLogSumExp", "ReduceSumSquare" })
        r.add({ "", type, inferReduce, Tolerance::Accumulation });
    for (const char* type : { "ReduceMax", "ReduceMin" })
        r.add({ "", type, inferReduce, Tolerance::Exact });
    for (const char* type : { "ArgMax", "ArgMin" })
        r.add({ "", type, inferArg, Tolerance::Exact });
    for (const char* type : { "CumSum", "CumProd" })
        r.add({ "", type, inferCumSum, Tolerance::Accumulation });
}

} // namespace qs
