// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/vision/parts.h"
#include "core/engine/registry/registry.h"

#include "core/kernels/window/grid_sample.h"
#include "core/tensor/convert.h"

namespace qs {

namespace {

struct GridStep {
    KernelMode mode;
    GridMode interpolation;
    GridPadding padding;
    bool alignCorners;
};

constexpr int64_t kMostGridAxes = 5; ///< each multiplies the elements that a place is made of by up to four

Result<GridSample> gridShape(const GridStep& step, const Tensor& x, const Tensor& grid)
{
    GridSample s { 1, 1, {}, 0, step.interpolation, step.padding, step.alignCorners };
    const auto axes = static_cast<int64_t>(x.rank()) - 2;
    if (axes < 1 || grid.rank() != x.rank() || grid.shape().back() != axes || grid.dim(0) != x.dim(0))
        return badInput(
            "a grid of shape " + shapeText(grid.shape()) + " does not fit an input of shape " + shapeText(x.shape()));
    if (axes > kMostGridAxes)
        return badInput("places with " + std::to_string(axes) + " axes are not supported, at most "
            + std::to_string(kMostGridAxes) + " are");
    s.batch = x.dim(0);
    s.channels = x.dim(1);
    s.in.assign(x.shape().begin() + 2, x.shape().end());
    s.places = product(grid.shape(), 1, grid.rank() - 1);
    for (int64_t size : s.in)
        if (size == 0)
            return badInput("the input is empty");
    return s;
}

Status runGridSample(const GridStep& step, StepContext& c)
{
    const Tensor &x = c.in(0), &grid = c.in(1);
    if (!isNumeric(x.dtype()) || !isComputedFloat(grid.dtype()))
        return unsupportedType(isNumeric(x.dtype()) ? grid.dtype() : x.dtype());
    QS_TRY(const GridSample s, gridShape(step, x, grid));
    Shape shape { s.batch, s.channels };
    shape.insert(shape.end(), grid.shape().begin() + 1, grid.shape().end() - 1);
    const bool precise = !isFloat(x.dtype());
    withFloatWork(precise ? DType::Float64 : x.dtype(), step.mode, [&](auto work) {
        using W = decltype(work);
        const Tensor in = asWork<W>(c, x), places = asWork<W>(c, grid);
        Tensor y = c.allocate(dtypeOf<W>(), shape);
        const W *px = in.data<W>().data(), *pg = places.data<W>().data();
        bool done = false;
        if constexpr (std::is_same_v<W, double>)
            if ((done = step.mode == KernelMode::Reference))
                gridSampleReference(s, px, pg, y.fill<W>().data());
        if (!done)
            gridSample<W>(s, px, pg, y.fill<W>().data());
        c.setOutput(0, fromWork<W>(c, std::move(y), x.dtype()));
    });
    return {};
}

Result<LoweredNode> lowerGridSample(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    const std::string mode = a.text("mode", "linear"), padding = a.text("padding_mode", "zeros");
    GridStep step { context.mode, GridMode::Linear, GridPadding::Zeros, a.integer("align_corners", 0) != 0 };
    if (mode == "nearest")
        step.interpolation = GridMode::Nearest;
    else if (mode == "cubic" || mode == "bicubic")
        step.interpolation = GridMode::Cubic;
    else if (mode != "linear" && mode != "bilinear")
        return badInput("the mode '" + mode + "' is unknown");
    if (padding == "border")
        step.padding = GridPadding::Border;
    else if (padding == "reflection")
        step.padding = GridPadding::Reflection;
    else if (padding != "zeros")
        return badInput("the padding mode '" + padding + "' is unknown");
    return LoweredNode { [step](StepContext& c) { return runGridSample(step, c); },
        context.mode == KernelMode::Reference ? "reference" : "grid sample" };
}

Status runAffineGrid(const Node& node, KernelMode mode, StepContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Tensor& map = c.in(0);
    const std::vector<int64_t> size = toInts(c.in(1));
    if (!isComputedFloat(map.dtype()))
        return unsupportedType(map.dtype());
    const auto axes = static_cast<int64_t>(size.size()) - 2;
    if ((axes != 2 && axes != 3) || map.shape() != Shape { size[0], axes, axes + 1 })
        return badInput(
            "an affine map of shape " + shapeText(map.shape()) + " does not fit the size " + shapeText(size));
    Shape shape { size[0] };
    shape.insert(shape.end(), size.begin() + 2, size.end());
    shape.push_back(axes);
    QS_CHECK(allocateChecked(c, DType::UInt8, shape));
    const std::vector<int64_t> places(size.begin() + 2, size.end());
    withFloatWork(map.dtype(), mode, [&](auto work) {
        using W = decltype(work);
        const Tensor maps = asWork<W>(c, map);
        Tensor y = c.allocate(dtypeOf<W>(), shape);
        const int64_t one = product(shape, 1, shape.size());
        for (int64_t n = 0; n < size[0]; ++n)
            affineGrid<W>(places, node.attributes.integer("align_corners", 0) != 0,
                maps.data<W>().data() + n * axes * (axes + 1), y.fill<W>().data() + n * one);
        c.setOutput(0, fromWork<W>(c, std::move(y), map.dtype()));
    });
    return {};
}

Result<LoweredNode> lowerAffineGrid(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    QS_TRY(LoweredNode lowered, copying<runAffineGrid>(context));
    lowered.kernel = context.mode == KernelMode::Reference ? "reference" : "affine grid";
    return lowered;
}

} // namespace

void lowerVision(LoweringRegistry& r)
{
    r.add("", "GridSample", lowerGridSample);
    r.add("", "AffineGrid", lowerAffineGrid);
    lowerRegions(r);
    lowerWindows(r);
}

} // namespace qs
