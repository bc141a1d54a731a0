// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/findings/remedy.h"
#include "core/analysis/rows/range_use.h"
#include "core/analysis/sensitivity/variant_runs.h"
#include "core/project/snapshot/build_context.h"
#include "core/project/snapshot/comparing.h"
#include "core/project/snapshot/quantized_model.h"
#include "core/project/snapshot/snapshot.h"

#include <optional>
#include <vector>

namespace qs {

/// Changes that were made and measured at the outputs, against the quantized model as it is by the same arithmetic.
struct Trial {
    std::vector<Remedy> changes;
    Number gainDb; ///< of the SQNR of the worst output; null: they cannot be made
    Number accuracyGain; ///< percentage points; null without labels
    Number top1Gain; ///< percentage points of samples with the float model's class
    Number agreementGain; ///< percentage points of what the task of the output that agrees least counts
    TaskKind agreementOf = TaskKind::Values; ///< which task that is
    bool inFile = false; ///< made in the quantized file itself
};

/// Makes remedies and measures what they give. A recipe is changed where one makes the quantized model; else the
/// changes are made in the file itself, which stays as it is otherwise, and where that cannot be, in a recipe that
/// comes close to the file.
class RemedyTrials {
public:
    /// The snapshot must hold a comparison over all samples. Issues: nothing stands for the model; cancelled.
    /// `threads`: 0 = those of the snapshot.
    static Result<RemedyTrials> make(
        const SnapshotPtr& snapshot, const ProgressFn& progress, const CancelToken& cancel, size_t threads = 0);

    /// Measures those that were not yet; afterwards known() has all of them. `total`: for progress.
    Status measure(const std::vector<std::vector<Remedy>>& choices, size_t total);
    /// The quantized model with these changes, to be written. Issues: they cannot be made; cancelled.
    Result<GraphDraft> draftOf(const std::vector<Remedy>& changes);
    /// The recipe with ranges of the samples that judge, in place of its calibration data; nothing where it was
    /// calibrated with these, or no recipe makes the quantized model. Issue: cancelled.
    Result<std::optional<Trial>> calibratedAsJudged();
    const Trial* known(const std::vector<Remedy>& changes) const;
    size_t tried() const { return m_trials.size(); }
    /// SQNR of the worst output now, dB.
    Number before() const { return m_now.empty() ? Number() : m_now.front().db; }
    bool byRecipe() const { return m_recipe && m_close; } ///< changes of the recipe tell what they do to the model
    const Recipe* recipe() const { return m_recipe ? &m_recipe->as : nullptr; } ///< null: none stands for it
    bool inFile() const { return !m_exact; } ///< changes are made in the quantized file
    /// The model with these changes is measured with sums of pairs that saturate in 16 bits, as this CPU makes them.
    bool saturates(const std::vector<Remedy>& changes) const;
    /// What is to be said of that after a remedy, a sentence; empty where nothing is.
    std::string arithmeticText(const std::vector<Remedy>& changes) const;
    /// Some quantizer stands at what the value's node reads or makes.
    bool isQuantized(const ActivationRow& row) const { return isQuantizedNode(comparePairOf(*m_snapshot), row); }

private:
    RemedyTrials(const SnapshotPtr& snapshot, const ProgressFn& progress, const CancelToken& cancel);
    Status begin();
    bool hasFewerBits() const;
    Status findRecipe();
    bool isOtherNetwork() const;
    ArithmeticProfile profileOf(const std::vector<Remedy>& changes) const;
    Status scoreNow(const std::vector<Remedy>& changes);
    Result<OutputScore> score(const std::shared_ptr<const Plan>& plan);
    struct Made {
        std::vector<Remedy> changes;
        std::shared_ptr<const Plan> plan;
        bool inFile = false;
    };
    Result<Made> made(const std::vector<Remedy>& changes);
    Result<std::shared_ptr<const Plan>> planOf(const Recipe& recipe, const std::vector<Remedy>& changes = {});
    bool byRecipe(const std::vector<Remedy>& changes) const;
    bool inFile(const std::vector<Remedy>& changes) const;
    Recipe recipeWith(const std::vector<Remedy>& changes) const;
    Result<QuantizedModel> quantized(const Recipe& recipe, std::shared_ptr<const DataSource> data);
    Result<std::shared_ptr<const Plan>> ready(
        std::shared_ptr<const Model> model, const std::vector<Remedy>& changes = {}) const;
    Status run(const std::vector<Made>& variants);
    Trial trialOf(std::vector<Remedy> changes, const std::optional<OutputScore>& after) const;
    std::shared_ptr<const DataSource> calibrationData() const;

    struct Base {
        Recipe as; ///< makes what the file is
        Recipe fresh; ///< finds its ranges anew
    };
    SnapshotPtr m_snapshot;
    ProgressFn m_progress;
    const CancelToken& m_cancel;
    WorkContext m_work;
    EngineCaches m_caches;
    std::optional<Base> m_recipe; ///< nothing where the file does not show one
    bool m_exact = false; ///< the recipe makes the quantized model itself
    bool m_close = false; ///< about the same at the output
    bool m_other = false; ///< the file is another network: what quantizes the float model does not stand for it
    std::optional<VariantRuns> m_runs;
    struct Now {
        ArithmeticProfile profile;
        OutputScore score;
        Number db; ///< of the worst output
    };
    std::vector<Now> m_now; ///< the model as it is, by each arithmetic that changes are measured with
    std::vector<Trial> m_trials;
};

} // namespace qs
