// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <optional>

namespace qs {

/// A table of any rank in blocks of 4-bit codes along one axis.
struct TableBlocks {
    Tensor codes; ///< Int4 (symmetric) or UInt4, shape of the table
    Tensor scales; ///< type of the table; the axis has one entry a block
    std::optional<Tensor> zeroPoints; ///< UInt4, shape of the scales; none where symmetric
};

/// Float32 or Float16 table, in the arithmetic of its type. Source: ONNX Runtime, MatMulNBitsQuantizer's Gather, to the
/// bit. Issue (without a name): NaN or infinity.
Result<TableBlocks> quantizeTable(const Tensor& table, size_t axis, int64_t blockSize, bool symmetric, size_t threads);

} // namespace qs
