// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/convolution/prepared_conv.h"
#include "core/kernels/convolution/window_shape.h"

#include <memory>

namespace qs {

/// Float32 convolution by our rows of sums (row_conv.h), otherwise by oneDNN: weights are packed and primitives made
/// once for each shape. Thread-safe; results depend on the shape and the data alone.
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
