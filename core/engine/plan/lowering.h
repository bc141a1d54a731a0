// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/cancel.h"
#include "core/base/work/worker_team.h"
#include "core/graph/graph.h"
#include "core/kernels/elementwise/element_program.h"
#include "core/kernels/product/float_rows.h"
#include "core/ops/op.h"
#include "core/tensor/buffer_pool.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace qs {

enum class KernelMode {
    Fast, ///< the best kernel of this build for this CPU
    Reference, ///< naive loops in double / int64
};

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

/// Which products of codes lose bits in 16-bit pair sums (see core/kernels/quantize/pair_saturation.h).
enum class PairSaturation {
    None, ///< exact sums
    AsTyped, ///< where the left codes are unsigned and the right ones signed
    ShiftedLeft, ///< signed left codes count as unsigned ones, 128 higher: the runtime shifts them before it multiplies
};

/// Pairs of products that a node added up in 16 bits, and how many of them saturated.
struct PairCounts {
    uint64_t pairs = 0;
    std::vector<uint64_t> saturated; ///< by output channel (column)
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

/// Runs one node. Called from several workers at once: whatever it caches is behind a mutex. An Issue names what does
/// not fit (the executor adds node and file).
using StepFn = std::function<Status(StepContext&)>;

/// Told of elements begin .. end-1 (memory order) of an output as soon as they are made, which may then be replaced.
/// Called from several threads at once, for different elements.
using PieceFn = std::function<void(float* y, size_t begin, size_t end, size_t worker)>;
/// What becomes of an output made in pieces: `take` of each piece, or instead and with equal bits, `tail` of each
/// element and then `behindTail` of each piece, where there is a tail.
struct Finish {
    PieceFn take; ///< empty: leave the output alone
    std::optional<SumTail> tail;
    Tensor
        home; ///< where there is a tail: memory of the output's type, shape and layout to use instead; may be invalid
    PieceFn behindTail; ///< may be empty
};
/// Asked when a float32 output is allocated and its shape and layout are known.
using FinishFn = std::function<Finish(const Tensor& y)>;

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
    /// Like `run`, by steps that make float32 outputs in pieces; `finish` is not asked when the output is none.
    std::function<Status(StepContext&, const FinishFn& finish)> runInPieces = {};
};

class Plan;

/// Makes the plan of a subgraph of the node that is lowered; `inputs` is what is known of the subgraph's inputs.
using SubPlanFn
    = std::function<std::shared_ptr<const Plan>(std::shared_ptr<const Graph> graph, std::span<const Fact> inputs)>;

/// What a lowering function knows when the plan is made.
struct LowerContext {
    const Node& node;
    std::span<const Tensor* const> constants; ///< one a node input: its constant value, or null
    std::span<const DType> inputTypes; ///< Undefined where unknown or absent
    KernelMode mode = KernelMode::Fast;
    std::span<const std::string> captureNames = {}; ///< of Node::captures
    SubPlanFn subPlan = {};
    PairSaturation saturation = PairSaturation::None;
    bool wideQuotients = false; ///< QuantizeLinear divides float16 in float32, as ONNX Runtime does (integer profiles)
    int64_t channelBlock = 0; ///< of com.microsoft.nchwc nodes: channels in a block of the graph's images and filters

    const Tensor* constant(size_t i) const { return i < constants.size() ? constants[i] : nullptr; }
    DType inputType(size_t i) const { return i < inputTypes.size() ? inputTypes[i] : DType::Undefined; }
};

/// Chooses kernels and packs constant weights. An Issue says why the node cannot run ("input type complex64 ...").
using LowerFn = Result<LoweredNode> (*)(const LowerContext& context);

class LoweringRegistry {
public:
    void add(std::string_view domain, std::string_view type, LowerFn fn)
    {
        m_entries[{ std::string(domain), std::string(type) }] = fn;
    }
    LowerFn find(const Node& node) const
    {
        const auto it = m_entries.find({ node.domain, node.opType });
        return it == m_entries.end() ? nullptr : it->second;
    }
    const auto& all() const { return m_entries; }

private:
    std::map<std::pair<std::string, std::string>, LowerFn> m_entries;
};

/// The registry of this build.
const LoweringRegistry& loweringRegistry();

// One a family, in core/engine/lower/<family>.cpp (same families as core/ops), called by loweringRegistry().
void lowerElementwise(LoweringRegistry&);
void lowerQuant(LoweringRegistry&);
void lowerConv(LoweringRegistry&);
void lowerMatmul(LoweringRegistry&);
void lowerNorm(LoweringRegistry&);
void lowerReduce(LoweringRegistry&);
void lowerShape(LoweringRegistry&);
void lowerIndex(LoweringRegistry&);
void lowerIntegerProduct(LoweringRegistry&);
void lowerMicrosoft(LoweringRegistry&);
void lowerAttentions(LoweringRegistry&);
void lowerLosses(LoweringRegistry&);
void lowerVision(LoweringRegistry&);
void lowerAlgebra(LoweringRegistry&);
void lowerText(LoweringRegistry&);
void lowerRandom(LoweringRegistry&);
void lowerMl(LoweringRegistry&);
void lowerControl(LoweringRegistry&);
void lowerSequences(LoweringRegistry&);
void lowerRecurrent(LoweringRegistry&);
void lowerAudio(LoweringRegistry&);

} // namespace qs
