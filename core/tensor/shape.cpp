// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/shape.h"

#include <algorithm>

namespace qs {

std::optional<int64_t> elementCount(const Shape& shape)
{
    int64_t count = 1;
    bool empty = false;
    for (int64_t d : shape) {
        if (d < 0)
            return std::nullopt;
        if (d == 0)
            empty = true;
        else if (__builtin_mul_overflow(count, d, &count))
            return std::nullopt;
    }
    return empty ? 0 : count;
}

std::string shapeText(const Shape& shape)
{
    if (shape.empty())
        return "scalar";
    std::string text;
    for (int64_t d : shape)
        text += (text.empty() ? "" : "x") + std::to_string(d);
    return text;
}

std::optional<Shape> broadcastShapes(const Shape& a, const Shape& b)
{
    const size_t rank = std::max(a.size(), b.size());
    Shape out(rank);
    for (size_t i = 0; i < rank; ++i) {
        const int64_t da = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
        const int64_t db = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
        if (da != db && da != 1 && db != 1)
            return std::nullopt;
        out[i] = da == 1 ? db : da;
    }
    return out;
}

std::vector<int64_t> rowMajorStrides(const Shape& shape)
{
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;)
        strides[i - 1] = strides[i] * shape[i];
    return strides;
}

std::optional<size_t> normalizedAxis(int64_t axis, size_t rank)
{
    const auto r = static_cast<int64_t>(rank);
    if (axis < -r || axis >= r)
        return std::nullopt;
    return static_cast<size_t>(axis < 0 ? axis + r : axis);
}

Dims toDims(const Shape& shape)
{
    Dims dims;
    for (int64_t d : shape)
        dims.push_back({ d, {} });
    return dims;
}

std::optional<Shape> toShape(const Dims& dims)
{
    Shape shape;
    for (const Dim& d : dims) {
        if (!d.known())
            return std::nullopt;
        shape.push_back(d.value);
    }
    return shape;
}

std::string dimsText(const Dims& dims)
{
    if (dims.empty())
        return "scalar";
    std::string text;
    for (const Dim& d : dims) {
        text += text.empty() ? "" : "x";
        text += d.known() ? std::to_string(d.value) : d.symbol.empty() ? "?" : d.symbol;
    }
    return text;
}

} // namespace qs
