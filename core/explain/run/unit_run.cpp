// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/run/unit_run.h"

#include "core/graph/domains.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/buffer_pool.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

Result<UnitRun> UnitRun::make(const FusedUnit& unit, const Graph& graph, const SampleValues& values)
{
    UnitRun made(unit, graph);
    QS_CHECK(made.run(values));
    return made;
}

Status UnitRun::run(const SampleValues& values)
{
    const UnitSteps& steps = *m_unit.steps;
    m_values.resize(steps.registers.size());
    for (size_t i = 0; i < steps.registers.size(); ++i) {
        const UnitSteps::Register& r = steps.registers[i];
        if (r.constant)
            m_values[i] = toPlain(*r.constant);
        else if (r.input >= 0)
            m_values[i] = values.of(m_unit.inputs[size_t(r.input)]);
    }
    BufferPool pool;
    for (const UnitSteps::Step& step : steps.steps) {
        std::vector<const Tensor*> inputs;
        for (const int reg : step.inputs)
            inputs.push_back(reg >= 0 && m_values[size_t(reg)].valid() ? &m_values[size_t(reg)] : nullptr);
        std::vector<Tensor> outputs(1);
        StepContext context(inputs, outputs, pool);
        QS_CHECK(step.lowered->run(context));
        m_values[size_t(step.output)] = toPlain(outputs[0]);
    }
    return {};
}

const UnitSteps::Step* UnitRun::stepOf(int reg) const
{
    const auto& steps = m_unit.steps->steps;
    const auto it = std::ranges::find(steps, reg, &UnitSteps::Step::output);
    return it == steps.end() ? nullptr : &*it;
}

Operation UnitRun::operationOf(const UnitSteps::Step& step) const
{
    Operation op;
    op.node = step.node.get();
    for (const int reg : step.inputs)
        op.inputs.push_back(reg >= 0 ? m_values[size_t(reg)] : Tensor());
    op.output = m_values[size_t(step.output)];
    op.saturation = step.saturation;
    return op;
}

/// To the register that no move or relabelling makes; nothing where a move cannot be followed.
std::optional<UnitRun::Trace> UnitRun::traceBack(int reg) const
{
    Trace trace { reg, {}, 0 };
    for (const UnitSteps::Step* step = stepOf(reg); step; step = stepOf(trace.reg)) {
        if (step->relabels) {
            trace.shift += m_values[size_t(trace.reg)].dtype() == DType::UInt8 ? 128 : -128;
        } else if (isMovement(*step->node)) {
            auto places = MovedPlaces::of(operationOf(*step));
            if (!places)
                return std::nullopt;
            trace.moves.push_back(std::move(*places));
        } else {
            break;
        }
        trace.reg = step->inputs[0];
    }
    return trace;
}

namespace {

std::optional<int64_t> movedThrough(const std::vector<MovedPlaces>& moves, int64_t element)
{
    for (const MovedPlaces& move : moves) {
        const auto from = move.from(element);
        if (!from)
            return std::nullopt;
        element = from->element;
    }
    return element;
}

void shiftCodes(Operand& operand, int64_t shift)
{
    if (operand.code) {
        *operand.code -= shift;
        operand.zeroPoint -= shift;
    }
}

} // namespace

void UnitRun::nameSource(size_t slot, const UnitSteps::Step& main, const Trace& trace, ElementExplanation& e) const
{
    OperandSource& source = e.sources[slot];
    const UnitSteps::Register& r = m_unit.steps->registers[size_t(trace.reg)];
    source.shape = m_values[size_t(trace.reg)].shape();
    source.operand = operandIndex(*main.node, slot);
    source.constant = r.constant != nullptr;
    if (r.input >= 0) {
        source.value = m_unit.inputs[size_t(r.input)];
        source.name = m_graph.value(source.value).name;
        return;
    }
    // Made when the model was opened, of a float constant of the file.
    const Node& node = m_graph.node(m_unit.node);
    const size_t own = operandIndex(*main.node, slot);
    if (node.hasInput(own)) {
        source.value = node.inputs[own];
        source.name = m_graph.value(source.value).name;
    }
}

