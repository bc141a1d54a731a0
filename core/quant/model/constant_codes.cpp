// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/model/constant_codes.h"

#include "core/qdq/name_tails.h"
#include "core/quant/params/weights.h"

#include <algorithm>

namespace qs {

namespace {

/// The weight that a quantized node reads in slot 1; "" where it reads none that is a constant's codes.
std::string weightOf(const DraftNode& node)
{
    const std::string_view tail = tails::kDequantizeOutput;
    const bool dequantized = node.inputs.size() > 1 && node.inputs[1].ends_with(tail);
    return dequantized ? node.inputs[1].substr(0, node.inputs[1].size() - tail.size()) : std::string();
}

} // namespace

Tensor keptCodes(FloatModel& model, const std::string& name, const Tensor& constant, const QuantParams& params)
{
    if (!model.kept)
        return {};
    const auto kept = model.kept->find(name);
    if (kept == model.kept->end())
        return {};
    Tensor codes = codesThatHold(kept->second, constant, params);
    model.codes.kept.erase(name); // the last word counts: scales may be enlarged for a bias
    model.codes.anew.erase(name);
    (codes.valid() ? model.codes.kept : model.codes.anew).insert(name);
    return codes;
}

Tensor keptBias(FloatModel& model, const std::string& name, const std::string& weight, const Tensor& constant,
    const QuantParams& params)
{
    Tensor codes = keptCodes(model, name, constant, params);
    if (codes.valid() || !model.kept || !model.codes.kept.contains(weight))
        return codes;
    if (const auto kept = model.kept->find(name); kept != model.kept->end())
        codes = rescaledCodes(kept->second, constant, params);
    if (codes.valid()) {
        model.codes.anew.erase(name);
        model.codes.kept.insert(name);
    }
    return codes;
}

Tensor constantCodes(FloatModel& model, const std::string& name, const Tensor& constant, const QuantParams& params)
{
    Tensor kept = keptCodes(model, name, constant, params);
    return kept.valid() ? kept : weightCodes(constant, params);
}

void keepFloatBiases(FloatModel& model)
{
    if (!model.kept)
        return;
    for (const auto& [name, kept] : *model.kept) {
        const Tensor* constant = model.draft.constant(name);
        const bool codes = kept.codes.dtype() == DType::Int32; // of a bias whose node has an input in float here
        if (!constant || (!codes && kept.codes.dtype() != constant->dtype()))
            continue;
        const auto& readers = model.readersOf(name);
        const bool ours = !readers.empty() && std::ranges::all_of(readers, [&](size_t n) {
            return model.codes.kept.contains(weightOf(model.draft.nodes[n]));
        });
        if (!ours)
            continue;
        const Tensor values = codes ? valuesOfBias(kept, *constant)
                                    : keptCodes(model, name, *constant, { constant->dtype(), {}, {}, {}, 0 });
        if (!values.valid())
            continue;
        model.codes.anew.erase(name);
        model.codes.kept.insert(name);
        model.draft.setConstant(name, values);
    }
}

} // namespace qs
