// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/sequence/few_queries.h"

#include "core/kernels/cpu/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/sequence/few_queries.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 8>;
using V = hn::Vec<D>;

void score(const float* query, const float* keys, int64_t count, int64_t size, float scale, float* scores)
{
    const D d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < count; ++i, keys += size) {
        V even = hn::Zero(d), odd = hn::Zero(d);
        int64_t k = 0;
        for (; k + 2 * lanes <= size; k += 2 * lanes) {
            even = hn::MulAdd(hn::LoadU(d, query + k), hn::LoadU(d, keys + k), even);
            odd = hn::MulAdd(hn::LoadU(d, query + k + lanes), hn::LoadU(d, keys + k + lanes), odd);
        }
        float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
        for (; k < size; ++k)
            sum += query[k] * keys[k];
        scores[i] = sum * scale;
    }
}

/// kVectors of the values' elements.
template <int64_t kVectors>
HWY_INLINE void mixSome(const float* weights, const float* values, int64_t count, int64_t size, float* y)
{
    const D d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    V sums[kVectors];
    HWY_UNROLL(8)
    for (int64_t v = 0; v < kVectors; ++v)
        sums[v] = hn::Zero(d);
    for (int64_t i = 0; i < count; ++i, values += size) {
        const V weight = hn::Set(d, weights[i]);
        HWY_UNROLL(8)
        for (int64_t v = 0; v < kVectors; ++v)
            sums[v] = hn::MulAdd(weight, hn::LoadU(d, values + v * lanes), sums[v]);
    }
    HWY_UNROLL(8)
    for (int64_t v = 0; v < kVectors; ++v)
        hn::StoreU(sums[v], d, y + v * lanes);
}

void mix(const float* weights, const float* values, int64_t count, int64_t size, float* y)
{
    const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
    int64_t j = 0;
    for (; j + 8 * lanes <= size; j += 8 * lanes)
        mixSome<8>(weights, values + j, count, size, y + j);
    for (; j + lanes <= size; j += lanes)
        mixSome<1>(weights, values + j, count, size, y + j);
    for (; j < size; ++j) {
        float sum = 0;
        for (int64_t i = 0; i < count; ++i)
            sum += weights[i] * values[i * size + j];
        y[j] = sum;
    }
}

} // namespace
} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {
HWY_EXPORT(score);
HWY_EXPORT(mix);

void scoreKeys(const float* query, const float* keys, int64_t count, int64_t size, float scale, float* scores) noexcept
{
    HWY_DYNAMIC_DISPATCH(score)(query, keys, count, size, scale, scores);
}

void mixValues(const float* weights, const float* values, int64_t count, int64_t size, float* y) noexcept
{
    HWY_DYNAMIC_DISPATCH(mix)(weights, values, count, size, y);
}

} // namespace qs
#endif
