// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/needed_values.h"

#include <map>
#include <string_view>

namespace qs {

namespace {

/// By operator: how many of its first inputs it cannot do without in any version that has it.
size_t neededInputs(const DraftNode& node)
{
    static const std::map<std::string_view, size_t> needed { { "Add", 2 }, { "ArgMax", 1 }, { "Attention", 2 },
        { "AveragePool", 1 }, { "BatchNormalization", 5 }, { "Clip", 1 }, { "Concat", 1 }, { "Conv", 2 },
        { "ConvTranspose", 2 }, { "CumSum", 2 }, { "Div", 2 }, { "EmbedLayerNormalization", 7 }, { "Flatten", 1 },
        { "Gather", 2 }, { "GatherElements", 2 }, { "Gemm", 2 }, { "GlobalAveragePool", 1 }, { "GRU", 3 },
        { "InstanceNormalization", 3 }, { "LayerNormalization", 2 }, { "LeakyRelu", 1 }, { "LSTM", 3 }, { "MatMul", 2 },
        { "MaxPool", 1 }, { "Mul", 2 }, { "Pad", 1 }, { "Pow", 2 }, { "Relu", 1 }, { "Reshape", 1 }, { "Resize", 1 },
        { "RNN", 3 }, { "Sigmoid", 1 }, { "Slice", 1 }, { "Softmax", 1 }, { "Split", 1 }, { "Squeeze", 1 },
        { "Sub", 2 }, { "TopK", 1 }, { "Transpose", 1 }, { "Unsqueeze", 1 }, { "Where", 3 } };
    const auto found = needed.find(node.opType);
    return found == needed.end() ? 0 : found->second;
}

Issue lacks(const GraphDraft& draft, const DraftNode& node, const std::string& what)
{
    return { IssueKind::BadInput, "lacks " + what + ", which " + node.opType + " needs", draft.source().path, node.name,
        {}, "export the float model again" };
}

} // namespace

Status checkNeededValues(const GraphDraft& draft)
{
    for (const DraftNode& node : draft.nodes) {
        const size_t needed = neededInputs(node);
        for (size_t i = 0; i < needed; ++i)
            if (!node.hasInput(i))
                return lacks(draft, node, "input " + std::to_string(i));
        if (needed > 0 && (node.outputs.empty() || node.outputs.front().empty()))
            return lacks(draft, node, "its output");
    }
    return {};
}

} // namespace qs
