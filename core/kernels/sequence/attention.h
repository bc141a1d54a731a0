// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/product/matmul.h"

#include <array>
#include <memory>
#include <vector>

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

/// Both products by oneDNN, of few queries by our own loops, head by head. Where no query sees the keys behind its own
/// place (the usual mask of a decoder), blocks of queries leave out the keys that none of them sees, if they and their
/// values are finite. Thread-safe.
class PreparedAttention {
public:
    /// Null when there is no fast product of this shape.
    /// `masks`: it runs with a bias and without scores as outputs, so that keys may be left out.
    static std::shared_ptr<const PreparedAttention> make(
        const AttentionShape& s, FloatMatmul& products, bool masks = true);
    /// Bytes of 64-byte aligned scratch memory that each concurrent run needs.
    size_t scratchBytes() const;
    /// False only when memory ran out.
    bool run(const AttentionData<float>& d, std::byte* scratch) const noexcept;

private:
    /// Neighbouring queries of a head and the first keys, which alone they see.
    struct Part {
        int64_t firstQuery = 0;
        AttentionShape shape;
        std::shared_ptr<const PreparedProduct> scores, values;
    };
    static bool prepare(Part& part, FloatMatmul& products);
    void prepareParts(FloatMatmul& products);
    bool seesNoLaterKeys(const AttentionData<float>& d, int64_t batch, int64_t head) const;
    bool laterKeysAreFinite(const AttentionData<float>& d, int64_t batch, int64_t head) const;
    /// False only when memory ran out.
    bool runPart(const Part& part, const AttentionData<float>& d, int64_t batch, int64_t head,
        std::byte* scratch) const noexcept;
    bool multiplyKeys(
        const Part& part, const float* q, const float* k, float* scores, std::byte* scratch) const noexcept;
    bool multiplyValues(const Part& part, const float* w, const float* v, float* y, std::byte* scratch) const noexcept;

    bool m_few = false; ///< queries: without the products
    Part m_whole;
    std::vector<Part> m_parts; ///< of queries that see no later keys; empty: not worth it
};

} // namespace qs
