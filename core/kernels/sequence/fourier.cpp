// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/sequence/fourier.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace qs {

namespace {

using Complex = std::complex<double>;

/// e^(-2 pi j k / n); k is taken modulo n first, so that large products keep their precision.
Complex root(int64_t k, int64_t n)
{
    const double angle = -2 * std::numbers::pi * double(k % n) / double(n);
    return { std::cos(angle), std::sin(angle) };
}

/// Without the special cases for infinities of operator*.
inline Complex times(Complex a, Complex b) noexcept
{
    return { a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real() };
}

} // namespace

void fourierReference(const Complex* x, Complex* y, int64_t n, bool inverse)
{
    for (int64_t k = 0; k < n; ++k) {
        Complex sum = 0;
        for (int64_t i = 0; i < n; ++i) {
            const Complex w = root(i * k, n);
            sum += x[i] * (inverse ? std::conj(w) : w);
        }
        y[k] = inverse ? sum / double(n) : sum;
    }
}

Fourier::Fourier(int64_t n)
    : m_n(n)
    , m_size(1)
{
    const bool direct = n > 0 && (n & (n - 1)) == 0;
    while (m_size < (direct ? n : 2 * n - 1))
        m_size *= 2;
    for (int64_t k = 0; k < m_size / 2; ++k)
        m_roots.push_back(root(k, m_size));
    m_reversed.resize(size_t(m_size), 0);
    for (size_t i = 1; i < m_reversed.size(); ++i)
        m_reversed[i] = uint32_t((m_reversed[i / 2] / 2) | (i % 2 ? m_reversed.size() / 2 : 0));
    if (direct)
        return;
    m_filter.assign(size_t(m_size), 0);
    for (int64_t i = 0; i < n; ++i) {
        m_chirp.push_back(root(i * i % (2 * n), 2 * n));
        m_filter[size_t(i)] = std::conj(m_chirp[size_t(i)]);
        if (i > 0)
            m_filter[size_t(m_size - i)] = m_filter[size_t(i)];
    }
    powerOfTwo(m_filter.data());
}

size_t Fourier::scratchSize() const { return m_chirp.empty() ? 0 : size_t(m_size); }

void Fourier::powerOfTwo(Complex* x) const noexcept
{
    for (size_t i = 0; i < m_reversed.size(); ++i)
        if (i < m_reversed[i])
            std::swap(x[i], x[m_reversed[i]]);
    const auto size = size_t(m_size);
    for (size_t half = 1; half < size; half *= 2)
        for (size_t start = 0; start < size; start += 2 * half)
            for (size_t k = 0; k < half; ++k) {
                Complex &a = x[start + k], &b = x[start + k + half];
                const Complex turned = times(b, m_roots[k * (size / 2 / half)]);
                b = a - turned;
                a += turned;
            }
}

void Fourier::forward(Complex* x, Complex* scratch) const noexcept
{
    if (m_chirp.empty()) {
        powerOfTwo(x);
        return;
    }
    const auto n = size_t(m_n), size = size_t(m_size);
    for (size_t i = 0; i < size; ++i)
        scratch[i] = i < n ? times(x[i], m_chirp[i]) : Complex {};
    powerOfTwo(scratch);
    // The inverse transform is the transform of the conjugate.
    for (size_t i = 0; i < size; ++i)
        scratch[i] = std::conj(times(scratch[i], m_filter[i]));
    powerOfTwo(scratch);
    for (size_t i = 0; i < n; ++i)
        x[i] = times(std::conj(scratch[i]) / double(size), m_chirp[i]);
}

void Fourier::run(Complex* x, bool inverse, Complex* scratch) const noexcept
{
    if (!inverse) {
        forward(x, scratch);
        return;
    }
    for (int64_t i = 0; i < m_n; ++i)
        x[i] = std::conj(x[i]);
    forward(x, scratch);
    for (int64_t i = 0; i < m_n; ++i)
        x[i] = std::conj(x[i]) / double(m_n);
}

} // namespace qs
