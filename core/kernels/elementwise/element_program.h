// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/elementwise/binary.h"
#include "core/kernels/elementwise/unary.h"

#include <cstddef>
#include <span>
#include <vector>

namespace qs {

/// One element-wise float32 function of one or two operands.
struct ElementOp {
    bool binary = false;
    UnaryOp unary = UnaryOp::Relu;
    UnaryParams params;
    BinaryOp op = BinaryOp::Add;
};

/// Element-wise functions one after another, computed tile by tile so that what is between them stays in the nearest
/// cache. Every element passes through the same kernels (unaryFast, binaryFast) as when each function walks over the
/// whole tensor, so the bits are equal.
class ElementProgram {
public:
    /// Slots 0 .. operands-1 are operands; operands + i is the result of instruction i.
    struct Instruction {
        ElementOp op;
        size_t a = 0, b = 0; ///< slots; b of binary functions only
    };
    ElementProgram(size_t operands, std::vector<Instruction> instructions);

    /// How an operand meets element i of the result.
    struct Operand {
        const float* data = nullptr;
        size_t period = 0; ///< 0: element i; 1: one value for all; n: element i % n
    };
    size_t operands() const { return m_operands; }
    /// Floats of scratch memory that each concurrent run needs: tiles, and one unrolled copy of each periodic operand.
    size_t scratchFloats(std::span<const Operand> operands) const;
    /// Elements begin .. end-1 of the last instruction's result go to out[begin] ...; `out` may be an operand with
    /// period 0.
    void run(std::span<const Operand> operands, float* out, size_t begin, size_t end, float* scratch) const;

private:
    size_t m_operands;
    std::vector<Instruction> m_instructions;
    std::vector<size_t> m_tiles; ///< by instruction: which tile holds its result
    size_t m_tileCount = 0;
};

} // namespace qs
