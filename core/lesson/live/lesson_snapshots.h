// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/file/lesson.h"
#include "core/project/snapshot/build_snapshot.h"

#include <map>
#include <memory>
#include <vector>

namespace qs {

/// What a setup asks for: an ordinary session, whose recipe is that of the setup with `changes` merged into it (as JSON
/// merge patches are: null takes a key away). Issues: a recipe that is none.
Result<Inputs> inputsOf(const Lesson& lesson, const LessonSetup& setup, const LessonJson& changes = nullptr);

/// The changes of a recipe that somebody types: a JSON object, or "path=value path=value" with values as JSON or plain
/// words, lists divided at commas, and parts of a path in quotes where they hold dots. Issues say what is wrong.
Result<LessonJson> recipeChanges(const std::string& text);

/// Makes snapshots, and keeps the last ones: many steps and seeds ask for the same.
class LessonSnapshots {
public:
    explicit LessonSnapshots(RunSettings settings = {}, ProgressFn progress = {}, CancelToken cancel = {})
        : m_settings(settings)
        , m_progress(std::move(progress))
        , m_cancel(std::move(cancel))
    {
    }
    /// Issues: what buildSnapshot() says; a setup that compares nothing.
    Result<SnapshotPtr> of(const Inputs& inputs);
    /// What facts have measured of a snapshot that is kept: many steps and seeds ask for it again.
    std::shared_ptr<LessonJson> measured(const SnapshotPtr& snapshot);
    WorkContext work() const { return workFor(m_settings, {}, m_cancel); }

private:
    RunSettings m_settings;
    ProgressFn m_progress;
    CancelToken m_cancel;
    std::vector<SnapshotPtr> m_kept; ///< the last one that was asked for at the end
    std::map<const Snapshot*, std::shared_ptr<LessonJson>> m_measured;
};

} // namespace qs
