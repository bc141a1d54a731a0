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

/// In the order of the course, but behind what it needs of the others; broken ones last.
std::vector<LessonEntry> afterTheirNeeds(
    std::vector<LessonEntry> entries, const std::map<std::string, std::vector<std::string>>& needs)
{
    std::vector<LessonEntry> ordered;
    const auto among = [](const std::vector<LessonEntry>& list, const std::string& id) {
        return std::ranges::any_of(list, [&](const LessonEntry& entry) { return entry.id == toQt(id); });
    };
    const auto ready = [&](const LessonEntry& entry) {
        const auto found = needs.find(entry.id.toStdString());
        return entry.problem.isEmpty()
            && (found == needs.end() || std::ranges::none_of(found->second, [&](const std::string& need) {
                   return need != found->first && among(entries, need);
               }));
    };
    while (!entries.empty()) {
        auto next = std::ranges::find_if(entries, ready);
        if (next == entries.end()) // lessons that need each other
            next = entries.begin();
        ordered.push_back(std::move(*next));
        entries.erase(next);
    }
    return ordered;
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
    entries = afterTheirNeeds(std::move(entries), needs);
    for (size_t i = 0; i < entries.size() && entries.size() > 1; ++i)
        entries[i].title = QStringLiteral("%1. %2").arg(i + 1).arg(entries[i].title);
    return entries;
}

} // namespace qs
