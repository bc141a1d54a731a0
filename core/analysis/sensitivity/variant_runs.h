// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/number.h"
#include "core/analysis/pairs/fed_model.h"
#include "core/analysis/sensitivity/output_agreement.h"
#include "core/analysis/tasks/recognition.h"
#include "core/base/result.h"
#include "core/data/data_source.h"
#include "core/engine/run/sample_loop.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace qs {

/// What the outputs of a variant of a model are worth beside those of the reference, over all samples. Signal and noise
/// are summed over all outputs of a float type; elements that are not finite are left out.
struct OutputScore {
    struct Sums {
        double signal = 0, noise = 0; ///< sum of x^2, sum of (x - y)^2
        bool handedOn = false; ///< a state for the next run
        AgreementCounts agreed {}; ///< of sequences, masks and boxes, where they are asked for
        Number sqnrDb() const; ///< null when exact or without a signal
    };
    double signal = 0, noise = 0; ///< of all outputs
    size_t labels = 0, right = 0; ///< class of the first output against the label
    std::vector<Sums> outputs; ///< of each, in the reference's order
    size_t classes = 0, agreeing = 0; ///< the same against the class of the reference
    size_t positions = 0; ///< of prompts, where an output guesses next tokens and divergences are asked for
    double divergence = 0; ///< sum over these of KL(reference || variant)
    bool exact() const { return noise == 0; }
    Number sqnrDb() const; ///< null when exact or without a signal
    Number worstSqnrDb()
        const; ///< of the worst result (not handed on, if any is not), dB; null where all are exact or without a signal
    Number accuracy() const; ///< fraction; null without labels
    Number agreement() const; ///< fraction of samples; null where the first output is not for classes
    /// Of the output whose sequence, mask or boxes agree least; SIZE_MAX: there is none, or it was not asked for.
    size_t leastAgreeing() const;
    Number taskAgreement() const; ///< its share
    Number klMean() const; ///< by position; null where no output guesses next tokens, or it was not asked for
};

/// Runs many variants of one model over the same samples and scores their outputs. Values that a variant has in common
/// with the base models are computed once and taken from a cache; a variant whose outputs are known to be equal to an
/// earlier one's is not run. Scores are equal bits for any number of threads and any budget.
class VariantRuns {
public:
    struct Options {
        uint64_t cacheBytes = 0; ///< of the memory for values of the base models; samples that do not fit run in turns
        CarryNames carry; ///< then nothing is cached
        std::vector<size_t> outputs; ///< of the variants, by output of the reference; empty: the same order
        bool divergences = false; ///< of the first output that guesses next tokens, too
        TaskChoices tasks {}; ///< what the user says of the reference's outputs
        bool agreement = false; ///< of sequences, masks and boxes, too
    };
    using Plans = std::vector<std::shared_ptr<const Plan>>;
    using MakePlan = std::function<Result<std::shared_ptr<const Plan>>(size_t variant)>;

    /// `reference` gives the outputs to compare with. `bases`: models that the variants have much in common with; all
    /// plans must be made with one LoweringCache.
    static Result<VariantRuns> make(std::shared_ptr<const Plan> reference, Plans bases,
        std::shared_ptr<const DataSource> data, const Options& options, const WorkContext& work);
    /// What part of a phase a call does, for its progress.
    struct Share {
        size_t done, total; ///< variants before it, and in all; 0: what is asked for
    };
    /// Scores variants 0..count-1. `plan` is called from any worker, perhaps more than once a variant.
    Result<std::vector<OutputScore>> measure(
        size_t count, const MakePlan& plan, std::string_view phase, const Share& share = { 0, 0 });
    /// An output guesses next tokens, and divergences are asked for.
    bool guessesTokens() const { return m_guesses != SIZE_MAX; }
    /// Of the reference's outputs.
    const std::vector<OutputTask>& tasks() const { return m_tasks; }
    /// This plan takes the place of a base: the variants that follow have more in common with it.
    Status rebase(size_t base, std::shared_ptr<const Plan> plan);

private:
    struct Sample {
        Feed feed; ///< follows the reference's inputs; variants take theirs by name, else in order
        Hash128 key;
        std::vector<OutputValues> outputs; ///< of the reference; empty where they are no floats and nothing counts them
        std::vector<bool> real; ///< by output: floats
    };
    using Parts = std::vector<OutputScore>; ///< by feed of the turn
    struct Turn {
        size_t first = 0;
        std::vector<Sample> samples;
        std::unique_ptr<ActivationCache> cache;
        std::map<Hash128, Parts> known; ///< by what makes the outputs
    };
    /// How a model runs over one sample.
    struct Job {
        std::shared_ptr<const Schedule> schedule;
        const SampleWorker& worker;
        CacheUse use;
    };
    VariantRuns(Options options, const WorkContext& work, SampleLoop loop)
        : m_options(std::move(options))
        , m_work(work)
        , m_loop(std::move(loop))
    {
    }
    Status begin(size_t first, size_t count);
    Status runReference();
    Status runBase(const std::shared_ptr<const Plan>& base);
    size_t atOnce() const;
    Result<Parts> run(std::shared_ptr<const Plan> plan, const SampleWorker& worker);
    Result<FedModel> fed(const std::shared_ptr<const Plan>& plan) const;
    Result<Execution> execute(const Job& job, const Sample& sample, FedModel& model) const;
    OutputScore score(const Sample& sample, const Execution& execution, std::span<const ValueId> outputs) const;
    void addAgreement(
        OutputScore& total, const Sample& sample, const Execution& execution, std::span<const ValueId> outputs) const;
    void addClasses(OutputScore& total, const Sample& sample, const std::vector<float>& y, const Shape& shape) const;
    void addDivergence(OutputScore& total, const Sample& sample, const std::vector<float>& y, const Shape& shape) const;

    std::shared_ptr<const Plan> m_reference;
    std::vector<OutputTask> m_tasks; ///< of the reference's outputs
    std::vector<bool> m_counted; ///< by output: its values are needed for agreement
    size_t m_guesses = SIZE_MAX; ///< output that guesses next tokens; SIZE_MAX: none, or not asked for
    Plans m_bases;
    std::shared_ptr<const DataSource> m_data;
    Options m_options;
    WorkContext m_work;
    SampleLoop m_loop; ///< over samples, and over variants
    size_t m_turnFeeds = 1; ///< feeds whose values fit the cache
    std::unique_ptr<std::mutex> m_mutex = std::make_unique<std::mutex>();
    Turn m_turn; ///< stays where one turn is enough
};

} // namespace qs
