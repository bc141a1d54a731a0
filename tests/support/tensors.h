// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/tensor.h"

#include <algorithm>
#include <cmath>
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

/// Normally distributed about 0 with deviation 1.
inline std::vector<float> normals(size_t n, uint32_t seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(n);
    for (float& v : values)
        v = normal(random);
    return values;
}

/// int8 codes of a weight without zero points; one scale, or one for each of its first axis.
inline std::vector<int8_t> symmetricCodes(const std::vector<float>& values, const std::vector<float>& scales)
{
    std::vector<int8_t> codes;
    const size_t channel = values.size() / scales.size();
    for (size_t i = 0; i < values.size(); ++i)
        codes.push_back(
            static_cast<int8_t>(std::clamp(std::nearbyint(values[i] / scales[i / channel]), -127.f, 127.f)));
    return codes;
}

/// The same with a scale for each of its last axis, as the columns of a matrix [in, out].
inline std::vector<int8_t> columnCodes(const std::vector<float>& w, const std::vector<float>& scales)
{
    std::vector<int8_t> codes;
    for (size_t i = 0; i < w.size(); ++i)
        codes.push_back(int8_t(std::clamp(std::nearbyint(w[i] / scales[i % scales.size()]), -127.f, 127.f)));
    return codes;
}

/// The same shape, dtype and layout, and the same bytes.
inline bool sameBits(const Tensor& a, const Tensor& b)
{
    return a.valid() && a.shape() == b.shape() && a.dtype() == b.dtype() && a.layout() == b.layout()
        && std::ranges::equal(a.bytes(), b.bytes());
}

} // namespace qs::test
