// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft_links.h"

#include <span>
#include <string>
#include <vector>

/// Layers whose outputs are linear in their inputs, and their weights by channels: what all corrections work on.
namespace qs {

/// How the elements of a weight belong to output channels and input channels.
struct WeightLayout {
    int64_t outputs = 0, inputs = 0, groups = 1;
    int64_t taps = 1; ///< elements for each pair of channels
    bool inputsFirst = false; ///< MatMul and ConvTranspose: inputs x outputs / groups x taps

    int64_t groupInputs() const { return inputs / groups; }
    int64_t groupOutputs() const { return outputs / groups; }
    int64_t rowSize() const { return groupInputs() * taps; } ///< elements that make one output
    int64_t outputAxis() const { return inputsFirst ? 1 : 0; }
    int64_t count() const { return outputs * rowSize(); }
    /// Where output `o` keeps the element of input `i` of its group, tap `t`.
    size_t at(int64_t o, int64_t i, int64_t t) const;
};

/// Conv, ConvTranspose, Gemm or MatMul with a constant float32 weight.
struct LinearLayer {
    size_t node = 0;
    std::string weight;
    WeightLayout layout;
    bool channelsLast = false; ///< of what it reads and makes: Gemm and MatMul; else axis 1
    std::string input, output; ///< `output` is that of the Add after a MatMul where there is one
    size_t biasNode = 0, biasSlot = 2; ///< where the bias is read, or would be
    bool takesBias = false; ///< a bias can stand there
    std::string bias; ///< constant; empty: none
    float biasFactor = 1; ///< of Gemm
};
/// In node order.
std::vector<LinearLayer> linearLayers(const GraphDraft& draft, const DraftLinks& links);

/// Largest magnitude that each channel meets.
std::vector<float> outputMagnitudes(std::span<const float> weight, const WeightLayout& layout);
std::vector<float> inputMagnitudes(std::span<const float> weight, const WeightLayout& layout);
/// Largest magnitude of each pair of channels, in the order of the weight: a weight with one tap.
std::vector<float> tapMagnitudes(std::span<const float> weight, const WeightLayout& layout);
/// What outputMagnitudes (`outputs`) or inputMagnitudes says of scaledWeight, to the bit, from its tapMagnitudes.
std::vector<float> scaledMagnitudes(std::span<const float> tapMagnitudes, const WeightLayout& layout,
    std::span<const double> outputFactors, std::span<const double> inputFactors, bool outputs);
/// The weight with each channel multiplied by its factor; an empty list is all ones.
std::vector<float> scaledWeight(std::span<const float> weight, const WeightLayout& layout,
    std::span<const double> outputFactors, std::span<const double> inputFactors);

/// Gives the node's slot this constant: in the place of the old one if nobody else reads that, else under a new name.
void replaceConstant(GraphDraft& draft, const DraftLinks& links, size_t node, size_t slot, Tensor value);

} // namespace qs
