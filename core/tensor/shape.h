// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Concrete sizes; empty = scalar.
using Shape = std::vector<int64_t>;

/// Elements of a shape; nullopt when a size is negative or the product does not fit in 63 bits.
std::optional<int64_t> elementCount(const Shape& shape);
/// "1x3x224x224"; "scalar" for rank 0.
std::string shapeText(const Shape& shape);
/// Numpy/ONNX multidirectional broadcast; nullopt when the shapes do not fit.
std::optional<Shape> broadcastShapes(const Shape& a, const Shape& b);
/// Row-major strides in elements.
std::vector<int64_t> rowMajorStrides(const Shape& shape);
/// Axis in 0..rank-1 for an ONNX axis in -rank..rank-1; nullopt when out of range.
std::optional<size_t> normalizedAxis(int64_t axis, size_t rank);

/// One size of a type as a file declares it: a number, a name, or unknown.
struct Dim {
    int64_t value = -1; ///< -1: not a number
    std::string symbol; ///< name of a dynamic size, may be empty
    bool known() const { return value >= 0; }
    bool operator==(const Dim&) const = default;
};
using Dims = std::vector<Dim>;

Dims toDims(const Shape& shape);
/// The shape if all sizes are known.
std::optional<Shape> toShape(const Dims& dims);
/// "1x3xNx?".
std::string dimsText(const Dims& dims);

} // namespace qs
