// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/twin_constants.h"

#include "core/analysis/pairs/float_elements.h"
#include "core/analysis/rounding/precision.h"
#include "core/analysis/rounding/relative_distance.h"
#include "core/match/graph/canonical.h"
#include "core/qdq/name_tails.h"
#include "core/tensor/channel_major.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kHalfOfStep = 0.51; ///< with room for how files round their scales
constexpr double kCloseAsWhole = 0.3; ///< relatively: within half of a large step much is

/// `y` is `x`, rounded to codes; beyond their ends it stays there.
bool isRoundedTo(const std::vector<float>& x, const std::vector<float>& y, const Shape& shape, const QuantParams& p)
{
    const Channels channels = p.perTensor() || !p.axis ? Channels {} : channelsOf(shape, *p.axis);
    const CodeValues codes = p.values();
    const double room = roundingOf(Precision::Float16);
    bool fits = true;
    channels.eachRun(x.size(), [&](size_t c, size_t begin, size_t n) {
        const size_t at = std::min(c, p.scale.size() - 1);
        const double scale = p.scale[at], first = scale * (codes.low - p.zero(at)),
                     last = scale * (codes.high - p.zero(at)); // scales may lie below zero
        for (size_t i = begin; i < begin + n && fits; ++i)
            fits = std::fabs(y[i] - std::clamp(double(x[i]), std::min(first, last), std::max(first, last)))
                <= kHalfOfStep * std::fabs(scale) + room * (std::fabs(double(x[i])) + std::fabs(double(y[i])));
    });
    return fits;
}

std::string nameOfReals(const std::string& codes)
{
    const std::string tail = tails::kCodes;
    return codes.ends_with(tail) ? codes.substr(0, codes.size() - tail.size()) : codes;
}

} // namespace

const Tensor* twinConstant(
    const Plan& floatPlan, const std::string& name, const Tensor& codes, const QuantParams& params)
{
    if (params.scale.empty() || params.blockSize > 0 || !isInteger(params.dtype))
        return nullptr;
    const std::vector<float> stored = dequantized(codes, params);
    const std::string real = nameOfReals(name);
    const Tensor* closest = nullptr;
    double least = kCloseAsWhole;
    for (size_t v = 0; v < floatPlan.graph().values().size(); ++v) {
        const Tensor* constant = floatPlan.constant(ValueId(v));
        const bool named = floatPlan.graph().values()[v].name == real;
        if (!constant || !isFloat(constant->dtype()) || constant->shape() != codes.shape()
            || (!named && constant->count() < kFewestAlike))
            continue;
        const std::vector<float> values = toFloats(*constant);
        const double distance = relativeDistance(values, stored);
        if (!(distance <= (named ? kCloseAsWhole : least)) || !isRoundedTo(values, stored, codes.shape(), params))
            continue;
        if (named)
            return constant;
        least = distance;
        closest = constant;
    }
    return closest;
}

std::optional<double> distanceOfSmall(const Plan& held, const Plan& moved, const std::vector<std::string>& stored)
{
    const auto standIn = [](const Plan& plan, const std::string& name) {
        const ValueId id = plan.graph().findValue(realsName(name));
        return id.valid() ? plan.constant(id) : nullptr;
    };
    double largest = 0;
    for (const std::string& name : stored) {
        const Tensor *a = standIn(held, name), *b = standIn(moved, name);
        if (!a || !b || a->count() >= kFewestAlike || a->count() != b->count())
            return std::nullopt;
        largest = std::max(largest, relativeDistance(toFloats(*a), toFloats(*b)));
    }
    return largest;
}

} // namespace qs
