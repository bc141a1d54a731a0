// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/run/execution.h"

namespace qs {

/// A subgraph of a node, ready to run inside the node's step.
class Subgraph {
public:
    /// `inputs`: what is known of the subgraph's inputs. The node runs it for its first `outputs` outputs. An Issue
    /// names the inner node that cannot run. `reads` (LoweredNode::captures) is filled with what the subgraph needs
    /// from outside.
    static Result<Subgraph> make(const LowerContext& context, const std::string& attribute,
        std::span<const Fact> inputs, std::vector<bool>& reads);

    size_t inputCount() const { return graph().inputs().size(); }
    size_t outputCount() const { return graph().outputs().size(); }
    /// What is known of an output.
    const Fact& outputFact(size_t i) const { return plan().facts().of(graph().outputs()[i]); }
    /// All outputs depend on constants alone.
    bool isConstant() const;
    /// One run in the pool of the step. Inputs by graph input index; an invalid tensor is an input without a value.
    Result<std::vector<Tensor>> run(const StepContext& step, std::span<const Tensor> inputs) const;

private:
    struct Capture {
        size_t index; ///< into Node::captures
        ValueId inner;
    };
    const Plan& plan() const { return m_schedule->plan(); }
    const Graph& graph() const { return plan().graph(); }
    Status checkInput(size_t i, const Tensor& value) const;
    std::shared_ptr<const Schedule> m_schedule;
    std::vector<Capture> m_captures;
};

} // namespace qs
