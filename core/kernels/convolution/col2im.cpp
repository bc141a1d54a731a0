// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/convolution/col2im.h"

#include "core/tensor/arithmetic.h"

#include <algorithm>

namespace qs {

namespace {

/// Flat image index of element `e` of window `w`; -1 in the padding.
int64_t imageIndex(const WindowGrid& g, int64_t e, int64_t w)
{
    int64_t index = 0, step = 1;
    for (size_t d = g.image.size(); d-- > 0;) {
        const int64_t windows = g.windows(d);
        const int64_t at = w % windows * g.stride[d] - g.padBefore[d] + e % g.block[d] * g.dilation[d];
        if (at < 0 || at >= g.image[d])
            return -1;
        index += at * step;
        step *= g.image[d];
        e /= g.block[d];
        w /= windows;
    }
    return index;
}

} // namespace

template <class T> void col2im(const WindowGrid& g, int64_t planes, const T* columns, T* image)
{
    const int64_t plane = product(g.image), elements = product(g.block);
    int64_t windows = 1;
    for (size_t d = 0; d < g.image.size(); ++d)
        windows *= g.windows(d);
    std::fill_n(image, planes * plane, T(0));
    for (int64_t e = 0; e < elements; ++e)
        for (int64_t w = 0; w < windows; ++w)
            if (const int64_t to = imageIndex(g, e, w); to >= 0)
                for (int64_t p = 0; p < planes; ++p)
                    image[p * plane + to] += columns[(p * elements + e) * windows + w];
}
template void col2im<float>(const WindowGrid&, int64_t, const float*, float*);
template void col2im<double>(const WindowGrid&, int64_t, const double*, double*);
template void col2im<int64_t>(const WindowGrid&, int64_t, const int64_t*, int64_t*);

} // namespace qs
