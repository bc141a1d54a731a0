// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/lesson/lesson_list.h"

#include "core/lesson/file/read_lesson.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/models/words/error_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>

namespace qs {

namespace {

/// How many lessons have to be taken before it; those that need each other in a circle come last.
size_t depthOf(const std::string& id, const std::map<std::string, std::vector<std::string>>& needs, size_t most = 20)
{
    const auto found = needs.find(id);
    if (found == needs.end() || most == 0)
        return 0;
    size_t depth = 0;
    for (const std::string& need : found->second)
        depth = std::max(depth, 1 + depthOf(need, needs, most - 1));
    return depth;
}

} // namespace

LessonPlaces lessonsOfProgram() { return bundledLessons(QCoreApplication::applicationDirPath().toStdString()); }

std::vector<LessonEntry> lessonEntries(const LessonPlaces& places, QString* problem)
{
    std::vector<LessonEntry> entries;
    const auto folders = lessonFolders(places.lessons);
    if (problem && !folders.ok())
        *problem = issueHeadline(folders.issue());
    else if (problem && folders->empty())
        *problem = tr("%1 holds no lesson").arg(toQt(places.lessons));
    if (!folders.ok())
        return entries;
    std::map<std::string, std::vector<std::string>> needs;
    for (const std::string& folder : *folders) {
        LessonEntry entry;
        entry.folder = toQt(folder);
        entry.id = entry.title = fileName(folder);
        if (const auto lesson = readLesson(folder, places.examples, 1); lesson.ok()) {
            entry.id = toQt(lesson->id);
            entry.title = toQt(lesson->title);
            entry.minutes = lesson->minutes;
            entry.steps = lesson->steps.size();
            needs[lesson->id] = lesson->needs;
            for (size_t i = 0; i < lesson->steps.size(); ++i)
                for (const std::string& topic : lesson->steps[i].teaches)
                    entry.teaches.emplace_back(toQt(topic), i);
        } else {
            entry.problem = issueHeadline(lesson.issue());
        }
        entries.push_back(entry);
    }
    std::ranges::stable_sort(entries, {}, [&](const LessonEntry& entry) {
        return entry.problem.isEmpty() ? depthOf(entry.id.toStdString(), needs) : needs.size() + 1;
    });
    return entries;
}

} // namespace qs
