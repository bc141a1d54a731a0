// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/fact_tools.h"
#include "core/tensor/convert.h"

/// Operators of detectors and of geometry in pictures.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

Result<Facts> inferGridSample(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const auto &x = c.input(0)->dims, &grid = c.input(1)->dims;
    if (!x || !grid)
        return Facts { fact(c.input(0)->dtype) };
    if (x->size() < 3 || grid->size() != x->size())
        return inferIssue(c.node, "the input and its grid need the same rank of at least 3");
    Dims out { (*x)[0], (*x)[1] };
    out.insert(out.end(), grid->begin() + 1, grid->end() - 1);
    return Facts { fact(c.input(0)->dtype, out) };
}

Result<Facts> inferAffineGrid(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const auto size = knownInts(c.input(1));
    if (!size)
        return Facts { fact(c.input(0)->dtype) };
    if (size->size() != 4 && size->size() != 5)
        return inferIssue(c.node, "the size needs 4 or 5 numbers");
    Dims out { knownDim((*size)[0]) };
    for (size_t i = 2; i < size->size(); ++i)
        out.push_back(knownDim((*size)[i]));
    out.push_back(knownDim(static_cast<int64_t>(size->size()) - 2));
    return Facts { fact(c.input(0)->dtype, out) };
}

/// RoiAlign and MaxRoiPool: regions x channels x two sizes.
Result<Facts> inferRegions(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Attributes& a = c.node.attributes;
    const auto &x = c.input(0)->dims, &regions = c.input(1)->dims;
    if (x && x->size() != 4)
        return inferIssue(c.node, "the input needs rank 4");
    Dims out(4);
    if (regions && !regions->empty())
        out[0] = (*regions)[0];
    if (x)
        out[1] = (*x)[1];
    const auto pooled = a.integers("pooled_shape");
    if (a.has("pooled_shape") && pooled.size() != 2)
        return inferIssue(c.node, "pooled_shape needs two sizes");
    out[2] = knownDim(pooled.empty() ? a.integer("output_height", 1) : pooled[0]);
    out[3] = knownDim(pooled.empty() ? a.integer("output_width", 1) : pooled[1]);
    if (out[2].value < 1 || out[3].value < 1)
        return inferIssue(c.node, "its output size is not positive");
    return Facts { fact(c.input(0)->dtype, out) };
}

Result<Facts> inferNonMax(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    return Facts { fact(DType::Int64, Dims { unknownDim(), knownDim(3) }) };
}

Result<Facts> inferColumns(const InferContext& c)
{
    QS_CHECK(needInputs(c, 3));
    const auto& x = c.input(0)->dims;
    const auto image = knownInts(c.input(1)), block = knownInts(c.input(2));
    if (x && x->size() != 3)
        return inferIssue(c.node, "the input needs rank 3");
    if (!x || !image || !block)
        return Facts { fact(c.input(0)->dtype) };
    const auto elements = elementCount(*block);
    if (!elements || *elements < 1 || ((*x)[1].known() && (*x)[1].value % *elements != 0))
        return inferIssue(c.node, "its blocks do not divide its channels");
    Dims out { (*x)[0], (*x)[1].known() ? knownDim((*x)[1].value / *elements) : unknownDim() };
    for (int64_t size : *image)
        out.push_back(knownDim(size));
    return Facts { fact(c.input(0)->dtype, out) };
}

Result<Facts> inferDeformConv(const InferContext& c)
{
    QS_CHECK(needInputs(c, 3));
    const auto &x = c.input(0)->dims, &w = c.input(1)->dims, &offset = c.input(2)->dims;
    if (!x || !w || !offset)
        return Facts { fact(c.input(0)->dtype) };
    if (x->size() != 4 || w->size() != 4 || offset->size() != 4)
        return inferIssue(c.node, "it is supported for inputs, weights and offsets of rank 4");
    return Facts { fact(c.input(0)->dtype, Dims { (*x)[0], (*w)[0], (*offset)[2], (*offset)[3] }) };
}

Result<Facts> inferCenterCropPad(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const auto& dims = c.input(0)->dims;
    if (!dims)
        return Facts { fact(c.input(0)->dtype) };
    std::vector<size_t> axes;
    for (size_t i = 0; i < dims->size(); ++i)
        axes.push_back(i);
    if (c.node.attributes.has("axes")) {
        QS_TRY(axes, axesArgument(c.node, c.node.attributes.integers("axes"), dims->size()));
    }
    const auto sizes = knownInts(c.input(1));
    if (sizes && sizes->size() != axes.size())
        return inferIssue(c.node, "it needs " + std::to_string(axes.size()) + " sizes");
    Dims out = *dims;
    for (size_t i = 0; i < axes.size(); ++i)
        out[axes[i]] = sizes ? knownDim((*sizes)[i]) : unknownDim();
    return Facts { fact(c.input(0)->dtype, out) };
}

/// Size that MaxUnpool restores along one axis; unknown where it is no size.
Dim unpooledDim(const Dim& in, int64_t kernel, int64_t stride, int64_t before, int64_t after)
{
    int64_t size = 0;
    const bool fits = in.known() && !__builtin_mul_overflow(in.value - 1, stride, &size)
        && !__builtin_add_overflow(size, kernel, &size) && !__builtin_sub_overflow(size, before, &size)
        && !__builtin_sub_overflow(size, after, &size) && size >= 0;
    return fits ? knownDim(size) : unknownDim();
}

Result<Facts> inferMaxUnpool(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const auto& dims = c.input(0)->dims;
    const DType type = c.input(0)->dtype;
    if (c.input(2)) {
        const auto shape = knownInts(c.input(2));
        return Facts { shape ? fact(type, toDims(*shape))
                             : fact(type, dims ? std::optional(Dims(dims->size())) : std::nullopt) };
    }
    if (!dims)
        return Facts { fact(type) };
    const Attributes& a = c.node.attributes;
    const auto kernel = a.integers("kernel_shape");
    const size_t axes = kernel.size();
    const auto strides = a.integers("strides", std::vector<int64_t>(axes, 1)),
               pads = a.integers("pads", std::vector<int64_t>(2 * axes, 0));
    if (dims->size() != axes + 2 || strides.size() != axes || pads.size() != 2 * axes)
        return inferIssue(
            c.node, "its kernel_shape, strides and pads do not fit an input of rank " + std::to_string(dims->size()));
    Dims out { (*dims)[0], (*dims)[1] };
    for (size_t i = 0; i < axes; ++i)
        out.push_back(unpooledDim((*dims)[i + 2], kernel[i], strides[i], pads[i], pads[i + axes]));
    return Facts { fact(type, out) };
}

} // namespace

void registerVisionOps(OpRegistry& r)
{
    r.add({ "", "GridSample", inferGridSample, Tolerance::Accumulation });
    r.add({ "", "AffineGrid", inferAffineGrid, Tolerance::Accumulation });
    r.add({ "", "RoiAlign", inferRegions, Tolerance::Accumulation });
    r.add({ "", "MaxRoiPool", inferRegions, Tolerance::Exact });
    r.add({ "", "NonMaxSuppression", inferNonMax, Tolerance::Exact });
    r.add({ "", "Col2Im", inferColumns, Tolerance::Accumulation });
    r.add({ "", "DeformConv", inferDeformConv, Tolerance::Accumulation });
    r.add({ "", "CenterCropPad", inferCenterCropPad, Tolerance::Exact });
    r.add({ "", "MaxUnpool", inferMaxUnpool, Tolerance::Exact });
}

} // namespace qs
