// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/file/read_lesson.h"

#include "core/base/text/one_line.h"
#include "core/lesson/file/lesson_fields.h"
#include "core/lesson/file/lesson_markdown.h"
#include "core/lesson/file/lesson_step.h"
#include "core/lesson/file/lesson_variant.h"
#include "core/lesson/file/own_names.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>

namespace qs {

namespace {

constexpr size_t kMostSteps = 50, kMostModels = 20, kMostOwn = 6;
constexpr std::string_view kWholeProgram = "install the program with its examples"; ///< the lesson is right

bool isLessonId(const std::string& id)
{
    return !id.empty() && id.size() <= 80
        && std::ranges::all_of(id, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

/// A file of the lesson, or of the bundled examples as "example:NAME"; empty after a fault.
std::string pathOf(LessonFields& in, const char* key, const std::string& path, const LessonFile& file)
{
    const bool example = path.starts_with("example:");
    std::error_code error;
    if (example && !std::filesystem::is_directory(file.examples, error)) {
        if (!in.issue())
            in.issue() = badInput("needs the examples that came with the program, which are not beside it", {},
                std::string(kWholeProgram));
        return {};
    }
    auto found = example ? pathWithin(file.examples, path.substr(8)) : pathWithin(file.folder, path);
    if (!found.ok())
        in.fail(key, "is wrong: " + found.issue().what);
    return found.ok() ? *found : std::string();
}

LessonModel modelOf(LessonFields& in, const LessonFile& file)
{
    LessonModel model;
    if (const std::string path = in.text("float"); !path.empty())
        model.floatPath = pathOf(in, "float", path, file);
    if (const std::string path = in.textOr("quantized"); !path.empty())
        model.quantizedPath = pathOf(in, "quantized", path, file);
    const auto dataOf = [&](const char* key, const std::string& data) {
        return data.starts_with("random:") || data.empty() ? data : pathOf(in, key, data, file);
    };
    model.data = dataOf("data", in.text("data"));
    model.calibration = dataOf("calibration", in.textOr("calibration"));
    if (model.calibration.starts_with("random:"))
        in.fail("calibration", "is random: give samples");
    if (const size_t limit = in.whole("limit", 10'000, 0))
        model.limit = limit;
    else if (model.data.starts_with("random:"))
        in.fail("limit", "is missing: random data need one");
    in.finish();
    return model;
}

void readHead(LessonFields& in, const LessonFile& file, Lesson& lesson)
{
    if (in.whole("schema_version", 1'000'000, 0) != 1)
        in.fail("schema_version", "is not 1; use a program of that version");
    lesson.id = in.text("id");
    if (!isLessonId(lesson.id))
        in.fail("id", "is no id of small letters, digits and hyphens");
    lesson.title = in.text("title");
    lesson.minutes = in.whole("minutes", 600, size_t(0));
    lesson.needs = in.texts("needs", 50);
    lesson.examination = in.truth("examination");
    if (const LessonJson* models = in.object("models")) {
        if (models->size() > kMostModels)
            in.fail("models", "has more than 20 entries");
        for (const auto& [name, json] : models->items()) {
            LessonFields inner(json, "models: '" + oneLine(name, 60) + "'", in.issue());
            lesson.models[name] = modelOf(inner, file);
        }
    }
    if (lesson.models.empty())
        in.fail("models", "is missing or empty");
}

/// The step with its parameters filled in, member by member, so that a fault has its key.
LessonJson filledStep(
    const LessonJson& step, const std::string& place, const Lesson& lesson, std::optional<Issue>& issue)
{
    LessonJson filled = LessonJson::object();
    for (const auto& [key, value] : step.items()) {
        auto with = withParameters(value, lesson.parameters);
        if (!with.ok() && !issue)
            issue = badInput(place + ": key '" + oneLine(key, 60) + "': " + with.issue().what);
        filled[key] = with.ok() ? std::move(with).value() : LessonJson();
    }
    return filled;
}

bool isStep(const Lesson& lesson, const std::string& id)
{
    const auto in = [&](const std::vector<LessonStep>& steps) {
        return std::ranges::find(steps, id, &LessonStep::id) != steps.end();
    };
    return in(lesson.steps) || in(lesson.yours);
}

/// `key`: "steps", or "yours" for those about the learner's pair.
void readSteps(const char* key, const LessonJson& list, Lesson& lesson, std::optional<Issue>& issue)
{
    const bool own = std::string_view(key) == "yours";
    std::vector<LessonStep>& steps = own ? lesson.yours : lesson.steps;
    for (size_t i = 0; i < list.size() && !issue; ++i) {
        const LessonJson& json = list[i];
        const bool named = json.is_object() && json.contains("id") && json["id"].is_string();
        const std::string place = (own ? "yours: step " : "step ")
            + (named ? "'" + oneLine(json["id"].get<std::string>(), 60) + "'" : std::to_string(i + 1));
        if (!json.is_object()) {
            issue = badInput(place + " is no JSON object");
            return;
        }
        const LessonJson filled = filledStep(json, place, lesson, issue);
        LessonFields in(filled, place, issue);
        LessonStep step
            = own ? ownStepOf(in, lesson) : stepOf(in, lesson, steps.empty() ? nullptr : &steps.back().setup);
        if (isStep(lesson, step.id))
            in.fail("id", "names an earlier step, too");
        if (const std::string name = own ? nameInModel(filled) : std::string(); !name.empty() && !issue)
            issue = badInput(place + " holds " + name + ": the learner's models have other names");
        steps.push_back(std::move(step));
    }
}

Issue mismatch(size_t index, const std::vector<LessonSection>& sections, const std::vector<LessonStep*>& steps)
{
    const std::string number = std::to_string(index + 1);
    if (index >= sections.size())
        return badInput("has no section for step '" + steps[index]->id + "' of lesson.json");
    const std::string section = "section " + number + ", '" + oneLine(sections[index].title, 80) + "' on line "
        + std::to_string(sections[index].line) + ",";
    if (index >= steps.size())
        return badInput(section + " has no step in lesson.json");
    return badInput(section + " should be step '" + steps[index]->id + "' of lesson.json; its id would be '"
        + oneLine(sections[index].anchor, 80) + "'");
}

/// A local file that a text names.
Status checkFiles(const std::vector<std::string>& files, const LessonFile& file)
{
    for (const std::string& name : files)
        if (const auto path = pathWithin(file.folder, name); !path.ok())
            return badInput(path.issue().what);
    return {};
}

Status addTexts(const LessonFile& file, Lesson& lesson)
{
    QS_TRY(const LessonMarkdown text, readMarkdown(file.markdown));
    QS_CHECK(checkFiles(text.files, file));
    QS_TRY(lesson.introduction, withParameters(text.introduction, lesson.parameters));
    std::vector<LessonStep*> steps;
    for (std::vector<LessonStep>* list : { &lesson.steps, &lesson.yours })
        for (LessonStep& step : *list)
            steps.push_back(&step);
    for (size_t i = 0; i < std::max(text.sections.size(), steps.size()); ++i) {
        if (i >= text.sections.size() || i >= steps.size() || text.sections[i].anchor != steps[i]->id)
            return mismatch(i, text.sections, steps);
        LessonStep& step = *steps[i];
        step.title = text.sections[i].title;
        auto filled = withParameters(text.sections[i].text, lesson.parameters);
        if (!filled.ok())
            return badInput("step '" + step.id + "': " + filled.issue().what);
        step.text = std::move(filled).value();
        if (const std::string name = step.own() ? nameInModel(step.text) : std::string(); !name.empty())
            return badInput("step '" + step.id + "' holds " + name + ": the learner's models have other names");
    }
    return {};
}

/// Texts of lesson.json are shown as those of lesson.md are.
Status checkStepTexts(const Lesson& lesson, const LessonFile& file)
{
    for (const std::vector<LessonStep>* list : { &lesson.steps, &lesson.yours })
        for (const LessonStep& step : *list)
            for (const std::string& text : textsOf(step)) {
                std::vector<std::string> files;
                Status markup = checkMarkup(text, 1, files);
                if (markup.ok())
                    markup = checkFiles(files, file);
                if (!markup.ok())
                    return badInput("step '" + step.id + "': a text " + markup.issue().what);
            }
    return {};
}

Issue inFile(Issue issue, const LessonFile& file, const char* name)
{
    issue.file = file.folder + "/" + name;
    if (issue.remedy != kWholeProgram)
        issue.remedy = "correct it; docs/lessons.md says what a lesson may hold";
    return issue;
}

} // namespace

Result<Lesson> lessonOf(const LessonFile& file, uint64_t seed)
{
    Lesson lesson;
    lesson.folder = file.folder;
    lesson.seed = seed;
    std::optional<Issue> issue;
    LessonFields in(file.json, {}, issue);
    readHead(in, file, lesson);
    if (const LessonJson* variants = in.object("variants")) {
        auto parameters = drawParameters(*variants, seed);
        if (!parameters.ok() && !issue)
            issue = parameters.issue();
        if (parameters.ok())
            lesson.parameters = std::move(parameters).value();
    }
    in.needed("steps");
    if (const LessonJson* steps = in.list("steps", kMostSteps))
        readSteps("steps", *steps, lesson, issue);
    if (const LessonJson* yours = in.list("yours", kMostOwn))
        readSteps("yours", *yours, lesson, issue);
    in.finish();
    if (!issue && lesson.steps.empty())
        issue = badInput("key 'steps' is empty");
    if (issue)
        return inFile(*issue, file, "lesson.json");
    if (const Status texts = addTexts(file, lesson); !texts.ok())
        return inFile(texts.issue(), file, "lesson.md");
    if (const Status texts = checkStepTexts(lesson, file); !texts.ok())
        return inFile(texts.issue(), file, "lesson.json");
    return lesson;
}

Result<Lesson> readLesson(const std::string& folder, const std::string& examples, uint64_t seed)
{
    QS_TRY(const LessonFile file, readLessonFile(folder, examples));
    return lessonOf(file, seed);
}

} // namespace qs
