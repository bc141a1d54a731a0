// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/window_shape.h"

#include <cstddef>
#include <memory>

namespace qs {

enum class ConvDirection { Forward, Transposed };

/// A float32 convolution prepared for one input shape. Thread-safe.
class PreparedConv {
public:
    virtual ~PreparedConv() = default;
    /// Bytes of 64-byte aligned scratch memory that each concurrent run needs.
    virtual size_t scratchBytes() const = 0;
    /// x and y are channels-last. False only when memory ran out.
    virtual bool run(const float* x, float* y, std::byte* scratch) const noexcept = 0;
};

/// Float32 convolution by oneDNN: weights are packed and primitives made once for each shape. Thread-safe; results
/// depend on the shape and the data alone.
class FloatConv {
public:
    /// `weights` (ONNX order) and `bias` (or null) must outlive this object.
    FloatConv(ConvDirection direction, const float* weights, const float* bias);
    ~FloatConv();
    FloatConv(const FloatConv&) = delete;
    FloatConv& operator=(const FloatConv&) = delete;
    /// Null when there is no fast kernel for this shape.
    std::shared_ptr<const PreparedConv> prepare(const ConvShape& shape);

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace qs
