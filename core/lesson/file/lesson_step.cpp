// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/file/lesson_step.h"

#include "core/base/named_values.h"
#include "core/base/text/nearest_names.h"
#include "core/base/text/one_line.h"
#include "core/lesson/file/panel_names.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace qs {

namespace {

constexpr NamedValues<QuestionKind, 6> kQuestionKinds { { { QuestionKind::Predict, "predict" },
    { QuestionKind::Number, "number" }, { QuestionKind::Choice, "choice" }, { QuestionKind::Pick, "pick" },
    { QuestionKind::Reach, "reach" }, { QuestionKind::Repair, "repair" } } };
constexpr std::array<std::string_view, 5> kPicked { "tensor", "weight", "node", "channel", "sample" };
constexpr std::array<std::string_view, 3> kArithmetics { "simulated", "integer", "integer-avx2" };
constexpr size_t kMostChoices = 12, kMostMisconceptions = 6, kMostSamples = 1'000'000, kMostElements = 1'000'000'000;

bool isWord(const std::string& text)
{
    return text.size() <= 60 && std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

/// What every setup may say, whatever its model is. `arithmetic`: where it says none.
void readSetup(LessonFields& in, const std::string& arithmetic, LessonSetup& setup)
{
    setup.arithmetic = in.textOr("arithmetic", arithmetic);
    if (in.has("arithmetic") && std::ranges::find(kArithmetics, setup.arithmetic) == kArithmetics.end())
        in.fail("arithmetic", "is none of simulated, integer, integer-avx2");
    setup.layout = in.textOr("layout");
    setup.view = in.textOr("view");
    for (const char* key : { "layout", "view" })
        if (!isWord(in.textOr(key)))
            in.fail(key, "is no name in small letters");
    setup.select = in.textOr("select");
    setup.sample = in.whole("sample", kMostSamples, size_t(0));
    if (in.has("element"))
        setup.element = in.whole("element", kMostElements, size_t(0));
    in.finish();
}

LessonSetup setupOf(LessonFields in, const Lesson& lesson, const LessonSetup* before)
{
    LessonSetup setup;
    setup.own = before && before->own;
    if (!setup.own) {
        setup.model = in.textOr("model", before ? before->model : "");
        if (!lesson.models.contains(setup.model))
            in.fail("model", setup.model.empty() ? "is missing" : "names none of the lesson's models");
    }
    if (const LessonJson* recipe = in.object("recipe"))
        setup.recipe = *recipe;
    else if (!setup.own && !in.issue() && lesson.models.at(setup.model).quantizedPath.empty())
        in.fail("recipe", "is missing, and the model has no quantized file");
    readSetup(in, setup.own ? "" : "simulated", setup);
    return setup;
}

std::optional<LessonSetup> innerSetup(
    LessonFields& in, const char* key, const Lesson& lesson, const LessonSetup& around)
{
    const LessonJson* json = in.object(key);
    if (!json)
        return std::nullopt;
    return setupOf(LessonFields(*json, in.inner(key), in.issue()), lesson, &around);
}

std::vector<LessonChoice> choicesOf(LessonFields& in, const char* key)
{
    std::vector<LessonChoice> choices;
    const LessonJson* list = in.list(key, kMostChoices);
    for (size_t i = 0; list && i < list->size(); ++i) {
        LessonFields inner((*list)[i], in.inner(std::string(key) + " " + std::to_string(i + 1)), in.issue());
        std::string text = inner.text("text");
        choices.push_back({ std::move(text), inner.neededExpression("right") });
        inner.finish();
    }
    if (choices.size() < 2)
        in.fail(key, "needs two choices or more");
    return choices;
}

LessonPick pickOf(LessonFields& in)
{
    LessonPick pick { in.text("what"), in.neededExpression("answer") };
    if (std::ranges::find(kPicked, pick.what) == kPicked.end())
        in.fail("what", "is none of tensor, weight, node, channel, sample");
    return pick;
}

void readNumber(LessonFields& in, const Lesson& lesson, const LessonSetup& setup, LessonQuestion& question)
{
    question.answer = in.neededExpression("answer");
    question.tolerance = in.expression("tolerance");
    question.relative = in.number("relative", 0, 1, 0);
    question.unit = in.textOr("unit");
    if (question.kind == QuestionKind::Predict)
        question.then = innerSetup(in, "then", lesson, setup);
}

void readReach(LessonFields& in, const LessonSetup& setup, LessonQuestion& question)
{
    question.condition = in.neededExpression("condition");
    in.needed("reference");
    if (const LessonJson* reference = in.object("reference"))
        question.reference = *reference;
    if (!setup.recipe)
        in.fail("condition", "asks for a recipe, and the setup has none to begin with");
    if (question.kind != QuestionKind::Repair)
        return;
    question.choices = choicesOf(in, "causes");
    in.needed("place");
    if (const LessonJson* place = in.object("place")) {
        LessonFields inner(*place, in.inner("place"), in.issue());
        question.pick = pickOf(inner);
        inner.finish();
    }
}

LessonQuestion questionOf(LessonFields in, const Lesson& lesson, const LessonSetup& setup)
{
    LessonQuestion question;
    const auto kind = valueIn(kQuestionKinds, in.text("kind"));
    if (!kind)
        in.fail("kind", "is none of predict, number, choice, pick, reach, repair");
    question.kind = kind.value_or(QuestionKind::Number);
    question.text = in.text("question");
    if (question.kind == QuestionKind::Choice)
        question.choices = choicesOf(in, "choices");
    else if (question.kind == QuestionKind::Pick)
        question.pick = pickOf(in);
    else if (question.kind == QuestionKind::Reach || question.kind == QuestionKind::Repair)
        readReach(in, setup, question);
    else
        readNumber(in, lesson, setup, question);
    in.finish();
    return question;
}

LessonMisconception misconceptionOf(
    LessonFields in, const Lesson& lesson, const LessonSetup& setup, const LessonQuestion& question)
{
    LessonMisconception wrong;
    const bool recipe = question.kind == QuestionKind::Reach || question.kind == QuestionKind::Repair;
    if (!recipe)
        wrong.answer = in.neededExpression("answer");
    else if (in.needed("answer"); const LessonJson* changes = in.object("answer"))
        wrong.recipe = *changes;
    wrong.run = innerSetup(in, "run", lesson, setup);
    wrong.shows = in.text("shows");
    in.finish();
    return wrong;
}

/// One object, or a list of them.
void readMisconceptions(LessonFields& in, const Lesson& lesson, LessonStep& step)
{
    const char* const key = "misconception";
    if (!in.has(key) || !step.question) {
        if (in.has(key))
            in.fail(key, "belongs to a question, and the step asks none");
        return;
    }
    const bool list = in.isList(key);
    const LessonJson* const json = list ? in.list(key, kMostMisconceptions) : in.object(key);
    for (size_t i = 0; json && i < (list ? json->size() : 1); ++i)
        step.misconceptions.push_back(misconceptionOf(
            LessonFields(list ? (*json)[i] : *json, in.inner(key), in.issue()), lesson, step.setup, *step.question));
}

std::vector<std::string> hiddenOf(LessonFields& in, const LessonStep& step)
{
    std::vector<std::string> hidden = in.texts("hide", kPanelNames.size());
    if (!hidden.empty() && !step.question)
        in.fail("hide", "belongs to a question, and the step asks none");
    for (const std::string& name : hidden)
        if (std::ranges::find(kPanelNames, name) == kPanelNames.end()) {
            const auto nearest = nearestNames(name, { kPanelNames.begin(), kPanelNames.end() }, 1);
            in.fail("hide",
                "names '" + oneLine(name, 60) + "', which is no panel"
                    + (nearest.empty() ? std::string() : "; the nearest one is '" + nearest.front() + "'"));
        }
    return hidden;
}

/// Whatever is asked, of which setup ever.
void readAsked(LessonFields& in, const Lesson& lesson, LessonStep& step)
{
    if (const LessonJson* ask = in.object("ask"))
        step.question = questionOf(LessonFields(*ask, in.inner("ask"), in.issue()), lesson, step.setup);
    step.hide = hiddenOf(in, step);
    step.hints = in.texts("hints", 3);
    if (step.hints.size() != (step.question && !lesson.examination ? 3 : 0))
        in.fail("hints",
            !step.question           ? "belongs to a question, and the step asks none"
                : lesson.examination ? "is not for an examination"
                                     : "must hold three texts");
    readMisconceptions(in, lesson, step);
    step.explain = step.question ? in.text("explain") : in.textOr("explain");
}

} // namespace

LessonStep stepOf(LessonFields& in, const Lesson& lesson, const LessonSetup* before)
{
    LessonStep step;
    step.id = in.text("id");
    if (const LessonJson* setup = in.object("setup"))
        step.setup = setupOf(LessonFields(*setup, in.inner("setup"), in.issue()), lesson, before);
    else if (before)
        step.setup = *before;
    else
        in.fail("setup", "is missing: the first step needs one");
    readAsked(in, lesson, step);
    step.teaches = in.texts("teaches", 20);
    in.finish();
    return step;
}

LessonStep ownStepOf(LessonFields& in, const Lesson& lesson)
{
    LessonStep step;
    step.id = in.text("id");
    LessonSetup as;
    as.own = true;
    as.arithmetic.clear();
    const LessonJson* setup = in.object("setup");
    step.setup = setup ? setupOf(LessonFields(*setup, in.inner("setup"), in.issue()), lesson, &as) : as;
    in.needed("ask");
    readAsked(in, lesson, step);
    if (step.question && step.question->kind != QuestionKind::Pick && step.question->kind != QuestionKind::Reach)
        in.fail("ask", "is neither pick nor reach");
    if (step.question && step.question->pick && step.question->pick->answer.kind == Expression::Kind::Constant)
        in.fail("ask", "has an answer that is the same for all models");
    step.when = in.expression("when");
    step.otherwise = step.when ? in.text("otherwise") : in.textOr("otherwise");
    in.finish();
    return step;
}

size_t Lesson::taught() const
{
    return size_t(std::ranges::count_if(steps, [](const LessonStep& step) { return !step.own(); }));
}

std::vector<std::string> textsOf(const LessonStep& step)
{
    std::vector<std::string> texts = step.hints;
    texts.push_back(step.explain);
    texts.push_back(step.otherwise);
    for (const LessonMisconception& wrong : step.misconceptions)
        texts.push_back(wrong.shows);
    if (step.question) {
        texts.push_back(step.question->text);
        for (const LessonChoice& choice : step.question->choices)
            texts.push_back(choice.text);
    }
    return texts;
}

} // namespace qs
