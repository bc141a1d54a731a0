// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/write/lost_scales.h"

#include "core/qdq/name_tails.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace qs {

namespace {

/// A range that leads to scale 1 by itself is wider, with 4 bits and symmetric, too.
constexpr double kNarrow = 5;
/// Weights of a channel that are smaller than that share of the largest one say nothing.
constexpr double kTellingShare = 1e-3;

bool hasOwnScale(const Recipe& recipe, const std::string& name)
{
    const auto it = recipe.tensors.find(name);
    return it != recipe.tensors.end()
        && std::ranges::any_of(it->second.parts, [](const QuantOverride& o) { return o.scale.has_value(); });
}

/// The scales that the quantizer gave the tensor; empty where they are no float16 ones or its recipe's own.
std::vector<double> halfScales(const FloatModel& quantized, const Recipe& recipe, const std::string& name)
{
    const Tensor* scale = quantized.draft.constant(name + tails::kScale);
    if (!scale || scale->dtype() != DType::Float16 || hasOwnScale(recipe, name))
        return {};
    return toDoubles(*scale);
}

/// The axis of the weight's channels; nothing for a single scale, blocks, and weights that no DequantizeLinear reads.
std::optional<size_t> channelAxis(const GraphDraft& quantized, const std::string& name, const Tensor& weight)
{
    const std::string scale = name + tails::kScale;
    const auto node = std::ranges::find_if(quantized.nodes,
        [&](const DraftNode& n) { return n.is("DequantizeLinear") && n.inputs.size() > 1 && n.inputs[1] == scale; });
    if (node == quantized.nodes.end() || node->attributes.integer("block_size", 0) > 0)
        return std::nullopt;
    const int64_t axis = node->attributes.integer("axis", 1);
    const auto rank = static_cast<int64_t>(weight.rank());
    return axis >= 0 && axis < rank ? std::optional(static_cast<size_t>(axis)) : std::nullopt;
}

bool losesValues(
    const GraphDraft& quantized, const std::string& name, const Tensor& weight, const std::vector<double>& scales)
{
    const std::vector<double> values = toDoubles(weight);
    const std::optional<size_t> axis = scales.size() == 1 ? std::nullopt : channelAxis(quantized, name, weight);
    if (scales.size() != 1 && (!axis || static_cast<size_t>(weight.shape()[*axis]) != scales.size()))
        return false;
    size_t inner = 1;
    for (size_t i = axis ? *axis + 1 : weight.rank(); i < weight.rank(); ++i)
        inner *= static_cast<size_t>(weight.shape()[i]);
    std::vector<double> largest(scales.size());
    for (size_t i = 0; i < values.size(); ++i) {
        double& most = largest[i / inner % scales.size()];
        most = std::max(most, std::abs(values[i]));
    }
    const double all = *std::ranges::max_element(largest);
    for (size_t c = 0; c < scales.size(); ++c)
        if (scales[c] == 1 && largest[c] > 0 && largest[c] < kNarrow && largest[c] >= kTellingShare * all)
            return true;
    return false;
}

bool losesValues(const TensorRange& range, const std::vector<double>& scales)
{
    const double width = std::max(double(range.highest), 0.0) - std::min(double(range.lowest), 0.0);
    return scales.front() == 1 && width > 0 && width < kNarrow;
}

} // namespace

void warnOfLostScales(FloatModel& quantized, const GraphDraft& draft, const Recipe& recipe)
{
    std::vector<std::string> lost;
    for (const auto& [name, range] : quantized.ranges.tensors)
        if (const auto scales = halfScales(quantized, recipe, name); !scales.empty() && losesValues(range, scales))
            lost.push_back(name);
    for (const std::string& name : draft.constants())
        if (const auto scales = halfScales(quantized, recipe, name);
            !scales.empty() && losesValues(quantized.draft, name, *draft.constant(name), scales))
            lost.push_back(name);
    if (lost.empty())
        return;
    const size_t others = lost.size() - 1;
    std::string text = "'" + lost.front() + "'";
    if (others > 0)
        text += " and " + std::to_string(others) + (others > 1 ? " other tensors" : " other tensor");
    text += std::string(others > 0 ? " have scale 1, which rounds their" : " has scale 1, which rounds its")
        + " values to whole numbers: the scale of the range is smaller than ONNX Runtime "
        + std::string(nameIn(kOrtVersions, recipe.ortVersion)) + " writes in float16; ";
    text += recipe.ortVersion == OrtVersion::V1_31 ? "use --ort-version 1.32 (ort_version in the recipe), or 8 bits"
                                                   : "use 8 bits";
    quantized.warnings.push_back(std::move(text));
}

} // namespace qs
