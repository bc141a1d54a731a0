// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/work_context.h"
#include "core/project/snapshot/snapshot.h"
#include "core/quant/recipe/recipe_state.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace qs {

using AgentJson = nlohmann::ordered_json;

/// One state of the work; the first is what was opened.
struct AgentStep {
    std::string text; ///< what the edit was
    std::optional<Recipe> recipe; ///< nothing: the quantized file as it lies there
};

/// One piece of work: a float model, a quantized one as a file or by a recipe, samples, every edit of the recipe with
/// undo and redo, and the last comparison.
class AgentSession {
public:
    /// What a snapshot that was made may not be: asked each time.
    using Check = std::function<Status(const Snapshot&)>;

    /// Opens the models and the samples. `inputs.recipe`, or without a quantized file the preset of this program, is
    /// the recipe of the first step.
    static Result<AgentSession> open(Inputs inputs, Check check, const WorkContext& work);

    /// As opened: both models, no comparison.
    const SnapshotPtr& models() const { return m_models; }
    /// What is asked by the present step.
    Inputs present() const;

    /// The comparison of the present step; done again only where something changed. Issues: no samples, whatever the
    /// run reports.
    Result<SnapshotPtr> compared(const WorkContext& work);
    /// The last one that was made; null before the first. It may be of another step.
    const SnapshotPtr& comparison() const { return m_comparison; }
    bool upToDate() const; ///< the comparison is there, and of the present step
    /// The same comparison with more in its findings.
    void replaceComparison(SnapshotPtr comparison);
    /// `compare --json` of the last comparison, made once.
    const AgentJson& document();
    /// The models of the present step, paired where there are two, with samples; neither was run unless by compared().
    Result<SnapshotPtr> ready(const WorkContext& work);
    /// The present step's quantized model made by its recipe, without a comparison. Issue: it is a file.
    Result<SnapshotPtr> quantized(const WorkContext& work);

    /// The recipe of the present step; where that is a file, what can be read out of it.
    Result<Recipe> recipe(const WorkContext& work);
    /// The edit becomes the present step; steps that were undone are gone.
    void edit(std::string text, Recipe recipe);
    /// To another step; false where there is none.
    bool goTo(size_t step);
    const std::vector<AgentStep>& steps() const { return m_steps; }
    size_t step() const { return m_step; }

    /// Kept beside the step that it was made of, until the next edit, undo or redo.
    struct Measured {
        std::string question;
        AgentJson answer;
    };
    std::optional<Measured> measured;

private:
    AgentSession(Inputs inputs, Check check, std::optional<Recipe> recipe);
    Result<SnapshotPtr> build(const Inputs& inputs, const WorkContext& work) const;

    Inputs m_inputs; ///< without a recipe
    Check m_check;
    SnapshotPtr m_models, m_comparison;
    std::optional<AgentJson> m_document;
    std::optional<Recipe> m_readBack; ///< of the quantized file
    std::vector<AgentStep> m_steps;
    size_t m_step = 0;
};

} // namespace qs
