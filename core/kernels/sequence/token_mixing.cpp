// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/sequence/token_mixing.h"

#include <algorithm>
#include <cmath>

namespace qs {

template <class T>
void rotaryEmbed(const RotaryShape& s, const T* x, const T* cosines, const T* sines, const int64_t* rows, T* y) noexcept
{
    const int64_t half = s.rotated / 2;
    for (int64_t b = 0; b < s.batch; ++b)
        for (int64_t t = 0; t < s.tokens; ++t)
            for (int64_t h = 0; h < s.heads; ++h) {
                const int64_t at = b * s.batchStride + t * s.tokenStride + h * s.headStride;
                const int64_t row = rows[b * s.tokens + t] * half;
                for (int64_t i = 0; i < half; ++i) {
                    const int64_t first = at + (s.interleaved ? 2 * i : i);
                    const int64_t second = s.interleaved ? first + 1 : first + half;
                    const T c = cosines[row + i], n = sines[row + i];
                    const T real = x[first], imaginary = x[second];
                    y[first] = c * real - n * imaginary;
                    y[second] = n * real + c * imaginary;
                }
                std::copy_n(x + at + s.rotated, s.headSize - s.rotated, y + at + s.rotated);
            }
}

namespace {

/// One token of one key head: the state decays, learns the token's value, and answers.
template <class T> struct HeadStep {
    const LinearAttentionShape& s;
    T* state;

    void decay(const T* exponents)
    {
        for (int64_t d = 0; d < s.keySize; ++d) {
            const T factor = std::exp(exponents[s.decays == 1 ? 0 : d]);
            for (int64_t m = 0; m < s.valueSize; ++m)
                state[d * s.valueSize + m] *= factor;
        }
    }
    /// What the state holds for a key (or a query).
    void read(const T* key, T* value) const
    {
        std::fill_n(value, s.valueSize, T(0));
        for (int64_t d = 0; d < s.keySize; ++d)
            for (int64_t m = 0; m < s.valueSize; ++m)
                value[m] += state[d * s.valueSize + m] * key[d];
    }
    void write(const T* key, const T* value)
    {
        for (int64_t d = 0; d < s.keySize; ++d)
            for (int64_t m = 0; m < s.valueSize; ++m)
                state[d * s.valueSize + m] += key[d] * value[m];
    }
};

} // namespace

template <class T> void linearAttention(const LinearAttentionShape& s, const LinearAttentionData<T>& d)
{
    std::vector<T> value(size_t(s.valueSize)), held(size_t(s.valueSize));
    const int64_t readers = s.outputs() / s.values; ///< of a state
    for (int64_t b = 0; b < s.batch; ++b)
        for (int64_t h = 0; h < s.values; ++h) {
            HeadStep<T> step { s, d.state + (b * s.values + h) * s.keySize * s.valueSize };
            for (int64_t t = b * s.tokens; t < (b + 1) * s.tokens; ++t) {
                const T* key = d.k + (t * s.keys + h * s.keys / s.values) * s.keySize;
                std::copy_n(d.v + (t * s.values + h) * s.valueSize, s.valueSize, value.data());
                if (s.decays > 0)
                    step.decay(d.decay + (t * s.values + h) * s.decays);
                if (s.rates > 0) {
                    step.read(key, held.data());
                    const T rate = d.rate[t * s.rates + (s.rates == 1 ? 0 : h)];
                    for (size_t m = 0; m < value.size(); ++m)
                        value[m] = rate * (value[m] - held[m]);
                }
                step.write(key, value.data());
                for (int64_t g = h * readers; g < (h + 1) * readers; ++g) {
                    T* y = d.y + (t * s.outputs() + g) * s.valueSize;
                    step.read(d.q + (t * s.queries + g * s.queries / s.outputs()) * s.keySize, y);
                    std::transform(y, y + s.valueSize, y, [&](T v) { return T(s.scale) * v; });
                }
            }
        }
}

template <class T>
void causalConv(const CausalConvShape& s, const T* padded, const T* weight, const T* bias, T* y) noexcept
{
    for (int64_t r = 0; r < s.batch * s.channels; ++r) {
        const T* x = padded + r * (s.length + s.past());
        const T* w = weight + r % s.channels * s.taps;
        for (int64_t i = 0; i < s.length; ++i) {
            double sum = bias ? double(bias[r % s.channels]) : 0;
            for (int64_t k = 0; k < s.taps; ++k)
                sum += double(x[i + k * s.dilation]) * double(w[k]);
            y[r * s.length + i] = T(sum);
        }
    }
}

#define QS_TOKENS(T)                                                                                                   \
    template void rotaryEmbed<T>(const RotaryShape&, const T*, const T*, const T*, const int64_t*, T*) noexcept;       \
    template void linearAttention<T>(const LinearAttentionShape&, const LinearAttentionData<T>&);                      \
    template void causalConv<T>(const CausalConvShape&, const T*, const T*, const T*, T*) noexcept;
QS_TOKENS(float)
QS_TOKENS(double)
#undef QS_TOKENS

} // namespace qs
