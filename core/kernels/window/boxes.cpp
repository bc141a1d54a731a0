// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/window/boxes.h"

#include "core/base/rounding.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace qs {

namespace {

struct Box {
    float left, top, right, bottom;
    float area() const { return (right - left) * (bottom - top); }
};

Box boxOf(const BoxScores& b, int64_t i)
{
    const float* p = b.boxes + i * 4;
    if (b.centred)
        return { p[0] - p[2] / 2, p[1] - p[3] / 2, p[0] + p[2] / 2, p[1] + p[3] / 2 };
    return { std::min(p[1], p[3]), std::min(p[0], p[2]), std::max(p[1], p[3]), std::max(p[0], p[2]) };
}

bool overlaps(const Box& a, const Box& b, float limit)
{
    const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
    const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
    if (!(width > 0) || !(height > 0))
        return false;
    const float common = width * height, all = a.area() + b.area() - common;
    return common > 0 && a.area() > 0 && b.area() > 0 && all > 0 && common / all > limit;
}

} // namespace

std::vector<int64_t> suppressNonMaxReference(const BoxScores& b, const SuppressionLimits& limits)
{
    std::vector<int64_t> kept;
    std::vector<bool> done(size_t(b.count), false);
    while (int64_t(kept.size()) < limits.most) {
        int64_t best = -1;
        for (int64_t i = 0; i < b.count; ++i)
            if (!done[size_t(i)] && !std::isnan(b.scores[i]) && (!limits.score || b.scores[i] > *limits.score)
                && (best < 0 || b.scores[i] > b.scores[best]))
                best = i;
        if (best < 0)
            break;
        done[size_t(best)] = true;
        if (std::ranges::none_of(
                kept, [&](int64_t k) { return overlaps(boxOf(b, best), boxOf(b, k), limits.overlap); }))
            kept.push_back(best);
    }
    return kept;
}

std::vector<int64_t> suppressNonMax(const BoxScores& b, const SuppressionLimits& limits)
{
    std::vector<int64_t> order;
    for (int64_t i = 0; i < b.count; ++i)
        if (limits.score ? b.scores[i] > *limits.score : !std::isnan(b.scores[i]))
            order.push_back(i);
    // A heap: what is never looked at need not be sorted.
    const auto worse
        = [&](int64_t i, int64_t j) { return b.scores[i] < b.scores[j] || (b.scores[i] == b.scores[j] && i > j); };
    std::make_heap(order.begin(), order.end(), worse);
    std::vector<int64_t> kept;
    std::vector<Box> boxes;
    while (!order.empty() && int64_t(kept.size()) < limits.most) {
        std::pop_heap(order.begin(), order.end(), worse);
        const Box box = boxOf(b, order.back());
        if (std::ranges::none_of(boxes, [&](const Box& other) { return overlaps(box, other, limits.overlap); })) {
            kept.push_back(order.back());
            boxes.push_back(box);
        }
        order.pop_back();
    }
    return kept;
}

