// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/stored_ranges.h"

#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

namespace qs {

namespace {

/// Operators beside those with a QLinearSignature.
constexpr std::array<std::string_view, 9> kOnCodes { "DynamicQuantizeLinear", "DynamicQuantizeMatMul",
    "DynamicQuantizeLSTM", "ConvInteger", "MatMulInteger", "MatMulNBits", "MatMulBnb4", "GatherBlockQuantized",
    "QMoE" };

/// Upper bounds that the float model's Clip nodes have.
std::set<float> upperBounds(const Plan& plan)
{
    std::set<float> bounds;
    for (const Node& node : plan.graph().nodes()) {
        if (!node.is("Clip"))
            continue;
        if (const Tensor* t = node.hasInput(2) ? plan.constant(node.inputs[2]) : nullptr; t && t->count() == 1)
            bounds.insert(toFloats(*t)[0]);
        else if (node.attributes.has("max"))
            bounds.insert(node.attributes.real("max", 0));
    }
    return bounds;
}

} // namespace

bool quantizes(const Node& node)
{
    return isQuantizeLinear(node) || isDequantizeLinear(node) || qlinearSignature(node)
        || std::ranges::find(kOnCodes, node.opType) != kOnCodes.end();
}

void addStoredRanges(const ComparePair& pair, std::map<uint32_t, PairActivation>& activations)
{
    const std::set<float> bounds = upperBounds(*pair.floatPlan);
    const auto& quantizers = pair.quantView->quantizers();
    for (uint32_t i = 0; i < quantizers.size(); ++i) {
        const Quantizer& q = quantizers[i];
        const CodeRange codes = q.params.codes();
        if (q.role != QuantRole::Activation || q.dynamic || !isInteger(q.params.dtype) || !q.params.perTensor()
            || q.params.scale.empty() || activations[i].bounded())
            continue;
        const double scale = q.params.scale[0];
        if (q.params.zeroPoint[0] != codes.low)
            continue;
        activations[i].low = 0;
        const double high = scale * double(codes.high - codes.low);
        for (const float bound : bounds)
            if (std::fabs(high - double(bound)) <= scale / 2)
                activations[i].high = bound;
    }
}

} // namespace qs
