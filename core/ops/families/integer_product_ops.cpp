// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"
#include "core/ops/window.h"

#include <algorithm>

/// Convolutions and matrix products of 8-bit codes with exact 32-bit sums.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

Result<std::optional<Dims>> convDims(const InferContext& c, const Fact& x, const Fact& w)
{
    if (!x.dims || !w.dims)
        return std::optional<Dims>();
    const Dims &xd = *x.dims, &wd = *w.dims;
    if (xd.size() < 3 || xd.size() != wd.size())
        return inferIssue(c.node,
            "the input of shape " + dimsText(xd) + " and the weight of shape " + dimsText(wd)
                + " need one rank of 3 or more");
    QS_TRY(const WindowAttributes window, windowAttributes(c.node));
    const int64_t groups = c.node.attributes.integer("group", 1);
    if (groups < 1)
        return inferIssue(c.node, "group must be positive");
    if (xd[1].known() && wd[1].known() && (xd[1].value % groups != 0 || xd[1].value / groups != wd[1].value))
        return inferIssue(c.node,
            "the input has " + std::to_string(xd[1].value) + " channels, the weight needs "
                + std::to_string(wd[1].value) + " in each of " + std::to_string(groups) + " groups");
    if (wd[0].known() && wd[0].value % groups != 0)
        return inferIssue(
            c.node, std::to_string(wd[0].value) + " output channels cannot form " + std::to_string(groups) + " groups");
    Dims out = { xd[0], wd[0] };
    for (size_t i = 2; i < xd.size(); ++i) {
        out.push_back(unknownDim());
        if (!xd[i].known() || !wd[i].known())
            continue;
        QS_TRY(const WindowAxis axis,
            windowAxis(c.node, window, WindowKind::Conv, i - 2, xd.size() - 2, xd[i].value, wd[i].value));
        out[i] = knownDim(axis.out);
    }
    return std::optional<Dims>(out);
}

std::optional<int64_t> convMacs(const Fact& w, std::span<const Fact> outputs)
{
    if (!w.dims || w.dims->empty() || !outputs[0].dims)
        return std::nullopt;
    Dims all = *outputs[0].dims;
    all.insert(all.end(), w.dims->begin() + 1, w.dims->end());
    return dimProduct(all);
}

DType zeroPointType(const InferContext& c, size_t slot, DType fallback)
{
    const Fact* f = c.input(slot);
    return f && f->dtype != DType::Undefined ? f->dtype : fallback;
}

Result<Facts> inferQLinearConv(const InferContext& c)
{
    QS_CHECK(needInputs(c, 7));
    QS_TRY(auto dims, convDims(c, *c.input(0), *c.input(3)));
    return Facts { fact(zeroPointType(c, 7, c.input(0)->dtype), std::move(dims)) };
}

std::optional<int64_t> macsQLinearConv(const InferContext& c, std::span<const Fact> outputs)
{
    return convMacs(c.inputs[3], outputs);
}

Result<Facts> inferConvInteger(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    QS_TRY(auto dims, convDims(c, *c.input(0), *c.input(1)));
    return Facts { fact(DType::Int32, std::move(dims)) };
}

std::optional<int64_t> macsConvInteger(const InferContext& c, std::span<const Fact> outputs)
{
    return convMacs(c.inputs[1], outputs);
}

/// Numpy's matmul: vectors are rows or columns, leading axes broadcast.
Result<std::optional<Dims>> productDims(const InferContext& c, const Fact& a, const Fact& b)
{
    if (!a.dims || !b.dims)
        return std::optional<Dims>();
    Dims da = *a.dims, db = *b.dims;
    if (da.empty() || db.empty())
        return inferIssue(c.node, "a scalar cannot be multiplied as a matrix");
    const bool row = da.size() == 1, column = db.size() == 1;
    if (row)
        da.insert(da.begin(), knownDim(1));
    if (column)
        db.push_back(knownDim(1));
    const Dim &ka = da.back(), &kb = db[db.size() - 2];
    if (ka.known() && kb.known() && ka.value != kb.value)
        return inferIssue(
            c.node, "matrices of shapes " + dimsText(*a.dims) + " and " + dimsText(*b.dims) + " cannot be multiplied");
    const Fact leftBatch = fact(DType::Int32, Dims(da.begin(), da.end() - 2));
    const Fact rightBatch = fact(DType::Int32, Dims(db.begin(), db.end() - 2));
    const Fact* both[] = { &leftBatch, &rightBatch };
    QS_TRY(auto out, broadcastDims(c.node, both));
    if (!out)
        return out;
    if (!row)
        out->push_back(da[da.size() - 2]);
    if (!column)
        out->push_back(db.back());
    return out;
}

