// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/images/resample.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Weights are fixed point with this many fraction bits: 32 less 8 for the pixel and 2 for overshoot.
constexpr int kWeightBits = 22;

double triangle(double x) { return std::max(0.0, 1.0 - std::fabs(x)); }

double cubic(double x)
{
    constexpr double a = -0.5;
    x = std::fabs(x);
    if (x < 1.0)
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    return x < 2.0 ? (((x - 5.0) * x + 8.0) * x - 4.0) * a : 0.0;
}

/// What one output position takes from the input.
struct Taps {
    int first = 0;
    std::vector<int> weights;
};

std::vector<Taps> tapsFor(int inSize, int outSize, Interpolation interpolation)
{
    const double scale = double(inSize) / outSize;
    const double stretch = std::max(scale, 1.0);
    const double support = (interpolation == Interpolation::Bilinear ? 1.0 : 2.0) * stretch;
    std::vector<Taps> taps(static_cast<size_t>(outSize));
    std::vector<double> weights;
    for (int i = 0; i < outSize; ++i) {
        const double centre = (i + 0.5) * scale;
        const int first = std::max(static_cast<int>(centre - support + 0.5), 0);
        const int last = std::min(static_cast<int>(centre + support + 0.5), inSize);
        weights.clear();
        double sum = 0;
        for (int k = first; k < last; ++k) {
            const double distance = (k - centre + 0.5) * (1.0 / stretch);
            weights.push_back(interpolation == Interpolation::Bilinear ? triangle(distance) : cubic(distance));
            sum += weights.back();
        }
        Taps& t = taps[static_cast<size_t>(i)];
        t.first = first;
        for (const double w : weights) {
            const double fixed = (sum != 0 ? w * (1.0 / sum) : w) * (1 << kWeightBits);
            t.weights.push_back(static_cast<int>(fixed < 0 ? fixed - 0.5 : fixed + 0.5));
        }
    }
    return taps;
}

/// Weighted sum of pixels `stride` apart, rounded and clamped.
uint8_t weigh(const uint8_t* from, size_t stride, const std::vector<int>& weights)
{
    int sum = 1 << (kWeightBits - 1);
    for (const int w : weights) {
        sum += *from * w;
        from += stride;
    }
    return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

Picture scaledRows(const Picture& in, int width, Interpolation interpolation)
{
    const auto taps = tapsFor(in.width, width, interpolation);
    const auto channels = static_cast<size_t>(in.channels);
    Picture out { width, in.height, in.channels, {} };
    out.pixels.reserve(static_cast<size_t>(width) * static_cast<size_t>(in.height) * channels);
    for (size_t y = 0; y < static_cast<size_t>(in.height); ++y) {
        const uint8_t* row = in.pixels.data() + y * static_cast<size_t>(in.width) * channels;
        for (const Taps& t : taps)
            for (size_t c = 0; c < channels; ++c)
                out.pixels.push_back(weigh(row + static_cast<size_t>(t.first) * channels + c, channels, t.weights));
    }
    return out;
}

Picture scaledColumns(const Picture& in, int height, Interpolation interpolation)
{
    const auto taps = tapsFor(in.height, height, interpolation);
    const size_t row = static_cast<size_t>(in.width) * static_cast<size_t>(in.channels);
    Picture out { in.width, height, in.channels, {} };
    out.pixels.reserve(row * static_cast<size_t>(height));
    for (const Taps& t : taps)
        for (size_t x = 0; x < row; ++x)
            out.pixels.push_back(weigh(in.pixels.data() + static_cast<size_t>(t.first) * row + x, row, t.weights));
    return out;
}

/// Input pixel under the centre of each output pixel. The positions are summed up as Pillow does, so that centres on
/// the border of two pixels fall to the same side.
std::vector<size_t> pixelsUnder(int inSize, int outSize)
{
    const double step = double(inSize) / outSize;
    double centre = step * 0.5;
    std::vector<size_t> pixels(static_cast<size_t>(outSize));
    for (size_t& pixel : pixels) {
        pixel = static_cast<size_t>(std::min(static_cast<int>(centre), inSize - 1));
        centre += step;
    }
    return pixels;
}

Picture nearest(const Picture& in, int width, int height)
{
    const auto channels = static_cast<size_t>(in.channels);
    const auto columns = pixelsUnder(in.width, width);
    Picture out { width, height, in.channels, {} };
    out.pixels.reserve(static_cast<size_t>(width) * static_cast<size_t>(height) * channels);
    for (const size_t y : pixelsUnder(in.height, height))
        for (const size_t x : columns) {
            const uint8_t* p = in.pixels.data() + (y * static_cast<size_t>(in.width) + x) * channels;
            out.pixels.insert(out.pixels.end(), p, p + channels);
        }
    return out;
}

} // namespace

Picture resized(const Picture& picture, int width, int height, Interpolation interpolation)
{
    if (interpolation == Interpolation::Nearest)
        return nearest(picture, width, height);
    // Pillow's order of the passes, which shows in the last bit: columns first where the height loses much more.
    if (height < picture.height && picture.height - height > 2 * (picture.width - width))
        return scaledRows(scaledColumns(picture, height, interpolation), width, interpolation);
    Picture out = picture.width == width ? picture : scaledRows(picture, width, interpolation);
    return out.height == height ? out : scaledColumns(out, height, interpolation);
}

} // namespace qs
