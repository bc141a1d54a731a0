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

/// Nothing but axes of one element stands behind it.
bool isLastAxis(const Plan& plan, ValueId value, int64_t axis)
{
    const auto& dims = plan.facts().of(value).dims;
    if (!dims)
        return axis == -1;
    const auto first = size_t(axis < 0 ? axis + int64_t(dims->size()) : axis) + 1;
    return std::all_of(dims->begin() + ptrdiff_t(std::min(first, dims->size())), dims->end(),
        [](const Dim& d) { return d.value == 1; });
}

bool isOrdered(const Plan& plan, const Node& node)
{
    return node.is("TopK") && node.hasInput(0) && isLastAxis(plan, node.inputs[0], node.attributes.integer("axis", -1));
}

/// The largest of a row, one behind the other, whatever class they are of: TopK's values, or what its indices pick.
/// Also what a softmax or a quotient makes of these.
bool holdsOrdered(const Plan& plan, ValueId value)
{
    static constexpr std::array<std::string_view, 8> through { "Softmax", "LogSoftmax", "Sigmoid", "HardSigmoid", "Exp",
        "Log", "Div", "Cast" };
    const Graph& graph = plan.graph();
    while (graph.value(value).producer.valid()) {
        const Node& node = graph.node(graph.value(value).producer);
        if (isOrdered(plan, node))
            return true;
        if ((node.is("GatherElements") || node.is("Gather")) && node.hasInput(0) && node.hasInput(1)
            && isLastAxis(plan, node.inputs[0], node.attributes.integer("axis", 0))) {
            const ComputedValue index = computedValue(plan, node.inputs[1]);
            if (index.node && isOrdered(plan, *index.node))
                return true;
        }
        const bool follows = movesElements(node) || isDequantizeLinear(node) || isQuantizeLinear(node)
            || std::ranges::find(through, std::string_view(node.opType)) != through.end();
        if (!follows || !node.hasInput(0))
            return false;
        value = node.inputs[0];
    }
    return false;
}

constexpr int kDeepest = 6; ///< operators behind one another that are looked through

/// A share by its operator: out of Sigmoid or Softmax, what is left of one (1 - p), a product of such, such side by
/// side.
bool isProbability(const Plan& plan, ValueId value, int depth = 0)
{
    const ComputedValue c = computedValue(plan, value);
    if (!c.node || depth == kDeepest)
        return false;
    const auto all = [&](size_t first) {
        return std::all_of(c.node->inputs.begin() + ptrdiff_t(first), c.node->inputs.end(),
            [&](ValueId input) { return input.valid() && isProbability(plan, input, depth + 1); });
    };
    if (c.node->is("Sub"))
        return c.node->hasInput(0) && !computedValue(plan, c.node->inputs[0]).node && all(1);
    if (c.node->is("Mul") || c.node->is("Concat"))
        return all(0);
    return c.node->is("Sigmoid") || c.node->is("HardSigmoid") || c.node->is("Softmax");
}

/// Shares beside other numbers, as a detector's head puts probabilities behind its boxes: no row of scores.
bool mixesShares(const Plan& plan, ValueId value, int depth = 0)
{
    const ComputedValue c = computedValue(plan, value);
    if (!c.node || !c.node->is("Concat") || depth == kDeepest)
        return false;
    bool shares = false, others = false;
    for (const ValueId part : c.node->inputs) {
        if (!part.valid() || mixesShares(plan, part, depth + 1))
            return part.valid();
        if (!computedValue(plan, part).node)
            continue; // a constant goes with both
        (isProbability(plan, part) ? shares : others) = true;
    }
    return shares && others;
}

