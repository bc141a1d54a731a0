// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/correct/layers.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

size_t WeightLayout::at(int64_t o, int64_t i, int64_t t) const
{
    if (!inputsFirst)
        return static_cast<size_t>((o * groupInputs() + i) * taps + t);
    const int64_t group = o / groupOutputs();
    return static_cast<size_t>(((group * groupInputs() + i) * groupOutputs() + o % groupOutputs()) * taps + t);
}

namespace {

/// Taps and groups of a convolution; false: sizes that do not fit together.
bool convLayout(const DraftNode& node, const Tensor& weight, WeightLayout& layout)
{
    layout.groups = node.attributes.integer("group", 1);
    layout.inputsFirst = node.is("ConvTranspose");
    if (weight.rank() < 3 || layout.groups < 1)
        return false;
    for (size_t d = 2; d < weight.rank(); ++d)
        layout.taps *= weight.dim(d);
    layout.outputs = layout.inputsFirst ? weight.dim(1) * layout.groups : weight.dim(0);
    layout.inputs = layout.inputsFirst ? weight.dim(0) : weight.dim(1) * layout.groups;
    return layout.outputs % layout.groups == 0 && layout.inputs % layout.groups == 0;
}

bool productLayout(const DraftNode& node, const Tensor& weight, WeightLayout& layout)
{
    if (weight.rank() != 2 || node.attributes.integer("transA", 0) != 0)
        return false;
    layout.inputsFirst = node.attributes.integer("transB", 0) == 0;
    layout.outputs = weight.dim(layout.inputsFirst ? 1 : 0);
    layout.inputs = weight.dim(layout.inputsFirst ? 0 : 1);
    return true;
}

bool isBias(const GraphDraft& draft, const std::string& name, int64_t channels)
{
    const Tensor* t = draft.constant(name);
    return t && t->dtype() == DType::Float32 && t->rank() >= 1 && t->count() == channels
        && t->dim(t->rank() - 1) == channels;
}

/// The bias of a MatMul is the constant of the Add that alone reads it.
void findAddedBias(const GraphDraft& draft, const DraftLinks& links, LinearLayer& layer)
{
    layer.takesBias = false;
    if (!links.readOnce(layer.output))
        return;
    const size_t n = links.readers(layer.output).front();
    const DraftNode& add = draft.nodes[n];
    if (!add.is("Add") || add.inputs.size() != 2)
        return;
    const size_t slot = add.inputs[0] == layer.output ? 1 : 0;
    if (!isBias(draft, add.inputs[slot], layer.layout.outputs))
        return;
    layer.takesBias = true;
    layer.biasNode = n;
    layer.biasSlot = slot;
    layer.bias = add.inputs[slot];
    layer.output = add.outputs.front();
}

} // namespace

std::vector<LinearLayer> linearLayers(const GraphDraft& draft, const DraftLinks& links)
{
    std::vector<LinearLayer> layers;
    for (size_t n = 0; n < draft.nodes.size(); ++n) {
        const DraftNode& node = draft.nodes[n];
        const bool conv = node.is("Conv") || node.is("ConvTranspose");
        if ((!conv && !node.is("Gemm") && !node.is("MatMul")) || !node.hasInput(0) || !node.hasInput(1)
            || node.outputs.size() != 1)
            continue;
        const Tensor* weight = draft.constant(node.inputs[1]);
        LinearLayer layer { n, node.inputs[1], {}, !conv, node.inputs[0], node.outputs[0], n, 2, true, {}, 1 };
        if (!weight || weight->dtype() != DType::Float32 || weight->count() == 0 || draft.constant(layer.input)
            || !(conv ? convLayout : productLayout)(node, *weight, layer.layout))
            continue;
        if (node.is("MatMul")) {
            findAddedBias(draft, links, layer);
        } else if (node.hasInput(2)) {
            layer.takesBias = isBias(draft, node.inputs[2], layer.layout.outputs);
            layer.bias = layer.takesBias ? node.inputs[2] : "";
            layer.biasFactor = node.is("Gemm") ? node.attributes.real("beta", 1) : 1;
            layer.takesBias = layer.takesBias && layer.biasFactor != 0;
        } else {
            layer.takesBias = !node.is("Gemm") || node.attributes.real("beta", 1) == 1;
        }
        layers.push_back(std::move(layer));
    }
    return layers;
}

std::vector<float> outputMagnitudes(std::span<const float> weight, const WeightLayout& layout)
{
    std::vector<float> largest(static_cast<size_t>(layout.outputs), 0);
    for (int64_t o = 0; o < layout.outputs; ++o)
        for (int64_t i = 0; i < layout.groupInputs(); ++i)
            for (int64_t t = 0; t < layout.taps; ++t)
                largest[size_t(o)] = std::max(largest[size_t(o)], std::abs(weight[layout.at(o, i, t)]));
    return largest;
}

std::vector<float> inputMagnitudes(std::span<const float> weight, const WeightLayout& layout)
{
    std::vector<float> largest(static_cast<size_t>(layout.inputs), 0);
    for (int64_t o = 0; o < layout.outputs; ++o)
        for (int64_t i = 0; i < layout.groupInputs(); ++i) {
            float& most = largest[size_t(o / layout.groupOutputs() * layout.groupInputs() + i)];
            for (int64_t t = 0; t < layout.taps; ++t)
                most = std::max(most, std::abs(weight[layout.at(o, i, t)]));
        }
    return largest;
}

std::vector<float> scaledWeight(std::span<const float> weight, const WeightLayout& layout,
    std::span<const double> outputFactors, std::span<const double> inputFactors)
{
    std::vector<float> scaled(weight.size());
    for (int64_t o = 0; o < layout.outputs; ++o) {
        const double out = outputFactors.empty() ? 1 : outputFactors[size_t(o)];
        for (int64_t i = 0; i < layout.groupInputs(); ++i) {
            const auto input = size_t(o / layout.groupOutputs() * layout.groupInputs() + i);
            const double factor = out * (inputFactors.empty() ? 1 : inputFactors[input]);
            for (int64_t t = 0; t < layout.taps; ++t) {
                const size_t at = layout.at(o, i, t);
                scaled[at] = static_cast<float>(double(weight[at]) * factor);
            }
        }
    }
    return scaled;
}

void replaceConstant(GraphDraft& draft, const DraftLinks& links, size_t node, size_t slot, Tensor value)
{
    DraftNode& reader = draft.nodes[node];
    if (reader.inputs.size() <= slot)
        reader.inputs.resize(slot + 1);
    std::string name = reader.inputs[slot];
    if (name.empty() || !links.readOnce(name)) {
        name = (name.empty() ? reader.inputs[1] + "_bias" : name) + "_" + reader.name;
        reader.inputs[slot] = name;
    }
    draft.setConstant(name, std::move(value));
}

} // namespace qs
