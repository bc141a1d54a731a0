// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lockstep/compare_options.h"
#include "core/analysis/lockstep/implementation_check.h"
#include "core/analysis/measure/measured.h"
#include "core/engine/run/carry.h"
#include "core/engine/run/execution.h"

namespace qs {

/// The parameters of a pair's quantizer in this run; computed ones are read, and their mean s^2 is added to
/// scaleSquare.
QuantParams pairParams(const PairPlan& plan, const Execution& q, double& scaleSquare);

/// Runs one feed through both plans, pair by pair in the float model's order, and hands each pair's tensors to the
/// sums as soon as both exist. One a worker; keeps its buffers.
class Lockstep {
public:
    /// What all workers share.
    struct Shared {
        const ComparePair* pair = nullptr;
        std::shared_ptr<const Schedule> floatSchedule, quantSchedule;
        std::shared_ptr<const Schedule> stageSchedule, writtenSchedule; ///< integer profiles: the file as written
        std::vector<ValueId> borders; ///< compared between the arithmetics
        std::vector<OutputPair> outputs;
        bool nodeAlone = false;
        bool histograms = true;
        std::vector<CarryLink> floatCarry, quantCarry;
        Measured* measured = nullptr;
        ActivationCache* activations = nullptr; ///< of earlier runs; not for samples that carry state
        bool keepFew = false; ///< of the quantized model's codes: another run after an edit, one of many
        uint64_t poolBytes = UINT64_MAX; ///< limit for each model's tensors in each worker
        size_t teamThreads = 1; ///< that each worker has for the nodes of its sample
    };
    /// Builds the schedules for the pairs of `measured`.
    static Status prepare(Shared& shared, const CompareOptions& options);

    explicit Lockstep(const Shared& shared)
        : m_shared(shared)
        , m_floatPool(shared.poolBytes)
        , m_quantPool(shared.poolBytes)
        , m_team(shared.teamThreads)
    {
    }
    Status run(const Feed& feed, const CancelToken& cancel);

private:
    Status bind(Execution& execution, const Plan& plan, const Feed& feed, const std::vector<CarryLink>& carry,
        std::vector<Tensor>& state, bool byFloatName);
    Status step(Execution& execution, const CancelToken& cancel);
    Status runWritten(Execution& q, const Feed& feed, const CancelToken& cancel);
    Status advance(Execution& execution, ValueId id, const CancelToken& cancel);
    Status measure(size_t index, Execution& f, Execution& q, const Feed& feed);
    void measureSamples(size_t index, const Feed& feed, const Shape& shape, const QuantParams& params, PairRun whole,
        PairHistograms* histograms, PairMeter::Counts counts);
    void measureOutput(size_t index, const Tensor& x, const Tensor& y, const Feed& feed);
    bool isWorthKeeping(const PairPlan& pair, const Tensor& value);
    void keepQuantized(const PairPlan& pair, const Execution& q); ///< for runs to come
    void keepState(Execution& execution, const std::vector<CarryLink>& carry, std::vector<Tensor>& state);

    const Shared& m_shared;
    BufferPool m_floatPool, m_quantPool;
    WorkerTeam m_team;
    std::vector<float> m_x, m_y, m_p, m_scratch;
    std::vector<Tensor> m_floatState, m_quantState, m_writtenState;
    uint64_t m_unkeptBytes = 0; ///< codes of this feed since those that were kept last
    Hash128 m_bound; ///< sampleKey of the last bind(), when there is a cache
    ImplementationCheck* m_check = nullptr; ///< follows the integer execution of the current feed
    const Execution* m_checked = nullptr;
};

} // namespace qs
