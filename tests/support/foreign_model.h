// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/small_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

/// A small float network, and quantized files of it as other frameworks write them.
namespace qs::test {

inline std::vector<float> noise(size_t count, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 0.4f);
    std::vector<float> values(count);
    std::ranges::generate(values, [&] { return normal(random); });
    return values;
}

inline const std::vector<float>& valuesOf(const std::string& name)
{
    static const std::map<std::string, std::vector<float>> all { { "w1", noise(72, 1) }, { "b1", noise(4, 2) },
        { "w2", noise(16, 3) }, { "b2", noise(4, 4) }, { "w3", noise(20, 5) }, { "b3", noise(5, 6) } };
    return all.at(name);
}

/// Two convolutions around a residual, a pool, a linear layer.
inline std::shared_ptr<const Model> floatNet()
{
    SmallModel m("float.onnx");
    m.input("x", { 1, 2, 6, 6 })
        .constant("w1", Tensor::of<float>({ 4, 2, 3, 3 }, valuesOf("w1")))
        .constant("b1", Tensor::of<float>({ 4 }, valuesOf("b1")))
        .constant("w2", Tensor::of<float>({ 4, 4, 1, 1 }, valuesOf("w2")))
        .constant("b2", Tensor::of<float>({ 4 }, valuesOf("b2")))
        .constant("w3", Tensor::of<float>({ 5, 4 }, valuesOf("w3")))
        .constant("b3", Tensor::of<float>({ 5 }, valuesOf("b3")))
        .node("Conv", { "x", "w1", "b1" }, { "c1" }, { { "pads", std::vector<int64_t> { 1, 1, 1, 1 } } })
        .node("Relu", { "c1" }, { "r1" })
        .node("Conv", { "r1", "w2", "b2" }, { "c2" })
        .node("Add", { "c2", "r1" }, { "a1" })
        .node("Relu", { "a1" }, { "r2" })
        .node("GlobalAveragePool", { "r2" }, { "g1" })
        .node("Flatten", { "g1" }, { "f1" })
        .node("Gemm", { "f1", "w3", "b3" }, { "g2" }, { { "transB", int64_t(1) } })
        .node("Softmax", { "g2" }, { "y" })
        .output("y");
    return std::make_shared<Model>(std::move(m).finish().plan->model());
}

/// A file as other frameworks write them: names of its own, weights over -128..127, a kept Relu, nothing between a
/// product and what is fused with it, each scale stored anew.
struct ForeignFile {
    bool perChannel = false, floatBias = false, secondScale = false;
    bool otherCodes = false; ///< some weights and biases are not rounded to the nearest code, as after training
    SmallModel m { "foreign.onnx" };
    std::map<std::string, std::string> names; ///< float names by those of the file
    std::map<std::string, std::vector<float>> scales;

    void activation(const std::string& from, const std::string& real, float scale, uint8_t zero)
    {
        m.qdq<uint8_t>(from, from + "/dq", scale, zero);
        names.emplace(from, real);
        scales[real] = { scale };
    }
    void weight(const std::string& real, const Shape& shape)
    {
        const auto& values = valuesOf(real);
        const size_t channels = perChannel ? size_t(shape[0]) : 1, each = values.size() / channels;
        std::vector<int8_t> codes;
        for (size_t c = 0; c < channels; ++c) {
            float largest = 0;
            for (size_t i = 0; i < each; ++i)
                largest = std::max(largest, std::abs(values[c * each + i]));
            scales[real].push_back(2 * largest / 255);
            for (size_t i = 0; i < each; ++i)
                codes.push_back(int8_t(std::clamp(
                    std::nearbyint(values[c * each + i] / scales[real].back()) + change(i), -128.0f, 127.0f)));
        }
        m.weight("p/" + real, shape, codes, scales[real]);
        names.emplace("p/" + real, real);
    }
    float change(size_t i) const { return otherCodes && i % 3 == 0 ? (i % 2 ? -1.0f : 1.0f) : 0.0f; }
    /// Name of what the product reads.
    std::string bias(const std::string& real, const std::string& input, const std::string& weight)
    {
        const auto& values = valuesOf(real);
        const std::string name = "p/" + real;
        const Shape shape { int64_t(values.size()) };
        if (floatBias) {
            std::vector<float> own = values;
            for (size_t i = 0; i < own.size(); ++i)
                own[i] += 0.01f * change(i);
            m.constant(name, Tensor::of<float>(shape, own));
            return name;
        }
        std::vector<float> own;
        for (float w : scales[weight])
            own.push_back(scales[input][0] * w);
        std::vector<int32_t> codes;
        for (size_t i = 0; i < values.size(); ++i)
            codes.push_back(int32_t(std::nearbyint(values[i] / own[own.size() == 1 ? 0 : i]) + change(i)));
        const Shape scaleShape { int64_t(own.size()) };
        m.constant(name + "/q", Tensor::of<int32_t>(shape, codes))
            .constant(name + "/s", Tensor::of<float>(scaleShape, own))
            .constant(name + "/z", Tensor::of<int32_t>(scaleShape, std::vector<int32_t>(own.size(), 0)))
            .node("DequantizeLinear", { name + "/q", name + "/s", name + "/z" }, { name }, { { "axis", int64_t(0) } });
        names.emplace(name, real);
        return name;
    }
    std::shared_ptr<const Model> made()
    {
        m.input("in", { 1, 2, 6, 6 });
        activation("in", "x", 0.02f, 100);
        weight("w1", { 4, 2, 3, 3 });
        m.node("Conv", { "in/dq", "p/w1", bias("b1", "x", "w1") }, { "t1" },
             { { "pads", std::vector<int64_t> { 1, 1, 1, 1 } } })
            .node("Relu", { "t1" }, { "t2" });
        activation("t2", "r1", 0.011f, 0);
        weight("w2", { 4, 4, 1, 1 });
        std::string second = "t2/dq";
        if (secondScale) {
            m.constant("other/s", Tensor::scalar(0.5f)).constant("other/z", Tensor::scalar<uint8_t>(7));
            m.node("QuantizeLinear", { "t2", "other/s", "other/z" }, { "other/q" })
                .node("DequantizeLinear", { "other/q", "other/s", "other/z" }, { "other/dq" });
            second = "other/dq";
        }
        m.node("Conv", { "t2/dq", "p/w2", bias("b2", "r1", "w2") }, { "t3" })
            .node("Add", { "t3", second }, { "t4" })
            .node("Relu", { "t4" }, { "t5" });
        activation("t5", "r2", 0.013f, 0);
        m.node("GlobalAveragePool", { "t5/dq" }, { "t6" });
        activation("t6", "g1", 0.013f, 0);
        m.node("Flatten", { "t6/dq" }, { "t7" });
        weight("w3", { 5, 4 });
        activation("t7", "f1", 0.013f, 0);
        m.node("Gemm", { "t7/dq", "p/w3", bias("b3", "f1", "w3") }, { "t8" }, { { "transB", int64_t(1) } });
        activation("t8", "g2", 0.03f, 120);
        m.node("Softmax", { "t8/dq" }, { "out" }).output("out");
        for (const auto& [name, real] :
            std::map<std::string, std::string> { { "t1", "c1" }, { "t3", "c2" }, { "t4", "a1" }, { "out", "y" } })
            names.emplace(name, real);
        return std::make_shared<Model>(std::move(m).finish().plan->model());
    }
};

} // namespace qs::test
