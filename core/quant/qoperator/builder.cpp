// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/qoperator/builder.h"

#include "core/base/work/cancel_scope.h"
#include "core/graph/domains.h"
#include "core/qdq/name_tails.h"
#include "core/quant/model/constant_codes.h"
#include "core/quant/model/tensor_params.h"
#include "core/quant/params/weights.h"

#include <algorithm>

namespace qs {

QOperatorBuilder::QOperatorBuilder(FloatModel& floatModel, const Recipe& recipeToFollow, QOperatorBuilder* outer)
    : model(floatModel)
    , recipe(recipeToFollow)
    , m_outer(outer)
    , m_floats(floatModel.draft.inputs().begin(), floatModel.draft.inputs().end())
{
    if (!outer)
        return;
    for (const auto* names : { &model.draft.inputs(), &model.draft.constants() })
        m_own.insert(names->begin(), names->end());
    for (const DraftNode& node : model.draft.nodes)
        m_own.insert(node.outputs.begin(), node.outputs.end());
}

QOperatorBuilder& QOperatorBuilder::home(const std::string& name)
{
    QOperatorBuilder* builder = this;
    while (builder->m_outer && !builder->m_own.contains(name))
        builder = builder->m_outer;
    return *builder;
}

const QOperand* QOperatorBuilder::known(const std::string& name) const
{
    const auto it = m_values.find(name);
    if (it == m_values.end() && m_outer && !m_own.contains(name))
        return m_outer->known(name);
    return it == m_values.end() ? nullptr : &it->second;
}

const QOperand* QOperatorBuilder::find(const std::string& name) const
{
    const QOperand* operand = known(name);
    return operand && !operand->onlyForProducts() ? operand : nullptr;
}

bool QOperatorBuilder::fits(const std::string& name, const QOperand& weight, std::optional<int64_t> axis) const
{
    const Tensor* constant = model.constant(name);
    if (!weight.onlyForProducts() || !constant || weight.type == DType::Int32)
        return !weight.onlyForProducts();
    const size_t rank = constant->rank();
    return axis && weight.axis && normalizedAxis(*axis, rank) == normalizedAxis(*weight.axis, rank);
}

bool QOperatorBuilder::hasRange(const std::string& name) const
{
    const auto override = recipe.tensors.find(name);
    const bool given
        = override != recipe.tensors.end() && !override->second.parts.empty() && override->second.parts.front().scale;
    return !model.keptExtreme(name) && (given || model.ranges.find(name));
}

QOperand QOperatorBuilder::store(const std::string& name, const QuantParams& params, const Shape& shape, DType real)
{
    const Shape stored = paramsShape(params, shape);
    QOperand operand { codesName(name), name + tails::kScale, name + tails::kZeroPoint, params.dtype, params.scale,
        params.zeroPoint };
    model.draft.setConstant(operand.scale, realTensor(real, stored, params.scale));
    model.draft.setConstant(operand.zeroPoint, codeTensor(params.dtype, stored, params.zeroPoint));
    return operand;
}

Result<QOperand> QOperatorBuilder::constant(
    const std::string& name, DType type, bool asWeight, std::optional<int64_t> axis)
{
    const Tensor tensor = *model.draft.constant(name);
    ConstantRules rules;
    rules.role = asWeight ? ConstantRole::Weight : ConstantRole::Operand;
    rules.type = type;
    const auto override = recipe.tensors.find(name);
    if (override != recipe.tensors.end() && !override->second.parts.empty() && override->second.parts.front().type)
        rules.type = *override->second.parts.front().type;
    if (axis) {
        const auto rank = static_cast<int64_t>(tensor.rank());
        rules.axis = *axis < 0 ? *axis + rank : *axis;
        if (*rules.axis < 0 || *rules.axis >= rank)
            return Issue { IssueKind::BadInput, "has no axis " + std::to_string(*axis) + " to be quantized along", {},
                {}, name, "quantize per tensor, or exclude the node" };
    }
    // Which rule holds is decided by the type alone, so a constant operand of the weight's type counts as a weight.
    rules.symmetric = axis || rules.type == recipe.weightType ? weightSymmetric(rules.type, recipe.symmetricWeights)
                                                              : recipe.symmetricActivations;
    rules.reduced = asWeight && recipe.reduceRange;
    QS_TRY(const QuantParams params, constantParams(model, recipe, name, rules));
    model.draft.setConstant(codesName(name), constantCodes(model, name, tensor, params));
    m_weights.insert_or_assign(name, params);
    QOperand operand = store(name, params, tensor.shape(), tensor.dtype());
    operand.axis = axis;
    remember(name, operand);
    return operand;
}

Result<std::optional<QOperand>> QOperatorBuilder::activation(const std::string& name)
{
    if (QOperatorBuilder& other = home(name); &other != this)
        return other.activation(name);
    if (const QOperand* made = known(name))
        return made->onlyForProducts() ? std::nullopt : std::optional(*made);
    if (model.realType(name) == DType::Undefined || model.keptExtreme(name))
        return std::optional<QOperand>();
    if (isConstant(name)) {
        QS_TRY(const QOperand codes, constant(name, activationType(), false, std::nullopt));
        return std::optional(codes);
    }
    if (dynamic()) {
        const QOperand made { codesName(name), name + tails::kScale, name + tails::kZeroPoint, DType::UInt8, {}, {} };
        add({ NodeId(), name + tails::kQuantize, "DynamicQuantizeLinear", "", { name },
            { made.codes, made.scale, made.zeroPoint }, {} });
        remember(name, made);
        return std::optional(made);
    }
    if (!hasRange(name))
        return std::optional<QOperand>();
    QS_TRY(const QOperand made, output(name));
    add({ NodeId(), name + tails::kQuantize, "QuantizeLinear", "", { name, made.scale, made.zeroPoint }, { made.codes },
        {} });
    remember(name, made);
    return std::optional(made);
}

Result<std::optional<std::vector<QOperand>>> QOperatorBuilder::activations(const std::vector<std::string>& names)
{
    std::vector<QOperand> all;
    for (const std::string& name : names)
        if (!find(name) && !isConstant(name) && !hasRange(name))
            return std::optional<std::vector<QOperand>>();
    for (const std::string& name : names) {
        QS_TRY(const auto one, activation(name));
        if (!one)
            return std::optional<std::vector<QOperand>>();
        all.push_back(*one);
    }
    return std::optional(std::move(all));
}

Result<std::optional<QOperand>> QOperatorBuilder::weight(
    const std::string& name, std::optional<int64_t> axis, DType type)
{
    if (QOperatorBuilder& other = home(name); &other != this)
        return other.weight(name, axis, type);
    if (const QOperand* made = known(name))
        return fits(name, *made, axis) ? std::optional(*made) : std::nullopt;
    if (!isConstant(name))
        return activation(name);
    if (model.realType(name) == DType::Undefined)
        return std::optional<QOperand>();
    QS_TRY(const QOperand codes, constant(name, type, true, axis));
    return std::optional(codes);
}

Result<std::string> QOperatorBuilder::bias(
    const std::string& name, const QOperand& input, const std::string& weightName, float beta)
{
    if (const QOperand* made = known(name))
        return made->codes;
    const Tensor bias = *model.draft.constant(name);
    const auto named = [&](Issue issue) {
        issue.tensor = name;
        return issue;
    };
    const auto stored = m_weights.find(weightName);
    if (stored != m_weights.end() && recipe.weightType == DType::Int8) {
        const Tensor weightTensor = *model.draft.constant(weightName);
        auto changed = adjustScalesForBias(stored->second, bias, input.scales.front(), weightTensor.dtype());
        if (!changed)
            return named(std::move(changed).issue());
        if (*changed) {
            model.draft.setConstant(
                codesName(weightName), constantCodes(model, weightName, weightTensor, stored->second));
            QOperand larger = store(weightName, stored->second, weightTensor.shape(), weightTensor.dtype());
            larger.axis = known(weightName)->axis;
            remember(weightName, larger);
        }
    }
    const QOperand* codes = known(weightName);
    auto quantized = quantizeBias(bias, input.scales.front(), codes->scales,
        { .beta = beta, .noneForBetaZero = recipe.ortVersion != OrtVersion::V1_31 });
    if (!quantized)
        return named(std::move(quantized).issue());
    QuantParams params { DType::Int32, quantized->scale, std::vector<int32_t>(quantized->scale.size(), 0), std::nullopt,
        0 };
    if (params.scale.size() > 1)
        params.axis = 0;
    const Tensor kept = keptBias(model, name, weightName, bias, params);
    if (quantized->saturated && !kept.valid())
        model.warnings.push_back("the bias '" + name + "' does not fit 32 bits and is cut");
    QOperand made { codesName(name), {}, {}, DType::Int32, quantized->scale, {} };
    const auto channels = static_cast<int64_t>(quantized->scale.size());
    made.scale = made.codes + tails::kScale;
    made.zeroPoint = made.codes + tails::kZeroPoint;
    made.zeroPoints.assign(quantized->scale.size(), 0);
    made.axis = params.axis;
    model.draft.setConstant(made.codes, kept.valid() ? kept : quantized->codes);
    model.draft.setConstant(made.scale, realTensor(bias.dtype(), { channels }, quantized->scale));
    model.draft.setConstant(
        made.zeroPoint, codeTensor(DType::Int32, channels > 1 ? Shape { channels } : Shape {}, made.zeroPoints));
    remember(name, made);
    return made.codes;
}

Result<QOperand> QOperatorBuilder::output(const std::string& name)
{
    const auto it = recipe.tensors.find(name);
    const bool given = it != recipe.tensors.end() && !it->second.parts.empty();
    QS_TRY(const QuantParams params,
        activationParams(model, recipe, name, given ? it->second.parts.front() : QuantOverride {}));
    const TensorRange* range = model.ranges.find(name);
    return store(name, params, {}, range ? range->dtype : DType::Float32);
}

QOperand QOperatorBuilder::outputWith(const std::string& name, float scale, int32_t zeroPoint, DType type)
{
    const DType real = model.realType(name) == DType::Float16 ? DType::Float16 : DType::Float32;
    return store(name, { type, { roundedTo(real, scale) }, { zeroPoint }, std::nullopt, 0 }, {}, real);
}

void QOperatorBuilder::add(DraftNode node)
{
    if (node.domain == kMicrosoftDomain)
        model.draft.opsets.emplace(node.domain, 1);
    m_floats.insert(node.outputs.begin(), node.outputs.end());
    m_nodes.push_back(std::move(node));
}

void QOperatorBuilder::dequantize(const std::string& name)
{
    const auto made = m_values.find(name);
    if (made == m_values.end() || m_floats.contains(name))
        return;
    const QOperand& codes = made->second;
    DraftNode node { NodeId(), name + tails::kDequantize, "DequantizeLinear", "",
        { codes.codes, codes.scale, codes.zeroPoint }, { name }, {} };
    if (codes.axis) // the default is another one
        node.attributes.set("axis", *codes.axis);
    add(std::move(node));
}

void QOperatorBuilder::needFloats(const DraftNode& node)
{
    for (const std::string& in : node.inputs)
        dequantize(in);
}

void QOperatorBuilder::keepFloat(const DraftNode& node)
{
    needFloats(node);
    add(node);
}

Status QOperatorBuilder::leave(const DraftNode& node, FloatReason reason)
{
    model.stays(node, std::move(reason));
    keepFloat(node);
    return {};
}

std::optional<FloatReason> QOperatorBuilder::whyOnlyForProducts(const std::vector<std::string>& names) const
{
    for (const std::string& name : names)
        if (const QOperand* made = known(name); made && made->onlyForProducts())
            return FloatReason { FloatCause::Rule,
                "the codes of '" + name + "' were made for another product, "
                    + (made->type == DType::Int32 ? "whose bias it is" : "with a scale for each of its channels") };
    return std::nullopt;
}

Status QOperatorBuilder::leaveWithout(const DraftNode& node, const std::vector<std::string>& names)
{
    if (const auto reason = whyOnlyForProducts(names))
        return leave(node, *reason);
    const auto lacks = [&](const std::string& name) {
        const bool real = model.realType(name) != DType::Undefined && !model.keptExtreme(name);
        return !find(name) && (!real || (!isConstant(name) && !dynamic() && !hasRange(name)));
    };
    const auto lacking = std::ranges::find_if(names, lacks);
    return leave(node, model.whyNoCodes(lacking == names.end() ? names.front() : *lacking));
}

Status QOperatorBuilder::leaveBehindFloat(const DraftNode& node)
{
    if (const auto reason = whyOnlyForProducts({ node.inputs.front() }))
        return leave(node, *reason);
    return leave(node,
        { FloatCause::Rule,
            "its input '" + node.inputs.front() + "' has no codes, and ONNX Runtime's tools quantize " + node.opType
                + " only behind codes" });
}

void QOperatorBuilder::replace(const DraftNode& old, DraftNode made)
{
    made.name = old.name + "_quant";
    made.origin = {};
    made.namedAfter = old.origin;
    add(std::move(made));
}

void QOperatorBuilder::finish()
{
    for (const std::string& name : model.draft.outputs())
        dequantize(name);
    for (size_t n = 0; n < m_nodes.size(); ++n) // more of them, while it goes on
        for (const std::string& captured : model.draft.captures(m_nodes[n]))
            if (!model.draft.constant(captured)) // bodies go on reading the floats, as ONNX Runtime leaves it
                dequantize(captured);
    // A constant that a float node reads, too, was dequantized for it.
    for (const DraftNode& node : m_nodes)
        for (const std::string& out : node.outputs)
            if (model.draft.constant(out))
                model.draft.removeConstant(out);
    model.draft.nodes = std::move(m_nodes);
    model.draft.dropUnusedConstants();
}

Status passCodesOn(QOperatorBuilder& builder, const DraftNode& node)
{
    const std::string& in = node.inputs.front();
    // Asked to quantize inputs that are not, ONNX Runtime quantizes constants and leaves all others float.
    const bool forced = builder.recipe.quantizeUnquantizedInputs;
    if (forced && builder.isConstant(in))
        QS_CHECK(builder.activation(in));
    const QOperand* known = builder.find(in);
    if (!known || (forced && !builder.isConstant(in)))
        return builder.leaveBehindFloat(node);
    QOperand out = *known;
    DraftNode moved = node;
    moved.inputs.front() = known->codes;
    moved.outputs.front() = out.codes = QOperatorBuilder::codesName(node.outputs.front());
    builder.remember(node.outputs.front(), out);
    builder.add(std::move(moved));
    return {};
}

Status quantizeQOperator(FloatModel& model, const Recipe& recipe)
{
    static const auto rules = [] {
        auto all = qoperatorProductRules();
        all.merge(qoperatorElementRules());
        all.merge(qoperatorPoolRules());
        all.merge(qoperatorMovementRules());
        all.emplace("EmbedLayerNormalization", quantizeEmbedding);
        return all;
    }();
    return quantizeNodes(model, recipe, rules);
}

namespace {

using QOperatorRules = std::map<std::string, QOperatorRule>;

Status rebuild(QOperatorBuilder& builder, const QOperatorRules& rules);

/// The subgraph quantized; the same one where nothing is. What its nodes read from outside is quantized there.
Result<std::shared_ptr<const Graph>> quantizedBody(
    QOperatorBuilder& outer, const std::shared_ptr<const Graph>& body, const QOperatorRules& rules)
{
    FloatModel inner = FloatModel::ofBody(*body, outer.recipe, outer.model);
    QOperatorBuilder builder(inner, outer.recipe, &outer);
    QS_CHECK(rebuild(builder, rules));
    auto& warnings = outer.model.warnings;
    warnings.insert(warnings.end(), inner.warnings.begin(), inner.warnings.end());
    outer.model.draft.opsets.insert(inner.draft.opsets.begin(), inner.draft.opsets.end());
    const auto same = [](const DraftNode& node) { return node.origin.valid() && !node.attributesChanged; };
    if (std::ranges::all_of(inner.draft.nodes, same))
        return body;
    QS_TRY(const auto model, inner.draft.build());
    return std::shared_ptr<const Graph>(model, &model->graph);
}

Status rebuild(QOperatorBuilder& builder, const QOperatorRules& rules)
{
    const FloatModel& model = builder.model;
    for (size_t n = 0; n < model.chosen.size(); ++n) {
        if (stopAsked())
            return cancelled();
        DraftNode node = model.draft.nodes[n];
        if (builder.recipe.subgraphs)
            QS_CHECK(replaceSubgraphs(
                node, [&](const std::shared_ptr<const Graph>& body) { return quantizedBody(builder, body, rules); }));
        const bool known = node.domain.empty() || node.domain == kMicrosoftDomain;
        const auto rule = model.chosen[n] && known ? rules.find(node.opType) : rules.end();
        if (rule == rules.end())
            QS_CHECK(builder.leave(node, // of nodes that were not chosen the reason is known
                { FloatCause::NoRule, "ONNX Runtime's tools know no operator on codes for " + node.opType }));
        else
            QS_CHECK(rule->second(builder, node));
    }
    builder.finish();
    return {};
}

} // namespace

Status quantizeNodes(FloatModel& model, const Recipe& recipe, const QOperatorRules& rules)
{
    QOperatorBuilder builder(model, recipe);
    return rebuild(builder, rules);
}

} // namespace qs
