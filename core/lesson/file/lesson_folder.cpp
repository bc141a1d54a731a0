// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/file/lesson_folder.h"

#include "core/base/files/json_text.h"
#include "core/base/files/regular_file.h"
#include "core/base/files/whole_file.h"
#include "core/base/text/one_line.h"
#include "core/base/text/utf8.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestText = size_t(1) << 20; ///< bytes
constexpr JsonLimits kLessonLimits { kLargestText, 50'000, 24 };
constexpr size_t kMostLessons = 500;
constexpr const char* kFolderRemedy = "give a folder with lesson.json and lesson.md";

Result<std::string> textOf(const std::string& folder, const char* name)
{
    const std::string path = folder + "/" + name;
    QS_CHECK(pathWithin(folder, name));
    QS_TRY(const RegularFile file, RegularFile::open(path));
    if (file.size() > kLargestText)
        return badInput("is longer than a mebibyte", path, "shorten it");
    QS_TRY(std::string text, readWholeFile(path, kFolderRemedy));
    bool valid = text.size() <= kLargestText;
    forEachCharacter(text, [&](const Utf8Character& c) { valid &= c.valid && c.point != U'\0'; });
    if (!valid)
        return badInput("is no text in UTF-8", path, "save it as UTF-8");
    return text;
}

/// The names that course.json lists; none without that file.
Result<std::vector<std::string>> courseOf(const std::string& folder)
{
    std::error_code error;
    if (!fs::exists(folder + "/course.json", error))
        return std::vector<std::string>();
    QS_TRY(const std::string text, textOf(folder, "course.json"));
    const auto json = readJson(text, kLessonLimits);
    std::vector<std::string> names;
    bool valid = json.ok() && json->is_object() && json->size() == 1 && json->contains("lessons")
        && (*json)["lessons"].is_array();
    for (size_t i = 0; valid && i < (*json)["lessons"].size(); ++i)
        if (valid = (*json)["lessons"][i].is_string(); valid)
            names.push_back((*json)["lessons"][i].get<std::string>());
    if (!valid)
        return badInput("is no list of lessons", folder + "/course.json", R"(write {"lessons": ["first", "second"]})");
    return names;
}

} // namespace

LessonPlaces bundledLessons(const std::string& programFolder)
{
    for (const char* base : { "/../share/quantscope", "/../../../resources" }) {
        std::error_code error;
        const fs::path folder = fs::canonical(programFolder + base, error);
        if (!error && fs::is_directory(folder / "lessons", error))
            return { (folder / "lessons").string(), (folder / "examples").string() };
    }
    return {};
}

Result<std::string> pathWithin(const std::string& folder, const std::string& path)
{
    const fs::path given(path);
    const bool leaves = path.empty() || path.size() > 1000 || given.is_absolute()
        || path.find('\\') != std::string::npos
        || std::ranges::any_of(given, [](const fs::path& part) { return part == ".."; });
    const std::string shown = "'" + oneLine(path, 120) + "'";
    if (leaves)
        return badInput("the path " + shown + " is none within the lesson's folder");
    std::error_code error;
    const fs::path base = fs::canonical(folder, error);
    const fs::path file = error ? fs::path() : fs::canonical(base / given, error);
    if (error)
        return badInput("there is no file " + shown);
    if (std::mismatch(base.begin(), base.end(), file.begin(), file.end()).first != base.end())
        return badInput("the path " + shown + " is a link that leads out of the lesson's folder");
    if (!fs::is_regular_file(file, error))
        return badInput(shown + " is no file");
    return file.string();
}

Result<LessonFile> readLessonFile(const std::string& folder, const std::string& examples)
{
    std::error_code error;
    if (!fs::is_directory(folder, error))
        return badInput("is no folder", folder, kFolderRemedy);
    for (const char* name : { "lesson.json", "lesson.md" }) {
        auto path = pathWithin(folder, name);
        if (!path.ok())
            return badInput(path.issue().what, folder, kFolderRemedy);
    }
    QS_TRY(const std::string text, textOf(folder, "lesson.json"));
    auto json = readJson(text, kLessonLimits);
    if (!json.ok())
        return badInput(json.issue().what, folder + "/lesson.json", "correct it");
    QS_TRY(std::string markdown, textOf(folder, "lesson.md"));
    return LessonFile { folder, examples, std::move(json).value(), std::move(markdown) };
}

Result<std::vector<std::string>> lessonFolders(const std::string& folder)
{
    std::error_code error;
    if (fs::exists(folder + "/lesson.json", error))
        return std::vector { folder };
    std::vector<std::string> found;
    fs::directory_iterator entries(folder, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
        std::error_code unreadable;
        if (fs::exists(entries->path() / "lesson.json", unreadable))
            found.push_back(entries->path().string());
        if (found.size() > kMostLessons)
            return badInput("holds more than 500 lessons", folder, "divide it");
    }
    if (error)
        return badInput("cannot be read", folder, "give a folder of lessons");
    QS_TRY(const std::vector<std::string> course, courseOf(folder));
    const auto placeOf = [&](const std::string& lesson) {
        return std::pair(std::ranges::find(course, fs::path(lesson).filename().string()) - course.begin(), lesson);
    };
    std::ranges::sort(found, {}, placeOf);
    return found;
}

} // namespace qs
