// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/cancel.h"
#include "core/base/work/worker_team.h"
#include "core/kernels/codes/saturated_pair.h"
#include "core/tensor/buffer_pool.h"

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace qs {

/// Thrown by a step for a node that cannot mean anything; the executor makes an Issue of it.
class MalformedNode : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Its operator requires an input that it does not have.
class AbsentInput : public MalformedNode {
public:
    explicit AbsentInput(size_t index)
        : MalformedNode("required input " + std::to_string(index) + " is missing")
    {
    }
};

/// Pairs of products that a node added up in 16 bits, and how many of them saturated.
struct PairCounts {
    uint64_t pairs = 0;
    std::vector<uint64_t> saturated; ///< by output channel (column)
    SaturatedPair worst; ///< loses most; nothing where none saturated
};

/// What one execution of one node sees. Inputs and outputs are in node order; captures are the values that its
/// subgraphs read from the graph around it, in the order of Node::captures.
class StepContext {
public:
    StepContext(std::span<const Tensor* const> inputs, std::span<Tensor> outputs, BufferPool& pool,
        std::span<const Tensor* const> captures = {}, const CancelToken* cancel = nullptr)
        : m_inputs(inputs)
        , m_captures(captures)
        , m_outputs(outputs)
        , m_pool(pool)
        , m_cancel(cancel)
    {
    }
    size_t inputCount() const { return m_inputs.size(); }
    /// Null for an absent optional input.
    const Tensor* input(size_t i) const { return i < m_inputs.size() ? m_inputs[i] : nullptr; }
    /// A required input. Throws AbsentInput when the node does not have it.
    const Tensor& in(size_t i) const
    {
        if (i >= m_inputs.size() || !m_inputs[i])
            throw AbsentInput(i);
        return *m_inputs[i];
    }
    const Tensor& capture(size_t i) const { return *m_captures[i]; } ///< one of LoweredNode::captures
    size_t outputCount() const { return m_outputs.size(); }
    /// Outputs that the node does not name are dropped.
    void setOutput(size_t i, Tensor t)
    {
        if (i < m_outputs.size())
            m_outputs[i] = std::move(t);
    }
    /// Nobody reads the value of input i after this step, nobody else has its storage, and the step has it as no other
    /// input: an output that is made of it element by element may take its place.
    bool mayReplace(size_t i) const
    {
        return i < m_lastUse.size() && m_lastUse[i] && m_inputs[i] && m_inputs[i]->soleOwner();
    }
    void tellLastUses(std::vector<bool> byInput) { m_lastUse = std::move(byInput); }
    /// Storage for outputs and scratch from this worker's pool.
    Tensor allocate(DType type, Shape shape, Layout layout = Layout::Plain) const
    {
        return m_pool.allocate(type, std::move(shape), layout);
    }
    /// The same elements in the asked layout (no copy when it already is).
    Tensor toLayout(const Tensor& t, Layout layout) const { return m_pool.toLayout(t, layout); }
    /// QLinear* and other requantizing nodes: when asked, also give the float32 value before rounding
    /// (accumulator x scale, same shape and layout as output 0).
    bool wantsUnrounded() const { return m_unrounded != nullptr; }
    void setUnrounded(Tensor t) { *m_unrounded = std::move(t); }
    void askUnrounded(Tensor* target) { m_unrounded = target; }
    /// Nodes that saturate: where to add their counts; null when nobody asks.
    PairCounts* pairCounts() const { return m_pairCounts; }
    void askPairCounts(PairCounts* target) { m_pairCounts = target; }
    /// Calls work(index, worker) for every index below `count`, on all threads that this execution has; worker is below
    /// workers(). What is computed must not depend on who computes it. After a cancellation the rest is left out: the
    /// outputs are then worth nothing, and the executor drops them.
    void parallel(size_t count, const std::function<void(size_t index, size_t worker)>& work) const
    {
        const auto unlessCancelled = [&](size_t index, size_t worker) {
            if (!isCancelled())
                work(index, worker);
        };
        if (m_team)
            return m_team->run(count, unlessCancelled);
        for (size_t i = 0; i < count; ++i)
            unlessCancelled(i, 0);
    }
    size_t workers() const { return m_team ? m_team->threads() : 1; }
    void useTeam(WorkerTeam* team) { m_team = team; }
    WorkerTeam* team() const { return m_team; }
    /// For steps that run a graph of their own.
    BufferPool& pool() const { return m_pool; }
    /// Steps that may take long (loops) look at it now and then and return cancelled().
    bool isCancelled() const { return m_cancel && m_cancel->cancelled(); }
    const CancelToken* cancelToken() const { return m_cancel; }

private:
    std::span<const Tensor* const> m_inputs;
    std::span<const Tensor* const> m_captures;
    std::span<Tensor> m_outputs;
    BufferPool& m_pool;
    const CancelToken* m_cancel;
    std::vector<bool> m_lastUse; ///< by input; empty: unknown
    Tensor* m_unrounded = nullptr;
    PairCounts* m_pairCounts = nullptr;
    WorkerTeam* m_team = nullptr;
};

} // namespace qs
