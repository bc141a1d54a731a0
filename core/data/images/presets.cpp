// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/images/presets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace qs {

namespace {

constexpr std::array<PicturePreset, 6> kPresets { {
    { "imagenet", "ImageNet (torchvision, timm)",
        "Short side and centre crop, 0 to 1, then the mean and deviation of ImageNet for each channel" },
    { "unit", "0 to 1", "Stretched to the size, pixels divided by 255" },
    { "symmetric", "−1 to 1 (MobileNet, Inception)", "Stretched to the size, pixels divided by 127.5, less 1" },
    { "bgr", "BGR, 0 to 255", "Stretched to the size, blue first, pixels as they are" },
    { "caffe", "Caffe (VGG, BGR less mean)",
        "Short side and centre crop, blue first, pixels less the mean of ImageNet for each channel" },
    { "yolo", "YOLO letterbox", "Scaled to fit, the rest filled with grey 114, pixels divided by 255" },
} };

constexpr double kImageNetCrop = 0.875; ///< 224 of 256
constexpr double kYoloGrey = 114;

/// The same number for each of three channels, where none are given.
Preprocess arithmetic(double scale, std::vector<double> mean, std::vector<double> deviation)
{
    Preprocess how;
    how.scale = scale;
    how.mean = std::move(mean);
    how.deviation = std::move(deviation);
    return how;
}

double meanOf(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

bool sameArithmetic(const Preprocess& a, const Preprocess& b)
{
    const auto close = [](double x, double y) { return std::abs(x - y) <= 1e-6 * std::max(std::abs(x), std::abs(y)); };
    return close(a.scale, b.scale) && std::ranges::equal(a.mean, b.mean, close)
        && std::ranges::equal(a.deviation, b.deviation, close);
}

} // namespace

std::span<const PicturePreset> picturePresets() { return kPresets; }

Preprocess presetPreprocess(std::string_view name)
{
    const std::vector<double> none(3, 0), ones(3, 1);
    if (name == "imagenet") {
        Preprocess how = arithmetic(1.0 / 255, { 0.485, 0.456, 0.406 }, { 0.229, 0.224, 0.225 });
        how.resize = ResizeMode::ShortSide;
        how.cropShare = kImageNetCrop;
        how.rounding = PixelRounding::Torchvision;
        return how;
    }
    if (name == "unit")
        return arithmetic(1.0 / 255, none, ones);
    if (name == "symmetric")
        return arithmetic(1.0 / 127.5, ones, ones);
    Preprocess how = arithmetic(1, none, ones);
    if (name == "bgr")
        how.color = ColorOrder::Bgr;
    if (name == "caffe") {
        how = arithmetic(1, { 103.939, 116.779, 123.68 }, ones);
        how.color = ColorOrder::Bgr;
        how.resize = ResizeMode::ShortSide;
        how.cropShare = kImageNetCrop;
        how.rounding = PixelRounding::Torchvision;
    }
    if (name == "yolo") {
        how = arithmetic(1.0 / 255, none, ones);
        how.resize = ResizeMode::Letterbox;
        how.padValue = kYoloGrey;
    }
    return how;
}

std::string_view presetOf(const Preprocess& how)
{
    for (const PicturePreset& preset : kPresets) {
        const Preprocess plain = presetPreprocess(preset.name);
        const bool gray = how.color == ColorOrder::Gray;
        const Preprocess there = gray ? withColor(plain, ColorOrder::Gray) : plain;
        if (there.color == how.color && there.resize == how.resize && !how.shortSide && there.padValue == how.padValue
            && there.cropShare == how.cropShare && there.rounding == how.rounding && sameArithmetic(there, how))
            return preset.name;
    }
    return {};
}

Preprocess withColor(Preprocess how, ColorOrder color)
{
    const bool wasGray = how.color == ColorOrder::Gray, gray = color == ColorOrder::Gray;
    for (std::vector<double>* values : { &how.mean, &how.deviation }) {
        if (values->empty() || how.color == color)
            continue;
        if (gray)
            *values = { meanOf(*values) };
        else if (wasGray)
            values->assign(3, values->front());
        else
            std::ranges::reverse(*values);
    }
    how.color = color;
    return how;
}

std::optional<PictureForm> pictureForm(const InputSpec& input)
{
    const bool bytes = input.dtype == DType::UInt8;
    if (!input.dims || (input.dims->size() != 3 && input.dims->size() != 4) || (!bytes && !isFloat(input.dtype)))
        return {};
    constexpr int64_t kLargest = 1 << 14;
    const size_t first = input.dims->size() - 3;
    const auto at = [&](size_t axis) { return (*input.dims)[first + axis].value; };
    const auto channels = [](int64_t size) { return size == 1 || size == 3; };
    PictureForm form;
    // A plane of 1 or 3 columns is none: where both ends could be the channels, the first one is.
    form.channelsFirst = channels(at(0)) || !channels(at(2));
    const int64_t count = at(form.channelsFirst ? 0 : 2);
    if (count > 0 && !channels(count))
        return {};
    const int64_t height = at(form.channelsFirst ? 1 : 0), width = at(form.channelsFirst ? 2 : 1);
    form.channels = count == 1 ? 1 : 3;
    form.width = width > 0 && width <= kLargest ? int(width) : 0;
    form.height = height > 0 && height <= kLargest ? int(height) : 0;
    form.dtype = bytes ? DType::UInt8 : DType::Float32;
    return form;
}

Preprocess fitted(Preprocess how, const PictureForm& form)
{
    how.channelsFirst = form.channelsFirst;
    how.dtype = form.dtype;
    if (form.width > 0)
        how.width = form.width;
    if (form.height > 0)
        how.height = form.height;
    if (form.channels != how.channels())
        how = withColor(std::move(how), form.channels == 1 ? ColorOrder::Gray : ColorOrder::Rgb);
    return how;
}

} // namespace qs
