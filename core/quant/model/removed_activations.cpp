// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/model/removed_activations.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace qs {

namespace {

/// Of the input that holds a bound of Clip; nothing where it is no single constant.
std::optional<double> boundAt(const FloatModel& model, const DraftNode& node, size_t slot, double fallback)
{
    if (!node.hasInput(slot))
        return fallback;
    const Tensor* bound = model.constant(node.inputs[slot]);
    if (!bound || bound->count() != 1)
        return std::nullopt;
    return toDoubles(*bound).front();
}

const TensorRange* seenBefore(const FloatModel& model, const std::string& name)
{
    const auto replaced = model.replacedRanges.find(name);
    return replaced != model.replacedRanges.end() ? &replaced->second : model.ranges.find(name);
}

std::string shortText(double value)
{
    constexpr int kDigits = 3;
    std::array<char, 32> text {};
    const auto end
        = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, kDigits).ptr;
    return { text.data(), end };
}

} // namespace

std::optional<CutBounds> cutBounds(const FloatModel& model, const DraftNode& node)
{
    if (node.is("Relu"))
        return CutBounds { 0 };
    if (!node.is("Clip"))
        return std::nullopt;
    const CutBounds open;
    const auto low = boundAt(model, node, 1, node.attributes.real("min", float(open.low)));
    const auto high = boundAt(model, node, 2, node.attributes.real("max", float(open.high)));
    return low && high && *low <= *high ? std::optional(CutBounds { *low, *high }) : std::nullopt;
}

void clampToActivations(FloatModel& model)
{
    for (size_t n = 0; n < model.chosen.size(); ++n) {
        const DraftNode& node = model.draft.nodes[n];
        const auto bounds = model.chosen[n] ? cutBounds(model, node) : std::nullopt;
        const auto range = bounds ? model.ranges.tensors.find(node.outputs.front()) : model.ranges.tensors.end();
        if (range == model.ranges.tensors.end())
            continue;
        const auto inside
            = [&](float end) { return static_cast<float>(std::clamp<double>(end, bounds->low, bounds->high)); };
        range->second.lowest = inside(range->second.lowest);
        range->second.highest = inside(range->second.highest);
    }
}

void editRangesFor(FloatModel& model, const Recipe& recipe)
{
    if (recipe.exactActivations)
        clampToActivations(model);
    editRanges(model);
}

void noteLost(FloatModel& model, const DraftNode& node, const CutBounds& bounds, const QuantParams& params)
{
    LostActivation lost { node.name, node.outputs.front(), -HUGE_VAL, HUGE_VAL };
    if (const TensorRange* seen = seenBefore(model, node.inputs.front())) {
        lost.low = seen->lowest;
        lost.high = seen->highest;
    }
    double halfStep = 0;
    if (!params.scale.empty()) {
        lost.low = std::max(lost.low, params.low());
        lost.high = std::min(lost.high, params.high());
        halfStep = double(params.scale.front()) / 2;
    }
    if (lost.low < bounds.low - halfStep || lost.high > bounds.high + halfStep)
        model.lostActivations.push_back(std::move(lost));
}

void warnOfLost(FloatModel& model)
{
    constexpr size_t kShown = 3;
    const auto& lost = model.lostActivations;
    if (lost.empty())
        return;
    std::string text = std::to_string(lost.size()) + (lost.size() == 1 ? " activation is" : " activations are")
        + " left out as ONNX Runtime's tools do it, though the range does not cut as ";
    text += lost.size() == 1 ? "it does: " : "they do: ";
    for (size_t i = 0; i < std::min(lost.size(), kShown); ++i)
        text += (i > 0 ? ", '" : "'") + lost[i].node + "' lets " + shortText(lost[i].low) + " to "
            + shortText(lost[i].high) + " pass";
    if (lost.size() > kShown)
        text += " and " + std::to_string(lost.size() - kShown) + " more";
    model.warnings.push_back(text + "; --exact-activations (exact_activations in the recipe) keeps such nodes");
}

} // namespace qs
