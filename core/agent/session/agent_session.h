// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/work_context.h"
#include "core/project/snapshot/snapshot.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace qs {

using AgentJson = nlohmann::ordered_json;

/// One piece of work that an agent may look at and edit: a float model, a quantized one as a file or by a recipe,
/// samples, every edit of the recipe with undo and redo, and the last comparison. Whose work it is, who derives says.
/// Used by one thread.
class AgentSession {
public:
    /// What a snapshot that was made may not be: asked each time.
    using Check = std::function<Status(const Snapshot&)>;

    AgentSession() = default;
    AgentSession(AgentSession&&) = default;
    AgentSession& operator=(AgentSession&&) = default;
    virtual ~AgentSession() = default;

    /// Takes up what others did to the work meanwhile; called before each use. Issue: there is no work any more.
    virtual Status look(const WorkContext&) { return {}; }
    /// The models that are open; a comparison only where there happens to be one.
    virtual const SnapshotPtr& models() const = 0;
    /// What is asked by the present step.
    virtual Inputs present() const = 0;

    /// The comparison of the present step; done again only where something changed. Issues: no samples, whatever the
    /// run reports.
    virtual Result<SnapshotPtr> compared(const WorkContext& work) = 0;
    /// The last one that was told; null before the first. It may be of another step.
    const SnapshotPtr& comparison() const { return m_comparison; }
    bool upToDate() const; ///< the comparison is there, and of the present step
    /// The present step's comparison with the remedies of the first findings tried, at most so many.
    virtual Result<SnapshotPtr> tried(size_t most, const WorkContext& work) = 0;
    /// `compare --json` of the last comparison, made once.
    const AgentJson& document();
    /// The models of the present step, paired where there are two, with samples.
    virtual Result<SnapshotPtr> ready(const WorkContext& work) = 0;
    /// The present step's quantized model made by its recipe. Issue: it is a file.
    virtual Result<SnapshotPtr> quantized(const WorkContext& work) = 0;

    /// The recipe of the present step; where that is a file, what can be read out of it.
    virtual Result<Recipe> recipe(const WorkContext& work) = 0;
    /// The edit becomes the present step; steps that were undone are gone. `before` is what it began with. Issue: it
    /// may not be edited now.
    virtual Status edit(std::string text, const Recipe& before, Recipe after, const WorkContext& work) = 0;
    /// So many steps back, or forward where they were undone. Issues: there are not so many; it may not be.
    virtual Status undo(size_t steps, const WorkContext& work) = 0;
    virtual Status redo(size_t steps, const WorkContext& work) = 0;
    virtual bool isFile() const = 0; ///< the present step is the quantized file as it lies there
    virtual size_t step() const = 0; ///< 0 is what was opened
    virtual size_t steps() const = 0; ///< all, done and undone, with step 0
    virtual std::string stepText(size_t step) const = 0; ///< what the edit was

    /// Kept beside the step that it was made of, until the next edit, undo or redo.
    struct Measured {
        std::string question;
        AgentJson answer;
    };
    std::optional<Measured> measured;
    SnapshotPtr listed; ///< whose findings were told last: what their indices mean

protected:
    void tell(SnapshotPtr comparison);

    SnapshotPtr m_comparison;

private:
    std::optional<AgentJson> m_document;
};

/// Issue of undo and redo.
Issue notSoManySteps(bool redo, size_t most);

} // namespace qs
