// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/product/float_rows.h"
#include "core/tensor/tensor.h"

#include <functional>
#include <optional>

namespace qs {

/// Told of elements begin .. end-1 (memory order) of an output as soon as they are made, which may then be replaced.
/// Called from several threads at once, for different elements.
using PieceFn = std::function<void(float* y, size_t begin, size_t end, size_t worker)>;

/// What becomes of an output made in pieces: `take` of each piece, or instead and with equal bits, `sums` of each sum
/// in the register that made it and then `behindSums` of each piece, where there is `sums`.
struct Epilogue {
    PieceFn take; ///< empty: leave the output alone
    std::optional<SumEpilogue> sums;
    Tensor home; ///< with `sums`: memory of the output's type, shape and layout to use instead; may be invalid
    PieceFn behindSums; ///< may be empty
};

/// Asked when a float32 output is allocated and its shape and layout are known.
using EpilogueFn = std::function<Epilogue(const Tensor& y)>;

} // namespace qs
