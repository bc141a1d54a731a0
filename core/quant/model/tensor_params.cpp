// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/model/tensor_params.h"

#include "core/quant/params/float8.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

Issue tensorIssue(const std::string& name, std::string what, std::string remedy)
{
    return { IssueKind::BadInput, std::move(what), {}, {}, name, std::move(remedy) };
}

/// Of an activation, whose range says nothing then.
Result<QuantParams> float8Activation(const std::string& name, const TensorRange* range, const ScaleRules& rules)
{
    if (!range || !range->deviation)
        return tensorIssue(name, "has no calibrated deviation, which float8 needs",
            "calibrate with --method distribution, or exclude the nodes around it");
    auto scale = float8Scale(*range->deviation, rules.real);
    if (!scale)
        return tensorIssue(name, std::move(scale).issue().what, "exclude the nodes around it");
    return QuantParams { rules.type, { *scale }, { 0 }, std::nullopt, 0 };
}

} // namespace

Result<QuantParams> paramsFromRange(
    const std::string& name, double lowest, double highest, ScaleRules rules, const QuantOverride& override)
{
    if (override.scale.has_value() != override.zeroPoint.has_value())
        return tensorIssue(name, "has a scale without a zero point in the recipe, or the other way round", "give both");
    if (override.scale) {
        const CodeRange codes = codeRange(rules.type).value_or(CodeRange { 0, 0 });
        const int64_t zero = *override.zeroPoint;
        if (zero < codes.low || zero > codes.high || !(*override.scale > 0) || !std::isfinite(*override.scale))
            return tensorIssue(name, "has a scale or zero point in the recipe that its type does not allow",
                "give a positive scale and a zero point among the codes");
        const float scale = roundedTo(rules.real, *override.scale);
        if (scale == 0 || !std::isfinite(scale))
            return tensorIssue(name, "has a scale in the recipe that is no number of its type",
                "give one that " + std::string(dtypeName(rules.real)) + " holds");
        return QuantParams { rules.type, { scale }, { static_cast<int32_t>(zero) }, std::nullopt, 0 };
    }
    lowest = override.lowest.value_or(lowest);
    highest = override.highest.value_or(highest);
    if (!std::isfinite(lowest) || !std::isfinite(highest))
        return tensorIssue(name, "has a range that is no number",
            "look at the data for values that make it infinite or NaN, or exclude the node");
    if (lowest > highest) // one end is the recipe's, the other one was calibrated
        return tensorIssue(name, "has a range whose lowest end is not below its highest one",
            "give both ends in the recipe, the lowest below the highest");
    const ScaleZero z = scaleAndZeroPoint(lowest, highest, rules);
    return QuantParams { rules.type, { z.scale }, { z.zeroPoint }, std::nullopt, 0 };
}

Result<QuantParams> activationParams(
    const FloatModel& model, const Recipe& recipe, const std::string& name, const QuantOverride& override)
{
    ScaleRules rules;
    rules.type = override.type.value_or(recipe.activationType);
    rules.real = model.realType(name) == DType::Float16 ? DType::Float16 : DType::Float32;
    rules.symmetric = override.symmetric.value_or(recipe.symmetricActivations);
    rules.minimumRange = recipe.minimumRange;
    rules.restricted = recipe.restrictedAsymmetric;
    rules.subnormalHalves = recipe.ortVersion != OrtVersion::V1_31;
    const TensorRange* range = model.ranges.find(name);
    const bool given = override.scale || (override.lowest && override.highest);
    if (!range && !given)
        return tensorIssue(
            name, "has no calibrated range", "give data that reaches it, or exclude the nodes around it");
    if (range)
        rules.real = range->dtype;
    if (isFloat8(rules.type) && !override.scale)
        return float8Activation(name, range, rules);
    return paramsFromRange(name, range ? range->lowest : 0, range ? range->highest : 0, rules, override);
}

Result<QuantParams> constantParams(
    const FloatModel& model, const Recipe& recipe, const std::string& name, ConstantRules asked)
{
    const Tensor& tensor = *model.draft.constant(name);
    ScaleRules rules;
    rules.type = asked.type;
    rules.real = tensor.dtype() == DType::Float16 ? DType::Float16 : DType::Float32;
    rules.symmetric = asked.symmetric;
    rules.reduced = asked.reduced;
    rules.minimumRange = recipe.minimumRange;
    rules.subnormalHalves = recipe.ortVersion != OrtVersion::V1_31;
    const auto named = [&](Issue issue) {
        issue.tensor = name;
        return issue;
    };
    const auto it = recipe.tensors.find(name);
    const std::vector<QuantOverride> none(1);
    const auto& parts = it == recipe.tensors.end() || it->second.parts.empty() ? none : it->second.parts;
    if (asked.blockSize > 0) {
        if (tensor.rank() != 2)
            return tensorIssue(name, "has rank " + std::to_string(tensor.rank()) + ", but blocks need a matrix",
                "exclude its node or set the block size to 0");
        auto blocked = blockedWeightParams(tensor, rules, asked.axis.value_or(0), asked.blockSize);
        return blocked ? std::move(blocked) : Result<QuantParams>(named(blocked.issue()));
    }
    const bool plain = std::ranges::all_of(parts, [](const QuantOverride& o) {
        return !o.scale && !o.zeroPoint && !o.lowest && !o.highest && !o.symmetric && !o.reduceRange;
    });
    if (plain) {
        auto params = model.constants->params(tensor, rules, asked.axis);
        return params ? std::move(params) : Result<QuantParams>(named(params.issue()));
    }
    // Channel by channel, since each may have its own rules.
    const auto channels = asked.axis ? static_cast<size_t>(tensor.dim(static_cast<size_t>(*asked.axis))) : 1;
    if (parts.size() != 1 && parts.size() != channels)
        return tensorIssue(name,
            "has " + std::to_string(parts.size()) + " overrides for " + std::to_string(channels) + " channels",
            "give one, or one a channel");
    QuantParams all { rules.type, {}, {}, asked.axis, 0 };
    for (size_t c = 0; c < channels; ++c) {
        const QuantOverride& part = parts[parts.size() == 1 ? 0 : c];
        ScaleRules own = rules;
        own.symmetric = part.symmetric.value_or(rules.symmetric);
        own.reduced = part.reduceRange.value_or(rules.reduced);
        ScaleRules identity = own; // only to find the extremes of one channel
        QuantParams one;
        if (part.scale || (part.lowest && part.highest && !isFloat8(own.type))) {
            QS_TRY(one, paramsFromRange(name, 0, 0, own, part));
        } else {
            QS_TRY(one, weightParams(tensor, identity, asked.axis));
            one.scale = { one.scale[asked.axis ? c : 0] };
            one.zeroPoint = { one.zeroPoint[asked.axis ? c : 0] };
        }
        all.scale.push_back(one.scale.front());
        all.zeroPoint.push_back(one.zeroPoint.front());
    }
    return all;
}

} // namespace qs
