// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/product/matmul.h"

#include <array>

/// Scaled dot product attention. Source: Vaswani et al., Attention Is All You Need; ONNX Attention.
namespace qs {

/// `heads` is a multiple of `keyHeads`; neighbouring query heads share a key head.
struct AttentionShape {
    int64_t batch = 1, heads = 1, keyHeads = 1;
    int64_t queries = 0, keys = 0;
    int64_t keySize = 0, valueSize = 0;
    double scale = 1; ///< of the products of queries and keys
    double softcap = 0; ///< 0: none; else scores become softcap * tanh(score / softcap)
};

/// Added to the scores, minus infinity to leave a key out; strides in elements over batch, head, query, key, 0 where it
/// repeats. Null data: nothing is added.
template <class T> struct AttentionBias {
    const T* data = nullptr;
    std::array<int64_t, 4> strides {};
};

enum class AttentionStage { Products, Capped, Biased, Weights };

/// Row-major: q batch x heads x queries x keySize, k and v batch x keyHeads x keys x size, y batch x heads x queries x
/// valueSize. A row whose keys are all left out becomes zeros.
template <class T> struct AttentionData {
    const T *q = nullptr, *k = nullptr, *v = nullptr;
    AttentionBias<T> bias;
    T* y = nullptr;
    T* scores = nullptr; ///< may be null: the scores after `stage`, batch x heads x queries x keys
    AttentionStage stage = AttentionStage::Products;
};

/// Naive version in double.
void attentionReference(const AttentionShape& s, const AttentionData<double>& d);

/// Both products by oneDNN, of few queries by our own loops, head by head. Thread-safe.
class PreparedAttention {
public:
    /// Null when there is no fast product of this shape.
    static std::shared_ptr<const PreparedAttention> make(const AttentionShape& s, FloatMatmul& products);
    /// Bytes of 64-byte aligned scratch memory that each concurrent run needs.
    size_t scratchBytes() const;
    /// False only when memory ran out.
    bool run(const AttentionData<float>& d, std::byte* scratch) const noexcept;

private:
    /// All queries of a head; false only when memory ran out.
    bool multiplyKeys(const float* q, const float* k, float* scores, std::byte* scratch) const noexcept;
    bool multiplyValues(const float* w, const float* v, float* y, std::byte* scratch) const noexcept;

    AttentionShape m_shape;
    bool m_few = false; ///< queries: without the products
    std::shared_ptr<const PreparedProduct> m_scores, m_values;
};

} // namespace qs
