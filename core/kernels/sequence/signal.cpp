// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/sequence/signal.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace qs {

void loadSignal(const SignalView& x, const double* window, std::complex<double>* out, int64_t length)
{
    for (int64_t i = 0; i < length; ++i) {
        out[i] = i < x.count ? x.at(i) : 0.0;
        if (window)
            out[i] *= window[i];
    }
}

void loadHalfSpectrum(const SignalView& x, std::complex<double>* out, int64_t length)
{
    for (int64_t i = 0; i <= length / 2; ++i)
        out[i] = i < x.count ? x.at(i) : 0.0;
    // A real signal has no imaginary part at frequency 0 and, of an even length, at half the rate.
    out[0] = out[0].real();
    if (length % 2 == 0)
        out[length / 2] = out[length / 2].real();
    for (int64_t i = length / 2 + 1; i < length; ++i)
        out[i] = std::conj(out[length - i]);
}

void storeSignal(const std::complex<double>* x, int64_t count, bool complex, double* out, int64_t stride)
{
    for (int64_t i = 0; i < count; ++i) {
        out[i * stride] = x[i].real();
        if (complex)
            out[i * stride + 1] = x[i].imag();
    }
}

void fillWindow(CosineWindow window, int64_t size, bool periodic, double* out)
{
    const double period = double(periodic ? size : size - 1);
    for (int64_t i = 0; i < size; ++i) {
        const double turn
            = 2 * std::numbers::pi * double(i) / period; // one element and no period: NaN, as the standard's function
        switch (window) {
        case CosineWindow::Hann:
            out[i] = 0.5 - 0.5 * std::cos(turn);
            break;
        case CosineWindow::Hamming:
            out[i] = 25.0 / 46.0 - (1 - 25.0 / 46.0) * std::cos(turn);
            break;
        case CosineWindow::Blackman:
            out[i] = 0.42 - 0.5 * std::cos(turn) + 0.08 * std::cos(2 * turn);
            break;
        }
    }
}

bool fillMelWeights(const MelWeights& mel, double* out)
{
    const int64_t rows = mel.dftLength / 2 + 1;
    const auto toMel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const double low = toMel(mel.lowest), step = (toMel(mel.highest) - low) / double(mel.bands + 2);
    const auto bin = [&](int64_t i) {
        const double hertz = 700 * (std::pow(10.0, (double(i) * step + low) / 2595) - 1);
        const double at = std::floor(double(mel.dftLength + 1) * hertz / double(mel.sampleRate));
        return int64_t(std::clamp(at, -1.0, double(rows) + 1));
    };
    std::fill_n(out, rows * mel.bands, 0.0);
    for (int64_t band = 0; band < mel.bands; ++band) {
        const int64_t left = bin(band), center = bin(band + 1), right = bin(band + 2);
        if (left < 0 || center >= rows || right > rows)
            return false;
        if (left == center)
            out[center * mel.bands + band] = 1;
        for (int64_t i = left; left < center && i <= center; ++i)
            out[i * mel.bands + band] = double(i - left) / double(center - left);
        for (int64_t i = center; center < right && i < right; ++i)
            out[i * mel.bands + band] = double(right - i) / double(right - center);
    }
    return true;
}

} // namespace qs
