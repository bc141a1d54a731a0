// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rounding/convolution_pads.h"

#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kMostBefore = 8; ///< quantizers between two nodes
constexpr int64_t kFurthest = int64_t(1) << 32; ///< elements: sums of two pads are numbers

/// What was there before quantizers.
ValueId beforeQuantizers(const Plan& plan, ValueId value)
{
    for (size_t i = 0; i < kMostBefore && value.valid() && !plan.constant(value); ++i) {
        const NodeId maker = plan.graph().value(value).producer;
        if (!maker.valid())
            break;
        const Node& node = plan.graph().node(maker);
        if ((!isQuantizeLinear(node) && !isDequantizeLinear(node) && !node.is("Identity")) || !node.hasInput(0))
            break;
        value = node.inputs[0];
    }
    return value;
}

/// It pads with zeros, or with what stands for zero.
bool padsZeros(const Plan& plan, const Node& pad)
{
    constexpr size_t kFiller = 2;
    if (pad.attributes.text("mode", "constant") != "constant")
        return false;
    if (!pad.hasInput(kFiller))
        return true;
    const Tensor* filler = plan.constant(pad.inputs[kFiller]);
    if (!filler)
        filler = plan.constant(beforeQuantizers(plan, pad.inputs[kFiller]));
    return filler && filler->count() == 1 && isFloat(filler->dtype()) && toDoubles(*filler)[0] == 0;
}

/// Of the axes behind batch and channels; empty where these are padded, too, or where it is not known.
std::vector<int64_t> padsOfImage(const Plan& plan, const Node& pad)
{
    constexpr size_t kPads = 1, kAxes = 3, kOthers = 2; // batch and channels
    std::vector<int64_t> all;
    if (const auto* list = pad.attributes.get<std::vector<int64_t>>("pads"))
        all = *list;
    else if (const Tensor* t = pad.hasInput(kPads) && !pad.hasInput(kAxes) ? plan.constant(pad.inputs[kPads]) : nullptr;
             t && isInteger(t->dtype()))
        all = toInts(*t);
    if (all.size() % 2 != 0)
        return {};
    const size_t rank = all.size() / 2;
    std::vector<int64_t> found;
    for (size_t i = 0; i < all.size(); ++i)
        if (i % rank >= kOthers)
            found.push_back(all[i]);
        else if (all[i] != 0)
            return {};
    return found;
}

} // namespace

std::vector<int64_t> ConvolutionPads::all() const
{
    std::vector<int64_t> sums = own;
    for (size_t i = 0; i < before.size(); ++i)
        sums[i] += before[i];
    return sums;
}

std::string ConvolutionPads::text() const
{
    const std::string text = fmt::format("[{}]", fmt::join(own, ", "));
    return pad.empty() ? text : fmt::format("{} behind Pad '{}' of [{}]", text, pad, fmt::join(before, ", "));
}

std::optional<ConvolutionPads> convolutionPads(const Plan& plan, NodeId id)
{
    const Node& node = plan.graph().node(id);
    if (floatOpType(node) != "Conv" || !node.hasInput(0) || node.attributes.text("auto_pad", "NOTSET") != "NOTSET")
        return std::nullopt;
    ConvolutionPads found;
    if (const auto* list = node.attributes.get<std::vector<int64_t>>("pads"))
        found.own = *list;
    const ValueId data = beforeQuantizers(plan, node.inputs[0]);
    const NodeId maker = plan.graph().value(data).producer;
    if (maker.valid() && plan.graph().node(maker).is("Pad") && padsZeros(plan, plan.graph().node(maker))) {
        found.before = padsOfImage(plan, plan.graph().node(maker));
        found.pad = found.before.empty() ? std::string() : plan.graph().node(maker).name;
    }
    if (found.own.empty())
        found.own.assign(found.before.size(), 0);
    const auto isFar = [](int64_t pad) { return pad < -kFurthest || pad > kFurthest; };
    if (found.own.empty() || (!found.before.empty() && found.before.size() != found.own.size())
        || std::ranges::any_of(found.own, isFar) || std::ranges::any_of(found.before, isFar))
        return std::nullopt;
    found.before.resize(found.own.size(), 0);
    return found;
}

} // namespace qs
