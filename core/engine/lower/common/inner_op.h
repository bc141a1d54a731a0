// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/step/lower_context.h"

namespace qs {

/// An operator of the registry that does part of another operator's work.
class InnerOp {
public:
    /// `inputs` says for each input what is known of it.
    struct Input {
        DType type = DType::Undefined;
        Tensor constant; ///< invalid when it is computed
        bool present = true;
    };
    /// `node` needs type, domain, opset and attributes only.
    static Result<InnerOp> make(Node node, std::vector<Input> inputs, KernelMode mode, size_t outputs = 1,
        PairSaturation saturation = PairSaturation::None);
    /// What is known of input `slot` of the operator that is being lowered.
    static Input of(const LowerContext& c, size_t slot);

    /// First output for these inputs (null: absent), with storage of the outer step.
    Result<Tensor> run(const StepContext& outer, const std::vector<const Tensor*>& inputs) const;
    /// All outputs; `unrounded` as StepContext::askUnrounded().
    Result<std::vector<Tensor>> runAll(
        const StepContext& outer, const std::vector<const Tensor*>& inputs, Tensor* unrounded = nullptr) const;
    const LoweredNode& lowered() const { return m_lowered; }
    const std::string& kernel() const { return m_lowered.kernel; }

private:
    std::shared_ptr<const Node> m_node; ///< lowered steps may point to it
    std::vector<Tensor> m_constants;
    LoweredNode m_lowered;
};

/// A node for InnerOp.
Node innerNode(std::string type, std::string domain = {}, int opset = 21);

} // namespace qs
