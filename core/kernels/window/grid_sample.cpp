// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/window/grid_sample.h"

#include "core/tensor/arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace qs {

namespace {

/// Coordinates beyond it are all alike: outside. NaN counts as outside too.
constexpr double kFarAway = 1e9;

/// Mirrors a coordinate at both borders until it lies between them.
template <class T> T reflected(T x, T low, T high)
{
    const T range = high - low;
    if (range <= 0)
        return low;
    if (x >= low && x <= high)
        return x;
    const T distance = x < low ? low - x : x - high;
    const bool even = std::fmod(std::floor(distance / range), T(2)) == 0;
    const T rest = std::fmod(distance, range);
    return (x < low) == even ? low + rest : high - rest;
}

/// One axis of a sampled tensor.
template <class T> struct GridAxis {
    int64_t size;
    GridPadding padding;
    bool alignCorners;

    T low() const { return alignCorners ? T(0) : T(-0.5); }
    T high() const { return alignCorners ? T(size - 1) : T(size) - T(0.5); }
    /// In elements, brought back to the borders where the padding asks for it.
    T coordinate(T n, GridMode mode) const
    {
        T x = alignCorners ? (n + 1) / 2 * T(size - 1) : ((n + 1) * T(size) - 1) / 2;
        if (!(x > T(-kFarAway)))
            x = T(-kFarAway);
        x = std::min(x, T(kFarAway));
        if (mode == GridMode::Nearest)
            x = std::nearbyint(x);
        // Cubic weights reach past the border: there only the taps are brought back, as PyTorch does it.
        if (padding == GridPadding::Border && mode != GridMode::Cubic)
            return std::clamp(x, T(0), T(size - 1));
        return padding == GridPadding::Reflection ? reflected(x, low(), high()) : x;
    }
    /// Element that stands at index i; -1 for none.
    int64_t element(int64_t i) const
    {
        if (i >= 0 && i < size)
            return i;
        if (padding == GridPadding::Border)
            return std::clamp<int64_t>(i, 0, size - 1);
        if (padding == GridPadding::Zeros)
            return -1;
        return std::clamp<int64_t>(int64_t(reflected(T(i), low(), high())), 0, size - 1);
    }
};

/// Elements and weights of one axis that make one value.
template <class T> struct Taps {
    int64_t count = 0;
    std::array<int64_t, 4> element {};
    std::array<T, 4> weight {};
};

/// Keys' cubic convolution with a = -0.75. Source: R. Keys, Cubic Convolution Interpolation.
template <class T> std::array<T, 4> cubicWeights(T x)
{
    const T a = T(-0.75);
    const auto near = [&](T d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    const auto far = [&](T d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    return { far(x + 1), near(x), near(1 - x), far(2 - x) };
}

template <class T> Taps<T> tapsOf(const GridAxis<T>& axis, GridMode mode, T n)
{
    const T x = axis.coordinate(n, mode);
    if (mode == GridMode::Nearest)
        return { 1, { axis.element(int64_t(x)) }, { T(1) } };
    const auto first = int64_t(std::floor(x));
    const T rest = x - T(first);
    if (mode == GridMode::Linear)
        return { 2, { axis.element(first), axis.element(first + 1) }, { 1 - rest, rest } };
    Taps<T> taps { 4, {}, cubicWeights(rest) };
    for (int64_t k = 0; k < 4; ++k)
        taps.element[size_t(k)] = axis.element(first + k - 1);
    return taps;
}

/// One element of the input, and its share of an output.
template <class T> struct Share {
    int64_t offset;
    T weight;
};

template <class T> GridAxis<T> axisOf(const GridSample& s, size_t d) { return { s.in[d], s.padding, s.alignCorners }; }

/// Shares of one place, over all axes.
template <class T> void findShares(const GridSample& s, const T* place, std::vector<Share<T>>& shares)
{
    shares.assign(1, { 0, T(1) });
    std::vector<Share<T>> next;
    for (size_t d = 0; d < s.in.size(); ++d) {
        const Taps<T> taps = tapsOf(axisOf<T>(s, d), s.mode, place[s.in.size() - 1 - d]);
        next.clear();
        for (const Share<T>& share : shares)
            for (size_t k = 0; k < size_t(taps.count); ++k)
                if (taps.element[k] >= 0)
                    next.push_back({ share.offset * s.in[d] + taps.element[k], share.weight * taps.weight[k] });
        shares.swap(next);
    }
}

/// Value at a place from axis `d` on.
double sampleFrom(const GridSample& s, size_t d, const double* x, const double* place)
{
    if (d == s.in.size())
        return *x;
    const std::vector<int64_t> rest(s.in.begin() + std::ptrdiff_t(d) + 1, s.in.end());
    const Taps<double> taps = tapsOf(axisOf<double>(s, d), s.mode, place[s.in.size() - 1 - d]);
    double sum = 0;
    for (size_t k = 0; k < size_t(taps.count); ++k)
        if (taps.element[k] >= 0)
            sum += taps.weight[k] * sampleFrom(s, d + 1, x + taps.element[k] * product(rest), place);
    return sum;
}

} // namespace

template <class T> void gridSample(const GridSample& s, const T* x, const T* grid, T* y)
{
    constexpr int64_t kBlock = 256; // places whose shares stay in the nearest cache
    const int64_t plane = product(s.in);
    const auto axes = int64_t(s.in.size());
    std::vector<Share<T>> shares, all;
    std::vector<size_t> ends;
    for (int64_t b = 0; b < s.batch; ++b)
        for (int64_t first = 0; first < s.places; first += kBlock) {
            const int64_t count = std::min(kBlock, s.places - first);
            all.clear();
            ends.clear();
            for (int64_t p = first; p < first + count; ++p) {
                findShares(s, grid + (b * s.places + p) * axes, shares);
                all.insert(all.end(), shares.begin(), shares.end());
                ends.push_back(all.size());
            }
            for (int64_t c = b * s.channels; c < (b + 1) * s.channels; ++c) {
                size_t k = 0;
                for (int64_t p = 0; p < count; ++p) {
                    T sum = 0;
                    for (; k < ends[size_t(p)]; ++k)
                        sum += all[k].weight * x[c * plane + all[k].offset];
                    y[c * s.places + first + p] = sum;
                }
            }
        }
}
template void gridSample<float>(const GridSample&, const float*, const float*, float*);
template void gridSample<double>(const GridSample&, const double*, const double*, double*);

void gridSampleReference(const GridSample& s, const double* x, const double* grid, double* y)
{
    for (int64_t i = 0; i < s.batch * s.channels * s.places; ++i) {
        const int64_t plane = i / s.places, b = plane / s.channels;
        const double* place = grid + (b * s.places + i % s.places) * int64_t(s.in.size());
        y[i] = sampleFrom(s, 0, x + plane * product(s.in), place);
    }
}

template <class T> void affineGrid(const std::vector<int64_t>& sizes, bool alignCorners, const T* map, T* grid)
{
    const size_t axes = sizes.size();
    std::vector<double> base(axes + 1, 1); // last axis first, then 1
    for (int64_t p = 0, places = product(sizes); p < places; ++p) {
        for (size_t d = 0, rest = size_t(p); d < axes; ++d) {
            const int64_t size = sizes[axes - 1 - d];
            const double i = double(int64_t(rest) % size);
            rest /= size_t(size);
            const bool single = alignCorners && size == 1;
            base[d] = single ? 0 : alignCorners ? -1 + 2 * i / double(size - 1) : -1 + (2 * i + 1) / double(size);
        }
        for (size_t r = 0; r < axes; ++r) {
            double sum = 0;
            for (size_t k = 0; k <= axes; ++k)
                sum += double(map[r * (axes + 1) + k]) * base[k];
            *grid++ = T(sum);
        }
    }
}
template void affineGrid<float>(const std::vector<int64_t>&, bool, const float*, float*);
template void affineGrid<double>(const std::vector<int64_t>&, bool, const double*, double*);

} // namespace qs
