// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/convolution/window_shape.h"
#include "core/kernels/product/float_rows.h"

#include <cstddef>
#include <memory>
#include <span>

namespace qs {

enum class ConvDirection { Forward, Transposed };

/// A float32 convolution prepared for one input shape. Thread-safe.
class PreparedConv {
public:
    virtual ~PreparedConv() = default;
    /// Bytes of 64-byte aligned scratch memory that each concurrent run needs.
    virtual size_t scratchBytes() const = 0;
    /// The output is made in pieces, runs of neighbouring elements small enough for the nearer caches. They are a
    /// function of the shape alone, may be made in any order and by several threads.
    struct Piece {
        size_t begin = 0, end = 0; ///< elements of y
    };
    virtual std::span<const Piece> pieces() const = 0;
    /// False where a piece makes only some of the channels of its elements, and other pieces the others.
    virtual bool contiguous() const { return true; }
    /// Whether run() takes a tail that does something.
    virtual bool takesTail() const { return false; }
    /// x and y are the whole tensors, channels-last, `tail` lies as y. False only when memory ran out.
    virtual bool run(
        size_t piece, const float* x, float* y, std::byte* scratch, const SumTail& tail) const noexcept = 0;
    bool run(const float* x, float* y, std::byte* scratch, const SumTail& tail = {}) const noexcept
    {
        for (size_t i = 0; i < pieces().size(); ++i)
            if (!run(i, x, y, scratch, tail))
                return false;
        return true;
    }
};

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
