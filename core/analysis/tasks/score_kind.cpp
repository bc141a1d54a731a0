// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/score_kind.h"

#include "core/base/text/lower_case.h"
#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace qs {

namespace {

/// What exporters call outputs that are no scores: boxes of detectors, features, state of recurrent cells and caches.
constexpr std::array<std::string_view, 8> kOther { "box", "bbox", "hidden", "embedding", "feature", "landmark", "cache",
    "key_value" };
/// The same, where no longer word begins so: TensorFlow calls outputs "StatefulPartitionedCall:0".
constexpr std::array<std::string_view, 6> kOtherWords { "state", "states", "present", "presents", "past", "pasts" };

/// What they call scores of classes.
constexpr std::array<std::string_view, 5> kScores { "logit", "prob", "score", "class", "softmax" };

bool namesOne(const std::string& name, std::span<const std::string_view> parts)
{
    return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

/// The same for words that end where the part does.
bool endsWord(const std::string& name, std::string_view part)
{
    for (size_t at = name.find(part); at != std::string::npos; at = name.find(part, at + 1)) {
        const size_t end = at + part.size();
        if (end == name.size() || !std::isalpha(static_cast<unsigned char>(name[end])))
            return true;
    }
    return false;
}

bool namesOther(const std::string& name)
{
    return namesOne(name, kOther)
        || std::ranges::any_of(kOtherWords, [&](std::string_view word) { return endsWord(name, word); });
}

/// A map of features with a single place, as convolutions leave it with channels last: heads of classifiers are flat.
bool isOnePlace(const std::optional<Dims>& dims)
{
    return dims && dims->size() == 4 && (*dims)[1].value == 1 && (*dims)[2].value == 1 && (*dims)[3].value > 1;
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
    const std::string name = lowerCase(graph.value(output).name);
    if (!isReal(plan.facts().of(output).dtype) || namesOther(name))
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
        || type == "Tanh" || type == "LpNormalization" || type == "Clip" || type == "Relu";
    const bool features = isOnePlace(plan.facts().of(output).dims) && !namesOne(name, kScores);
    return others || features ? ScoreKind::None : ScoreKind::Logits;
}

} // namespace qs
