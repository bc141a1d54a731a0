// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/engine/step/epilogue.h"
#include "core/engine/step/step_context.h"
#include "core/kernels/elementwise/element_program.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace qs {

/// Runs one node. Called from several workers at once: whatever it caches is behind a mutex. An Issue names what does
/// not fit (the executor adds node and file).
using StepFn = std::function<Status(StepContext&)>;

/// Which memory layouts a step takes.
enum class LayoutRule {
    Plain, ///< the executor hands over plain tensors only
    Any, ///< the step looks at Tensor::layout() itself and may return channels-last outputs
};

struct LoweredNode {
    StepFn run;
    std::string kernel; ///< what was chosen, for people: "onednn conv", "reference", "highway quantize"
    LayoutRule layouts = LayoutRule::Plain;
    bool offersUnrounded = false;
    bool countsPairs = false; ///< saturates: fills StepContext::pairCounts()
    bool replaces = false; ///< looks at StepContext::mayReplace()
    bool takesContainers = false; ///< inputs may be sequences, maps, empty optionals (core/tensor/container.h)
    bool foldable = true; ///< false: even with constant inputs it must run each time (random numbers, loops)
    /// Of a node with subgraphs, by index into Node::captures: what the step reads. Nothing else is kept for it.
    std::vector<bool> captures = {};
    /// Element-wise float32 functions of inputs 0 and 1 say what they are, so that several can run as one.
    std::shared_ptr<const ElementOp> element = {};
    /// Like `run`, by steps that make float32 outputs in pieces; `epilogue` is not asked when the output is none.
    std::function<Status(StepContext&, const EpilogueFn& epilogue)> runInPieces = {};
};

} // namespace qs
