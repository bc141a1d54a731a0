// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/session/agent_session.h"
#include "core/quant/recipe/recipe_state.h"

#include <vector>

namespace qs {

/// Work that is the agent's alone: nobody else sees it.
class OwnSession : public AgentSession {
public:
    /// Opens the models and the samples. `inputs.recipe`, or without a quantized file the preset of this program, is
    /// the recipe of the first step. Nothing is run.
    static Result<OwnSession> open(Inputs inputs, Check check, const WorkContext& work);

    /// As opened: no comparison.
    const SnapshotPtr& models() const override { return m_models; }
    Inputs present() const override;
    Result<SnapshotPtr> compared(const WorkContext& work) override;
    Result<SnapshotPtr> tried(size_t most, const WorkContext& work) override;
    /// Neither was run unless by compared().
    Result<SnapshotPtr> ready(const WorkContext& work) override;
    Result<SnapshotPtr> quantized(const WorkContext& work) override;
    Result<Recipe> recipe(const WorkContext& work) override;
    Status edit(std::string text, const Recipe& before, Recipe after, const WorkContext& work) override;
    Status undo(size_t steps, const WorkContext& work) override;
    Status redo(size_t steps, const WorkContext& work) override;
    bool isFile() const override { return !m_steps[m_step].recipe; }
    size_t step() const override { return m_step; }
    size_t steps() const override { return m_steps.size(); }
    std::string stepText(size_t step) const override { return m_steps[step].text; }

private:
    OwnSession(Inputs inputs, Check check, std::optional<Recipe> recipe);
    Result<SnapshotPtr> build(const Inputs& inputs, const WorkContext& work) const;
    void goTo(size_t step);

    struct Step {
        std::string text;
        std::optional<Recipe> recipe; ///< nothing: the quantized file as it lies there
    };
    Inputs m_inputs; ///< without a recipe
    Check m_check;
    SnapshotPtr m_models;
    std::optional<Recipe> m_readBack; ///< of the quantized file
    std::vector<Step> m_steps;
    size_t m_step = 0;
};

} // namespace qs