std::optional<int64_t> productMacs(const Fact& a, std::span<const Fact> outputs)
{
    if (!a.dims || a.dims->empty() || !outputs[0].dims)
        return std::nullopt;
    Dims all = *outputs[0].dims;
    all.push_back(a.dims->back());
    return dimProduct(all);
}

std::optional<int64_t> macsProduct(const InferContext& c, std::span<const Fact> outputs)
{
    return productMacs(c.inputs[0], outputs);
}

Result<Facts> inferMatMulInteger(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    QS_TRY(auto dims, productDims(c, *c.input(0), *c.input(1)));
    return Facts { fact(DType::Int32, std::move(dims)) };
}

Result<Facts> inferMatMulToFloat(const InferContext& c)
{
    QS_CHECK(needInputs(c, 3));
    QS_TRY(auto dims, productDims(c, *c.input(0), *c.input(1)));
    return Facts { fact(DType::Float32, std::move(dims)) };
}

Result<Facts> inferQLinearMatMul(const InferContext& c)
{
    QS_CHECK(needInputs(c, 7));
    QS_TRY(auto dims, productDims(c, *c.input(0), *c.input(3)));
    return Facts { fact(zeroPointType(c, 7, c.input(0)->dtype), std::move(dims)) };
}

/// Rows and depth of op(A), depth and columns of op(B).
Result<Facts> inferQGemm(const InferContext& c)
{
    QS_CHECK(needInputs(c, 5));
    const Fact &a = *c.input(0), &b = *c.input(3);
    const DType type = c.input(7) ? zeroPointType(c, 8, a.dtype) : DType::Float32;
    if (!a.dims || !b.dims)
        return Facts { fact(type, Dims(2)) };
    if (a.dims->size() != 2 || b.dims->size() != 2)
        return inferIssue(c.node, "both matrices need rank 2");
    const size_t ta = c.node.attributes.integer("transA", 0) != 0, tb = c.node.attributes.integer("transB", 0) != 0;
    const Dim &ka = (*a.dims)[1 - ta], &kb = (*b.dims)[tb];
    if (ka.known() && kb.known() && ka.value != kb.value)
        return inferIssue(
            c.node, "matrices of shapes " + dimsText(*a.dims) + " and " + dimsText(*b.dims) + " cannot be multiplied");
    return Facts { fact(type, Dims { (*a.dims)[ta], (*b.dims)[1 - tb] }) };
}

std::optional<int64_t> macsQGemm(const InferContext& c, std::span<const Fact> outputs)
{
    const auto& b = c.inputs[3].dims;
    if (!b || b->size() != 2 || !outputs[0].dims)
        return std::nullopt;
    Dims all = *outputs[0].dims;
    all.push_back((*b)[c.node.attributes.integer("transB", 0) != 0 ? 1 : 0]);
    return dimProduct(all);
}

} // namespace

void registerIntegerProductOps(OpRegistry& r)
{
    r.add({ "", "QLinearConv", inferQLinearConv, Tolerance::OneStep, macsQLinearConv, 10 });
    r.add({ "", "ConvInteger", inferConvInteger, Tolerance::Exact, macsConvInteger, 10 });
    r.add({ "", "MatMulInteger", inferMatMulInteger, Tolerance::Exact, macsProduct, 10 });
    r.add({ "", "QLinearMatMul", inferQLinearMatMul, Tolerance::OneStep, macsProduct, 10 });
    r.add({ kMicrosoftDomain, "QGemm", inferQGemm, Tolerance::OneStep, macsQGemm });
    r.add({ kMicrosoftDomain, "DynamicQuantizeMatMul", inferMatMulToFloat, Tolerance::Accumulation, macsProduct });
    r.add({ kMicrosoftDomain, "MatMulIntegerToFloat", inferMatMulToFloat, Tolerance::Accumulation, macsProduct });
}

} // namespace qs
