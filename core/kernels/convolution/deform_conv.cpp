// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/convolution/deform_conv.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace qs {

namespace {

/// Bilinear value of a plane at a point, with zeros around it.
template <class T> T sampled(const DeformConv& s, const T* plane, T y, T x)
{
    if (!(y > -1 && x > -1 && y < T(s.height) && x < T(s.width)))
        return 0;
    const auto top = int64_t(std::floor(y)), left = int64_t(std::floor(x));
    const T down = y - T(top), across = x - T(left);
    const auto at = [&](int64_t i, int64_t j) {
        return i >= 0 && j >= 0 && i < s.height && j < s.width ? plane[i * s.width + j] : T(0);
    };
    return (1 - down) * ((1 - across) * at(top, left) + across * at(top, left + 1))
        + down * ((1 - across) * at(top + 1, left) + across * at(top + 1, left + 1));
}

/// All window elements of all places of one input channel: kernel x out.
template <class T>
void sampleChannel(const DeformConv& s, int64_t channel, const T* x, const T* offset, const T* mask, T* samples)
{
    const int64_t places = s.outHeight * s.outWidth, taps = s.kernelHeight * s.kernelWidth;
    const int64_t group = channel / (s.inChannels / s.offsetGroups);
    for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t p = 0; p < places; ++p) {
            const T* moved = offset + (group * taps + tap) * 2 * places + p;
            const T y = T(p / s.outWidth * s.strideY - s.padTop + tap / s.kernelWidth * s.dilationY) + moved[0];
            const T at = T(p % s.outWidth * s.strideX - s.padLeft + tap % s.kernelWidth * s.dilationX) + moved[places];
            const T share = mask ? mask[(group * taps + tap) * places + p] : T(1);
            samples[tap * places + p] = share * sampled(s, x + channel * s.height * s.width, y, at);
        }
}

} // namespace

template <class T>
void deformConv(const DeformConv& s, const T* x, const T* weight, const T* offset, const T* bias, const T* mask, T* y)
{
    const int64_t places = s.outHeight * s.outWidth, taps = s.kernelHeight * s.kernelWidth;
    const int64_t inGroup = s.inChannels / s.groups, outGroup = s.outChannels / s.groups;
    std::vector<T> samples(size_t(taps * places));
    std::vector<double> sums(size_t(s.outChannels * places));
    for (int64_t o = 0; o < s.outChannels; ++o)
        std::fill_n(sums.begin() + o * places, places, bias ? double(bias[o]) : 0.0);
    for (int64_t i = 0; i < s.inChannels; ++i) {
        sampleChannel(s, i, x, offset, mask, samples.data());
        const int64_t group = i / inGroup;
        for (int64_t o = group * outGroup; o < (group + 1) * outGroup; ++o)
            for (int64_t tap = 0; tap < taps; ++tap) {
                const double w = double(weight[(o * inGroup + i % inGroup) * taps + tap]);
                for (int64_t p = 0; p < places; ++p)
                    sums[size_t(o * places + p)] += w * double(samples[size_t(tap * places + p)]);
            }
    }
    std::transform(sums.begin(), sums.end(), y, [](double v) { return T(v); });
}
template void deformConv<float>(
    const DeformConv&, const float*, const float*, const float*, const float*, const float*, float*);
template void deformConv<double>(
    const DeformConv&, const double*, const double*, const double*, const double*, const double*, double*);

} // namespace qs
