// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/cancel.h"
#include "core/engine/plan/plan.h"
#include "core/engine/run/activation_cache.h"

#include <map>
#include <memory>
#include <span>
#include <vector>

namespace qs {

/// What an execution does with values of earlier runs and for later ones.
enum class CacheUse {
    FindAndKeep, ///< what is made is kept for later runs
    FindAndKeepCodes, ///< the same, but not what DequantizeLinear nodes make, which costs four times its codes
    Find,
};

/// Values that an execution must produce and keep until they are taken.
struct Demand {
    std::vector<ValueId> values;
    std::vector<NodeId> unrounded; ///< nodes whose value before rounding is asked for too (see StepContext)
};

/// What a demand means for a plan: which kernels run, in which order, and how often each value is read. Made once,
/// shared by all executions.
class Schedule {
public:
    /// One kernel to run: a node, or a fused unit of the plan.
    struct Task {
        NodeId node; ///< names it
        NodeId last; ///< makes the outputs; differs from `node` in units
        const LoweredNode* lowered = nullptr;
        std::span<const ValueId> inputs, captures, outputs;
    };
    /// Fails when a demanded value cannot be computed.
    static Result<std::shared_ptr<const Schedule>> make(std::shared_ptr<const Plan> plan, Demand demand);
    const Plan& plan() const { return *m_plan; }
    const std::vector<Task>& tasks() const { return m_tasks; }
    /// Read by a task or demanded.
    bool reads(ValueId id) const { return m_reads[id.index()] > 0; }
    const Demand& demand() const { return m_demand; }
    /// Most bytes of values alive at one time in one execution, from the inferred sizes (unknown sizes count as 1).
    uint64_t estimatedPeakBytes() const;
    /// Bytes of the values that its tasks make and a cache would keep, by the same sizes.
    uint64_t estimatedKeptBytes(CacheUse use) const;
    /// Bytes of the constants that its tasks read, each counted once.
    uint64_t constantBytes() const;

private:
    friend class Execution;
    bool usesUnit(const FusedUnit& unit) const;
    /// Whether a cache keeps what the task makes.
    bool keeps(const Task& task, CacheUse use) const;
    std::shared_ptr<const Plan> m_plan;
    Demand m_demand;
    std::vector<Task> m_tasks; ///< in order
    std::vector<uint32_t> m_reads; ///< by value: scheduled uses, plus one when demanded
    std::vector<bool> m_unrounded; ///< by node
};

/// One run of a plan over one set of inputs, advanced step by step so that two plans can go in lockstep. A value is
/// dropped after its last use; a demanded one stays until release().
class Execution {
public:
    Execution(std::shared_ptr<const Schedule> schedule, BufferPool& pool);
    /// Inputs by graph input index; types and sizes are checked against the graph.
    Status bind(std::span<const Tensor> inputs);
    /// After bind(): what the cache has for this sample (the key of all inputs) is taken from there, tasks that are
    /// then not needed are passed over, and what is made is kept there unless `use` says otherwise. Nodes whose value
    /// before rounding or whose saturated pairs are asked for run always.
    void useCache(ActivationCache& cache, Hash128 sample, CacheUse use = CacheUse::FindAndKeep);
    /// Nodes may share their work among these threads; null: the calling thread alone. Bits are the same.
    void useTeam(WorkerTeam* team) { m_team = team; }
    /// A value that the graph does not make (of a subgraph: an input, or one of the graph around it); unchecked.
    void set(ValueId id, Tensor value);
    /// Tasks of the schedule that are done.
    size_t position() const { return m_next; }
    bool finished() const { return m_next >= m_schedule->tasks().size(); }
    /// Runs the next task. The issue names node and file.
    Status step(const CancelToken* cancel = nullptr);
    Status runAll(const CancelToken& cancel = {});
    /// Produced and not yet released (constants always).
    bool has(ValueId id) const;
    const Tensor& get(ValueId id) const;
    /// What nodes with saturating sums counted so far, by the node that makes the outputs.
    const std::map<NodeId, PairCounts>& pairCounts() const { return m_pairCounts; }
    const Tensor& unrounded(NodeId id) const; ///< invalid tensor when not asked for or not offered
    void release(ValueId id);

private:
    void consume(ValueId id);
    const Tensor* find(ValueId id) const;
    Status gather(const Schedule::Task& task);
    std::vector<bool> lastUses(const Schedule::Task& task) const;
    Status run(const Schedule::Task& task, const CancelToken* cancel);
    Issue located(const Schedule::Task& task, Issue issue) const;
    Issue noOutput(const Schedule::Task& task, size_t i) const;
    std::shared_ptr<const Schedule> m_schedule;
    BufferPool& m_pool;
    WorkerTeam* m_team = nullptr;
    ActivationCache* m_cache = nullptr; ///< where to keep what is made
    CacheUse m_use = CacheUse::Find;
    Hash128 m_sample;
    std::vector<bool> m_passedOver; ///< by task; empty = none
    std::vector<uint32_t> m_reads;
    std::vector<Tensor> m_values;
    std::map<NodeId, Tensor> m_unrounded;
    std::map<NodeId, PairCounts> m_pairCounts;
    std::vector<const Tensor*> m_inputs; ///< of the current task
    std::vector<const Tensor*> m_captures;
    std::vector<Tensor> m_converted;
    std::vector<Tensor> m_outputs;
    size_t m_next = 0;
};

} // namespace qs
