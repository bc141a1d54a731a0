// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/cache_channels.h"

#include <algorithm>
#include <cmath>

namespace qs {

CacheChannels::CacheChannels(
    const Tensor& uncoded, bool values, const Tensor& x, const Tensor& y, QuantParams& params, PairRun& run)
    : m_shape(x.shape())
{
    if (uncoded.valid() && uncoded.dtype() == DType::Float32 && size_t(uncoded.count()) == 2 * run.n)
        run.p = uncoded.data<float>().data() + (values ? run.n : 0);
    const size_t scales = params.scale.size();
    if (scales > 1) {
        if (x.rank() != 4 || x.shape() != y.shape() || size_t(x.dim(1) * x.dim(3)) != scales) {
            params.scale.clear();
            return;
        }
        run.x = byChannel(run.x, x.shape(), 0);
        run.y = byChannel(run.y, x.shape(), 1);
        run.p = run.p ? byChannel(run.p, x.shape(), 2) : nullptr;
        m_shape = { x.dim(0), int64_t(scales), x.dim(2) };
    }
    findPeaks(run, scales);
}

const float* CacheChannels::byChannel(const float* from, const Shape& shape, size_t buffer)
{
    const auto tokens = size_t(shape[2]), size = size_t(shape[3]), heads = size_t(shape[0] * shape[1]);
    std::vector<float>& to = m_values[buffer];
    to.resize(heads * tokens * size);
    for (size_t head = 0; head < heads; ++head)
        for (size_t t = 0; t < tokens; ++t)
            for (size_t d = 0; d < size; ++d)
                to[(head * size + d) * tokens + t] = *from++;
    return to.data();
}

void CacheChannels::findPeaks(const PairRun& run, size_t channels)
{
    m_peaks.assign(channels, 0.0f);
    if (channels == 0)
        return;
    const size_t inner = channels > 1 ? size_t(m_shape[2]) : std::max<size_t>(run.n, 1);
    for (size_t begin = 0, c = 0; begin < run.n; begin += inner, c = (c + 1) % channels)
        for (size_t i = begin; i < begin + inner; ++i)
            if (std::isfinite(run.x[i]))
                m_peaks[c] = std::max(m_peaks[c], std::abs(run.x[i]));
}

} // namespace qs
