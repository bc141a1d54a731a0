// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace qs {

/// A dense row-major operand of a sum of products: one label an axis, which may repeat.
template <class T> struct LabelledOperand {
    const T* data;
    std::vector<int> labels;
};

/// out[labels of out] = sum over all other labels of the product of all operands' elements. `sizes` by label. Naive.
/// T: double, uint64_t (integers of any sign wrap alike).
template <class T>
void sumOfProducts(std::span<const LabelledOperand<T>> operands, std::span<const int64_t> sizes,
    const std::vector<int>& labels, T* out);

} // namespace qs
