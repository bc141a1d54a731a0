// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/vision/parts.h"
#include "core/engine/registry/registry.h"

#include "core/kernels/window/boxes.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Sample of each region: input 2 of RoiAlign, the first of five numbers in MaxRoiPool.
Result<std::vector<int64_t>> regionSamples(const StepContext& c, bool align)
{
    const Tensor &x = c.in(0), &regions = c.in(1);
    const int64_t width = align ? 4 : 5;
    if (x.rank() != 4 || regions.rank() != 2 || regions.dim(1) != width)
        return badInput(
            "regions of shape " + shapeText(regions.shape()) + " do not fit an input of shape " + shapeText(x.shape()));
    std::vector<int64_t> samples;
    if (align)
        samples = toInts(c.in(2));
    else
        for (int64_t r = 0; r < regions.dim(0); ++r)
            samples.push_back(int64_t(std::clamp(elementAsDouble(regions, r * 5), -1.0, 1e9)));
    if (int64_t(samples.size()) != regions.dim(0))
        return badInput("there must be one batch index a region");
    for (int64_t s : samples)
        if (s < 0 || s >= x.dim(0))
            return badInput("a region lies in sample " + std::to_string(s) + " of " + std::to_string(x.dim(0)));
    return samples;
}

/// One region after another, since each may take its time.
template <class W>
Status alignEach(RegionPool p, const StepContext& c, const Tensor& x, const Tensor& regions,
    const std::vector<int64_t>& samples, Tensor& y)
{
    constexpr double kMostWork = 0x1p34; // samples of a region and all its channels
    const int64_t outputs = p.channels * p.outHeight * p.outWidth;
    p.regions = 1;
    for (size_t r = 0; r < samples.size(); ++r) {
        if (c.isCancelled())
            return cancelled();
        const W* const region = regions.data<W>().data() + int64_t(r) * p.stride;
        const double row = rowSamples(p, region);
        if (row > kMostRowSamples || row * double(p.outHeight) * double(p.channels) > kMostWork)
            return badInput("region " + std::to_string(r) + " takes too many samples");
        regionAlign<W>(p, x.data<W>().data(), region, &samples[r], y.fill<W>().data() + int64_t(r) * outputs);
    }
    return {};
}

Status runRegions(RegionPool p, bool align, KernelMode mode, StepContext& c)
{
    const Tensor &x = c.in(0), &regions = c.in(1);
    if (!isComputedFloat(x.dtype()) || !isComputedFloat(regions.dtype()))
        return unsupportedType(isComputedFloat(x.dtype()) ? regions.dtype() : x.dtype());
    QS_TRY(const auto samples, regionSamples(c, align));
    p.channels = x.dim(1);
    p.height = x.dim(2);
    p.width = x.dim(3);
    p.regions = regions.dim(0);
    p.stride = regions.dim(1);
    if (p.height == 0 || p.width == 0)
        return badInput("the input is empty");
    const Shape shape { p.regions, p.channels, p.outHeight, p.outWidth };
    QS_TRY(Tensor y, allocateChecked(c, x.dtype(), shape));
    if (y.count() == 0) { // of however many bins
        c.setOutput(0, std::move(y));
        return {};
    }
    return withFloatWork(x.dtype(), mode, [&](auto work) -> Status {
        using W = decltype(work);
        const Tensor in = asWork<W>(c, x), places = asWork<W>(c, regions);
        Tensor made = c.allocate(dtypeOf<W>(), shape);
        if (align)
            QS_CHECK(alignEach<W>(p, c, in, places, samples, made));
        else
            regionMaxPool<W>(
                p, in.data<W>().data(), places.data<W>().data() + 1, samples.data(), made.fill<W>().data());
        c.setOutput(0, fromWork<W>(c, std::move(made), x.dtype()));
        return {};
    });
}

