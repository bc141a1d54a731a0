// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/check/live_step.h"

#include "core/lesson/file/lesson_folder.h"
#include "core/lesson/file/lesson_markdown.h"
#include "core/lesson/live/live_text.h"

namespace qs {

Result<LiveStep> LiveStep::make(const Lesson& lesson, size_t index, LessonSnapshots& snapshots)
{
    LiveStep live;
    live.m_lesson = &lesson;
    live.m_index = index;
    QS_TRY(live.m_now, live.factsOf(live.step().setup, nullptr, snapshots, nullptr));
    return live;
}

Result<std::unique_ptr<SnapshotFacts>> LiveStep::factsOf(
    const LessonSetup& setup, const LessonJson& changes, LessonSnapshots& snapshots, const SnapshotFacts* before) const
{
    QS_TRY(const Inputs inputs, inputsOf(*m_lesson, setup, changes));
    QS_TRY(SnapshotPtr snapshot, snapshots.of(inputs));
    auto measured = snapshots.measured(snapshot);
    return std::make_unique<SnapshotFacts>(
        std::move(snapshot), setup.sample, m_lesson->parameters, snapshots.work(), before, std::move(measured));
}

Status LiveStep::run(LessonSnapshots& snapshots)
{
    if (!m_then && step().question && question().then) {
        QS_TRY(m_then, factsOf(*question().then, nullptr, snapshots, m_now.get()));
    }
    return {};
}

Result<std::unique_ptr<SnapshotFacts>> LiveStep::changed(const LessonJson& changes, LessonSnapshots& snapshots) const
{
    return factsOf(step().setup, changes, snapshots, &judged());
}

std::unique_ptr<SnapshotFacts> LiveStep::asChanged() const
{
    return std::make_unique<SnapshotFacts>(
        now().sharedSnapshot(), step().setup.sample, m_lesson->parameters, WorkContext(), &judged());
}

Result<std::string> LiveStep::shown(const std::string& text, const SnapshotFacts& facts) const
{
    QS_TRY(std::string filled, liveText(text, facts));
    std::vector<std::string> files;
    QS_CHECK(checkMarkup(filled, 1, files));
    for (const std::string& file : files) {
        QS_CHECK(pathWithin(m_lesson->folder, file));
    }
    return filled;
}

Result<std::string> LiveStep::introduction() const { return shown(m_lesson->introduction, now()); }
Result<std::string> LiveStep::text() const { return shown(step().text, now()); }
Result<std::string> LiveStep::questionText() const { return shown(question().text, now()); }
Result<std::string> LiveStep::choiceText(size_t choice) const { return shown(question().choices[choice].text, now()); }
Result<std::string> LiveStep::hint(size_t number) const
{
    if (number >= step().hints.size())
        return badInput("there are no hints here");
    return shown(step().hints[number], now());
}
Result<std::string> LiveStep::explanation() const { return shown(step().explain, judged()); }
Result<std::string> LiveStep::otherwise() const { return shown(step().otherwise, now()); }
Result<LessonJson> LiveStep::reference() const { return liveJson(question().reference, judged()); }

Result<std::string> LiveStep::misconceptionText(size_t index, LessonSnapshots& snapshots) const
{
    const LessonMisconception& wrong = step().misconceptions[index];
    if (!wrong.run && wrong.recipe.is_null())
        return shown(wrong.shows, judged());
    QS_TRY(const auto facts, factsOf(wrong.run.value_or(step().setup), wrong.recipe, snapshots, &judged()));
    return shown(wrong.shows, *facts);
}

} // namespace qs
