// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/correct/layers.h"

#include "core/tensor/convert.h"
#include "core/tensor/eigen_map.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

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
    if (weight.rank() < 3 || layout.groups < 1 || layout.groups > INT32_MAX)
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

namespace {

/// The elements of one channel of the weight's first axis, a row for each channel of the second, and which these are.
struct Slice {
    int64_t channel;
    int64_t offset, rows; ///< channels of the second axis
    size_t at; ///< first element
};

template <class Each> void eachSlice(const WeightLayout& layout, const Each& each)
{
    const int64_t channels = layout.inputsFirst ? layout.inputs : layout.outputs;
    const int64_t rows = layout.inputsFirst ? layout.groupOutputs() : layout.groupInputs();
    for (int64_t c = 0; c < channels; ++c)
        each(Slice { c, c / (channels / layout.groups) * rows, rows, static_cast<size_t>(c * rows * layout.taps) });
}

std::vector<float> magnitudes(std::span<const float> weight, const WeightLayout& layout, bool firstAxis)
{
    std::vector<float> largest(
        static_cast<size_t>(firstAxis == layout.inputsFirst ? layout.inputs : layout.outputs), 0);
    eachSlice(layout, [&](const Slice& s) {
        const auto slice = matrixMap(weight.data() + s.at, s.rows, layout.taps).cwiseAbs();
        for (int64_t r = 0; r < s.rows; ++r) {
            float& most = largest[static_cast<size_t>(firstAxis ? s.channel : s.offset + r)];
            most = std::max(most, slice.row(r).maxCoeff<Eigen::PropagateNumbers>());
        }
    });
    return largest;
}

} // namespace

std::vector<float> outputMagnitudes(std::span<const float> weight, const WeightLayout& layout)
{
    return magnitudes(weight, layout, !layout.inputsFirst);
}

std::vector<float> inputMagnitudes(std::span<const float> weight, const WeightLayout& layout)
{
    return magnitudes(weight, layout, layout.inputsFirst);
}

std::vector<float> tapMagnitudes(std::span<const float> weight, const WeightLayout& layout)
{
    const auto taps = static_cast<size_t>(layout.taps);
    std::vector<float> largest(weight.size() / taps, 0);
    for (size_t i = 0; i < largest.size(); ++i)
        for (const float w : weight.subspan(i * taps, taps))
            largest[i] = std::max(largest[i], std::fabs(w)); // NaN is passed over
    return largest;
}

std::vector<float> scaledMagnitudes(std::span<const float> tapMagnitudes, const WeightLayout& layout,
    std::span<const double> outputFactors, std::span<const double> inputFactors, bool outputs)
{
    WeightLayout oneTap = layout;
    oneTap.taps = 1;
    const auto firsts = layout.inputsFirst ? inputFactors : outputFactors;
    const auto seconds = layout.inputsFirst ? outputFactors : inputFactors;
    const bool ofFirsts = outputs != layout.inputsFirst;
    RowVector<double> largest = RowVector<double>::Zero(outputs ? layout.outputs : layout.inputs);
    eachSlice(oneTap, [&](const Slice& s) {
        const auto factors = firsts[size_t(s.channel)] * rowMap(seconds).segment(s.offset, s.rows);
        const auto scaled = factors.cwiseProduct(rowMap(tapMagnitudes).segment(s.at, s.rows).cast<double>());
        if (ofFirsts)
            largest[s.channel] = s.rows > 0 ? scaled.maxCoeff() : 0;
        else
            largest.segment(s.offset, s.rows) = largest.segment(s.offset, s.rows).cwiseMax(scaled);
    });
    const RowVector<float> rounded = largest.cast<float>(); // rounding keeps the order: the same as rounding each
    return { rounded.begin(), rounded.end() };
}

std::vector<float> scaledWeight(std::span<const float> weight, const WeightLayout& layout,
    std::span<const double> outputFactors, std::span<const double> inputFactors)
{
    const auto all = [](std::span<const double> factors, int64_t count) -> RowVector<double> {
        return factors.empty() ? RowVector<double>(RowVector<double>::Ones(count)) : RowVector<double>(rowMap(factors));
    };
    const auto outputs = all(outputFactors, layout.outputs), inputs = all(inputFactors, layout.inputs);
    const auto& firsts = layout.inputsFirst ? inputs : outputs;
    const auto& seconds = layout.inputsFirst ? outputs : inputs;
    std::vector<float> scaled(weight.size());
    eachSlice(layout, [&](const Slice& s) {
        const RowVector<double> factors = firsts[s.channel] * seconds.segment(s.offset, s.rows);
        matrixMap(scaled.data() + s.at, s.rows, layout.taps)
            = (factors.asDiagonal() * matrixMap(weight.data() + s.at, s.rows, layout.taps).cast<double>())
                  .cast<float>();
    });
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
