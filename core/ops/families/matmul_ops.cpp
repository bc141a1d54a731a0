// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/fact_tools.h"

#include <algorithm>

namespace qs {

namespace {

Issue productClash(const InferContext& c, const Dims& a, const Dims& b)
{
    return inferIssue(c.node, "matrices " + dimsText(a) + " and " + dimsText(b) + " cannot be multiplied");
}

bool clash(const Dim& a, const Dim& b) { return a.known() && b.known() && a.value != b.value; }

Result<std::vector<Fact>> inferMatMul(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Fact *a = c.input(0), *b = c.input(1);
    std::vector<Fact> out { fact(a->dtype) };
    if (!a->dims || !b->dims)
        return out;
    Dims left = *a->dims, right = *b->dims;
    if (left.empty() || right.empty())
        return productClash(c, left, right);
    const bool row = left.size() == 1, column = right.size() == 1;
    if (row)
        left.insert(left.begin(), knownDim(1));
    if (column)
        right.push_back(knownDim(1));
    if (clash(left.back(), right[right.size() - 2]))
        return productClash(c, *a->dims, *b->dims);
    const Fact batchA = fact(a->dtype, Dims(left.begin(), left.end() - 2));
    const Fact batchB = fact(b->dtype, Dims(right.begin(), right.end() - 2));
    const Fact* batches[] { &batchA, &batchB };
    QS_TRY(std::optional<Dims> dims, broadcastDims(c.node, batches));
    if (!row)
        dims->push_back(left[left.size() - 2]);
    if (!column)
        dims->push_back(right.back());
    out[0].dims = std::move(dims);
    return out;
}

Result<std::vector<Fact>> inferGemm(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Fact *a = c.input(0), *b = c.input(1);
    std::vector<Fact> out { fact(a->dtype, Dims(2)) };
    const auto matrix = [&](const Fact& f, const char* transposed) -> Result<Dims> {
        if (!f.dims)
            return Dims(2);
        if (f.dims->size() != 2)
            return inferIssue(c.node, "an input of Gemm has rank " + std::to_string(f.dims->size()) + " instead of 2");
        Dims d = *f.dims;
        if (c.node.attributes.integer(transposed, 0))
            std::swap(d[0], d[1]);
        return d;
    };
    QS_TRY(const Dims left, matrix(*a, "transA"));
    QS_TRY(const Dims right, matrix(*b, "transB"));
    if (clash(left[1], right[0]))
        return productClash(c, left, right);
    out[0].dims = Dims { left[0], right[1] };
    return out;
}

/// Output elements times the inner size.
std::optional<int64_t> productMacs(std::span<const Fact> outputs, const Dim& inner)
{
    if (outputs.empty() || !outputs[0].dims || !inner.known())
        return std::nullopt;
    const auto count = dimProduct(*outputs[0].dims);
    int64_t macs = 0;
    if (!count || __builtin_mul_overflow(*count, inner.value, &macs))
        return std::nullopt;
    return macs;
}

std::optional<int64_t> matmulMacs(const InferContext& c, std::span<const Fact> outputs)
{
    const Fact* a = c.input(0);
    return a && a->dims && !a->dims->empty() ? productMacs(outputs, a->dims->back()) : std::nullopt;
}

std::optional<int64_t> gemmMacs(const InferContext& c, std::span<const Fact> outputs)
{
    const Fact* a = c.input(0);
    if (!a || !a->dims || a->dims->size() != 2)
        return std::nullopt;
    return productMacs(outputs, (*a->dims)[c.node.attributes.integer("transA", 0) ? 0 : 1]);
}

} // namespace

void registerMatmulOps(OpRegistry& r)
{
    r.add({ "", "MatMul", inferMatMul, Tolerance::Accumulation, matmulMacs });
    r.add({ "", "Gemm", inferGemm, Tolerance::Accumulation, gemmMacs });
}

} // namespace qs
