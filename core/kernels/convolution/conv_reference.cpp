// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/convolution/conv_reference.h"

namespace qs {

namespace {

/// Calls visit(kernel index, plane index) for each tap of the window at `o` that lies inside the input.
template <class Visit> void forEachTap(const WindowShape& s, const int64_t (&o)[3], Visit visit)
{
    const auto& [d, h, w] = s.axes;
    for (int64_t kd = 0; kd < d.kernel; ++kd)
        for (int64_t kh = 0; kh < h.kernel; ++kh)
            for (int64_t kw = 0; kw < w.kernel; ++kw) {
                const int64_t id = o[0] * d.stride + kd * d.dilation - d.padBegin;
                const int64_t ih = o[1] * h.stride + kh * h.dilation - h.padBegin;
                const int64_t iw = o[2] * w.stride + kw * w.dilation - w.padBegin;
                if (id >= 0 && id < d.in && ih >= 0 && ih < h.in && iw >= 0 && iw < w.in)
                    visit((kd * h.kernel + kh) * w.kernel + kw, (id * h.in + ih) * w.in + iw);
            }
}

template <class Visit> void forEachPosition(int64_t d, int64_t h, int64_t w, Visit visit)
{
    for (int64_t i = 0; i < d * h * w; ++i) {
        const int64_t position[3] { i / (h * w), i / w % h, i % w };
        visit(i, position);
    }
}

} // namespace

void convReference(
    const ConvShape& shape, const double* x, const double* weights, const double* bias, double* y) noexcept
{
    const WindowShape& s = shape.window;
    const int64_t perGroup = s.channels / shape.groups, filtersPerGroup = shape.filters / shape.groups;
    const int64_t kernel = s.kernelSize(), inSize = s.inSize(), outSize = s.outSize();
    for (int64_t n = 0; n < s.batch; ++n)
        for (int64_t m = 0; m < shape.filters; ++m) {
            const double* planes = x + (n * s.channels + m / filtersPerGroup * perGroup) * inSize;
            const double* filter = weights + m * perGroup * kernel;
            double* out = y + (n * shape.filters + m) * outSize;
            forEachPosition(s.axes[0].out, s.axes[1].out, s.axes[2].out, [&](int64_t i, const int64_t(&o)[3]) {
                double sum = bias ? bias[m] : 0;
                for (int64_t c = 0; c < perGroup; ++c)
                    forEachTap(
                        s, o, [&](int64_t k, int64_t p) { sum += planes[c * inSize + p] * filter[c * kernel + k]; });
                out[i] = sum;
            });
        }
}

void convTransposeReference(
    const ConvShape& shape, const double* x, const double* weights, const double* bias, double* y) noexcept
{
    const WindowShape& s = shape.window;
    const int64_t perGroup = s.channels / shape.groups, filtersPerGroup = shape.filters / shape.groups;
    const int64_t kernel = s.kernelSize(), inSize = s.inSize(), outSize = s.outSize();
    // The window that scatters: its "input" is our output.
    WindowShape scatter = s;
    for (SpatialAxis& a : scatter.axes)
        a.in = a.out;
    for (int64_t n = 0; n < s.batch; ++n)
        for (int64_t m = 0; m < shape.filters; ++m) {
            double* out = y + (n * shape.filters + m) * outSize;
            for (int64_t i = 0; i < outSize; ++i)
                out[i] = bias ? bias[m] : 0;
            const int64_t first = m / filtersPerGroup * perGroup;
            for (int64_t c = first; c < first + perGroup; ++c) {
                const double* plane = x + (n * s.channels + c) * inSize;
                const double* filter = weights + (c * filtersPerGroup + m % filtersPerGroup) * kernel;
                forEachPosition(s.axes[0].in, s.axes[1].in, s.axes[2].in, [&](int64_t i, const int64_t(&o)[3]) {
                    forEachTap(scatter, o, [&](int64_t k, int64_t p) { out[p] += plane[i] * filter[k]; });
                });
            }
        }
}

} // namespace qs