namespace {

/// Where a region lies on its map, in elements.
template <class T> struct Region {
    T x, y, width, height;
};

/// The four elements around a point and their weights; all weights 0 outside of the map.
template <class T> struct Corners {
    int64_t offset[4] {};
    T weight[4] {};
};

template <class T> Corners<T> cornersAt(const RegionPool& p, T y, T x)
{
    if (!(y >= -1 && y <= T(p.height) && x >= -1 && x <= T(p.width)))
        return {};
    y = std::max(y, T(0));
    x = std::max(x, T(0));
    const auto top = std::min(int64_t(y), p.height - 1), left = std::min(int64_t(x), p.width - 1);
    const int64_t bottom = std::min(top + 1, p.height - 1), right = std::min(left + 1, p.width - 1);
    const T down = top == p.height - 1 ? T(0) : y - T(top), across = left == p.width - 1 ? T(0) : x - T(left);
    return { { top * p.width + left, top * p.width + right, bottom * p.width + left, bottom * p.width + right },
        { (1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across } };
}

/// Sampling points a bin along one axis.
template <class T> int64_t samplesFor(const RegionPool& p, T size, int64_t bins)
{
    if (p.samples > 0)
        return p.samples;
    const T n = std::ceil(size / T(bins));
    return int64_t(clampOr(double(n), 0, double(kMostRegionSamples)));
}

template <class T> Region<T> regionOf(const RegionPool& p, const T* corners)
{
    const T offset = p.halfPixel ? T(0.5) : T(0), scale = T(p.scale);
    Region<T> r { corners[0] * scale - offset, corners[1] * scale - offset, 0, 0 };
    r.width = corners[2] * scale - offset - r.x;
    r.height = corners[3] * scale - offset - r.y;
    if (!p.halfPixel) {
        r.width = std::max(r.width, T(1));
        r.height = std::max(r.height, T(1));
    }
    return r;
}

template <class T> T binValue(const RegionPool& p, std::span<const Corners<T>> points, const T* map)
{
    T sum = 0, top = 0;
    for (size_t i = 0; i < points.size(); ++i) {
        const Corners<T>& c = points[i];
        T largest = c.weight[0] * map[c.offset[0]];
        for (size_t k = 0; k < 4; ++k) {
            sum += c.weight[k] * map[c.offset[k]];
            largest = std::max(largest, c.weight[k] * map[c.offset[k]]);
        }
        top = i == 0 ? largest : std::max(top, largest);
    }
    return p.largest ? top : sum / T(std::max<size_t>(points.size(), 1));
}

/// Sampling points of one row of bins.
template <class T> struct BinRow {
    std::vector<Corners<T>> points;
    size_t perBin = 0;

    void find(const RegionPool& p, const Region<T>& region, int64_t row)
    {
        const T height = region.height / T(p.outHeight), width = region.width / T(p.outWidth);
        const int64_t down = samplesFor(p, region.height, p.outHeight),
                      across = samplesFor(p, region.width, p.outWidth);
        perBin = size_t(down * across);
        points.clear();
        for (int64_t column = 0; column < p.outWidth; ++column)
            for (int64_t i = 0; i < down; ++i)
                for (int64_t j = 0; j < across; ++j)
                    points.push_back(cornersAt(p, region.y + T(row) * height + (T(i) + T(0.5)) * height / T(down),
                        region.x + T(column) * width + (T(j) + T(0.5)) * width / T(across)));
    }
};

} // namespace

template <class T> double rowSamples(const RegionPool& p, const T* region)
{
    const Region<T> r = regionOf(p, region);
    return double(samplesFor(p, r.height, p.outHeight)) * double(samplesFor(p, r.width, p.outWidth))
        * double(p.outWidth);
}
template double rowSamples<float>(const RegionPool&, const float*);
template double rowSamples<double>(const RegionPool&, const double*);

template <class T> void regionAlign(const RegionPool& p, const T* x, const T* regions, const int64_t* sample, T* y)
{
    BinRow<T> bins;
    for (int64_t r = 0; r < p.regions; ++r)
        for (int64_t row = 0; row < p.outHeight; ++row) {
            bins.find(p, regionOf(p, regions + r * p.stride), row);
            for (int64_t c = 0; c < p.channels; ++c) {
                const T* map = x + (sample[r] * p.channels + c) * p.height * p.width;
                T* out = y + ((r * p.channels + c) * p.outHeight + row) * p.outWidth;
                for (size_t column = 0; column < size_t(p.outWidth); ++column)
                    out[column] = binValue(
                        p, std::span<const Corners<T>>(bins.points).subspan(column * bins.perBin, bins.perBin), map);
            }
        }
}

namespace {

/// Elements first..last-1 of a bin along one axis.
struct BinRange {
    int64_t first, last;
};

BinRange binRange(int64_t bin, int64_t bins, int64_t start, int64_t length, int64_t size)
{
    const double step = double(length) / double(bins);
    const auto at = [&](double v) { return std::clamp<int64_t>(int64_t(v) + start, 0, size); };
    return { at(std::floor(double(bin) * step)), at(std::ceil(double(bin + 1) * step)) };
}

int64_t roundedCoordinate(double v) { return int64_t(clampOr(std::round(v), -1e9, 1e9)); }

template <class T> T largestIn(const T* map, int64_t width, BinRange rows, BinRange columns)
{
    if (rows.first >= rows.last || columns.first >= columns.last)
        return 0;
    T top = map[rows.first * width + columns.first];
    for (int64_t i = rows.first; i < rows.last; ++i)
        top = std::max(top, *std::max_element(map + i * width + columns.first, map + i * width + columns.last));
    return top;
}

} // namespace

template <class T> void regionMaxPool(const RegionPool& p, const T* x, const T* regions, const int64_t* sample, T* y)
{
    for (int64_t r = 0; r < p.regions; ++r) {
        int64_t corner[4];
        for (int k = 0; k < 4; ++k)
            corner[k] = roundedCoordinate(double(regions[r * p.stride + k]) * p.scale);
        const int64_t width = std::max<int64_t>(corner[2] - corner[0] + 1, 1);
        const int64_t height = std::max<int64_t>(corner[3] - corner[1] + 1, 1);
        for (int64_t c = 0; c < p.channels; ++c)
            for (int64_t bin = 0; bin < p.outHeight * p.outWidth; ++bin)
                *y++ = largestIn(x + (sample[r] * p.channels + c) * p.height * p.width, p.width,
                    binRange(bin / p.outWidth, p.outHeight, corner[1], height, p.height),
                    binRange(bin % p.outWidth, p.outWidth, corner[0], width, p.width));
    }
}

#define QS_REGIONS(T)                                                                                                  \
    template void regionAlign<T>(const RegionPool&, const T*, const T*, const int64_t*, T*);                           \
    template void regionMaxPool<T>(const RegionPool&, const T*, const T*, const int64_t*, T*);
QS_REGIONS(float)
QS_REGIONS(double)
#undef QS_REGIONS

} // namespace qs
