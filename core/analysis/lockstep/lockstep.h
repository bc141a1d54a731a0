// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/agreement/padded_positions.h"
#include "core/analysis/lockstep/compare_options.h"
#include "core/analysis/lockstep/implementation_check.h"
#include "core/analysis/measure/measured.h"
#include "core/analysis/pairs/fed_model.h"
#include "core/engine/run/sample_loop.h"

#include <map>
#include <optional>

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
        std::optional<TextPositions> text; ///< of a language model whose prompts may be padded
        bool nodeAlone = false;
        bool histograms = true;
        std::map<std::string, Tensor> initialStates; ///< of carried inputs, where the data give them
        std::optional<FedModel> floatModel, quantModel, writtenModel; ///< before the first sample
        Measured* measured = nullptr;
        ActivationCache* activations = nullptr; ///< of earlier runs; not for samples that carry state
        bool keepFew = false; ///< of the quantized model's codes: another run after an edit, one of many
        uint64_t poolBytes = UINT64_MAX; ///< limit for each model's tensors in each worker
    };
    /// Builds the schedules for the pairs of `measured`.
    static Status prepare(Shared& shared, const CompareOptions& options);

    Lockstep(const Shared& shared, const SampleWorker& worker)
        : m_shared(shared)
        , m_worker(worker)
        , m_quantPool(shared.poolBytes)
        , m_float(*shared.floatModel)
        , m_quant(*shared.quantModel)
        , m_written(shared.writtenModel)
    {
    }
    Status run(const Feed& feed, const CancelToken& cancel);

private:
    Execution quantExecution(std::shared_ptr<const Schedule> schedule);
    Status bind(Execution& execution, const FedModel& model, const Feed& feed);
    Status step(Execution& execution, const CancelToken& cancel);
    Status runWritten(Execution& q, const Feed& feed, const CancelToken& cancel);
    Status advance(Execution& execution, ValueId id, const CancelToken& cancel);
    Status measure(size_t index, Execution& f, Execution& q, const Feed& feed);
    void measureSamples(size_t index, const Feed& feed, const Shape& shape, const QuantParams& params, PairRun whole,
        PairHistograms* histograms, PairMeter::Counts counts);
    const QuantParams* outputParams(const OutputPair& out) const; ///< of its codes; null where it holds none
    /// Whole numbers say which elements are meant: equal or not, and no noise.
    void measureWhole(size_t index, const Tensor& x, const Tensor& y, const Feed& feed);
    /// The elements of one sample that count, of so many: all but those of padding.
    ElementRuns counted(ValueId value, const Shape& shape, size_t sample, size_t count, bool wholeRows = false) const;
    void measureOutput(size_t index, const Tensor& x, const Tensor& y, const Feed& feed);
    void measureScores(size_t cell, const OutputPair& out, const float* x, const float* y, const ScoreRows& rows,
        const PromptTokens* prompt);
    void measureMask(size_t cell, const OutputPair& out, const float* x, const float* y, const MaskLayout& layout);
    /// Where this output has the numbers of boxes. An Issue where the user said so and the values cannot be boxes.
    Status measureBoxes(size_t index, Execution& f, Execution& q, const Feed& feed, const CancelToken& cancel);
    bool isWorthKeeping(const PairPlan& pair, const Tensor& value);
    void keepQuantized(const PairPlan& pair, const Execution& q); ///< for runs to come

    const Shared& m_shared;
    const SampleWorker m_worker; ///< its buffers are the float model's
    BufferPool m_quantPool;
    FedModel m_float, m_quant;
    std::optional<FedModel> m_written;
    std::vector<float> m_x, m_y, m_p, m_scratch, m_factored;
    std::optional<PaddedPositions> m_padded; ///< positions of the current feed
    uint64_t m_unkeptBytes = 0; ///< codes of this feed since those that were kept last
    Hash128 m_bound; ///< sampleKey of the last bind(), when there is a cache
    ImplementationCheck* m_check = nullptr; ///< follows the integer execution of the current feed
    const Execution* m_checked = nullptr;
};

} // namespace qs
