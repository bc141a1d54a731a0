// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/float_elements.h"

#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

const float* asFloats(
    const Tensor& t, Layout layout, const QuantParams* params, std::vector<float>& buffer, Tensor& keep)
{
    keep = toLayout(unpacked(t), layout);
    if (keep.dtype() == DType::Float32)
        return keep.data<float>().data();
    buffer.resize(static_cast<size_t>(keep.count()));
    if (params && !params->scale.empty() && isInteger(t.dtype())) {
        const float scale = params->scale[0];
        const int32_t zero = params->zeroPoint.empty() ? 0 : params->zeroPoint[0];
        auto fill = [&](auto codes) {
            for (size_t i = 0; i < buffer.size(); ++i)
                buffer[i] = static_cast<float>(static_cast<int32_t>(codes[i]) - zero) * scale;
        };
        switch (keep.dtype()) {
        case DType::UInt8:
            fill(keep.data<uint8_t>());
            return buffer.data();
        case DType::Int8:
            fill(keep.data<int8_t>());
            return buffer.data();
        case DType::UInt16:
            fill(keep.data<uint16_t>());
            return buffer.data();
        case DType::Int16:
            fill(keep.data<int16_t>());
            return buffer.data();
        case DType::Int32:
            fill(keep.data<int32_t>());
            return buffer.data();
        default:
            break;
        }
    }
    for (size_t i = 0; i < buffer.size(); ++i)
        buffer[i] = static_cast<float>(elementAsDouble(keep, static_cast<int64_t>(i)));
    return buffer.data();
}

Tensor convertedTo(const Tensor& t, DType type)
{
    const bool known = type == DType::Float32 || type == DType::Float16 || type == DType::BFloat16;
    if (t.dtype() == type || !known || !isFloat(t.dtype()))
        return t;
    const std::vector<float> values = toFloats(t);
    if (type == DType::Float32)
        return Tensor::of<float>(t.shape(), values);
    Tensor out = Tensor::allocate(type, t.shape());
    for (size_t i = 0; i < values.size(); ++i)
        out.fill<uint16_t>()[i] = type == DType::Float16 ? floatToFloat16(values[i]) : floatToBFloat16(values[i]);
    return out;
}

Tensor exchangedAxes(const Tensor& matrix)
{
    Tensor out = Tensor::allocate(DType::Float32, { matrix.dim(1), matrix.dim(0) });
    const auto from = matrix.data<float>();
    const auto to = out.fill<float>();
    const int64_t rows = matrix.dim(0), columns = matrix.dim(1);
    constexpr int64_t kTile = 16; // whose lines stay in the nearest cache
    for (int64_t firstRow = 0; firstRow < rows; firstRow += kTile)
        for (int64_t firstColumn = 0; firstColumn < columns; firstColumn += kTile)
            for (int64_t c = firstColumn; c < std::min(columns, firstColumn + kTile); ++c)
                for (int64_t r = firstRow; r < std::min(rows, firstRow + kTile); ++r)
                    to[size_t(c * rows + r)] = from[size_t(r * columns + c)];
    return out;
}

} // namespace qs
