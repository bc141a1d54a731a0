// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/needed_values.h"

#include "core/graph/domains.h"

#include <map>
#include <string_view>

namespace qs {

namespace {

/// By operator: how many of its first inputs it cannot do without in any version that has it.
size_t neededInputs(const DraftNode& node)
{
    static const std::map<std::string_view, size_t> needed { { "Abs", 1 }, { "Add", 2 }, { "ArgMax", 1 },
        { "Attention", 2 }, { "AveragePool", 1 }, { "BatchNormalization", 5 }, { "BiasGelu", 1 }, { "Cast", 1 },
        { "Clip", 1 }, { "Concat", 1 }, { "Conv", 2 }, { "ConvTranspose", 2 }, { "CumSum", 2 }, { "Div", 2 },
        { "Dropout", 1 }, { "Elu", 1 }, { "EmbedLayerNormalization", 7 }, { "Equal", 2 }, { "Erf", 1 }, { "Exp", 1 },
        { "Expand", 2 }, { "FastGelu", 1 }, { "Flatten", 1 }, { "Gather", 2 }, { "GatherElements", 2 }, { "Gelu", 1 },
        { "Gemm", 2 }, { "GlobalAveragePool", 1 }, { "GlobalMaxPool", 1 }, { "Greater", 2 }, { "GRU", 3 },
        { "HardSigmoid", 1 }, { "HardSwish", 1 }, { "Identity", 1 }, { "InstanceNormalization", 3 },
        { "LayerNormalization", 2 }, { "LeakyRelu", 1 }, { "Less", 2 }, { "LogSoftmax", 1 }, { "LSTM", 3 },
        { "MatMul", 2 }, { "Max", 1 }, { "MaxPool", 1 }, { "MaxUnpool", 2 }, { "Min", 1 }, { "Mul", 2 }, { "Neg", 1 },
        { "Pad", 1 }, { "Pow", 2 }, { "PRelu", 2 }, { "QuickGelu", 1 }, { "Reciprocal", 1 }, { "ReduceMax", 1 },
        { "ReduceMean", 1 }, { "ReduceSum", 1 }, { "Relu", 1 }, { "Reshape", 1 }, { "Resize", 1 }, { "RNN", 3 },
        { "Selu", 1 }, { "Shape", 1 }, { "Sigmoid", 1 }, { "SkipLayerNormalization", 2 }, { "Slice", 1 },
        { "Softmax", 1 }, { "Softplus", 1 }, { "Split", 1 }, { "Sqrt", 1 }, { "Squeeze", 1 }, { "Sub", 2 },
        { "Sum", 1 }, { "Tanh", 1 }, { "Tile", 2 }, { "TopK", 1 }, { "Transpose", 1 }, { "Unsqueeze", 1 },
        { "Where", 3 } };
    const auto found = needed.find(node.opType);
    const bool known = node.domain.empty() || node.domain == kMicrosoftDomain;
    return known && found != needed.end() ? found->second : 0;
}

/// Segments and their table, among those that are needed.
bool mayBeAbsent(const DraftNode& node, size_t input)
{
    return node.opType == "EmbedLayerNormalization" && (input == 1 || input == 4) && input < node.inputs.size();
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
            if (!node.hasInput(i) && !mayBeAbsent(node, i))
                return lacks(draft, node, "input " + std::to_string(i));
        if (needed > 0 && (node.outputs.empty() || node.outputs.front().empty()))
            return lacks(draft, node, "its output");
    }
    return {};
}

} // namespace qs
