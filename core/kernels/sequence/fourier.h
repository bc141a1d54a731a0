// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace qs {

/// Discrete Fourier transform by its definition: y[k] = sum over i of x[i] e^(-2 pi j i k / n), the inverse with the
/// other sign and divided by n. Lengths are below 2^31.
void fourierReference(const std::complex<double>* x, std::complex<double>* y, int64_t n, bool inverse);

/// The same for one length in n log n steps, in double: the radix-2 algorithm of Cooley and Tukey, and Bluestein's
/// algorithm for lengths that are no power of two. Immutable after construction; thread-safe.
class Fourier {
public:
    explicit Fourier(int64_t n);
    int64_t length() const { return m_n; }
    /// Numbers of scratch memory that run() needs.
    size_t scratchSize() const;
    /// In place. Throws nothing.
    void run(std::complex<double>* x, bool inverse, std::complex<double>* scratch) const noexcept;

private:
    void powerOfTwo(std::complex<double>* x) const noexcept;
    void forward(std::complex<double>* x, std::complex<double>* scratch) const noexcept;
    int64_t m_n = 0;
    int64_t m_size = 0; ///< power of two that is transformed
    std::vector<std::complex<double>> m_roots; ///< e^(-2 pi j k / size), k < size / 2
    std::vector<uint32_t> m_reversed; ///< bit-reversed index
    std::vector<std::complex<double>> m_chirp; ///< Bluestein: e^(-pi j i^2 / n)
    std::vector<std::complex<double>> m_filter; ///< Bluestein: transform of the conjugate chirp
};

} // namespace qs