/// The product of floats with a weight that was packed into blocks when the model was opened.
bool UnitRun::storesWeight(const UnitSteps::Step& step) const
{
    return step.node->is("MatMulNBits", kMicrosoftDomain) && step.inputs[1] >= 0
        && m_unit.steps->registers[size_t(step.inputs[1])].input < 0;
}

/// By how much codes in blocks are higher than those of the file.
int64_t UnitRun::signShiftOfWeight() const
{
    ValueId at = m_graph.node(m_unit.node).inputs[1];
    for (NodeId by = m_graph.value(at).producer; by.valid(); by = m_graph.value(at).producer) {
        at = m_graph.node(by).inputs[0];
        if (!isDequantizeLinear(m_graph.node(by)))
            continue;
        const Value& codes = m_graph.value(at);
        const DType type = codes.initializer ? codes.initializer->dtype() : codes.type.dtype;
        return isSigned(type) ? int64_t(1) << (dtypeBits(type) - 1) : 0;
    }
    return 0;
}

/// The file has it as depth x columns.
void UnitRun::renameStoredWeight(const UnitSteps::Step& step, ElementExplanation& e) const
{
    const int64_t depth = step.node->attributes.integer("K", 1), columns = step.node->attributes.integer("N", 1);
    const int64_t shift = signShiftOfWeight();
    e.sources[1].shape = { depth, columns };
    for (ElementTerm& term : e.terms) {
        term.b->element = term.b->element % depth * columns + term.b->element / depth;
        shiftCodes(*term.b, shift);
    }
}

/// Nothing but moves: codes are handed on.
void UnitRun::explainMoved(int64_t element, const Trace& out, ElementExplanation& e) const
{
    e.kind = ElementExplanation::Kind::Integer;
    e.relation = Relation::Copy;
    const auto from = movedThrough(out.moves, element);
    if (!from || out.reg < 0) {
        e.relation = Relation::None;
        e.note = "this element comes from no input";
        return;
    }
    const UnitSteps::Register& r = m_unit.steps->registers[size_t(out.reg)];
    OperandSource source;
    source.shape = m_values[size_t(out.reg)].shape();
    source.constant = r.constant != nullptr;
    if (r.input >= 0) {
        source.value = m_unit.inputs[size_t(r.input)];
        source.name = m_graph.value(source.value).name;
    }
    e.sources = { std::move(source) };
    ElementTerm term;
    term.a.element = *from;
    term.a.real = elementAsDouble(m_values[size_t(out.reg)], *from);
    const UnitSteps& steps = *m_unit.steps;
    e.confirmed = term.a.real + double(out.shift) == elementAsDouble(m_values[size_t(steps.result)], element);
    e.terms.push_back(std::move(term));
}

void UnitRun::explain(int64_t element, ElementExplanation& e) const
{
    const auto out = traceBack(m_unit.steps->result);
    const UnitSteps::Step* main = out ? stepOf(out->reg) : nullptr;
    const auto from = out ? movedThrough(out->moves, element) : std::nullopt;
    if (!main || !from) {
        explainMoved(element, out.value_or(Trace {}), e);
        return;
    }
    const Operation op = operationOf(*main);
    e.unitOperator = main->node->opType;
    e.sources.assign(op.inputs.size(), {});
    explainOperation(op, *from, e);
    if (out->shift != 0 && e.code) {
        *e.code += out->shift;
        *e.zeroPoint += out->shift;
        e.steps.push_back({ "as the file counts codes", double(*e.code) });
    }
    std::vector<std::optional<Trace>> traces(op.inputs.size());
    const bool stored = storesWeight(*main);
    for (size_t slot = 0; slot < op.inputs.size(); ++slot)
        if (op.in(slot) && !(stored && (slot == 2 || slot == 3)) && (traces[slot] = traceBack(main->inputs[slot])))
            nameSource(slot, *main, *traces[slot], e);
    const auto rename = [&](Operand& operand) {
        const auto& trace = traces[operand.source];
        if (!trace)
            return;
        operand.element = movedThrough(trace->moves, operand.element).value_or(operand.element);
        shiftCodes(operand, trace->shift);
    };
    for (ElementTerm& term : e.terms) {
        rename(term.a);
        if (term.b)
            rename(*term.b);
    }
    if (e.bias)
        rename(*e.bias);
    if (stored)
        renameStoredWeight(*main, e);
}

} // namespace qs
