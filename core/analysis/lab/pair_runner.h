// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/detail_inputs.h"
#include "core/analysis/pairs/fed_model.h"
#include "core/analysis/pairs/pair_plan.h"
#include "core/engine/run/sample_loop.h"

#include <functional>
#include <span>
#include <vector>

namespace qs {

/// Runs both models of a comparison for some of their values, sample by sample.
class PairRunner {
public:
    /// Both tensors of one pair, plain and in float32.
    struct Values {
        Shape shape;
        std::vector<float> x, y;
    };
    static Result<PairRunner> make(const DetailInputs& inputs, std::vector<PairPlan> pairs);

    /// Hands the values of each wanted sample (ascending) to `use`: one a pair.
    using Use = std::function<void(size_t sample, const std::vector<Values>&)>;
    Status run(std::span<const size_t> samples, const WorkContext& work, const Use& use);

private:
    struct Model {
        std::shared_ptr<const Schedule> schedule;
        FedModel fed;
    };
    PairRunner(const DetailInputs& inputs, std::vector<PairPlan> pairs, Model floatModel, Model quantModel)
        : m_inputs(inputs)
        , m_pairs(std::move(pairs))
        , m_float(std::move(floatModel))
        , m_quant(std::move(quantModel))
    {
    }
    std::vector<size_t> feedsFor(std::span<const size_t> samples) const;
    Status runFeed(const Feed& feed, const SampleWorker& worker, const CancelToken& cancel);
    Status runModel(Model& model, Execution& execution, const Feed& feed, const CancelToken& cancel);

    DetailInputs m_inputs;
    std::vector<PairPlan> m_pairs;
    Model m_float, m_quant;
    std::vector<Values> m_values; ///< of the feed that was run last
};

} // namespace qs
