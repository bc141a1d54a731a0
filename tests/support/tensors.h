// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/tensor.h"

#include <algorithm>
#include <random>

namespace qs::test {

/// float32, normally distributed about 0.
inline Tensor normalFloats(std::mt19937& random, Shape shape, float spread = 1)
{
    std::normal_distribution<float> normal(0, spread);
    Tensor t = Tensor::allocate(DType::Float32, std::move(shape));
    for (float& v : t.fill<float>())
        v = normal(random);
    return t;
}

/// The same shape, dtype and layout, and the same bytes.
inline bool sameBits(const Tensor& a, const Tensor& b)
{
    return a.valid() && a.shape() == b.shape() && a.dtype() == b.dtype() && a.layout() == b.layout()
        && std::ranges::equal(a.bytes(), b.bytes());
}

} // namespace qs::test
