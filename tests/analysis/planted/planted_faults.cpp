// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/convert.h"
#include "tests/analysis/planted/planted.h"

#include <algorithm>
#include <cmath>

namespace qs::test {

namespace {

using Places = std::vector<std::string>;

/// Replaces a constant by what `change` makes of its elements as doubles (index, value).
void edit(GraphDraft& draft, const std::string& name, const std::function<double(size_t, double)>& change)
{
    const Tensor* old = draft.constant(name);
    if (!old)
        qFatal("no constant '%s'", name.c_str());
    Tensor t = Tensor::allocate(old->dtype(), old->shape());
    auto fill = [&](auto values) {
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<std::remove_reference_t<decltype(values[i])>>(
                change(i, elementAsDouble(*old, int64_t(i))));
    };
    switch (old->dtype()) {
    case DType::Float32:
        fill(t.fill<float>());
        break;
    case DType::Int8:
        fill(t.fill<int8_t>());
        break;
    case DType::UInt8:
        fill(t.fill<uint8_t>());
        break;
    case DType::Int32:
        fill(t.fill<int32_t>());
        break;
    default:
        qFatal("type of '%s'", name.c_str());
    }
    draft.setConstant(name, std::move(t));
}

DraftNode& nodeMaking(GraphDraft& draft, const std::string& value)
{
    const auto it = std::ranges::find_if(
        draft.nodes, [&](const DraftNode& n) { return !n.outputs.empty() && n.outputs[0] == value; });
    if (it == draft.nodes.end())
        qFatal("nothing makes '%s'", value.c_str());
    return *it;
}

DraftNode& nodeNamed(GraphDraft& draft, const std::string& name)
{
    const auto it = std::ranges::find_if(draft.nodes, [&](const DraftNode& n) { return n.name == name; });
    if (it == draft.nodes.end())
        qFatal("no node '%s'", name.c_str());
    return *it;
}

Planted base(const char* network, std::string fault, Places places)
{
    Planted p;
    p.network = network;
    p.fault = std::move(fault);
    p.places = std::move(places);
    return p;
}

/// The calibrated range of a tensor times a factor.
Planted scaled(const char* network, const std::string& tensor, float factor, Places places)
{
    Planted p = base(network, "scale of " + tensor + " x " + std::to_string(factor), std::move(places));
    p.ranges = [=](Ranges& ranges) {
        TensorRange& r = ranges.tensors.at(tensor);
        r.lowest *= factor;
        r.highest *= factor;
    };
    return p;
}

Planted shifted(const char* network, const std::string& tensor, int by, Places places)
{
    Planted p = base(network, "zero point of " + tensor + " shifted by " + std::to_string(by), std::move(places));
    p.quantized = [=](GraphDraft& q) {
        edit(q, tensor + "_zero_point", [&](size_t, double v) { return std::clamp(v + by, 0., 255.); });
    };
    return p;
}

/// Only DequantizeLinear has another zero point.
Planted disagreeing(const char* network, const std::string& tensor, int by, Places places)
{
    Planted p = base(network, "quantizing and dequantizing " + tensor + " disagree", std::move(places));
    p.quantized = [=](GraphDraft& q) {
        q.setConstant(
            "other_zero_point", Tensor::scalar(uint8_t(elementAsDouble(*q.constant(tensor + "_zero_point"), 0) + by)));
        nodeMaking(q, tensor + "_DequantizeLinear_Output").inputs[2] = "other_zero_point";
    };
    return p;
}

/// One output channel of a convolution is far larger than the others, and one scale serves all.
Planted outlierChannel(const char* network, const std::string& layer, float factor, Places places)
{
    Planted p = base(network, "one channel of " + layer + " x " + std::to_string(factor), std::move(places));
    p.floatModel = [=](GraphDraft& f) {
        const size_t channels = size_t(f.constant(layer + "_w")->dim(0));
        const size_t each = size_t(f.constant(layer + "_w")->count()) / channels;
        edit(f, layer + "_w", [&](size_t i, double v) { return i / each == 1 ? v * double(factor) : v; });
    };
    return p;
}

Planted biasScale(const char* network, const std::string& layer, float factor, Places places)
{
    Planted p = base(network, "bias scale of " + layer + " x " + std::to_string(factor), std::move(places));
    p.quantized = [=](GraphDraft& q) {
        edit(q, layer + "_b_quantized_scale", [&](size_t, double v) { return v * double(factor); });
    };
    return p;
}

Planted biasOrder(const char* network, const std::string& layer, Places places)
{
    Planted p = base(network, "bias of " + layer + " in another order", std::move(places));
    p.quantized = [=](GraphDraft& q) {
        const Tensor old = *q.constant(layer + "_b_quantized");
        edit(q, layer + "_b_quantized",
            [&](size_t i, double) { return elementAsDouble(old, old.count() - 1 - int64_t(i)); });
    };
    return p;
}

/// Scales a channel, but along another axis than the weight has them.
Planted weightAxis(const char* network, const std::string& layer, Places places)
{
    Planted p = base(network, "scales of " + layer + " along the wrong axis", std::move(places));
    p.recipe = [](Recipe& r) {
        r.activationType = DType::UInt8;
        r.perChannel = true;
    };
    p.floatModel = [=](GraphDraft& f) { // channels of different size, else the axis hardly matters
        const size_t channels = size_t(f.constant(layer + "_w")->dim(0));
        const size_t each = size_t(f.constant(layer + "_w")->count()) / channels;
        edit(f, layer + "_w", [&](size_t i, double v) { return v * (0.4 + 0.25 * double(i / each)); });
    };
    p.quantized = [=](GraphDraft& q) {
        DraftNode& node = nodeMaking(q, layer + "_w_DequantizeLinear_Output");
        node.attributes.set("axis", int64_t(1));
        node.attributesChanged = true;
    };
    return p;
}

Planted badWeight(const char* network, const std::string& layer, size_t index, Places places)
{
    Planted p = base(network, "one weight of " + layer + " damaged", std::move(places));
    p.quantized = [=](GraphDraft& q) {
        edit(q, layer + "_w_quantized",
            [&](size_t i, double v) { return i == index ? (v >= 0 ? v - 128 : v + 128) : v; });
    };
    return p;
}

/// The exporter stored the weights in another order.
Planted otherWeights(const char* network, const std::string& layer, Places places)
{
    Planted p = base(network, "weights of " + layer + " reversed", std::move(places));
    p.quantized = [=](GraphDraft& q) {
        const Tensor old = *q.constant(layer + "_w_quantized");
        edit(q, layer + "_w_quantized",
            [&](size_t i, double) { return elementAsDouble(old, old.count() - 1 - int64_t(i)); });
    };
    return p;
}

/// The exporter wrote another operator.
Planted otherOperator(const char* network, const std::string& value, const char* type, Places places)
{
    Planted p = base(network, value + " made by " + type, std::move(places));
    p.quantized = [=](GraphDraft& q) { nodeNamed(q, "n_" + value).opType = type; };
    return p;
}

Planted otherAttribute(
    const char* network, const std::string& value, const char* name, AttributeValue to, Places places)
{
    Planted p = base(network, "attribute " + std::string(name) + " of " + value, std::move(places));
    p.quantized = [=](GraphDraft& q) {
        DraftNode& node = nodeNamed(q, "n_" + value);
        node.attributes.set(name, to);
        node.attributesChanged = true;
    };
    return p;
}

Planted preprocessing(const char* network, const char* what, std::function<float(float)> change)
{
    Planted p = base(network, std::string("data ") + what, { "x" });
    p.data = std::move(change);
    return p;
}

/// Weights of one branch are so small that the join's scale leaves nothing of it.
Planted unequalBranch(float factor)
{
    Planted p = base("branches", "branch b x " + std::to_string(factor), { "n_join", "rb", "n_rb", "join" });
    p.floatModel = [=](GraphDraft& f) {
        for (const char* name : { "b_w", "b_b" })
            edit(f, name, [&](size_t, double v) { return v * double(factor); });
    };
    return p;
}

/// Sigmoid far in its tail, with the fixed range 0..1 that exporters give it.
Planted tail(const char* network, const std::string& layer, const std::string& output, double bias)
{
    Planted p = base(network, output + " in the tail", { output, "n_" + output });
    p.floatModel = [=](GraphDraft& f) { edit(f, layer + "_b", [&](size_t, double v) { return v + bias; }); };
    p.ranges = [=](Ranges& r) { r.tensors.at(output).highest = 1; };
    return p;
}

/// All of many keys get about the same attention: far less than the fixed range 0..1 of a Softmax is made for.
Planted flatSoftmax(double factor)
{
    Planted p = base("attention", "Softmax behind small scores", { "p", "n_p" });
    p.floatModel = [=](GraphDraft& f) { edit(f, "root", [&](size_t, double v) { return v * factor; }); };
    return p;
}

/// Full-range weights of one sign: sums of products saturate in 16 bits. All other weights have 7 bits.
Planted saturating(const char* network, const std::string& layer, const std::string& before, Places places)
{
    Planted p = base(network, layer + " saturates", std::move(places));
    p.profile = ArithmeticProfile::IntegerAvx2;
    p.recipe = [=](Recipe& r) {
        r.activationType = DType::UInt8;
        r.reduceRange = true;
        TensorOverride whole;
        whole.parts[0].type = DType::Int8;
        whole.parts[0].symmetric = true;
        whole.parts[0].reduceRange = false;
        r.tensors[layer + "_w"] = whole;
    };
    p.floatModel = [=](GraphDraft& f) {
        edit(f, before + "_b", [](size_t, double v) { return v + 5; });
        edit(
            f, layer + "_w", [](size_t i, double v) { return (i % 5 == 0 ? -0.5 : 1) * (0.25 + 0.02 * std::fabs(v)); });
    };
    return p;
}

} // namespace

std::vector<Planted> plantedFaults()
{
    const auto layer = [](const std::string& made, const std::string& seen) {
        return Places { made, "n_" + made, seen, "n_" + seen, made + "_w", made + "_b" };
    };
    const auto tensor = [](const std::string& name) { return Places { name, "n_" + name }; };
    std::vector<Planted> list;
    const auto add = [&](Planted p) { list.push_back(std::move(p)); };
    add(scaled("cnn", "r1", 0.1f, tensor("r1")));
    add(scaled("cnn", "r2", 0.2f, tensor("r2")));
    add(scaled("cnn", "r3", 30, tensor("r3")));
    add(scaled("cnn", "r2", 12, tensor("r2")));
    add(scaled("residual", "r1", 0.15f, tensor("r1")));
    add(scaled("residual", "c3", 0.1f, tensor("c3")));
    add(scaled("residual", "r3", 25, tensor("r3")));
    add(scaled("residual", "c3", 40, tensor("c3")));
    add(scaled("attention", "v", 0.1f, tensor("v")));
    add(scaled("attention", "mixed", 50, tensor("mixed")));
    add(scaled("attention", "r", 0.15f, tensor("r")));
    add(scaled("attention", "q", 30, tensor("q")));
    add(scaled("branches", "ra", 0.1f, tensor("ra")));
    add(scaled("branches", "rd", 20, tensor("rd")));
    add(shifted("cnn", "r1", 120, tensor("r1")));
    add(shifted("residual", "c3", 90, tensor("c3")));
    add(shifted("attention", "v", -80, tensor("v")));
    add(shifted("branches", "rb", 100, tensor("rb")));
    add(disagreeing("cnn", "r2", 20, tensor("r2")));
    add(disagreeing("residual", "c3", -25, tensor("c3")));
    add(disagreeing("attention", "mixed", 30, tensor("mixed")));
    add(disagreeing("branches", "gate", 40, tensor("gate")));
    add(outlierChannel("cnn", "c2", 60, layer("c2", "r2")));
    add(outlierChannel("residual", "c2", 80, layer("c2", "r2")));
    add(outlierChannel("branches", "d", 100, layer("d", "rd")));
    add(biasScale("cnn", "c2", 16, layer("c2", "r2")));
    add(biasScale("residual", "c3", 20, layer("c3", "c3")));
    add(biasScale("branches", "c", 16, layer("c", "gate")));
    add(biasOrder("cnn", "c1", layer("c1", "r1")));
    add(biasOrder("branches", "y", layer("y", "y")));
    add(weightAxis("cnn", "c2", layer("c2", "r2")));
    add(weightAxis("residual", "c3", layer("c3", "c3")));
    add(badWeight("cnn", "c3", 100, layer("c3", "r3")));
    add(badWeight("residual", "c4", 17, layer("c4", "c4")));
    add(badWeight("branches", "a", 60, layer("a", "ra")));
    add(otherWeights("cnn", "c2", layer("c2", "r2")));
    add(otherWeights("attention", "up", layer("up", "r")));
    add(otherWeights("branches", "d", layer("d", "rd")));
    add(otherOperator("residual", "y", "HardSigmoid", tensor("y")));
    add(otherOperator("branches", "gate", "Tanh", tensor("gate")));
    add(otherAttribute("attention", "p", "axis", int64_t(1), tensor("p")));
    add(otherAttribute("cnn", "y", "alpha", 0.8f, tensor("y")));
    add(preprocessing("cnn", "not divided by the deviation", [](float v) { return 12 * v; }));
    add(preprocessing("residual", "with another mean", [](float v) { return v + 9; }));
    add(preprocessing("attention", "in another unit", [](float v) { return 20 * v; }));
    add(preprocessing("branches", "divided by 255 once more", [](float v) { return v / 60; }));
    add(unequalBranch(0.02f));
    add(unequalBranch(0.005f));
    add(tail("branches", "c", "gate", -7));
    add(flatSoftmax(0.05));
    add(saturating("cnn", "c2", "c1", layer("c2", "r2")));
    add(saturating("residual", "c2", "c1", layer("c2", "r2")));
    return list;
}

} // namespace qs::test
