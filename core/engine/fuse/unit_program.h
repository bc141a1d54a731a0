// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lowered/plan_options.h"

#include <memory>
#include <vector>

namespace qs {

/// A finished program, step by step, for those who explain what a unit computes.
struct UnitSteps {
    struct Register {
        DType type = DType::Undefined;
        std::shared_ptr<const Tensor> constant; ///< null when it depends on data
        int input = -1; ///< index in FusedUnit::inputs; -1: none
    };
    struct Step {
        std::shared_ptr<const Node> node; ///< lowered steps may point to it
        std::shared_ptr<const LoweredNode> lowered;
        std::vector<int> inputs; ///< registers; -1: absent
        int output = -1;
        bool relabels = false; ///< the same numbers in other codes
        PairSaturation saturation = PairSaturation::None;
    };
    std::vector<Register> registers;
    std::vector<Step> steps;
    int result = -1; ///< register
    bool otherGrid = false; ///< its codes mean other numbers than the file's quantizer says
    bool ofMergedPairs = false; ///< a QuantizeLinear or DequantizeLinear of several pairs that the runtime makes one of
};

/// What a fused unit runs: a few operators one after another, each with the kernel that is registered for it, so that a
/// unit of Q/DQ nodes and a QLinear operator of a file have one arithmetic. Values between them are not seen outside.
class UnitProgram {
public:
    /// A value inside the program.
    struct Slot {
        static constexpr int kAbsent = -1;
        int index = kAbsent;
        bool valid() const { return index != kAbsent; }
    };

    explicit UnitProgram(const PlanOptions& options)
        : m_mode(options.mode)
        , m_cache(options.cache)
    {
    }
    /// A value of the graph; `constant` when it is known, else null. Absent for an invalid id.
    Slot input(ValueId id, DType type, const Tensor* constant);
    Slot constant(Tensor value);
    /// Null when the slot depends on data.
    const Tensor* constantAt(Slot slot) const { return m_registers[static_cast<size_t>(slot.index)].constant.get(); }
    /// Appends an operator with one output (`node`: type, domain, opset and attributes). With constant inputs only, it
    /// is computed at once. An Issue when no kernel takes it.
    Result<Slot> add(
        Node node, const std::vector<Slot>& inputs, DType output, PairSaturation saturation = PairSaturation::None);

    /// The same 8-bit codes 128 higher or lower as the other type of 8 bits.
    Slot flipSign(Slot codes);

    const std::vector<ValueId>& inputs() const { return m_inputs; }
    struct Finished {
        LoweredNode lowered; ///< one step whose output is the result
        std::shared_ptr<const UnitSteps> steps;
    };
    /// `otherGrid` and `ofMergedPairs`: see UnitSteps.
    Finished finish(Slot result, bool otherGrid = false, bool ofMergedPairs = false) &&;

private:
    using Register = UnitSteps::Register;
    using Step = UnitSteps::Step;
    struct Code; ///< what runs
    bool fold(const Step& step);
    Slot appendStep(Step step, DType output);
    Slot append(Register r);
    KernelMode m_mode;
    std::shared_ptr<LoweringCache> m_cache;
    std::vector<ValueId> m_inputs;
    std::vector<Register> m_registers;
    std::vector<Step> m_steps;
};

/// A node to add: an operator of today's opset, or one of com.microsoft.
Node programNode(std::string type, std::string domain = {}, Attributes attributes = {});

} // namespace qs
