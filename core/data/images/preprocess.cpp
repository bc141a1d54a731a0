// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/images/preprocess.h"

#include "core/base/rounding.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace qs {

namespace {

constexpr int kLongestSide = 1 << 20; ///< after resizing

/// length * numerator / denominator, rounded, at least one pixel.
int scaledLength(int length, int numerator, int denominator)
{
    const double scaled = roundHalfEven(double(length) * numerator / denominator);
    return static_cast<int>(std::clamp<double>(scaled, 1, kLongestSide));
}

/// The long side where the short one becomes `side`.
int longSide(PixelRounding rounding, int length, int side, int shortLength)
{
    if (rounding == PixelRounding::Nearest)
        return scaledLength(length, side, shortLength);
    const double scaled = std::floor(double(length) * side / shortLength);
    return static_cast<int>(std::clamp<double>(scaled, 1, kLongestSide));
}

/// Where a crop out of the middle begins.
int middleOf(PixelRounding rounding, int length, int taken)
{
    if (rounding == PixelRounding::Nearest)
        return (length - taken) / 2;
    return static_cast<int>(roundHalfEven((length - taken) / 2.0));
}

std::string sizeText(int width, int height) { return std::to_string(width) + "x" + std::to_string(height); }

/// The part of `picture` from (left, top), `width` x `height`; beyond its edges `pad`.
Picture placed(const Picture& picture, int left, int top, int width, int height, uint8_t pad)
{
    Picture out { width, height, picture.channels, {} };
    const auto channels = static_cast<size_t>(picture.channels);
    out.pixels.assign(static_cast<size_t>(width) * static_cast<size_t>(height) * channels, pad);
    const int x0 = std::max(0, -left);
    const int x1 = std::min(width, picture.width - left);
    for (int y = std::max(0, -top); y < std::min(height, picture.height - top); ++y) {
        const size_t from
            = (static_cast<size_t>(y + top) * static_cast<size_t>(picture.width) + static_cast<size_t>(x0 + left))
            * channels;
        const size_t to = (static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x0)) * channels;
        std::copy_n(picture.pixels.begin() + static_cast<ptrdiff_t>(from), static_cast<size_t>(x1 - x0) * channels,
            out.pixels.begin() + static_cast<ptrdiff_t>(to));
    }
    return out;
}

Result<Picture> shortSideCrop(const Preprocess& how, const Picture& picture)
{
    const int largest = std::max(how.width, how.height);
    const int side = how.shortSide.value_or(static_cast<int>(std::min<double>(largest / how.cropShare, kLongestSide)));
    const bool wide = picture.width >= picture.height;
    const int width = wide ? longSide(how.rounding, picture.width, side, picture.height) : side;
    const int height = wide ? side : longSide(how.rounding, picture.height, side, picture.width);
    if (width < how.width || height < how.height)
        return badInput("the crop of " + sizeText(how.width, how.height) + " is larger than the picture, which is "
                + sizeText(width, height) + " after resizing",
            {}, "raise \"short_side\" in the preprocessing file, or use \"resize\": \"stretch\"");
    if (std::max(width, height) == kLongestSide)
        return badInput("the picture is too long and narrow to scale its short side", {}, "crop it before");
    const Picture scaled = resized(picture, width, height, how.interpolation);
    const bool centre = how.crop == CropPlace::Centre;
    return placed(scaled, centre ? middleOf(how.rounding, width, how.width) : 0,
        centre ? middleOf(how.rounding, height, how.height) : 0, how.width, how.height, 0);
}

/// Where the scaled picture lies in a letterbox.
struct Box {
    int left, top, width, height;
};

Box letterbox(const Preprocess& how, const Picture& picture)
{
    Box box { 0, 0, how.width, how.height };
    if (int64_t(how.width) * picture.height <= int64_t(how.height) * picture.width)
        box.height = std::min(how.height, scaledLength(picture.height, how.width, picture.width));
    else
        box.width = std::min(how.width, scaledLength(picture.width, how.height, picture.height));
    if (how.crop == CropPlace::Centre) {
        box.left = (how.width - box.width) / 2;
        box.top = (how.height - box.height) / 2;
    }
    return box;
}

/// Writes one channel; `value` gives the element for a pixel value, `pad` the one outside of `inside`.
template <class T>
void writeChannel(
    const Picture& picture, int channel, const Box& inside, const std::array<T, 256>& value, T pad, T* out, size_t step)
{
    const auto channels = static_cast<size_t>(picture.channels);
    size_t pixel = 0;
    for (int y = 0; y < picture.height; ++y)
        for (int x = 0; x < picture.width; ++x, ++pixel) {
            const bool in = x >= inside.left && x < inside.left + inside.width && y >= inside.top
                && y < inside.top + inside.height;
            out[pixel * step] = in ? value[picture.pixels[pixel * channels + static_cast<size_t>(channel)]] : pad;
        }
}

template <class T> void writePixels(const Preprocess& how, const Picture& picture, const Box& inside, T* out)
{
    const auto channels = static_cast<size_t>(how.channels());
    const size_t pixels = static_cast<size_t>(picture.width) * static_cast<size_t>(picture.height);
    for (size_t c = 0; c < channels; ++c) {
        const auto element = [&](double pixel) {
            if constexpr (std::is_same_v<T, uint8_t>)
                return static_cast<T>(roundHalfEven(pixel));
            else
                return static_cast<T>((pixel * how.scale - how.mean[c]) / how.deviation[c]);
        };
        std::array<T, 256> value;
        for (size_t p = 0; p < value.size(); ++p)
            value[p] = element(static_cast<double>(p));
        const size_t source = how.color == ColorOrder::Bgr ? channels - 1 - c : c;
        writeChannel(picture, static_cast<int>(source), inside, value, element(how.padValue),
            how.channelsFirst ? out + c * pixels : out + c, how.channelsFirst ? 1 : channels);
    }
}

} // namespace

Shape Preprocess::itemShape() const
{
    if (channelsFirst)
        return { channels(), height, width };
    return { height, width, channels() };
}

Status applyPreprocess(const Preprocess& how, Picture picture, std::byte* out)
{
    if (how.exif)
        picture = upright(std::move(picture));
    picture = how.color == ColorOrder::Gray ? toGray(std::move(picture)) : toRgb(std::move(picture));
    Box inside { 0, 0, how.width, how.height };
    switch (how.resize) {
    case ResizeMode::Stretch:
        picture = resized(picture, how.width, how.height, how.interpolation);
        break;
    case ResizeMode::ShortSide: {
        QS_TRY(picture, shortSideCrop(how, picture));
        break;
    }
    case ResizeMode::Letterbox:
        inside = letterbox(how, picture);
        picture = placed(resized(picture, inside.width, inside.height, how.interpolation), -inside.left, -inside.top,
            how.width, how.height, 0);
        break;
    }
    if (how.dtype == DType::UInt8)
        writePixels(how, picture, inside, reinterpret_cast<uint8_t*>(out));
    else
        writePixels(how, picture, inside, reinterpret_cast<float*>(out));
    return {};
}

} // namespace qs
