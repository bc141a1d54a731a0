// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/score_kind.h"

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

std::string computingOperator(const Plan& plan, ValueId value)
{
    const Graph& graph = plan.graph();
    while (graph.value(value).producer.valid()) {
        const Node& node = graph.node(graph.value(value).producer);
        const bool converts = node.opType == "Cast" || isDequantizeLinear(node) || isQuantizeLinear(node);
        if ((!movesElements(node) && !converts) || !node.hasInput(0))
            return node.opType;
        value = node.inputs[0];
    }
    return {};
}

ScoreKind scoreKindOf(const Plan& plan, ValueId output)
{
    const Graph& graph = plan.graph();
    if (!isReal(plan.facts().of(output).dtype) || namedOtherwise(graph.value(output).name))
        return ScoreKind::None;
    const std::string type = computingOperator(plan, output);
    if (type.empty())
        return ScoreKind::None;
    if (type == "Softmax")
        return ScoreKind::Probabilities;
    if (type == "LogSoftmax")
        return ScoreKind::LogProbabilities;
    if (type == "Sigmoid" || type == "HardSigmoid")
        return ScoreKind::Ranked;
    const bool others = type.ends_with("LayerNormalization") || type == "LSTM" || type == "GRU" || type == "RNN"
        || type == "Tanh" || type == "LpNormalization";
    return others ? ScoreKind::None : ScoreKind::Logits;
}

} // namespace qs
