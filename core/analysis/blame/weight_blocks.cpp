// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/blame/weight_blocks.h"

#include "core/analysis/pairs/float_elements.h"
#include "core/analysis/pairs/weight_elements.h"
#include "core/match/graph/canonical.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int64_t kMostParts = 32; ///< of one weight: each is run twice

/// Elements of a matrix [depth, width], the stored ones less the float ones; empty where they are not of one size.
std::vector<float> changeOf(const ComparePair& pair, const WeightPair& weight, const Tensor& constant)
{
    const Quantizer& q = pair.quantView->quantizers()[weight.quantizer];
    const Tensor* const codes = storedCodes(*pair.quantPlan, q);
    if (!codes)
        return {};
    std::vector<float> change = storedElements(*codes, q.params, weight);
    const Tensor floats = floatElements(constant, weight);
    const auto own = floats.data<float>();
    if (change.size() != own.size())
        return {};
    std::ranges::transform(change, own, change.begin(), [](float stored, float real) { return stored - real; });
    return change;
}

} // namespace

std::string BlockedProduct::partName(int64_t part) const
{
    return weight + "[" + std::to_string(part * step) + ":" + std::to_string(std::min((part + 1) * step, depth)) + "]";
}

std::optional<BlockedProduct> blockedProduct(const ComparePair& pair, const CutModels& models, NodeId floatNode)
{
    const Graph& graph = pair.floatPlan->graph();
    const Node& node = graph.node(floatNode);
    if (node.opType != "MatMul" || node.inputs.size() != 2)
        return std::nullopt;
    const Tensor* const constant = pair.floatPlan->constant(node.inputs[1]);
    const auto weight = std::ranges::find_if(pair.alignment->weights,
        [&](const WeightPair& w) { return w.floatNode == floatNode && w.floatValue == node.inputs[1] && !w.places; });
    const auto input = models.partners.find(node.inputs[0]), output = models.partners.find(node.outputs[0]);
    if (!constant || constant->rank() != 2 || weight == pair.alignment->weights.end() || input == models.partners.end()
        || output == models.partners.end())
        return std::nullopt;
    const int64_t block = pair.quantView->quantizers()[weight->quantizer].params.blockSize;
    BlockedProduct product { graph.value(node.inputs[1]).name, *input, *output, constant->dim(0), constant->dim(1),
        block, changeOf(pair, *weight, *constant) };
    if (block <= 0 || int64_t(product.change.size()) != constant->count())
        return std::nullopt;
    while (product.parts() > kMostParts)
        product.step += block;
    return product;
}

Tensor withParts(const Tensor& y, const Tensor& x, const BlockedProduct& product, int64_t parts, float factor)
{
    const std::vector<float> in = toFloats(toPlain(x));
    std::vector<float> out = toFloats(toPlain(y));
    const auto depth = size_t(product.depth), width = size_t(product.width);
    if (depth == 0)
        return y;
    const size_t end = std::min(depth, size_t(parts * product.step)), rows = in.size() / depth;
    if (rows * width != out.size())
        return y;
    for (size_t row = 0; row < rows; ++row)
        for (size_t d = 0; d < end; ++d) {
            const float scale = factor * in[row * depth + d];
            const float* const change = &product.change[d * width];
            for (size_t w = 0; w < width; ++w)
                out[row * width + w] += scale * change[w];
        }
    return convertedTo(Tensor::of<float>(y.shape(), out), y.dtype());
}

} // namespace qs
