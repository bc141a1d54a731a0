// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/fuse/unit_program.h"

#include "core/engine/lowered/content_key.h"

#include <algorithm>

namespace qs {

Node programNode(std::string type, std::string domain, Attributes attributes)
{
    Node node;
    node.opset = domain.empty() ? 21 : 1;
    node.opType = std::move(type);
    node.domain = std::move(domain);
    node.attributes = std::move(attributes);
    return node;
}

UnitProgram::Slot UnitProgram::append(Register r)
{
    m_registers.push_back(std::move(r));
    return { static_cast<int>(m_registers.size()) - 1 };
}

UnitProgram::Slot UnitProgram::input(ValueId id, DType type, const Tensor* constant)
{
    if (!id.valid())
        return {};
    for (size_t i = 0; i < m_registers.size(); ++i)
        if (m_registers[i].input != Slot::kAbsent && m_inputs[static_cast<size_t>(m_registers[i].input)] == id)
            return { static_cast<int>(i) };
    m_inputs.push_back(id);
    Register r { type, nullptr, static_cast<int>(m_inputs.size()) - 1 };
    if (constant)
        r.constant = std::make_shared<const Tensor>(*constant);
    return append(std::move(r));
}

UnitProgram::Slot UnitProgram::constant(Tensor value)
{
    const DType type = value.dtype();
    return append({ type, std::make_shared<const Tensor>(std::move(value)), Slot::kAbsent });
}

Result<UnitProgram::Slot> UnitProgram::add(
    Node node, const std::vector<Slot>& inputs, DType output, PairSaturation saturation)
{
    node.inputs.clear();
    node.outputs.clear();
    Step step;
    std::vector<const Tensor*> constants;
    std::vector<DType> types;
    for (Slot slot : inputs) {
        const Register* r = slot.valid() ? &m_registers[static_cast<size_t>(slot.index)] : nullptr;
        node.inputs.push_back(r ? ValueId(static_cast<size_t>(slot.index)) : ValueId());
        constants.push_back(r ? r->constant.get() : nullptr);
        types.push_back(r ? r->type : DType::Undefined);
        step.inputs.push_back(slot.index);
    }
    node.outputs.emplace_back(m_registers.size());
    step.node = std::make_shared<const Node>(std::move(node));
    step.saturation = saturation;
    LowerContext context { *step.node, constants, types, m_mode };
    context.saturation = saturation;
    QS_TRY(step.lowered,
        lowerShared(context, m_cache.get(), step.node, [&](size_t i) { return contentKey(*constants[i]); }));
    return appendStep(std::move(step), output);
}

UnitProgram::Slot UnitProgram::appendStep(Step step, DType output)
{
    const Slot result = append({ output, nullptr, Slot::kAbsent });
    step.output = result.index;
    if (!fold(step))
        m_steps.push_back(std::move(step));
    return result;
}

UnitProgram::Slot UnitProgram::flipSign(Slot codes)
{
    if (!codes.valid())
        return constant(Tensor::scalar<uint8_t>(128)); // an absent zero point of int8 codes
    const DType from = m_registers[static_cast<size_t>(codes.index)].type;
    const DType to = from == DType::Int8 ? DType::UInt8 : DType::Int8;
    Step step;
    step.node = std::make_shared<const Node>(programNode("Cast"));
    step.inputs = { codes.index };
    step.relabels = true;
    const auto flip = [to](StepContext& s) -> Status {
        const Tensor& x = s.in(0);
        Tensor y = s.allocate(to, x.shape(), x.layout());
        std::ranges::transform(x.data<uint8_t>(), y.fill<uint8_t>().begin(),
            [](uint8_t code) { return static_cast<uint8_t>(code ^ 0x80); });
        s.setOutput(0, std::move(y));
        return {};
    };
    step.lowered = std::make_shared<const LoweredNode>(LoweredNode { flip, "copy", LayoutRule::Any });
    return appendStep(std::move(step), to);
}

/// Computes a step whose inputs are all constant.
bool UnitProgram::fold(const Step& step)
{
    std::vector<const Tensor*> values;
    for (int index : step.inputs) {
        values.push_back(index < 0 ? nullptr : m_registers[static_cast<size_t>(index)].constant.get());
        if (index >= 0 && !values.back())
            return false;
    }
    BufferPool pool;
    std::vector<Tensor> outputs(1);
    StepContext context(values, outputs, pool);
    if (!step.lowered->run(context).ok())
        return false;
    m_registers[static_cast<size_t>(step.output)].constant = std::make_shared<const Tensor>(std::move(outputs[0]));
    return true;
}

/// The finished program: what each run shares.
struct UnitProgram::Code : UnitSteps {
    const Step* rounds = nullptr; ///< its value before rounding is the unit's

