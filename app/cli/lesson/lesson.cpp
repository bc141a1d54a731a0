// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/lesson/lesson_options.h"
#include "core/base/text/nearest_names.h"
#include "core/base/text/one_line.h"
#include "core/lesson/check/check_lesson.h"
#include "core/lesson/file/read_lesson.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <memory>

namespace qs::cli {

namespace {

constexpr uint64_t kMostSeeds = 100'000;

std::string programFolder()
{
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

std::string nameOfFolder(const std::string& folder) { return std::filesystem::path(folder).filename().string(); }

std::string jsonText(const LessonJson& json)
{
    return json.dump(2, ' ', false, LessonJson::error_handler_t::replace) + "\n";
}

void writeHere(FileRoles& files, const std::vector<std::string>& folders)
{
    for (const std::string& folder : folders)
        files.readsBelow(folder, "a file of a lesson", [](std::string_view) { return true; });
}

/// Folders that were asked for, with what is written held against them.
Result<std::vector<std::string>> openFolders(
    const LessonOptions& o, const LessonPlaces& places, const CommonOptions& common)
{
    QS_TRY(auto folders, foldersOf(o, places));
    FileRoles files;
    addFilesOf(files, common);
    writeHere(files, folders);
    QS_CHECK(checkFiles(files));
    return folders;
}

Result<int> listLessons(const LessonOptions& o, Context& context)
{
    QS_TRY(const LessonPlaces places, placesOf(o));
    QS_TRY(const auto folders, openFolders(o, places, context.common));
    LessonJson list = LessonJson::array();
    for (const std::string& folder : folders) {
        const auto lesson = readLesson(folder, places.examples, 1);
        if (!lesson.ok()) {
            printWarnings({ lesson.issue().file + ": " + lesson.issue().what }, context.common);
            continue;
        }
        list.push_back({ { "id", lesson->id }, { "title", lesson->title }, { "minutes", lesson->minutes },
            { "steps", lesson->steps.size() }, { "needs", lesson->needs }, { "folder", folder } });
        if (context.common.json != "-")
            std::cout << lesson->id << ": " << oneLine(lesson->title) << " (" << lesson->minutes << " minutes, "
                      << lesson->steps.size() << " steps)\n";
    }
    if (!context.common.json.empty())
        QS_CHECK(writeOutput(context.common.json, jsonText({ { "schema_version", 1 }, { "lessons", list } })));
    return int(kDone);
}

/// Lessons that others need and that are not there.
std::vector<LessonProblem> missingNeeds(const std::vector<std::string>& folders, const LessonPlaces& places)
{
    std::vector<LessonProblem> problems;
    for (const std::string& folder : folders) {
        const auto lesson = readLesson(folder, places.examples, 1);
        for (const std::string& id : lesson.ok() ? lesson->needs : std::vector<std::string>())
            if (!std::filesystem::exists(std::filesystem::path(folder).parent_path() / id / "lesson.json"))
                problems.push_back({ nameOfFolder(folder), {}, 1,
                    "it needs the lesson '" + oneLine(id, 60) + "', which is not beside it" });
    }
    return problems;
}

Result<int> checkLessons(const LessonOptions& o, Context& context)
{
    QS_TRY(const uint64_t seeds, wholeOption("--seeds", o.seeds, 1, kMostSeeds));
    QS_TRY(const LessonPlaces places, placesOf(o));
    QS_TRY(const auto folders, openFolders(o, places, context.common));
    QS_TRY(LessonSnapshots snapshots, snapshotsOf(context));
    std::vector<LessonProblem> problems = missingNeeds(folders, places);
    size_t steps = 0, answers = 0;
    for (const std::string& folder : folders) {
        QS_TRY(const LessonCheck check, checkLesson(folder, places.examples, seeds, snapshots));
        problems.insert(problems.end(), check.problems.begin(), check.problems.end());
        steps += check.steps;
        answers += check.answers;
    }
    LessonJson list = LessonJson::array();
    for (const LessonProblem& p : problems) {
        list.push_back({ { "lesson", p.lesson }, { "step", p.step }, { "seed", p.seed }, { "problem", p.what } });
        if (context.common.json != "-")
            std::cout << problemText(p) << '\n';
    }
    if (!context.common.json.empty())
        QS_CHECK(writeOutput(context.common.json,
            jsonText({ { "schema_version", 1 }, { "lessons", folders.size() }, { "seeds", seeds }, { "steps", steps },
                { "answers", answers }, { "problems", list } })));
    if (context.common.json != "-")
        std::cout << folders.size() << " lessons, " << steps << " steps and " << answers << " answers carried out, "
                  << problems.size() << " problems\n";
    return int(problems.empty() ? kDone : kThresholdMissed);
}

using Action = Result<int> (*)(const LessonOptions&, Context&);

CLI::App* addAction(CLI::App& app, LessonOptions& o, Context& context, const char* name, const char* purpose)
{
    CLI::App* action = app.add_subcommand(name, purpose);
    action->add_option("--lessons", o.lessons, "folder of lessons (default: those that came with the program)");
    addResultOptions(*action, context.common);
    return action;
}

} // namespace

Result<LessonPlaces> placesOf(const LessonOptions& options)
{
    LessonPlaces places = bundledLessons(programFolder());
    if (!options.lessons.empty())
        places.lessons = options.lessons;
    if (places.lessons.empty())
        return badInput("the lessons that came with the program are not beside it", {}, "name a folder by --lessons");
    return places;
}

Result<std::vector<std::string>> foldersOf(const LessonOptions& options, const LessonPlaces& places)
{
    std::vector<std::string> folders;
    for (const std::string& which : options.which) {
        std::error_code error;
        if (std::filesystem::is_directory(which, error)) {
            QS_TRY(const auto inside, lessonFolders(which));
            folders.insert(folders.end(), inside.begin(), inside.end());
            if (inside.empty())
                return badInput("holds no lesson", which, "give a folder with lesson.json, or one of such folders");
            continue;
        }
        QS_TRY(const auto all, lessonFolders(places.lessons));
        const auto found = std::ranges::find(all, which, nameOfFolder);
        if (found == all.end()) {
            std::vector<std::string> names;
            for (const std::string& folder : all)
                names.push_back(nameOfFolder(folder));
            const auto nearest = nearestNames(which, names, 1);
            return badInput("there is no lesson '" + oneLine(which, 80) + "'", places.lessons,
                nearest.empty() ? std::string("see `quantscope-cli lesson list`")
                                : "the nearest one is '" + nearest.front() + "'");
        }
        folders.push_back(*found);
    }
    if (!options.which.empty())
        return folders;
    QS_TRY(folders, lessonFolders(places.lessons));
    if (folders.empty())
        return badInput("holds no lesson", places.lessons, "give a folder of lessons");
    return folders;
}

Result<uint64_t> wholeOption(const char* option, const std::string& text, uint64_t least, uint64_t most)
{
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most)
        return value;
    return badUse(std::string(option) + " '" + oneLine(text, 60) + "' is not possible",
        "give a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

Result<LessonSnapshots> snapshotsOf(const Context& context)
{
    RunSettings settings;
    QS_TRY(settings.threads, threadCount(context.common));
    QS_TRY(settings.memoryLimit, memoryLimit(context.common));
    return LessonSnapshots(settings, {}, context.cancel);
}

Command addLesson(CLI::App& app, Context& context)
{
    auto o = std::make_shared<LessonOptions>();
    app.require_subcommand(1);
    std::vector<std::pair<CLI::App*, Action>> actions;
    actions.emplace_back(addAction(app, *o, context, "list", "the lessons there are"), listLessons);
    CLI::App* check = addAction(app, *o, context, "check", "carry lessons out, and say what is wrong with them");
    check->add_option("LESSON", o->which, "ids, folders of lessons, or lessons (default: all)");
    check->add_option("--seeds", o->seeds, "how many seeds are tried, from 1 on (default: 3)");
    actions.emplace_back(check, checkLessons);
    CLI::App* run = addAction(app, *o, context, "run", "take a lesson in the terminal");
    run->add_option("LESSON", o->which, "its id or its folder")->required()->expected(1);
    run->add_option("--seed", o->seed, "which variant of the lesson (default: 1)");
    run->add_option("--float", o->floatPath, "your own float model: what the lesson asks at its end is asked of it");
    run->add_option("--quantized", o->quantPath, "your own quantized model (default: the recipe's defaults make it)");
    addDataOptions(*run, o->data, DataNeed::Optional);
    run->add_flag("--yours", o->yours, "only what is asked of your own models");
    actions.emplace_back(run, runLesson);
    return [o, actions](Context& c) -> Result<int> {
        for (const auto& [action, execute] : actions)
            if (action->parsed())
                return execute(*o, c);
        return badUse("lesson needs list, check or run", "see `quantscope-cli lesson --help`");
    };
}

} // namespace qs::cli
