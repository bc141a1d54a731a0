// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/table_codes.h"

#include "core/base/rounding.h"
#include "core/base/work/parallel.h"
#include "core/quant/params/scale.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace qs {

namespace {

constexpr float kLevels = 15, kHalf = 8;

/// One block of one line along the axis: elements `stride` apart.
class Line {
public:
    Line(DType real, bool symmetric)
        : m_real(real)
        , m_symmetric(symmetric)
    {
    }
    float scale = 0, zero = 0;

    /// False when a value is no number.
    bool measure(const float* v, size_t count, size_t stride)
    {
        float low = v[0], high = v[0];
        for (size_t i = 0; i < count; ++i) {
            if (!std::isfinite(v[i * stride]))
                return false;
            low = std::min(low, v[i * stride]);
            high = std::max(high, v[i * stride]);
        }
        if (m_symmetric) {
            scale = rounded((std::abs(high) > std::abs(low) ? high : low) / -kHalf);
            return true;
        }
        low = std::min(low, 0.0f);
        high = std::max(high, 0.0f);
        scale = rounded(rounded(high - low) / kLevels);
        zero = scale == 0 ? kHalf : std::clamp(roundHalfEven(rounded(-low / scale)), 0.0f, kLevels);
        return true;
    }
    /// As four bits, signed where symmetric.
    uint8_t code(float v) const
    {
        const float steps = scale == 0 ? (m_symmetric ? 0 : kHalf) : rounded(rounded(v / scale) + zero);
        const float q = m_symmetric ? std::clamp(roundHalfEven(steps), -kHalf, kHalf - 1)
                                    : std::clamp(roundHalfEven(steps), 0.0f, kLevels);
        return static_cast<uint8_t>(static_cast<int>(q) & 15);
    }

private:
    float rounded(float v) const { return m_real == DType::Float32 ? v : roundedTo(m_real, double(v)); }
    DType m_real;
    bool m_symmetric;
};

Tensor packedNibbles(const std::vector<uint8_t>& codes, const Shape& shape, DType type)
{
    Tensor out = Tensor::allocate(type, shape);
    const auto bytes = out.fill<uint8_t>().first(out.byteCount());
    for (size_t b = 0; b < bytes.size(); ++b) {
        const unsigned high = 2 * b + 1 < codes.size() ? codes[2 * b + 1] : 0u;
        bytes[b] = static_cast<uint8_t>(codes[2 * b] | (high << 4));
    }
    return out;
}

} // namespace

Result<TableBlocks> quantizeTable(const Tensor& table, size_t axis, int64_t blockSize, bool symmetric, size_t threads)
{
    const std::vector<float> values = toFloats(table);
    const auto at = static_cast<std::ptrdiff_t>(axis);
    const auto product = [](auto first, auto last) {
        size_t n = 1;
        for (; first != last; ++first)
            n *= static_cast<size_t>(*first);
        return n;
    };
    const Shape& shape = table.shape();
    const size_t outer = product(shape.begin(), shape.begin() + at),
                 inner = product(shape.begin() + at + 1, shape.end());
    const auto length = static_cast<size_t>(shape[axis]), block = static_cast<size_t>(blockSize);
    const size_t blocks = (length + block - 1) / block;
    std::vector<uint8_t> codes(values.size()), zeros(outer * blocks * inner);
    std::vector<float> scales(zeros.size());
    std::atomic<bool> finite = true;
    parallelFor(outer, threads, [&](size_t o, size_t) {
        Line line(table.dtype(), symmetric);
        for (size_t b = 0; b < blocks; ++b)
            for (size_t i = 0; i < inner; ++i) {
                const size_t from = b * block, count = std::min(block, length - from);
                const size_t first = (o * length + from) * inner + i, param = (o * blocks + b) * inner + i;
                if (!line.measure(values.data() + first, count, inner)) {
                    finite = false;
                    return;
                }
                scales[param] = line.scale;
                zeros[param] = static_cast<uint8_t>(line.zero);
                for (size_t k = 0; k < count; ++k)
                    codes[first + k * inner] = line.code(values[first + k * inner]);
            }
    });
    if (!finite)
        return badInput(
            "holds NaN or infinity, which no scale can represent", {}, "repair the model, or exclude its node");
    Shape scaleShape = shape;
    scaleShape[axis] = static_cast<int64_t>(blocks);
    TableBlocks made { packedNibbles(codes, shape, symmetric ? DType::Int4 : DType::UInt4),
        realTensor(table.dtype(), scaleShape, scales), {} };
    if (!symmetric)
        made.zeroPoints = packedNibbles(zeros, scaleShape, DType::UInt4);
    return made;
}

} // namespace qs
