// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/reduce/norm.h"

#include "core/kernels/elementwise/unary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

namespace qs {

namespace {

/// Sum of term(x[i]) in eight interleaved double sums: fast, and the same for every caller.
template <class T, class Term> double laneSum(const T* x, int64_t n, Term term)
{
    double lanes[8] {};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int64_t l = 0; l < 8; ++l)
            lanes[l] += term(double(x[i + l]));
    for (int64_t l = 0; i < n; ++i, ++l)
        lanes[l] += term(double(x[i]));
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/// The largest element; a NaN counts when it comes first.
template <class T> T largest(const T* x, int64_t n)
{
    std::array<T, 16> lanes;
    lanes.fill(x[0]);
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (size_t l = 0; l < 16; ++l)
            lanes[l] = x[i + int64_t(l)] > lanes[l] ? x[i + int64_t(l)] : lanes[l];
    for (; i < n; ++i)
        lanes[0] = x[i] > lanes[0] ? x[i] : lanes[0];
    T best = lanes[0];
    for (const T lane : lanes)
        best = lane > best ? lane : best;
    return best;
}

/// A softmax over neighbouring elements.
void softmaxRow(int64_t n, const float* x, float* y)
{
    const float top = largest(x, n);
    for (int64_t i = 0; i < n; ++i)
        y[i] = x[i] - top;
    unaryFast(UnaryOp::Exp, {}, y, y, static_cast<size_t>(n));
    const double inverse = 1 / laneSum(y, n, [](double v) { return v; });
    for (int64_t i = 0; i < n; ++i)
        y[i] = static_cast<float>(double(y[i]) * inverse);
}

template <class T> void softmaxLine(SoftmaxKind kind, int64_t n, int64_t stride, const T* x, T* y)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; ++i)
        if (x[i * stride] > x[best * stride])
            best = i;
    if (kind == SoftmaxKind::Hardmax) {
        for (int64_t i = 0; i < n; ++i)
            y[i * stride] = T(i == best);
        return;
    }
    const T top = x[best * stride];
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
        const T e = std::exp(x[i * stride] - top);
        sum += double(e);
        y[i * stride] = e;
    }
    if (kind == SoftmaxKind::Softmax) {
        for (int64_t i = 0; i < n; ++i)
            y[i * stride] = T(double(y[i * stride]) / sum);
        return;
    }
    const double logSum = std::log(sum);
    for (int64_t i = 0; i < n; ++i)
        y[i * stride] = T(double(x[i * stride]) - double(top) - logSum);
}

} // namespace

template <class T> void softmax(SoftmaxKind kind, const AxisShape& s, const T* x, T* y) noexcept
{
    if (s.size == 0)
        return;
    if constexpr (std::is_same_v<T, float>)
        if (kind == SoftmaxKind::Softmax && s.inner == 1) {
            for (int64_t o = 0; o < s.outer; ++o)
                softmaxRow(s.size, x + o * s.size, y + o * s.size);
            return;
        }
    for (int64_t o = 0; o < s.outer; ++o)
        for (int64_t i = 0; i < s.inner; ++i) {
            const int64_t first = o * s.size * s.inner + i;
            softmaxLine(kind, s.size, s.inner, x + first, y + first);
        }
}

template <class T>
void normalizeBlocks(
    const BlockNorm& n, const T* x, const T* scale, const T* bias, T* y, T* mean, T* inverseDeviation) noexcept
{
    for (int64_t b = 0; b < n.blocks; ++b) {
        const int64_t first = b * n.size;
        const T* block = x + first;
        const double centre = n.centred ? laneSum(block, n.size, [](double v) { return v; }) / double(n.size) : 0;
        const double squares = laneSum(block, n.size, [centre](double v) { return (v - centre) * (v - centre); });
        const double inverse = 1 / std::sqrt(squares / double(n.size) + n.epsilon);
        if (mean)
            mean[b] = T(centre);
        if (inverseDeviation)
            inverseDeviation[b] = T(inverse);
        T* out = y + first;
        const int64_t run = std::min(n.run, n.size);
        if (n.run == 1 && n.scales == n.size) {
            for (int64_t i = 0; i < n.size; ++i)
                out[i] = T((double(block[i]) - centre) * inverse * (scale ? double(scale[i]) : 1.0)
                    + (bias ? double(bias[i]) : 0.0));
            continue;
        }
        for (int64_t i = 0; i < n.size; i += run) {
            const int64_t c = (first + i) / n.run % n.scales;
            const double factor = inverse * (scale ? double(scale[c]) : 1.0), shift = bias ? double(bias[c]) : 0.0;
            for (int64_t k = i; k < i + run; ++k)
                out[k] = T((double(block[k]) - centre) * factor + shift);
        }
    }
}

template <class T> void scaleAndShift(const AxisShape& s, const T* x, const T* scale, const T* shift, T* y) noexcept
{
    for (int64_t o = 0; o < s.outer; ++o) {
        if (s.inner == 1) {
            for (int64_t c = 0; c < s.size; ++c)
                y[c] = x[c] * scale[c] + shift[c];
            x += s.size;
            y += s.size;
            continue;
        }
        for (int64_t c = 0; c < s.size; ++c, x += s.inner, y += s.inner)
            for (int64_t i = 0; i < s.inner; ++i)
                y[i] = x[i] * scale[c] + shift[c];
    }
}

