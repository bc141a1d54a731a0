// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/common/numeric_inputs.h"
#include "core/engine/lower/vision/parts.h"
#include "core/engine/registry/registry.h"

#include "core/kernels/convolution/col2im.h"
#include "core/kernels/convolution/deform_conv.h"
#include "core/kernels/movement/indexed_copy.h"
#include "core/kernels/movement/strided_copy.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cstring>

namespace qs {

namespace {

constexpr int64_t kLargestWindow = int64_t(1) << 31; ///< sizes, pads, strides and dilations; more cannot be meant

bool allWithin(const std::vector<int64_t>& values, int64_t low)
{
    return std::ranges::all_of(values, [&](int64_t v) { return v >= low && v < kLargestWindow; });
}

Result<WindowGrid> windowGrid(const Node& node, const StepContext& c)
{
    WindowGrid g { toInts(c.in(1)), toInts(c.in(2)), {}, {}, {}, {} };
    const size_t axes = g.image.size();
    const std::vector<int64_t> pads = node.attributes.integers("pads", std::vector<int64_t>(2 * axes, 0));
    g.dilation = node.attributes.integers("dilations", std::vector<int64_t>(axes, 1));
    g.stride = node.attributes.integers("strides", std::vector<int64_t>(axes, 1));
    const bool fits = g.block.size() == axes && g.dilation.size() == axes && g.stride.size() == axes
        && pads.size() == 2 * axes && allWithin(g.image, 0) && allWithin(g.block, 1) && allWithin(g.dilation, 1)
        && allWithin(g.stride, 1) && allWithin(pads, 0);
    if (!fits)
        return badInput("its image, block, pads, strides and dilations do not fit each other");
    g.padBefore.assign(pads.begin(), pads.begin() + std::ptrdiff_t(axes));
    g.padAfter.assign(pads.begin() + std::ptrdiff_t(axes), pads.end());
    return g;
}

Status runCol2im(const Node& node, KernelMode mode, StepContext& c)
{
    QS_CHECK(needInputs(c, 3));
    const Tensor& x = c.in(0);
    QS_TRY(const WindowGrid g, windowGrid(node, c));
    const auto elements = elementCount(g.block);
    Shape windows;
    for (size_t d = 0; d < g.image.size(); ++d)
        windows.push_back(g.windows(d));
    if (!elements || x.rank() != 3 || x.dim(1) % *elements != 0 || elementCount(windows) != x.dim(2))
        return badInput("columns of shape " + shapeText(x.shape()) + " do not hold " + shapeText(windows)
            + " windows of " + shapeText(g.block));
    Shape shape { x.dim(0), x.dim(1) / *elements };
    shape.insert(shape.end(), g.image.begin(), g.image.end());
    QS_CHECK(allocateChecked(c, DType::UInt8, shape));
    const auto run = [&](auto work) {
        using W = decltype(work);
        const Tensor in = asWork<W>(c, x);
        Tensor y = c.allocate(dtypeOf<W>(), shape);
        col2im<W>(g, shape[0] * shape[1], in.template data<W>().data(), y.template fill<W>().data());
        c.setOutput(0, fromWork<W>(c, std::move(y), x.dtype()));
    };
    if (isComputedFloat(x.dtype()))
        withFloatWork(x.dtype(), mode, run);
    else if (isInteger(x.dtype()) || x.dtype() == DType::Bool)
        run(int64_t {}); // a sum of truths is true where one is
    else
        return unsupportedType(x.dtype());
    return {};
}

Result<DeformConv> deformShape(const Node& node, const StepContext& c)
{
    const Tensor &x = c.in(0), &w = c.in(1), &offset = c.in(2);
    const Attributes& a = node.attributes;
    const auto strides = a.integers("strides", { 1, 1 }), dilations = a.integers("dilations", { 1, 1 });
    const auto pads = a.integers("pads", { 0, 0, 0, 0 });
    if (x.rank() != 4 || w.rank() != 4 || offset.rank() != 4)
        return badInput("it is supported for inputs, weights and offsets of rank 4");
    if (strides.size() != 2 || dilations.size() != 2 || pads.size() != 4 || !allWithin(strides, 1)
        || !allWithin(dilations, 1) || !allWithin(pads, -kLargestWindow))
        return badInput("its strides, dilations and pads do not fit two axes");
    DeformConv s { x.dim(1), w.dim(0), a.integer("group", 1), a.integer("offset_group", 1), x.dim(2), x.dim(3),
        w.dim(2), w.dim(3), offset.dim(2), offset.dim(3), strides[0], strides[1], dilations[0], dilations[1], pads[0],
        pads[1] };
    const auto windows = [](int64_t size, int64_t kernel, int64_t padding, int64_t stride, int64_t dilation) {
        return (size + padding - (kernel - 1) * dilation - 1) / stride + 1;
    };
    int64_t taps = 0, offsets = 0; // a dimension may be 0, so that the others are as large as anybody likes
    if (!allWithin(w.shape(), 0) || !allWithin(x.shape(), 0)
        || __builtin_mul_overflow(s.kernelHeight, s.kernelWidth, &taps)
        || __builtin_mul_overflow(s.offsetGroups * 2, taps, &offsets))
        return badInput("its input of shape " + shapeText(x.shape()) + " or its weights " + shapeText(w.shape())
            + " are impossible");
    bool fits = s.groups > 0 && s.offsetGroups > 0 && s.inChannels % s.groups == 0 && s.outChannels % s.groups == 0
        && s.inChannels % s.offsetGroups == 0 && w.dim(1) * s.groups == s.inChannels && offset.dim(0) == x.dim(0)
        && offset.dim(1) == offsets
        && s.outHeight == windows(s.height, s.kernelHeight, pads[0] + pads[2], strides[0], dilations[0])
        && s.outWidth == windows(s.width, s.kernelWidth, pads[1] + pads[3], strides[1], dilations[1]);
    if (fits && c.input(3))
        fits = c.in(3).count() == s.outChannels;
    if (fits && c.input(4))
        fits = c.in(4).shape() == Shape { x.dim(0), offsets / 2, s.outHeight, s.outWidth };
    if (!fits)
        return badInput("an input of shape " + shapeText(x.shape()) + ", weights " + shapeText(w.shape())
            + " and offsets " + shapeText(offset.shape()) + " do not fit");
    return s;
}

Status runDeformConv(const Node& node, KernelMode mode, StepContext& c)
{
    QS_CHECK(needInputs(c, 3));
    QS_CHECK(needNumericInputs(c));
    const Tensor& x = c.in(0);
    if (!isComputedFloat(x.dtype()))
        return unsupportedType(x.dtype());
    QS_TRY(const DeformConv s, deformShape(node, c));
    withFloatWork(x.dtype(), mode, [&](auto work) {
        using W = decltype(work);
        const Tensor in = asWork<W>(c, x), weight = asWork<W>(c, c.in(1)), offset = asWork<W>(c, c.in(2));
        const Tensor bias = c.input(3) ? asWork<W>(c, c.in(3)) : Tensor();
        const Tensor mask = c.input(4) ? asWork<W>(c, c.in(4)) : Tensor();
        Tensor y = c.allocate(dtypeOf<W>(), { x.dim(0), s.outChannels, s.outHeight, s.outWidth });
        const auto part = [n = x.dim(0)](const Tensor& t, int64_t i) {
            return t.valid() ? t.data<W>().data() + i * (t.count() / n) : nullptr;
        };
        for (int64_t n = 0; n < x.dim(0); ++n)
            deformConv<W>(s, part(in, n), weight.data<W>().data(), part(offset, n), dataOrNull<W>(bias), part(mask, n),
                y.fill<W>().data() + n * (y.count() / x.dim(0)));
        c.setOutput(0, fromWork<W>(c, std::move(y), x.dtype()));
    });
    return {};
}

/// The size that a pooling of these windows had before.
Result<Shape> unpooledShape(const Node& node, const Shape& in)
{
    const auto kernel = node.attributes.integers("kernel_shape");
    const size_t axes = kernel.size();
    const auto strides = node.attributes.integers("strides", std::vector<int64_t>(axes, 1));
    const auto pads = node.attributes.integers("pads", std::vector<int64_t>(2 * axes, 0));
    if (in.size() != axes + 2 || strides.size() != axes || pads.size() != 2 * axes || !allWithin(kernel, 1)
        || !allWithin(strides, 1) || !allWithin(pads, -kLargestWindow))
        return badInput("its kernel_shape, strides and pads do not fit an input of shape " + shapeText(in));
    Shape out { in[0], in[1] };
    for (size_t d = 0; d < axes; ++d)
        out.push_back((in[d + 2] - 1) * strides[d] - pads[d] - pads[d + axes] + kernel[d]);
    if (!elementCount(out))
        return badInput("an input of shape " + shapeText(in) + " cannot be unpooled");
    return out;
}

/// Copies the common part of two tensors, from the same corner; the rest of `to` is left.
void copyCommon(const Tensor& from, Tensor& to)
{
    Shape common;
    for (size_t d = 0; d < from.rank(); ++d)
        common.push_back(std::min(from.dim(d), to.dim(d)));
    copyStrided(
        KernelMode::Fast, from, 0, to, 0, { common, rowMajorStrides(from.shape()), rowMajorStrides(to.shape()) });
}

Status runMaxUnpool(const Node& node, KernelMode, StepContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Tensor& x = c.in(0);
    QS_TRY(const Shape whole, unpooledShape(node, x.shape()));
    const std::vector<int64_t> cells = toInts(c.in(1));
    const int64_t count = product(whole, 0, whole.size());
    if (int64_t(cells.size()) != x.count())
        return badInput(
            "there are " + std::to_string(cells.size()) + " indices for " + std::to_string(x.count()) + " elements");
    for (int64_t cell : cells)
        if (cell < 0 || cell >= count)
            return badInput("index " + std::to_string(cell) + " is outside an output of shape " + shapeText(whole));
    const Movable movable({ &x });
    QS_TRY(Tensor y, allocateChecked(c, movable.dtype(), whole));
    std::memset(writable(y), 0, y.byteCount());
    scatterBlocks(movable[0].bytes().data(), writable(y), movable.elementBytes(), cells);
    if (c.input(2)) {
        const Shape shape = toInts(c.in(2));
        if (shape.size() != whole.size())
            return badInput("the output shape " + shapeText(shape) + " does not fit the input");
        QS_TRY(Tensor out, allocateChecked(c, movable.dtype(), shape));
        std::memset(writable(out), 0, out.byteCount());
        copyCommon(y, out);
        y = out;
    }
    c.setOutput(0, movable.back(y));
    return {};
}

Status runCenterCropPad(const Node& node, KernelMode mode, StepContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Shape& in = c.in(0).shape();
    std::vector<size_t> axes = allAxes(in.size());
    if (node.attributes.has("axes")) {
        QS_TRY(axes, axesOf(node.attributes.integers("axes"), in.size()));
    }
    const std::vector<int64_t> sizes = toInts(c.in(1));
    if (sizes.size() != axes.size())
        return badInput("it needs " + std::to_string(axes.size()) + " sizes");
    Shape out = in, common = in;
    for (size_t i = 0; i < axes.size(); ++i) {
        out[axes[i]] = sizes[i];
        common[axes[i]] = std::min(in[axes[i]], sizes[i]);
    }
    const Movable movable({ &c.in(0) });
    QS_TRY(Tensor y, allocateChecked(c, movable.dtype(), out));
    const auto zero = movable.fillElement(nullptr);
    for (size_t i = 0; i < static_cast<size_t>(y.count()); ++i)
        std::memcpy(writable(y) + i * zero.size(), zero.data(), zero.size());
    const auto from = rowMajorStrides(in), to = rowMajorStrides(out);
    int64_t fromOffset = 0, toOffset = 0;
    for (size_t d = 0; d < in.size(); ++d) {
        fromOffset += (in[d] - common[d]) / 2 * from[d];
        toOffset += (out[d] - common[d]) / 2 * to[d];
    }
    copyStrided(mode, movable[0], fromOffset, y, toOffset, { common, from, to });
    c.setOutput(0, movable.back(y));
    return {};
}

template <RunFn run> Result<LoweredNode> computing(const LowerContext& context)
{
    QS_TRY(LoweredNode lowered, copying<run>(context));
    lowered.kernel = "reference"; // loops without a fast path, in the type of the input
    return lowered;
}

} // namespace

void lowerWindows(LoweringRegistry& r)
{
    r.add("", "Col2Im", computing<runCol2im>);
    r.add("", "DeformConv", computing<runDeformConv>);
    r.add("", "MaxUnpool", copying<runMaxUnpool>);
    r.add("", "CenterCropPad", copying<runCenterCropPad>);
}

} // namespace qs
