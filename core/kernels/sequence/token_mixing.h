// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

/// What language models do with a sequence of tokens besides attention. T: float and double.
namespace qs {

/// Elements of x (token (b, s), head h, element e) at b * batchStride + s * tokenStride + h * headStride + e.
struct RotaryShape {
    int64_t batch = 1, tokens = 1, heads = 1, headSize = 1;
    int64_t batchStride = 0, tokenStride = 0, headStride = 0;
    int64_t rotated = 0; ///< leading elements of a head that are turned; even
    bool interleaved = false; ///< pairs are neighbours, else an element and the one half of `rotated` further
};
/// Turns pairs of elements by an angle that depends on the token: `rows` (batch x tokens) is its row in the caches of
/// `rotated` / 2 cosines and sines. Source: Su et al., RoFormer.
template <class T>
void rotaryEmbed(
    const RotaryShape& s, const T* x, const T* cosines, const T* sines, const int64_t* rows, T* y) noexcept;

/// Attention by a recurrent state of keySize x valueSize a head. Source: Yang et al., Gated Delta Networks; ONNX
/// LinearAttention.
struct LinearAttentionShape {
    int64_t batch = 1, tokens = 0, keySize = 0, valueSize = 0;
    int64_t queries = 1, keys = 1, values = 1; ///< heads; values, each with a state, are a multiple of keys
    int64_t decays = 0; ///< decay exponents a state: 0 (none), 1 or keySize
    int64_t rates = 0; ///< update rates a token: 0 (none: no delta rule), 1 or `values`
    double scale = 1;
    /// Several queries share a state, or several states a query.
    int64_t outputs() const { return queries > values ? queries : values; }
};
/// q: batch x tokens x queries x keySize; k, v and y (of outputs() heads) likewise; state: batch x values x keySize x
/// valueSize, updated.
template <class T> struct LinearAttentionData {
    const T *q = nullptr, *k = nullptr, *v = nullptr, *decay = nullptr, *rate = nullptr;
    T* state = nullptr;
    T* y = nullptr;
};
template <class T> void linearAttention(const LinearAttentionShape& s, const LinearAttentionData<T>& d);

/// Each row of past() + `length` elements convolved with the taps of its channel (bias may be null).
struct CausalConvShape {
    int64_t batch = 1, channels = 1, length = 0, taps = 1;
    int64_t dilation = 1; ///< elements from tap to tap
    int64_t past() const { return (taps - 1) * dilation; }
};
template <class T>
void causalConv(const CausalConvShape& s, const T* padded, const T* weight, const T* bias, T* y) noexcept;

} // namespace qs
