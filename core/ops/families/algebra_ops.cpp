// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/ops/equation.h"
#include "core/ops/fact_tools.h"

namespace qs {

namespace {

Result<std::vector<Fact>> inferEinsum(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const DType type = c.inputs[0].dtype;
    std::vector<size_t> ranks;
    for (const Fact& f : c.inputs) {
        if (!f.dims)
            return std::vector<Fact> { fact(type) };
        ranks.push_back(f.dims->size());
    }
    const auto equation = parseEquation(c.node.attributes.text("equation", ""), ranks);
    if (!equation)
        return inferIssue(c.node, equation.issue().what);
    Dims sizes(equation->labels, knownDim(1));
    for (size_t k = 0; k < ranks.size(); ++k)
        for (size_t d = 0; d < ranks[k]; ++d)
            if (const Dim& dim = (*c.inputs[k].dims)[d]; dim.value != 1)
                sizes[static_cast<size_t>(equation->operands[k][d])] = dim;
    Dims out;
    for (int label : equation->output)
        out.push_back(sizes[static_cast<size_t>(label)]);
    return std::vector<Fact> { fact(type, out) };
}

/// Issue when the last two sizes of the input are known to differ.
Status needSquares(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& x = *c.input(0);
    const size_t rank = x.dims ? x.dims->size() : 2;
    if (rank < 2)
        return inferIssue(c.node, "the input needs rank 2 or more");
    const Dim rows = dimOf(&x, rank - 2), columns = dimOf(&x, rank - 1);
    if (rows.known() && columns.known() && rows.value != columns.value)
        return inferIssue(c.node, "matrices of shape " + dimsText({ rows, columns }) + " are not square");
    return {};
}

Result<std::vector<Fact>> inferDet(const InferContext& c)
{
    QS_CHECK(needSquares(c));
    const Fact& x = *c.input(0);
    if (!x.dims)
        return std::vector<Fact> { fact(x.dtype) };
    return std::vector<Fact> { fact(x.dtype, Dims(x.dims->begin(), x.dims->end() - 2)) };
}

Result<std::vector<Fact>> inferInverse(const InferContext& c)
{
    QS_CHECK(needSquares(c));
    return inferSame(c);
}

} // namespace

void registerAlgebraOps(OpRegistry& r)
{
    r.add({ "", "Einsum", inferEinsum, Tolerance::Accumulation });
    r.add({ "", "Det", inferDet, Tolerance::Accumulation });
    r.add({ kMicrosoftDomain, "Inverse", inferInverse, Tolerance::Accumulation });
}

} // namespace qs
