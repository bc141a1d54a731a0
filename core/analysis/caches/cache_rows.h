// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/caches/cache_places.h"
#include "core/tensor/tensor.h"

#include <functional>
#include <span>

namespace qs {

/// The elements of one kind of tensor of one layer, as one feed made them: rows of channels by prompt, head and
/// position. Positions that hold nothing (padding, room for tokens to come) are passed over.
class CacheRows {
public:
    /// `tensor`: what was found at the place. `mask` [prompts, tokens so far] is 0 where there is none; where it is
    /// invalid, or tells of more tokens than there are rows (a cache that slides), rows of zeros hold nothing. An Issue
    /// where the tensor's axes are not those of the place.
    static Result<CacheRows> of(const CachePlace& place, const Tensor& tensor, const Tensor& mask);

    size_t prompts() const { return m_prompts; }
    size_t heads() const { return m_heads; }
    size_t positions() const { return m_first + m_rows; } ///< one behind the last
    size_t channels() const { return m_channels; } ///< of a head
    /// Calls `take` for each row that counts: prompts, in each of them positions, in each of these heads ascending.
    using Take = std::function<void(size_t prompt, size_t head, size_t position, std::span<const float> row)>;
    void each(const Take& take) const;

private:
    void lay(const CacheLayout& layout, const Shape& shape, const std::array<int, 4>& axes);
    void findCounted(const Tensor& mask, bool fresh);
    bool isFilled(size_t prompt, size_t row) const;

    std::vector<float> m_values;
    size_t m_prompts = 0, m_heads = 0, m_rows = 0, m_channels = 0;
    size_t m_first = 0; ///< position of the first row
    size_t m_begin = 0; ///< of the first element
    std::array<size_t, 4> m_strides {}; ///< prompts, heads, rows, channels
    std::vector<uint8_t> m_counted; ///< prompts x rows
};

} // namespace qs
