// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/quant_params.h"
#include "core/tensor/tensor.h"

#include <memory>
#include <vector>

namespace qs {

/// The elements of one tensor in one model, read where they lie: as real numbers, and as codes where it is quantized.
/// Nothing is copied but tensors whose channels come last.
class Elements {
public:
    /// The order in which stored elements are shown, where it is another one.
    struct Order {
        int64_t exchangedRows = 0; ///< of the stored matrix, whose rows and columns are exchanged; 0: they are not
        std::shared_ptr<const std::vector<uint32_t>> places; ///< by shown element; null: none
    };

    /// Numbers of any type.
    explicit Elements(const Tensor& values);
    /// Codes with what they mean; `reals`: what the model made of them, of as many elements. Without, each is
    /// scale * (code - zero point), in float32.
    Elements(const Tensor& codes, QuantParams params, const Tensor& reals = {});
    /// The same elements as a tensor of this shape, each taken from the place that `order` says.
    Elements ordered(Shape shape, Order order) const;

    const Shape& shape() const { return m_shape; }
    size_t count() const { return m_count; }
    DType dtype() const; ///< of the reals; float32 where they are computed
    bool hasCodes() const { return m_codes.valid() && isInteger(m_params.dtype); }
    const QuantParams& params() const { return m_params; }

    double real(size_t i) const;
    int64_t integer(size_t i) const; ///< only of reals of a type of whole numbers: the same, to the last digit
    int64_t code(size_t i) const; ///< only with codes
    size_t scaleIndex(size_t i) const; ///< in params(); only with codes
    /// At the lowest (-1) or highest (1) code that there is; 0: within, or without codes.
    int atLimit(size_t i) const;

private:
    size_t stored(size_t i) const;
    void findBlocks();

    Tensor m_reals, m_codes;
    QuantParams m_params;
    Shape m_shape;
    size_t m_count = 0;
    Order m_order;
    size_t m_inner = 1, m_channels = 1, m_block = 0, m_blocks = 1; ///< along the axis of the scales
};

} // namespace qs
