// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

/// What surrounds Fourier transforms of sound.
namespace qs {

/// Real or complex numbers in memory, `stride` doubles apart.
struct SignalView {
    const double* data = nullptr;
    int64_t count = 0;
    int64_t stride = 1;
    bool isComplex = false;

    std::complex<double> at(int64_t i) const
    {
        const double* p = data + i * stride;
        return { p[0], isComplex ? p[1] : 0.0 };
    }
};

/// The first `length` numbers, each times its window (may be null); zeros where the signal is shorter.
void loadSignal(const SignalView& x, const double* window, std::complex<double>* out, int64_t length);
/// A whole spectrum of `length` from its lower half: the upper one is conjugate, as a real signal's is.
void loadHalfSpectrum(const SignalView& x, std::complex<double>* out, int64_t length);
void storeSignal(const std::complex<double>* x, int64_t count, bool complex, double* out, int64_t stride);

enum class CosineWindow { Hann, Hamming, Blackman };
/// Source: ONNX HannWindow, HammingWindow, BlackmanWindow. A single number is 1.
void fillWindow(CosineWindow window, int64_t size, bool periodic, double* out);

/// Triangles over the bins of a spectrum, evenly spaced on the mel scale. Source: ONNX MelWeightMatrix.
struct MelWeights {
    int64_t bands = 0, dftLength = 0, sampleRate = 1;
    double lowest = 0, highest = 0; ///< Hz
};
/// dftLength / 2 + 1 rows of `bands`; false when a triangle lies outside of the spectrum.
bool fillMelWeights(const MelWeights& mel, double* out);

} // namespace qs
