// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/lesson/lesson_progress.h"

#include "core/base/files/json_text.h"

#include <QSettings>

#include <algorithm>

namespace qs {

namespace {

constexpr JsonLimits kLimits { 1'000'000, 20'000, 12 };
constexpr size_t kMostProgressSteps = 60;

QString keyOf(const QString& lesson) { return QStringLiteral("lessons/") + lesson; }

StepResult answersOf(const LessonJson& json)
{
    StepResult result;
    result.step = json.at("step").get<std::string>();
    result.right = json.at("right").get<bool>();
    result.shown = json.at("shown").get<bool>();
    result.hints = std::min<size_t>(3, json.at("hints").get<size_t>());
    if (json.at("tries").is_array())
        result.tries = json.at("tries");
    return result;
}

LessonProgress progressOf(const LessonJson& json)
{
    LessonProgress progress;
    progress.seed = json.at("seed").get<uint64_t>();
    progress.step = json.at("at").get<size_t>();
    progress.seconds = json.at("seconds").get<double>();
    for (const auto& step : json.at("done"))
        if (step.get<size_t>() < kMostProgressSteps)
            progress.done.insert(step.get<size_t>());
    for (const auto& [step, answers] : json.at("answers").items())
        progress.answers[std::stoul(step)] = answersOf(answers);
    return progress;
}

} // namespace

size_t doneOf(const LessonProgress& progress, size_t steps)
{
    return size_t(std::distance(progress.done.begin(), progress.done.lower_bound(steps)));
}

bool hasAnswers(const LessonProgress& progress)
{
    return std::ranges::any_of(progress.answers, [](const auto& entry) {
        const StepResult& step = entry.second;
        return step.right || step.shown || step.hints > 0 || !step.tries.empty();
    });
}

std::optional<LessonProgress> readProgress(const QString& lesson)
{
    const auto json = readJson(QSettings().value(keyOf(lesson)).toString().toStdString(), kLimits);
    if (!json.ok())
        return std::nullopt;
    try {
        return progressOf(*json);
    } catch (const std::exception&) { // settings that somebody changed
        return std::nullopt;
    }
}

void keepProgress(const QString& lesson, const LessonProgress& progress)
{
    LessonJson json { { "seed", progress.seed }, { "at", progress.step }, { "seconds", progress.seconds },
        { "done", progress.done }, { "answers", LessonJson::object() } };
    for (const auto& [step, result] : progress.answers)
        json["answers"][std::to_string(step)] = { { "step", result.step }, { "right", result.right },
            { "shown", result.shown }, { "hints", result.hints }, { "tries", result.tries } };
    const std::string text = json.dump(-1, ' ', false, LessonJson::error_handler_t::replace);
    QSettings().setValue(keyOf(lesson), QString::fromStdString(text));
}

void forgetProgress(const QString& lesson) { QSettings().remove(keyOf(lesson)); }

} // namespace qs
