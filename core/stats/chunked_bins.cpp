// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stats/chunked_bins.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// NumPy's arithmetic in the type of the data: float32, or float16 by way of float32, whose bits are enough to round
/// twice without harm.
struct Arithmetic {
    bool half;

    float rounded(float x) const { return half ? float16ToFloat(floatToFloat16(x)) : x; }
    float add(float a, float b) const { return rounded(a + b); }
    float subtract(float a, float b) const { return rounded(a - b); }
    float multiply(float a, float b) const { return rounded(a * b); }
    float divide(float a, float b) const { return rounded(a / b); }
    float floorDivide(float a, float b) const
    {
        const float rest = std::fmod(a, b);
        float quotient = (a - rest) / b;
        if (rest != 0 && (b < 0) != (rest < 0))
            quotient -= 1;
        const float floor = std::floor(quotient);
        return rounded(quotient - floor > 0.5f ? floor + 1 : floor);
    }
    /// NumPy's arange of scalars of the type, which gives float64; `most` or more elements: nothing.
    std::vector<double> arange(float start, float stop, float step, size_t most) const
    {
        const double length = std::ceil(static_cast<double>(divide(subtract(stop, start), step)));
        std::vector<double> values;
        if (!(length > 0 && length < static_cast<double>(most)))
            return values;
        const double first = start, next = add(start, step), delta = next - first;
        for (size_t i = 0; i < static_cast<size_t>(length); ++i)
            values.push_back(i == 1 ? next : first + static_cast<double>(i) * delta);
        return values;
    }
};

Arithmetic arithmeticOf(DType type) { return { type == DType::Float16 }; }

/// Smallest float that is not below, and largest that is not above.
float ceiling(double x)
{
    const auto near = static_cast<float>(x);
    return near < x ? std::nextafter(near, INFINITY) : near;
}
float ground(double x)
{
    const auto near = static_cast<float>(x);
    return near > x ? std::nextafter(near, -INFINITY) : near;
}

bool ascending(const std::vector<float>& edges)
{
    return std::adjacent_find(edges.begin(), edges.end(), std::greater_equal<>()) == edges.end();
}

} // namespace

std::vector<float> evenEdges(float low, float high, size_t bins, DType type)
{
    const Arithmetic in = arithmeticOf(type);
    if (low == high) {
        low = in.subtract(low, 0.5f);
        high = in.add(high, 0.5f);
    }
    const float delta = in.subtract(high, low), divisor = in.rounded(static_cast<float>(bins));
    const float step = in.divide(delta, divisor);
    if (!std::isfinite(delta) || !std::isfinite(divisor))
        return {};
    std::vector<float> edges(bins + 1);
    for (size_t i = 0; i < bins; ++i) {
        const float at = in.rounded(static_cast<float>(i));
        edges[i] = in.add(step == 0 ? in.multiply(in.divide(at, divisor), delta) : in.multiply(at, step), low);
    }
    edges[bins] = high;
    return ascending(edges) ? edges : std::vector<float>();
}

ChunkedBins signedBins(std::span<const ValueRange> chunks, size_t bins, DType type)
{
    const Arithmetic in = arithmeticOf(type);
    ChunkedBins result;
    size_t count = bins;
    float threshold = 0;
    for (const ValueRange& chunk : chunks) {
        float reach = chunk.magnitude();
        size_t grown = 0;
        const bool first = result.chunks.empty();
        if (!first && reach > threshold && threshold != 0) {
            const float stride = in.divide(in.multiply(2, threshold), in.rounded(static_cast<float>(count)));
            const float steps = in.add(in.floorDivide(in.subtract(reach, threshold), stride), 1);
            if (!(2 * steps < static_cast<float>(kMostChunkedBins)))
                return {};
            grown = static_cast<size_t>(steps);
            reach = in.add(in.multiply(static_cast<float>(grown), stride), threshold);
            count += 2 * grown;
        }
        if (count > kMostChunkedBins)
            return {};
        if (first || reach > threshold) {
            threshold = reach;
            result.edgeSets.push_back(evenEdges(-threshold, threshold, count, type));
            if (result.edgeSets.back().empty())
                return {};
        }
        for (ChunkedBins::Chunk& earlier : result.chunks)
            earlier.offset += grown;
        result.chunks.push_back({ result.edgeSets.size() - 1, 0 });
    }
    return result;
}

ChunkedBins magnitudeBins(std::span<const ValueRange> chunks, size_t bins, DType type)
{
    const Arithmetic in = arithmeticOf(type);
    ChunkedBins result;
    for (const ValueRange& chunk : chunks) {
        const float most = chunk.magnitude();
        if (result.chunks.empty()) {
            result.edgeSets.push_back(
                chunk.empty() ? evenEdges(0, 1, bins, type) : evenEdges(chunk.least, most, bins, type));
            if (result.edgeSets.back().empty())
                return {};
        } else if (const std::vector<float>& old = result.edgeSets.back(); most > old.back()) {
            const float width = in.subtract(old[1], old[0]);
            const std::vector<double> more
                = in.arange(in.add(old.back(), width), in.add(most, width), width, kMostChunkedBins);
            if (old.size() + more.size() > kMostChunkedBins || !std::isfinite(width) || width <= 0)
                return {};
            // This chunk is counted between edges of float64, which are then stored in the type of the data.
            std::vector<float> counted = old, stored = old;
            for (const double edge : more) {
                counted.push_back(edge == more.back() ? ground(edge) : ceiling(edge));
                stored.push_back(in.rounded(static_cast<float>(edge)));
            }
            if (!std::ranges::is_sorted(counted) || !std::ranges::is_sorted(stored))
                return {};
            result.edgeSets.push_back(std::move(counted));
            result.chunks.push_back({ result.edgeSets.size() - 1, 0 });
            if (stored != result.edgeSets.back())
                result.edgeSets.push_back(std::move(stored));
            continue;
        }
        result.chunks.push_back({ result.edgeSets.size() - 1, 0 });
    }
    return result;
}

} // namespace qs
