// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/run/operand_codes.h"

#include "core/analysis/values/elements.h"
#include "core/engine/plan/merged_pairs.h"
#include "core/explain/operators/moved_from.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

namespace qs {

namespace {

constexpr int kMostMoves = 4;

/// A node that runs by itself and whose work can be looked at.
NodeId ownProducer(const Plan& plan, ValueId value)
{
    const NodeId id = plan.graph().value(value).producer;
    if (!id.valid())
        return {};
    const FusedUnit* unit = plan.unit(id);
    return unit && unit->when == FusedUnit::When::Always ? NodeId() : id;
}

/// An operator with a zero point of its own (MatMulInteger, ConvInteger) that is not that of the codes; once a source.
void noteZeroPoint(const Operand& operand, const CodeGrid& grid, ElementExplanation& e)
{
    const std::string of = "the zero point of '" + e.sources[operand.source].name + "' is ";
    if (e.note.find(of) != std::string::npos)
        return;
    e.addNote(of + std::to_string(grid.zeroPoint) + ", the operator takes off " + std::to_string(operand.zeroPoint));
}

} // namespace

Operation operationOf(const Plan& plan, NodeId id, size_t outputIndex, const SampleValues& values)
{
    Operation op;
    op.node = &plan.graph().node(id);
    for (const ValueId in : op.node->inputs)
        op.inputs.push_back(in.valid() ? values.of(in) : Tensor());
    op.output = values.of(op.node->outputs[outputIndex]);
    op.outputIndex = outputIndex;
    return op;
}

void OperandCodes::collect(ValueId value, std::vector<ValueId>& needed) const
{
    if (const auto index = m_view ? m_view->ofQuantized(value) : std::nullopt) {
        const Quantizer& q = m_view->quantizers()[*index];
        for (const ValueId id : { q.scaleValue, q.zeroPointValue })
            if (id.valid())
                needed.push_back(id);
    }
    for (int moves = 0; moves <= kMostMoves; ++moves) {
        const NodeId id = ownProducer(m_plan, value);
        if (!id.valid())
            return;
        const Node& node = m_plan.graph().node(id);
        if (!isDequantizeLinear(node) && !isMovement(node))
            return;
        needed.push_back(value);
        for (const ValueId in : node.inputs)
            if (in.valid())
                needed.push_back(in);
        if (isDequantizeLinear(node) || !node.hasInput(0))
            return;
        value = node.inputs[0];
    }
}

std::optional<CodeGrid> OperandCodes::gridOf(ValueId codes, int64_t element, const SampleValues& values) const
{
    const auto index = m_view ? m_view->ofQuantized(codes) : std::nullopt;
    if (!index)
        return std::nullopt;
    const Quantizer& q = m_view->quantizers()[*index];
    if (q.codes != codes && !isInteger(values.of(codes).dtype()))
        return std::nullopt;
    if (q.dynamic) {
        const Tensor &scale = values.of(q.scaleValue), &zero = values.of(q.zeroPointValue);
        if (!scale.valid() || scale.count() != 1)
            return std::nullopt;
        return CodeGrid { static_cast<float>(elementAsDouble(scale, 0)),
            zero.valid() && zero.count() > 0 ? elementAsInt(zero, 0) : 0 };
    }
    const Tensor& held = values.of(codes);
    if (q.params.scale.empty() || !q.params.zeroRest.empty() || !held.valid() // a grid has whole zero points
        || (q.codes.valid() && isOnOtherGrid(m_plan, q.codes)))
        return std::nullopt;
    const size_t at = Elements(held, q.params).scaleIndex(size_t(element));
    return CodeGrid { q.params.scale[at], at < q.params.zeroPoint.size() ? q.params.zeroPoint[at] : 0 };
}

/// Through nodes that move elements to a DequantizeLinear.
void OperandCodes::addBehindFloats(size_t source, const SampleValues& values, ElementExplanation& e) const
{
    ValueId value = e.sources[source].value;
    std::vector<MovedPlaces> moves;
    NodeId id = ownProducer(m_plan, value);
    for (int i = 0; id.valid() && isMovement(m_plan.graph().node(id)) && i < kMostMoves; ++i) {
        const auto& outputs = m_plan.graph().node(id).outputs;
        const auto slot = size_t(std::ranges::find(outputs, value) - outputs.begin());
        const Operation op = operationOf(m_plan, id, slot, values);
        auto places = op.in(0) && op.output.valid() ? MovedPlaces::of(op) : std::nullopt;
        if (!places)
            return;
        moves.push_back(std::move(*places));
        value = m_plan.graph().node(id).inputs[0];
        id = ownProducer(m_plan, value);
    }
    if (!id.valid() || !isDequantizeLinear(m_plan.graph().node(id)))
        return;
    const Operation dequantize = operationOf(m_plan, id, 0, values);
    if (!dequantize.in(0) || !dequantize.in(1) || !isInteger(dequantize.inputs[0].dtype()))
        return;
    forEachOperand(e, [&](Operand& operand) {
        if (operand.source != source || operand.code)
            return;
        int64_t element = operand.element;
        for (const MovedPlaces& move : moves) {
            const auto from = move.from(element);
            if (!from || from->slot != 0)
                return;
            element = from->element;
        }
        const Operand coded = codeAt(dequantize, 0, element, gridAt(dequantize, element));
        operand.code = coded.code;
        operand.zeroPoint = coded.zeroPoint;
        operand.scale = coded.scale;
    });
}

void OperandCodes::add(size_t source, const SampleValues& values, ElementExplanation& e) const
{
    const ValueId value = e.sources[source].value;
    if (!value.valid())
        return;
    const Tensor& held = values.of(value);
    if (held.valid() && isFloat(held.dtype()))
        return addBehindFloats(source, values, e);
    if (!held.valid() || !isInteger(held.dtype()) || dtypeBits(held.dtype()) > 32)
        return;
    forEachOperand(e, [&](Operand& operand) {
        if (operand.source != source || operand.scale)
            return;
        const auto grid = gridOf(value, operand.element, values);
        if (!grid)
            return;
        if (!operand.code) {
            operand.code = elementAsInt(held, operand.element);
            operand.zeroPoint = grid->zeroPoint;
        } else if (operand.zeroPoint != grid->zeroPoint) {
            noteZeroPoint(operand, *grid, e);
        }
        operand.scale = double(grid->scale);
        operand.real = double(static_cast<float>(*operand.code - operand.zeroPoint) * grid->scale);
    });
}

} // namespace qs