Result<LoweredNode> lowerRegionPool(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    const Attributes& a = context.node.attributes;
    const bool align = context.node.opType == "RoiAlign";
    RegionPool p;
    p.scale = a.real("spatial_scale", 1);
    if (align) {
        const char* usual = context.node.opset > 0 && context.node.opset < 16 ? "output_half_pixel" : "half_pixel";
        p.outHeight = a.integer("output_height", 1);
        p.outWidth = a.integer("output_width", 1);
        p.samples = a.integer("sampling_ratio", 0);
        p.halfPixel = a.text("coordinate_transformation_mode", usual) == "half_pixel";
        p.largest = a.text("mode", "avg") == "max";
        if (p.samples < 0 || p.samples > kMostRegionSamples)
            return badInput("the sampling ratio " + std::to_string(p.samples) + " is out of range");
    } else if (const auto pooled = a.integers("pooled_shape"); pooled.size() == 2) {
        p.outHeight = pooled[0];
        p.outWidth = pooled[1];
    }
    if (p.outHeight < 1 || p.outWidth < 1)
        return badInput("its output size is not positive");
    return LoweredNode { [p, align, mode = context.mode](StepContext& c) { return runRegions(p, align, mode, c); },
        context.mode == KernelMode::Reference ? "reference" : "regions" };
}

Result<SuppressionLimits> suppressionLimits(const StepContext& c)
{
    SuppressionLimits limits;
    for (size_t i = 2; i < 5; ++i)
        if (c.input(i) && (c.in(i).count() > 1 || !isNumeric(c.in(i).dtype())))
            return badInput("its limits must be single numbers");
    const auto given = [&](size_t i) { return c.input(i) && c.in(i).count() == 1; };
    if (given(2))
        limits.most = elementAsInt(c.in(2), 0);
    if (given(3))
        limits.overlap = float(elementAsDouble(c.in(3), 0));
    if (given(4))
        limits.score = float(elementAsDouble(c.in(4), 0));
    if (!(limits.overlap >= 0 && limits.overlap <= 1))
        return badInput("iou_threshold must lie between 0 and 1");
    return limits;
}

Status runNonMax(const Node& node, KernelMode mode, StepContext& c)
{
    QS_CHECK(needInputs(c, 2));
    if (!isComputedFloat(c.in(0).dtype()) || !isComputedFloat(c.in(1).dtype()))
        return unsupportedType(isComputedFloat(c.in(0).dtype()) ? c.in(1).dtype() : c.in(0).dtype());
    const Tensor boxes = asWork<float>(c, c.in(0)), scores = asWork<float>(c, c.in(1));
    const bool fits = boxes.rank() == 3 && scores.rank() == 3 && boxes.dim(2) == 4 && boxes.dim(0) == scores.dim(0)
        && boxes.dim(1) == scores.dim(2);
    if (!fits)
        return badInput(
            "boxes of shape " + shapeText(boxes.shape()) + " do not fit scores of shape " + shapeText(scores.shape()));
    QS_TRY(const SuppressionLimits limits, suppressionLimits(c));
    const auto suppress = mode == KernelMode::Reference ? suppressNonMaxReference : suppressNonMax;
    const int64_t count = boxes.dim(1), classes = scores.dim(1);
    std::vector<int64_t> rows;
    for (int64_t line = 0; line < scores.dim(0) * classes; ++line) {
        if (c.isCancelled())
            return cancelled();
        const BoxScores b { boxes.data<float>().data() + line / classes * count * 4,
            scores.data<float>().data() + line * count, count, node.attributes.integer("center_point_box", 0) != 0 };
        for (int64_t box : suppress(b, limits))
            rows.insert(rows.end(), { line / classes, line % classes, box });
    }
    Tensor y = c.allocate(DType::Int64, { int64_t(rows.size()) / 3, 3 });
    std::ranges::copy(rows, y.fill<int64_t>().begin());
    c.setOutput(0, std::move(y));
    return {};
}

Result<LoweredNode> lowerNonMax(const LowerContext& context)
{
    QS_TRY(LoweredNode lowered, copying<runNonMax>(context));
    if (context.mode == KernelMode::Fast)
        lowered.kernel = "heap suppression";
    return lowered;
}

} // namespace

void lowerRegions(LoweringRegistry& r)
{
    r.add("", "RoiAlign", lowerRegionPool);
    r.add("", "MaxRoiPool", lowerRegionPool);
    r.add("", "NonMaxSuppression", lowerNonMax);
}

} // namespace qs
