// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/qdq/params.h"

#include "core/quant/model/tensor_params.h"
#include "core/quant/params/weights.h"

namespace qs {

namespace {

const TensorOverride& overrideOf(const Recipe& recipe, const std::string& name)
{
    static const TensorOverride none;
    const auto it = recipe.tensors.find(name);
    return it == recipe.tensors.end() ? none : it->second;
}

Result<QdqParams> activation(const FloatModel& model, const Recipe& recipe, const std::string& name, bool shares)
{
    const TensorOverride& override = overrideOf(recipe, name);
    QdqParams params;
    const QuantOverride first = override.parts.empty() ? QuantOverride {} : override.parts.front();
    if (!shares) {
        QS_TRY(params.own, activationParams(model, recipe, name, first));
    }
    if (override.convert && (!shares || model.ranges.find(name))) {
        QS_TRY(params.converted, activationParams(model, recipe, name, override.convert->to));
        params.convertedReaders.insert(override.convert->readers.begin(), override.convert->readers.end());
    }
    return params;
}

Result<QdqParams> constant(const FloatModel& model, const Recipe& recipe, const std::string& name, const QdqMark& mark)
{
    const TensorOverride& override = overrideOf(recipe, name);
    const bool weight = mark.kind == QdqMark::Kind::Weight;
    ConstantRules rules;
    rules.role = weight ? ConstantRole::Weight : ConstantRole::Operand;
    rules.axis = mark.axis;
    if (!rules.axis && override.axis) {
        const auto rank = static_cast<int64_t>(model.draft.constant(name)->rank());
        rules.axis = *override.axis < 0 ? *override.axis + rank : *override.axis;
        if (*rules.axis < 0 || *rules.axis >= rank)
            return Issue { IssueKind::BadInput, "has no axis " + std::to_string(*override.axis), {}, {}, name,
                "correct the axis in the recipe" };
    }
    rules.blockSize = weight ? recipe.blockSize : 0;
    rules.type = weight ? recipe.weightType : recipe.activationType;
    if (!override.parts.empty() && override.parts.front().type)
        rules.type = *override.parts.front().type;
    rules.symmetric = rules.axis.has_value()
        || (weight ? weightSymmetric(rules.type, recipe.symmetricWeights) : recipe.symmetricActivations);
    rules.reduced = recipe.reduceRange;
    QdqParams params;
    QS_TRY(params.own, constantParams(model, recipe, name, rules));
    return params;
}

} // namespace

Result<QdqParameters> QdqParameters::make(const QdqMarks& marks)
{
    QdqParameters all(marks);
    for (const std::string& name : marks.order()) {
        const QdqMark& mark = marks.of(name);
        const bool shares = !mark.provider.empty();
        QdqParams params;
        if (shares && marks.isConstant(name))
            continue;
        if (marks.isConstant(name)) {
            QS_TRY(params, constant(marks.model, marks.recipe, name, mark));
        } else {
            QS_TRY(params, activation(marks.model, marks.recipe, name, shares));
        }
        if (!shares || params.converted)
            all.m_params.emplace(name, std::move(params));
    }
    if (marks.recipe.adjustWeightsForBias) // even where the bias itself stays float
        QS_CHECK(all.adjustForBiases());
    return all;
}

const QdqParams* QdqParameters::find(const std::string& name) const
{
    const auto it = m_params.find(name);
    return it == m_params.end() ? nullptr : &it->second;
}

NamedParams QdqParameters::original(const std::string& name) const
{
    const QdqMark* mark = m_marks->find(name);
    if (mark && !mark->provider.empty())
        return seenBy(mark->provider, mark->sharingNode);
    const QdqParams* params = find(name);
    return { params ? &params->own : nullptr, name, false };
}

NamedParams QdqParameters::seenBy(const std::string& name, const std::string& reader) const
{
    const QdqParams* params = find(name);
    if (params && params->convertsFor(reader))
        return { &*params->converted, name, true };
    return original(name);
}

Status QdqParameters::adjustForBiases()
{
    for (const BiasMark& bias : m_marks->biases()) {
        const auto weight = m_params.find(bias.weight);
        const QuantParams* input = seenBy(bias.input, bias.node).params;
        if (weight == m_params.end() || !input || !m_marks->isConstant(bias.weight))
            continue;
        const Tensor& values = *m_marks->model.draft.constant(bias.bias);
        auto changed = adjustScalesForBias(weight->second.own, values, input->scale.front(),
            m_marks->of(bias.weight).real, m_marks->recipe.ortVersion != OrtVersion::V1_31);
        if (!changed) {
            Issue issue = std::move(changed).issue();
            issue.tensor = bias.bias;
            issue.node = bias.node;
            return issue;
        }
        if (*changed)
            m_marks->model.warnings.push_back(
                "the scales of '" + bias.weight + "' were enlarged so that the bias '" + bias.bias + "' fits 32 bits");
    }
    return {};
}

} // namespace qs