    Status run(StepContext& outer) const
    {
        std::vector<Tensor> made(registers.size());
        for (const Step& step : steps)
            QS_CHECK(runStep(step, outer, made));
        outer.setOutput(0, std::move(made[static_cast<size_t>(result)]));
        return {};
    }

    Status runStep(const Step& step, StepContext& outer, std::vector<Tensor>& made) const
    {
        std::vector<const Tensor*> inputs;
        std::vector<Tensor> plain(step.inputs.size());
        for (size_t i = 0; i < step.inputs.size(); ++i) {
            inputs.push_back(value(step.inputs[i], outer, made));
            if (!inputs[i] || step.lowered->layouts != LayoutRule::Plain || inputs[i]->layout() == Layout::Plain)
                continue;
            plain[i] = outer.toLayout(*inputs[i], Layout::Plain);
            inputs[i] = &plain[i];
        }
        std::vector<Tensor> outputs(1);
        StepContext inner(inputs, outputs, outer.pool(), {}, outer.cancelToken());
        inner.useTeam(outer.team());
        Tensor unrounded;
        const bool asks = &step == rounds && outer.wantsUnrounded();
        if (asks)
            inner.askUnrounded(&unrounded);
        if (step.lowered->countsPairs)
            inner.askPairCounts(outer.pairCounts());
        QS_CHECK(step.lowered->run(inner));
        made[static_cast<size_t>(step.output)] = std::move(outputs[0]);
        if (asks)
            outer.setUnrounded(std::move(unrounded));
        return {};
    }

    const Tensor* value(int index, const StepContext& outer, const std::vector<Tensor>& made) const
    {
        if (index < 0)
            return nullptr;
        const Register& r = registers[static_cast<size_t>(index)];
        if (r.constant)
            return r.constant.get();
        return r.input >= 0 ? outer.input(static_cast<size_t>(r.input)) : &made[static_cast<size_t>(index)];
    }
};

UnitProgram::Finished UnitProgram::finish(Slot result, bool otherGrid, bool ofMergedPairs) &&
{
    auto code = std::make_shared<Code>();
    code->registers = std::move(m_registers);
    code->steps = std::move(m_steps);
    code->result = result.index;
    code->otherGrid = otherGrid;
    code->ofMergedPairs = ofMergedPairs;
    LoweredNode unit;
    unit.layouts = LayoutRule::Any;
    for (const Step& step : code->steps) {
        if (step.relabels)
            continue;
        unit.kernel += (unit.kernel.empty() ? "" : ", ") + step.node->opType + ": " + step.lowered->kernel;
        unit.countsPairs |= step.lowered->countsPairs;
    }
    auto last = code->steps.rbegin();
    while (last != code->steps.rend() && last->relabels)
        ++last;
    unit.offersUnrounded = last != code->steps.rend() && last->lowered->offersUnrounded;
    code->rounds = unit.offersUnrounded ? &*last : nullptr;
    unit.run = [code](StepContext& s) { return code->run(s); };
    return { std::move(unit), code };
}

} // namespace qs
