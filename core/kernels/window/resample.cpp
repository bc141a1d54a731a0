// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/window/resample.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

double cubicWeight(double x, double a)
{
    x = std::fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2)
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    return 0;
}

double shrinkOf(const ResizeAxis& a, const FilterOptions& o)
{
    return o.antialias ? std::min(1.0, static_cast<double>(a.scale)) : 1.0;
}

} // namespace

float sourceCoordinate(const ResizeAxis& a, int64_t i)
{
    const auto x = static_cast<float>(i);
    const auto in = static_cast<float>(a.in), out = static_cast<float>(a.out);
    switch (a.coordinates) {
    case ResizeCoordinates::Asymmetric:
        return x / a.scale;
    case ResizeCoordinates::TfHalfPixelForNearest:
        return (x + 0.5f) / a.scale;
    case ResizeCoordinates::PytorchHalfPixel:
        return a.out > 1 ? (x + 0.5f) / a.scale - 0.5f : 0.0f;
    case ResizeCoordinates::AlignCorners:
        return a.out == 1 ? 0.0f : x * (in - 1) / (out - 1);
    case ResizeCoordinates::TfCropAndResize:
        return a.out > 1 ? a.cropStart * (in - 1) + x * (a.cropEnd - a.cropStart) * (in - 1) / (out - 1)
                         : 0.5f * (a.cropStart + a.cropEnd) * (in - 1);
    case ResizeCoordinates::HalfPixelSymmetric: {
        const float adjustment = out / (a.scale * in);
        return in / 2 * (1 - adjustment) + (x + 0.5f) / a.scale - 0.5f;
    }
    default:
        return (x + 0.5f) / a.scale - 0.5f;
    }
}

bool outsideCrop(const ResizeAxis& a, int64_t i)
{
    if (a.coordinates != ResizeCoordinates::TfCropAndResize)
        return false;
    const float x = sourceCoordinate(a, i);
    return x < 0 || x > static_cast<float>(a.in - 1);
}

std::vector<int64_t> nearestElements(const ResizeAxis& a, NearestRounding rounding)
{
    std::vector<int64_t> index(static_cast<size_t>(a.out));
    for (int64_t i = 0; i < a.out; ++i) {
        const float x = sourceCoordinate(a, i);
        float nearest = 0;
        switch (rounding) {
        case NearestRounding::PreferFloor:
            nearest = std::ceil(x - 0.5f);
            break;
        case NearestRounding::PreferCeil:
            nearest = std::floor(x + 0.5f);
            break;
        case NearestRounding::Floor:
            nearest = std::floor(x);
            break;
        case NearestRounding::Ceil:
            nearest = std::ceil(x);
            break;
        case NearestRounding::Truncate:
            nearest = a.scale < 1 ? std::ceil(x) : std::trunc(x);
            break;
        }
        // NaN (a crop of an impossible roi) counts as the first element.
        const float most = static_cast<float>(a.in); // a float near it may lie above it
        const int64_t element = nearest > 0 ? std::min(static_cast<int64_t>(std::min(nearest, most)), a.in - 1) : 0;
        index[static_cast<size_t>(i)] = outsideCrop(a, i) ? -1 : element;
    }
    return index;
}

int64_t filterTaps(const ResizeAxis& a, const FilterOptions& o)
{
    const double reach = o.cubic ? 2 : 1;
    const double farthest = reach * (static_cast<double>(a.in) + 1); // a scale that leaves an output is no smaller
    return -2 * static_cast<int64_t>(std::floor(-std::min(reach / shrinkOf(a, o), farthest)));
}

AxisFilter axisFilter(const ResizeAxis& a, const FilterOptions& o)
{
    const double shrink = shrinkOf(a, o);
    const int64_t taps = filterTaps(a, o), start = 1 - taps / 2;
    AxisFilter f { static_cast<size_t>(taps), {}, {} };
    std::vector<double> weights(f.taps);
    for (int64_t i = 0; i < a.out; ++i) {
        const double x = sourceCoordinate(a, i);
        const double base = std::floor(x);
        double sum = 0;
        for (int64_t t = 0; t < taps; ++t) {
            const double distance = (static_cast<double>(start + t) - (x - base)) * shrink;
            double w = o.cubic ? cubicWeight(distance, static_cast<double>(o.cubicCoefficient))
                               : std::max(0.0, 1 - std::fabs(distance));
            const double place = base + static_cast<double>(start + t);
            if (o.excludeOutside && (place < 0 || place > static_cast<double>(a.in - 1)))
                w = 0;
            weights[static_cast<size_t>(t)] = w;
            sum += w;
            // What is no number, as a crop of an impossible roi leaves it, counts as the first element.
            f.index.push_back(place > 0 ? static_cast<int64_t>(std::min(place, static_cast<double>(a.in - 1))) : 0);
        }
        const bool normalize = (o.antialias || o.excludeOutside) && sum != 0;
        for (double w : weights)
            f.weight.push_back(static_cast<float>(normalize ? w / sum : w));
    }
    return f;
}

void applyFilterReference(
    const AxisFilter& f, const float* x, float* y, int64_t outer, int64_t in, int64_t out, int64_t inner)
{
    for (int64_t o = 0; o < outer; ++o)
        for (int64_t i = 0; i < out; ++i)
            for (int64_t c = 0; c < inner; ++c) {
                double sum = 0;
                for (size_t t = 0; t < f.taps; ++t) {
                    const size_t k = static_cast<size_t>(i) * f.taps + t;
                    sum += static_cast<double>(f.weight[k]) * static_cast<double>(x[(o * in + f.index[k]) * inner + c]);
                }
                y[(o * out + i) * inner + c] = static_cast<float>(sum);
            }
}

void applyFilter(const AxisFilter& f, const float* x, float* y, int64_t outer, int64_t in, int64_t out, int64_t inner)
{
    for (int64_t o = 0; o < outer; ++o)
        for (int64_t i = 0; i < out; ++i) {
            float* line = y + (o * out + i) * inner;
            const float* from = x + o * in * inner;
            for (size_t t = 0; t < f.taps; ++t) {
                const size_t k = static_cast<size_t>(i) * f.taps + t;
                const float w = f.weight[k];
                const float* source = from + f.index[k] * inner;
                if (t == 0)
                    for (int64_t c = 0; c < inner; ++c)
                        line[c] = w * source[c];
                else
                    for (int64_t c = 0; c < inner; ++c)
                        line[c] += w * source[c];
            }
        }
}

} // namespace qs
