// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/blame/blamed_text.h"
#include "core/analysis/blame/value_cuts.h"
#include "core/analysis/blame/weight_blocks.h"
#include "core/engine/run/sample_loop.h"

#include <map>
#include <vector>

namespace qs {

/// Some parts of a product's weight are those of the other model.
struct ExchangedParts {
    const BlockedProduct* product = nullptr; ///< null: none
    int64_t parts = 0; ///< the first ones
};

/// The rivals, and score(float's) − score(quantized's) of them in either model.
struct Rivals {
    int64_t floatId = 0, quantId = 0;
    double floatDifference = 0, quantDifference = 0;
};

/// The rivals' difference where two models change places.
struct MixedDifferences {
    double behind = 0; ///< behind the border one model, before it the other
    std::vector<double> between; ///< from the border to each of the ends that model, before and behind the other
};

/// One text, run by models that are partly float and partly quantized. Border 0 lies before all, the cuts' borders
/// count from 1, and lastBorder() lies behind all.
class MixedRuns {
public:
    MixedRuns(const ComparePair& pair, ValueId x, ValueId y, CutModels models, BlamedText text, CancelToken cancel);
    const CutModels& models() const { return m_models; }
    const Rivals& rivals() const { return m_rivals; }
    size_t lastBorder() const { return m_models.cuts.size() + 1; }

    /// Runs both models; borders at values of unlike sizes are none from then on. Issues: an output that holds no
    /// scores; a model cannot run; cancelled. Before all others; those run on several threads.
    Status runBoth(const SampleWorker& worker);
    /// The quantized model behind the border if `quantized`, else the float one.
    Result<MixedDifferences> at(size_t border, bool quantized, const std::vector<size_t>& ends,
        const SampleWorker& worker, const ExchangedParts& exchanged = {}) const;

private:
    using GivenValues = std::map<ValueId, Tensor>;
    Result<std::vector<float>> scores(
        Execution& run, bool quantized, const GivenValues& given, const ExchangedParts& exchanged = {}) const;
    std::shared_ptr<const Schedule> scheduleOf(bool quantized) const;
    double difference(const std::vector<float>& scores) const;
    void chooseRivals(const std::vector<float>& xs, const std::vector<float>& ys);

    const ComparePair& m_pair;
    const ValueId m_x, m_y;
    CutModels m_models;
    const BlamedText m_text;
    const CancelToken m_cancel;
    GivenValues m_floats, m_quants; ///< at the borders, by value of the one model and of the other
    Rivals m_rivals;
};

} // namespace qs
