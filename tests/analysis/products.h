// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/small_model.h"
#include "tests/support/tensors.h"

#include <random>
#include <vector>

/// A product of two axes with a constant, in float and on codes.
namespace qs::test {

inline std::vector<float> uniform(size_t n, uint32_t seed, float low = -1, float high = 1)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> values(low, high);
    std::vector<float> x(n);
    for (float& v : x)
        v = values(random);
    return x;
}

inline const std::vector<float> kWeights = uniform(12, 5);
inline const Tensor kFloatWeight = Tensor::of<float>({ 4, 3 }, kWeights);

/// x [2,4] -> MatMul -> Relu -> y
inline Prepared product(bool other = false)
{
    SmallModel model("f");
    model.input("x", { 2, 4 }).constant("w", kFloatWeight).node("MatMul", { "x", "w" }, { "m" });
    return model.node(other ? "LeakyRelu" : "Relu", { "m" }, { "y" }).output("y").finish();
}

/// The same on codes; the range of the result does what the Relu did.
inline Prepared productOnCodes()
{
    return SmallModel("q")
        .input("x", { 2, 4 })
        .constant("xs", Tensor::scalar(1.f / 127))
        .constant("xz", Tensor::scalar<int8_t>(0))
        .constant("w_quantized", Tensor::of<int8_t>({ 4, 3 }, symmetricCodes(kWeights, { 1.f / 127 })))
        .constant("ws", Tensor::scalar(1.f / 127))
        .constant("wz", Tensor::scalar<int8_t>(0))
        .constant("ys", Tensor::scalar(3.f / 255))
        .constant("yz", Tensor::scalar<int8_t>(-128))
        .node("QuantizeLinear", { "x", "xs", "xz" }, { "x_quantized" })
        .node("QLinearMatMul", { "x_quantized", "xs", "xz", "w_quantized", "ws", "wz", "ys", "yz" }, { "y_quantized" })
        .node("DequantizeLinear", { "y_quantized", "ys", "yz" }, { "y" })
        .output("y")
        .finish();
}

} // namespace qs::test
