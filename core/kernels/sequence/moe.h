// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

/// Mixtures of experts. Sources: Shazeer, GLU Variants Improve Transformer; ONNX Runtime's operators MoE and QMoE.
namespace qs {

/// Gelu: its tanh approximation, as ONNX Runtime has it here.
enum class ExpertActivation : uint8_t { Relu, Gelu, Silu, Swiglu, Identity };
struct ExpertFunction {
    ExpertActivation kind = ExpertActivation::Relu;
    double alpha = 1, beta = 0, limit = 0; ///< of Swiglu, whose operands stay within `limit`
};

/// out[i] = function(gate[i * step]), times linear[i * step] where there is one (Swiglu: plus beta).
void activateExpert(
    const ExpertFunction& f, const double* gate, const double* linear, size_t step, size_t count, double* out) noexcept;

/// The `k` experts with the largest logits (the first of equal ones) and their shares: softmax over all of them, or
/// what `weights` says where it is not null; summing to 1 when normalized.
void chooseExperts(const double* logits, const double* weights, size_t experts, size_t k, bool normalize,
    size_t* chosen, double* share) noexcept;

/// y = W x + bias (may be null) of `rows` x `depth` weights.
void expertProduct(const float* w, const double* bias, const double* x, size_t rows, size_t depth, double* y) noexcept;

/// Weights of 2 bits in blocks: `rows` x `depth` codes, four a byte, the first in the lowest bits; depth is a multiple
/// of the block size, which is one of 32, 64, 128 ...
struct TwoBitWeights {
    const uint8_t* codes = nullptr;
    const float* scales = nullptr; ///< rows x blocks
    const float* zeroPoints = nullptr; ///< rows x blocks; null: 2
    size_t rows = 0, depth = 0, block = 0;
};
/// y = W x + bias (may be null) by tables: of each four elements of x the sixteen sums with signs are rounded to eight
/// bits, with one scale for the elements of a block or for 64 of them (their largest sum of four sizes is 127). A code
/// of two bits is a sum of two signs: b0 + 2 b1 = s0 / 2 + s1 + 3 / 2. Source: ONNX Runtime 1.32 on x86, measured; the
/// method is that of Wei et al., T-MAC: CPU Renaissance via Table Lookup, 2024.
void expertTableProduct(const TwoBitWeights& w, const double* bias, const double* x, double* y);

} // namespace qs
