// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/product/float_rows.h"

#include <cstddef>
#include <span>

namespace qs {

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
    /// Whether run() takes an epilogue that does something.
    virtual bool takesEpilogue() const { return false; }
    /// x and y are the whole tensors, channels-last, `epilogue` lies as y. False only when memory ran out.
    virtual bool run(
        size_t piece, const float* x, float* y, std::byte* scratch, const SumEpilogue& epilogue) const noexcept = 0;
    /// Pieces `first` .. `last` - 1 at once, which may share what they read.
    virtual bool runPieces(size_t first, size_t last, const float* x, float* y, std::byte* scratch,
        const SumEpilogue& epilogue) const noexcept
    {
        for (size_t i = first; i < last; ++i)
            if (!run(i, x, y, scratch, epilogue))
                return false;
        return true;
    }
    bool run(const float* x, float* y, std::byte* scratch, const SumEpilogue& epilogue = {}) const noexcept
    {
        return runPieces(0, pieces().size(), x, y, scratch, epilogue);
    }
};

} // namespace qs
