// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/score_kind.h"

#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace qs {

namespace {

/// What exporters call outputs that are no scores: boxes of detectors, features, state of recurrent cells and caches.
constexpr std::array<std::string_view, 11> kOther { "box", "bbox", "hidden", "embedding", "feature", "landmark",
    "state", "present", "past", "cache", "key_value" };

bool namedOtherwise(std::string name)
{
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    return std::ranges::any_of(kOther, [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

bool isReal(DType type)
{
    return type == DType::Float32 || type == DType::Float64 || type == DType::Float16 || type == DType::BFloat16;
}

} // namespace

ScoreKind scoreKindOf(const Plan& plan, ValueId output)
{
    const Graph& graph = plan.graph();
    if (!isReal(plan.facts().of(output).dtype) || namedOtherwise(graph.value(output).name))
        return ScoreKind::None;
    ValueId value = output;
    while (graph.value(value).producer.valid()) {
        const Node& node = graph.node(graph.value(value).producer);
        const bool converts = node.opType == "Cast" || isDequantizeLinear(node) || isQuantizeLinear(node);
        if ((!movesElements(node) && !converts) || !node.hasInput(0))
            break;
        value = node.inputs[0];
    }
    if (!graph.value(value).producer.valid())
        return graph.isInput(value) ? ScoreKind::None : ScoreKind::Logits;
    const std::string& type = graph.node(graph.value(value).producer).opType;
    if (type == "Softmax")
        return ScoreKind::Probabilities;
    if (type == "LogSoftmax")
        return ScoreKind::LogProbabilities;
    if (type == "Sigmoid" || type == "HardSigmoid")
        return ScoreKind::Ranked;
    const bool features = type.ends_with("LayerNormalization") || type == "LSTM" || type == "GRU" || type == "RNN";
    return features ? ScoreKind::None : ScoreKind::Logits;
}

} // namespace qs
