// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/statistics/pair_sums.h"
#include "core/tensor/quant_params.h"
#include "core/tensor/tensor.h"

#include <array>
#include <vector>

namespace qs {

/// The values of a cache that is kept as codes, batch x heads x tokens x size, in the order of its scales: where there
/// is one for each head and channel, tokens are last.
class CacheChannels {
public:
    /// `uncoded` holds keys, and behind them values, as they were before; the run gets the part that it is of. Scales
    /// that do not fit are taken from `params`.
    CacheChannels(
        const Tensor& uncoded, bool values, const Tensor& x, const Tensor& y, QuantParams& params, PairRun& run);
    const Shape& shape() const { return m_shape; }
    /// The largest finite |x| by scale.
    const std::vector<float>& peaks() const { return m_peaks; }

private:
    const float* byChannel(const float* from, const Shape& shape, size_t buffer);
    void findPeaks(const PairRun& run, size_t channels);

    Shape m_shape;
    std::array<std::vector<float>, 3> m_values; ///< x, y, p
    std::vector<float> m_peaks;
};

} // namespace qs
