// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/reduce/loss.h"

namespace qs {

template <class T>
void likelihoodLosses(const AxisShape& s, const T* logarithms, const int64_t* targets, const T* classWeights,
    std::optional<int64_t> ignored, T* losses, T* weights) noexcept
{
    for (int64_t o = 0; o < s.outer; ++o)
        for (int64_t i = 0; i < s.inner; ++i) {
            const int64_t place = o * s.inner + i, target = targets[place];
            if (target == ignored) {
                losses[place] = weights[place] = 0;
                continue;
            }
            weights[place] = classWeights ? classWeights[target] : T(1);
            losses[place] = -weights[place] * logarithms[(o * s.size + target) * s.inner + i];
        }
}

template void likelihoodLosses<float>(
    const AxisShape&, const float*, const int64_t*, const float*, std::optional<int64_t>, float*, float*) noexcept;
template void likelihoodLosses<double>(
    const AxisShape&, const double*, const int64_t*, const double*, std::optional<int64_t>, double*, double*) noexcept;

} // namespace qs