/// The value whose squares a norm sums up (or averages): by one operator or written out; where it is none, nothing.
ValueId squaredBy(const Plan& plan, ValueId norm)
{
    static constexpr std::array<std::string_view, 8> through { "Clip", "Max", "Add", "Expand", "Sqrt", "Pow", "Abs",
        "Reciprocal" };
    for (int depth = 0; depth < kDeepest; ++depth) {
        const Node* node = computedValue(plan, norm).node;
        if (!node || !node->hasInput(0))
            return {};
        if (node->is("ReduceL2") || node->is("ReduceSumSquare"))
            return computedValue(plan, node->inputs[0]).value;
        if (node->is("ReduceSum") || node->is("ReduceMean")) {
            const Node* square = computedValue(plan, node->inputs[0]).node;
            const bool ofOne = square && square->hasInput(0)
                && (square->is("Pow") || (square->is("Mul") && square->inputs[0] == square->inputs[1]));
            return ofOne ? computedValue(plan, square->inputs[0]).value : ValueId();
        }
        if (std::ranges::find(through, std::string_view(node->opType)) == through.end())
            return {};
        const bool second = node->hasInput(1) && !computedValue(plan, node->inputs[0]).node; // beside a constant
        norm = node->inputs[second ? 1 : 0];
    }
    return {};
}

/// Values over the root of their own squares' sum or mean, as features are normalized: x / |x|, x * (1 / |x|).
bool isOverOwnNorm(const Plan& plan, const Node& node)
{
    if ((!node.is("Div") && !node.is("Mul")) || !node.hasInput(0) || !node.hasInput(1))
        return false;
    const auto over = [&](ValueId x, ValueId norm) {
        const ValueId squared = squaredBy(plan, norm), own = computedValue(plan, x).value;
        return squared.valid() && own.valid() && squared == own;
    };
    return over(node.inputs[0], node.inputs[1]) || (node.is("Mul") && over(node.inputs[1], node.inputs[0]));
}

} // namespace

ComputedValue computedValue(const Plan& plan, ValueId value)
{
    const Graph& graph = plan.graph();
    while (graph.value(value).producer.valid()) {
        const Node& node = graph.node(graph.value(value).producer);
        const bool converts = node.opType == "Cast" || isDequantizeLinear(node) || isQuantizeLinear(node);
        if ((!movesElements(node) && !converts) || !node.hasInput(0))
            return { &node, value };
        value = node.inputs[0];
    }
    return {};
}

ChoiceKind choiceKindOf(const Plan& plan, ValueId output)
{
    const ComputedValue c = computedValue(plan, output);
    if (!c.node || !isInteger(plan.facts().of(output).dtype))
        return ChoiceKind::None;
    if (c.node->is("ArgMax") || c.node->is("ArgMin"))
        return ChoiceKind::Best;
    if (c.node->is("TopK") && c.value != c.node->outputs[0])
        return isOrdered(plan, *c.node) ? ChoiceKind::Ordered : ChoiceKind::Others;
    return c.node->is("NonMaxSuppression") ? ChoiceKind::Others : ChoiceKind::None;
}

ScoreKind scoreKindOf(const Plan& plan, ValueId output)
{
    const Graph& graph = plan.graph();
    const std::string name = lowerCase(graph.value(output).name);
    if (!isReal(plan.facts().of(output).dtype) || namesOther(name))
        return ScoreKind::None;
    const ComputedValue computed = computedValue(plan, output);
    if (!computed.node || holdsOrdered(plan, output) || mixesShares(plan, output))
        return ScoreKind::None;
    const std::string& type = computed.node->opType;
    if (type == "Softmax")
        return ScoreKind::Probabilities;
    if (type == "LogSoftmax")
        return ScoreKind::LogProbabilities;
    if (type == "Sigmoid" || type == "HardSigmoid")
        return ScoreKind::Ranked;
    const bool others = type.ends_with("LayerNormalization") || type == "LSTM" || type == "GRU" || type == "RNN"
        || type == "Tanh" || type == "LpNormalization" || type == "Clip" || type == "Relu"
        || isOverOwnNorm(plan, *computed.node);
    const bool features = isOnePlace(plan.facts().of(output).dims) && !namesOne(name, kScores);
    return others || features ? ScoreKind::None : ScoreKind::Logits;
}

} // namespace qs
