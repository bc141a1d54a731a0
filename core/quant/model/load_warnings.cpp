// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/model/load_warnings.h"

#include "core/quant/model/opsets.h"

#include <algorithm>

namespace qs {

namespace {

bool isPair(const DraftNode& node) { return node.is("QuantizeLinear") || node.is("DequantizeLinear"); }

bool readsHalves(const GraphDraft& draft, const DraftNode& node)
{
    return std::ranges::any_of(node.inputs, [&](const std::string& name) {
        const Tensor* constant = draft.constant(name);
        return constant && constant->dtype() == DType::Float16;
    });
}

} // namespace

std::vector<std::string> loadWarnings(const GraphDraft& quantized)
{
    std::vector<std::string> warnings;
    const int64_t opset = opsetOf(quantized);
    const auto first = [&](auto&& refused, const std::string& why) {
        const auto node = std::ranges::find_if(quantized.nodes, refused);
        if (node != quantized.nodes.end())
            warnings.push_back("ONNX Runtime will not load this file: '" + node->name + "' " + why);
    };
    const std::string raise = ", which needs opset ",
                      now = ", and the model has opset " + std::to_string(opset)
        + "; export the float model with a newer opset, or start from the recipe quantscope, which raises it";
    if (opset < kOpsetOfAxes)
        first([](const DraftNode& node) { return isPair(node) && node.attributes.has("axis"); },
            "has a scale for each channel" + raise + std::to_string(kOpsetOfAxes) + now);
    if (opset < kOpsetOfHalfScales)
        first([&](const DraftNode& node) { return isPair(node) && readsHalves(quantized, node); },
            "has a float16 scale" + raise + std::to_string(kOpsetOfHalfScales) + now);
    first([&](const DraftNode& node) { return node.opType.starts_with("QLinear") && readsHalves(quantized, node); },
        "has a float16 scale, which operators on codes do not take; use the qdq format");
    return warnings;
}

} // namespace qs