template <class T> void localResponse(const LocalResponse& p, const T* x, T* y) noexcept
{
    const AxisShape& s = p.shape;
    const int64_t before = (p.size - 1) / 2, after = p.size - 1 - before;
    for (int64_t o = 0; o < s.outer; ++o)
        for (int64_t c = 0; c < s.size; ++c) {
            const int64_t low = std::max<int64_t>(0, c - before), high = std::min(s.size - 1, c + after);
            const T* block = x + o * s.size * s.inner;
            T* out = y + (o * s.size + c) * s.inner;
            for (int64_t i = 0; i < s.inner; ++i) {
                double squares = 0;
                for (int64_t k = low; k <= high; ++k)
                    squares += double(block[k * s.inner + i]) * double(block[k * s.inner + i]);
                const double base = p.bias + p.alpha / double(p.size) * squares;
                out[i] = T(double(block[c * s.inner + i]) / std::pow(base, p.beta));
            }
        }
}

template <class T> void lpNormalize(int order, const AxisShape& s, const T* x, T* y) noexcept
{
    for (int64_t o = 0; o < s.outer; ++o)
        for (int64_t i = 0; i < s.inner; ++i) {
            const T* from = x + o * s.size * s.inner + i;
            T* to = y + o * s.size * s.inner + i;
            double sum = 0;
            for (int64_t k = 0; k < s.size; ++k) {
                const double v = std::abs(double(from[k * s.inner]));
                sum += order == 1 ? v : v * v;
            }
            const double norm = order == 1 ? sum : std::sqrt(sum);
            for (int64_t k = 0; k < s.size; ++k)
                to[k * s.inner] = norm == 0 ? T(0) : T(double(from[k * s.inner]) / norm);
        }
}

void softmaxReference(SoftmaxKind kind, const AxisShape& s, const double* x, double* y) noexcept
{
    for (int64_t line = 0; line < s.outer * s.inner; ++line) {
        const auto at = [&](int64_t k) { return (line / s.inner * s.size + k) * s.inner + line % s.inner; };
        double top = -std::numeric_limits<double>::infinity(), sum = 0;
        for (int64_t k = 0; k < s.size; ++k)
            top = std::max(top, x[at(k)]);
        for (int64_t k = 0; k < s.size; ++k)
            sum += std::exp(x[at(k)] - top);
        bool taken = false;
        for (int64_t k = 0; k < s.size; ++k) {
            const double difference = x[at(k)] - top;
            const bool first = difference == 0 && !taken;
            taken = taken || first;
            y[at(k)] = kind == SoftmaxKind::Softmax ? std::exp(difference) / sum
                : kind == SoftmaxKind::LogSoftmax   ? difference - std::log(sum)
                                                    : double(first);
        }
    }
}

void normalizeBlocksReference(const BlockNorm& n, const double* x, const double* scale, const double* bias, double* y,
    double* mean, double* inverseDeviation) noexcept
{
    for (int64_t b = 0; b < n.blocks; ++b) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < n.size; ++i)
            sum += x[b * n.size + i];
        const double centre = n.centred ? sum / double(n.size) : 0;
        for (int64_t i = 0; i < n.size; ++i)
            squares += (x[b * n.size + i] - centre) * (x[b * n.size + i] - centre);
        const double deviation = std::sqrt(squares / double(n.size) + n.epsilon);
        for (int64_t e = b * n.size; e < (b + 1) * n.size; ++e) {
            const int64_t c = e / n.run % n.scales;
            y[e] = (x[e] - centre) / deviation * (scale ? scale[c] : 1) + (bias ? bias[c] : 0);
        }
        if (mean)
            mean[b] = centre;
        if (inverseDeviation)
            inverseDeviation[b] = 1 / deviation;
    }
}

void batchNormReference(const AxisShape& s, double epsilon, const double* x, const double* scale, const double* bias,
    const double* mean, const double* variance, double* y) noexcept
{
    for (int64_t e = 0; e < s.outer * s.size * s.inner; ++e) {
        const int64_t c = e / s.inner % s.size;
        y[e] = (x[e] - mean[c]) / std::sqrt(variance[c] + epsilon) * scale[c] + bias[c];
    }
}

#define QS_NORM(T)                                                                                                     \
    template void softmax<T>(SoftmaxKind, const AxisShape&, const T*, T*) noexcept;                                    \
    template void normalizeBlocks<T>(const BlockNorm&, const T*, const T*, const T*, T*, T*, T*) noexcept;             \
    template void scaleAndShift<T>(const AxisShape&, const T*, const T*, const T*, T*) noexcept;                       \
    template void localResponse<T>(const LocalResponse&, const T*, T*) noexcept;                                       \
    template void lpNormalize<T>(int, const AxisShape&, const T*, T*) noexcept;
QS_NORM(float)
QS_NORM(double)
#undef QS_NORM

} // namespace qs
