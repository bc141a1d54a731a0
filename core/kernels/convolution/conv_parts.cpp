// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/convolution/conv_parts.h"

#include "core/tensor/arithmetic.h"

#include <algorithm>
#include <bit>

namespace qs {

namespace {

constexpr int64_t kPartBytes = int64_t(256) << 10; ///< of output that a part aims at
constexpr int64_t kPartMacs = 1'500'000; ///< below this a part is not worth a thread
constexpr int64_t kWorkParts = 8; ///< parts made for threads' sake

struct Sizes {
    int64_t inputRow, outputRow; ///< elements of one row of one image
    int64_t inputBytes, outputBytes; ///< of one image
    int64_t weightBytes;
    int64_t macs; ///< of one image
};

Sizes sizesOf(const ConvShape& s, const SpatialAxis& rows, ConvDirection direction)
{
    const WindowShape& w = s.window;
    Sizes z;
    z.inputRow = w.channels * w.inSize() / std::max<int64_t>(rows.in, 1);
    z.outputRow = s.filters * w.outSize() / std::max<int64_t>(rows.out, 1);
    z.inputBytes = 4 * w.channels * w.inSize();
    z.outputBytes = 4 * s.filters * w.outSize();
    const int64_t weights = s.filters * w.channels / s.groups * w.kernelSize();
    z.weightBytes = 4 * weights;
    z.macs = weights * (direction == ConvDirection::Forward ? w.outSize() : w.inSize());
    return z;
}

/// Parts that one image should have: a power of two, which any even number of threads shares well.
int64_t wantedParts(const Sizes& z)
{
    const auto cache = std::bit_ceil(uint64_t(std::max<int64_t>(ceilDiv(z.outputBytes, kPartBytes), 1)));
    const auto work = std::bit_floor(uint64_t(std::clamp<int64_t>(z.macs / kPartMacs, 1, kWorkParts)));
    auto parts = std::max(cache, work);
    // Each part reads all weights; where they do not stay in the cache, few parts.
    if (z.weightBytes > 2 * kPartBytes)
        parts = std::min(parts, std::bit_floor(uint64_t(2 + 4 * (z.inputBytes + z.outputBytes) / z.weightBytes)));
    return int64_t(parts);
}

std::vector<ConvPart> byImages(const ConvShape& s, const Sizes& z)
{
    const int64_t batch = s.window.batch;
    const int64_t fitting = std::max<int64_t>(kPartBytes / std::max<int64_t>(z.outputBytes, 1), 1);
    const int64_t step
        = std::min(batch, z.weightBytes > 2 * kPartBytes ? std::max(fitting, ceilDiv(batch, 4)) : fitting);
    std::vector<ConvPart> parts;
    for (int64_t b = 0; b < batch; b += step) {
        ConvPart p { s, size_t(b * (z.inputBytes / 4)), size_t(b * (z.outputBytes / 4)), 0 };
        p.shape.window.batch = std::min(step, batch - b);
        p.outputEnd = p.outputBegin + size_t(p.shape.window.batch * (z.outputBytes / 4));
        parts.push_back(p);
    }
    return parts;
}

/// Rows `first` .. `last`-1 of the output (transposed: of the input) as a convolution of its own.
bool cutRows(SpatialAxis& a, int64_t first, int64_t last, ConvDirection direction, int64_t& firstInput)
{
    if (direction == ConvDirection::Transposed) { // windows do not overlap, see below
        firstInput = first;
        a.in = last - first;
        a.out = a.in * a.stride;
        return true;
    }
    const int64_t begin = first * a.stride - a.padBegin;
    const int64_t end = (last - 1) * a.stride - a.padBegin + (a.kernel - 1) * a.dilation + 1;
    firstInput = std::max<int64_t>(begin, 0);
    const int64_t size = std::min(end, a.in) - firstInput;
    if (size <= 0)
        return false; // padding alone
    a.in = size;
    a.out = last - first;
    a.padBegin = firstInput - begin;
    a.padEnd = std::max<int64_t>(end - firstInput - size, 0);
    return true;
}

} // namespace

std::vector<ConvPart> convParts(const ConvShape& s, ConvDirection direction)
{
    const size_t axis = size_t(3 - s.window.spatialRank);
    const SpatialAxis& whole = s.window.axes[axis];
    const Sizes z = sizesOf(s, whole, direction);
    const bool separate = whole.kernel == whole.stride && whole.dilation == 1 && whole.padBegin == 0
        && whole.out == whole.in * whole.stride;
    const int64_t rows = direction == ConvDirection::Forward ? whole.out : separate ? whole.in : 1;
    const int64_t count = std::min(wantedParts(z), rows);
    if (count <= 1)
        return byImages(s, z);
    const int64_t scale = direction == ConvDirection::Forward ? 1 : whole.stride;
    std::vector<ConvPart> parts;
    for (int64_t b = 0; b < s.window.batch; ++b)
        for (int64_t i = 0; i < count; ++i) {
            const int64_t first = rows * i / count, last = rows * (i + 1) / count;
            ConvPart p { s, 0, 0, 0 };
            p.shape.window.batch = 1;
            int64_t firstInput = 0;
            if (!cutRows(p.shape.window.axes[axis], first, last, direction, firstInput))
                return byImages(s, z);
            p.inputBegin = size_t(b * (z.inputBytes / 4) + firstInput * z.inputRow);
            p.outputBegin = size_t(b * (z.outputBytes / 4) + first * scale * z.outputRow);
            p.outputEnd = size_t(b * (z.outputBytes / 4) + last * scale * z.outputRow);
            parts.push_back(p);
        }
    return parts;
}

} // namespace qs
