// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/shape/parts.h"
#include "core/engine/registry/registry.h"
#include "core/kernels/movement/element_io.h"
#include "core/kernels/movement/indexed_copy.h"
#include "core/kernels/window/resample.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace qs {

namespace {

constexpr int64_t kLargestSize = int64_t(1) << 31;

/// What the attributes say.
struct ResizeSettings {
    std::string mode; ///< nearest, linear, cubic
    NearestRounding rounding = NearestRounding::PreferFloor;
    ResizeCoordinates coordinates = ResizeCoordinates::HalfPixel;
    FilterOptions filter;
    float extrapolation = 0;
    std::string aspect; ///< keep_aspect_ratio_policy
    bool old = false; ///< Upsample, or Resize of opset 10
};

Result<ResizeSettings> resizeSettings(const Node& node)
{
    static const std::map<std::string, ResizeCoordinates> kCoordinates = {
        { "half_pixel", ResizeCoordinates::HalfPixel },
        { "half_pixel_symmetric", ResizeCoordinates::HalfPixelSymmetric },
        { "pytorch_half_pixel", ResizeCoordinates::PytorchHalfPixel },
        { "align_corners", ResizeCoordinates::AlignCorners },
        { "asymmetric", ResizeCoordinates::Asymmetric },
        { "tf_half_pixel_for_nn", ResizeCoordinates::TfHalfPixelForNearest },
        { "tf_crop_and_resize", ResizeCoordinates::TfCropAndResize },
    };
    static const std::map<std::string, NearestRounding> kRoundings = {
        { "round_prefer_floor", NearestRounding::PreferFloor },
        { "round_prefer_ceil", NearestRounding::PreferCeil },
        { "floor", NearestRounding::Floor },
        { "ceil", NearestRounding::Ceil },
    };
    const Attributes& a = node.attributes;
    ResizeSettings s;
    s.old = node.opType == "Upsample" || (node.opset > 0 && node.opset < 11);
    s.mode = a.text("mode", "nearest");
    if (s.mode == "bilinear")
        s.mode = "linear";
    const auto coordinates
        = kCoordinates.find(a.text("coordinate_transformation_mode", s.old ? "asymmetric" : "half_pixel"));
    const auto rounding = kRoundings.find(a.text("nearest_mode", "round_prefer_floor"));
    if (s.mode != "nearest" && s.mode != "linear" && s.mode != "cubic")
        return badInput("the mode '" + s.mode + "' is unknown");
    if (coordinates == kCoordinates.end() || rounding == kRoundings.end())
        return badInput("its coordinate or nearest mode is unknown");
    s.coordinates = coordinates->second;
    s.rounding = s.old ? NearestRounding::Truncate : rounding->second;
    s.filter = { s.mode == "cubic", a.integer("antialias", 0) != 0, a.integer("exclude_outside", 0) != 0,
        a.real("cubic_coeff_a", -0.75f) };
    s.extrapolation = a.real("extrapolation_value", 0);
    s.aspect = a.text("keep_aspect_ratio_policy", "stretch");
    return s;
}

std::vector<float> floatsOf(const StepContext& s, size_t slot)
{
    return s.input(slot) ? toFloats(s.in(slot)) : std::vector<float> {};
}

/// Scales of the resized axes: attribute of old Upsamples, or an input.
std::vector<float> scalesOf(const Node& node, const ResizeSettings& r, const StepContext& s)
{
    if (node.attributes.has("scales"))
        return node.attributes.reals("scales");
    if (node.attributes.has("height_scale"))
        return { 1, 1, node.attributes.real("height_scale", 1), node.attributes.real("width_scale", 1) };
    return floatsOf(s, r.old ? 1 : 2);
}

/// Makes sizes keep the aspect ratio, as keep_aspect_ratio_policy asks; the common scale goes to every axis.
void keepAspect(const std::string& policy, const std::vector<size_t>& which, std::vector<ResizeAxis>& axes)
{
    if (policy == "stretch")
        return;
    float scale = axes[which[0]].scale;
    for (size_t d : which)
        scale = policy == "not_larger" ? std::min(scale, axes[d].scale) : std::max(scale, axes[d].scale);
    for (size_t d : which) {
        axes[d].scale = scale;
        axes[d].out = static_cast<int64_t>(std::floor(scale * static_cast<float>(axes[d].in) + 0.5f));
    }
}

Result<std::vector<ResizeAxis>> resizeAxes(const Node& node, const ResizeSettings& r, const StepContext& s)
{
    const Shape& in = s.in(0).shape();
    std::vector<size_t> which = allAxes(in.size());
    if (node.attributes.has("axes")) {
        QS_TRY(which, axesOf(node.attributes.integers("axes"), in.size()));
    }
    std::vector<ResizeAxis> axes;
    for (int64_t size : in)
        axes.push_back({ size, size, 1.0f, r.coordinates });
    const auto scales = scalesOf(node, r, s);
    const auto sizes = !r.old && s.input(3) ? toInts(s.in(3)) : std::vector<int64_t> {};
    const auto roi = r.old ? std::vector<float> {} : floatsOf(s, 1);
    const bool crop = r.coordinates == ResizeCoordinates::TfCropAndResize;
    if ((sizes.empty() ? scales.size() : sizes.size()) != which.size() || which.empty())
        return badInput("it needs " + std::to_string(which.size()) + " scales or sizes");
    if (crop && roi.size() != 2 * which.size())
        return badInput("it needs " + std::to_string(2 * which.size()) + " numbers in roi");
    for (size_t i = 0; i < which.size(); ++i) {
        ResizeAxis& a = axes[which[i]];
        const auto size = static_cast<float>(a.in);
        if (crop) {
            a.cropStart = roi[i];
            a.cropEnd = roi[i + which.size()];
        }
        a.scale = sizes.empty() ? scales[i] : static_cast<float>(sizes[i]) / size;
        // The text of the standard also multiplies by the part that a crop keeps; its shape inference, its reference
        // and ONNX Runtime do not.
        const float out = std::floor(a.scale * size);
        if (!(a.scale > 0) || a.in == 0 || !(out >= 0 && out < float(kLargestSize)))
            return badInput("the scale or size of axis " + std::to_string(which[i]) + " is impossible");
        a.out = sizes.empty() ? static_cast<int64_t>(out) : sizes[i];
    }
    if (!sizes.empty())
        keepAspect(r.aspect, which, axes);
    for (const ResizeAxis& a : axes)
        if (a.out < 0 || a.out > kLargestSize)
            return badInput("an output size is impossible");
    return axes;
}

bool changes(const ResizeAxis& a)
{
    return a.out != a.in || a.scale != 1.0f
        || (a.coordinates == ResizeCoordinates::TfCropAndResize && (a.cropStart != 0 || a.cropEnd != 1));
}

Shape outputShape(const std::vector<ResizeAxis>& axes)
{
    Shape shape;
    for (const ResizeAxis& a : axes)
        shape.push_back(a.out);
    return shape;
}

/// Where the output elements along an axis come from, in steps of `stride`; negative = nowhere.
std::vector<int64_t> nearestOffsets(const ResizeAxis& axis, NearestRounding rounding, int64_t stride)
{
    std::vector<int64_t> line;
    if (changes(axis))
        line = nearestElements(axis, rounding);
    else
        for (int64_t i = 0; i < axis.in; ++i)
            line.push_back(i);
    for (int64_t& p : line)
        p = p < 0 ? -1 : p * stride;
    return line;
}

/// Whole pixels of a channels-last tensor; false when channels are resized or something lies outside.
Result<bool> resizePixels(const ResizeSettings& r, const std::vector<ResizeAxis>& axes, StepContext& s)
{
    const Tensor& x = s.in(0);
    if (x.layout() != Layout::ChannelsLast || changes(axes[1]) || x.count() == 0)
        return false;
    // Before the tables, whose lengths are the output's sizes.
    QS_TRY(Tensor out, allocateChecked(s, x.dtype(), outputShape(axes), Layout::ChannelsLast));
    AxisOffsets offsets(axes.size() - 1);
    int64_t stride = 1;
    for (size_t d = axes.size(); d-- > 0;) {
        if (d == 1)
            continue;
        auto& line = offsets[d == 0 ? 0 : d - 1];
        line = nearestOffsets(axes[d], r.rounding, stride);
        if (std::ranges::any_of(line, [](int64_t p) { return p < 0; }))
            return false;
        stride *= axes[d].in;
    }
    const size_t pixelBytes = size_t(x.dim(1)) * dtypeBits(x.dtype()) / 8;
    tableCopy(x.bytes().data(), writable(out), pixelBytes, offsets, nullptr);
    s.setOutput(0, std::move(out));
    return true;
}

Status resizeNearest(const ResizeSettings& r, KernelMode mode, const std::vector<ResizeAxis>& axes, StepContext& s)
{
    if (mode == KernelMode::Fast) {
        QS_TRY(const bool done, resizePixels(r, axes, s));
        if (done)
            return {};
    }
    const Tensor x = s.toLayout(s.in(0), Layout::Plain);
    const Movable movable({ &x });
    // Before the tables, whose lengths are the output's sizes.
    QS_TRY(Tensor out, allocateChecked(s, movable.dtype(), outputShape(axes)));
    if (out.count() == 0) {
        s.setOutput(0, movable.back(out));
        return {};
    }
    const auto strides = rowMajorStrides(x.shape());
    AxisOffsets offsets;
    for (size_t d = 0; d < axes.size(); ++d)
        offsets.push_back(nearestOffsets(axes[d], r.rounding, strides[d]));
    std::vector<std::byte> fill(movable.elementBytes(), std::byte {});
    if (x.dtype() == movable.dtype() && (isFloat(x.dtype()) || isInteger(x.dtype())))
        storeElements<float>(movable.dtype(), fill.data(), 0, &r.extrapolation, 1);
    const auto kernel = mode == KernelMode::Reference ? tableCopyReference : tableCopy;
    kernel(movable[0].bytes().data(), writable(out), movable.elementBytes(), offsets, fill.data());
    s.setOutput(0, movable.back(out));
    return {};
}

/// Writes the extrapolation value wherever the crop leaves the input.
void extrapolate(const ResizeSettings& r, const std::vector<ResizeAxis>& axes, Tensor& out)
{
    if (r.coordinates != ResizeCoordinates::TfCropAndResize)
        return;
    const auto strides = rowMajorStrides(out.shape());
    auto cells = out.fill<float>();
    for (size_t d = 0; d < axes.size(); ++d)
        for (int64_t i = 0; changes(axes[d]) && i < axes[d].out; ++i) {
            if (!outsideCrop(axes[d], i))
                continue;
            const int64_t slab = strides[d] * axes[d].out;
            for (int64_t o = 0; o < out.count(); o += slab)
                std::fill_n(cells.begin() + o + i * strides[d], strides[d], r.extrapolation);
        }
}

/// Linear and cubic: one axis after another in float32; codes and narrow floats go through float32, integers are
/// truncated at the end as a Cast does.
Status resizeFiltered(const ResizeSettings& r, KernelMode mode, const std::vector<ResizeAxis>& axes, StepContext& s)
{
    const Tensor x = s.toLayout(s.in(0), Layout::Plain);
    if (!isFloat(x.dtype()) && !isInteger(x.dtype()))
        return badInput("elements of type " + std::string(dtypeName(x.dtype())) + " cannot be interpolated");
    QS_TRY(Tensor checked, allocateChecked(s, x.dtype(), outputShape(axes)));
    Tensor now = x;
    if (x.dtype() != DType::Float32) {
        now = s.allocate(DType::Float32, x.shape());
        loadElements<float>(x.dtype(), x.bytes().data(), 0, now.fill<float>().data(), static_cast<size_t>(x.count()));
    }
    const auto kernel = mode == KernelMode::Reference ? applyFilterReference : applyFilter;
    bool filtered = false;
    for (size_t d = axes.size(); d-- > 0;) {
        if (!changes(axes[d]))
            continue;
        Shape shape = now.shape();
        shape[d] = axes[d].out;
        QS_TRY(Tensor next, allocateChecked(s, DType::Float32, shape));
        QS_TRY(const Tensor room, // of the filter, which lies beside the pool
            allocateChecked(s, DType::Float32, { axes[d].out, filterTaps(axes[d], r.filter), 3 }));
        kernel(axisFilter(axes[d], r.filter), now.data<float>().data(), next.fill<float>().data(), product(shape, 0, d),
            axes[d].in, axes[d].out, product(shape, d + 1, shape.size()));
        now = std::move(next);
        filtered = true;
    }
    if (filtered)
        extrapolate(r, axes, now);
    if (x.dtype() != DType::Float32) {
        storeElements<float>(
            x.dtype(), writable(checked), 0, now.data<float>().data(), static_cast<size_t>(now.count()));
        now = std::move(checked);
    }
    s.setOutput(0, std::move(now));
    return {};
}

Status runResize(const Node& node, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    QS_TRY(const ResizeSettings settings, resizeSettings(node));
    QS_TRY(const auto axes, resizeAxes(node, settings, s));
    return settings.mode == "nearest" ? resizeNearest(settings, mode, axes, s)
                                      : resizeFiltered(settings, mode, axes, s);
}

} // namespace

void lowerResize(LoweringRegistry& r)
{
    r.add("", "Resize", anyCopy<runResize>);
    r.add("", "Upsample", anyCopy<runResize>);
}

} // namespace qs
