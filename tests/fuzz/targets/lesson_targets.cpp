// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/check/check_lesson.h"
#include "core/lesson/expression/evaluate.h"
#include "core/lesson/file/lesson_variant.h"
#include "core/lesson/file/read_lesson.h"
#include "tests/fuzz/targets/fuzz_target.h"

namespace qs::test {

namespace {

using Seeds = std::vector<std::string>;

const std::string kLesson = R"j({
"schema_version": 1, "id": "lesson", "title": "A lesson of {end}", "minutes": 5, "needs": ["other"],
"models": {"digits": {"float": "example:digits_float.onnx", "quantized": "example:digits_qdq.onnx",
    "data": "example:digits_samples.npz", "limit": 2}},
"variants": {"end": {"of": [2, 2.5, 3]}, "digit": {"from": 0, "to": 9}, "twice": {"expression": "digit * 2"}},
"steps": [
{"id": "a-scale", "setup": {"model": "digits",
    "recipe": {"activation_type": "uint8", "tensors": {"image": {"lowest": -1, "highest": "{end}"}}}},
 "ask": {"kind": "number", "question": "The range is -1 to {end}. What is the scale?",
    "answer": "tensor('image').scale", "relative": 0.002},
 "hints": ["One", "Two", "The width is {= end + 1 | fixed 1}."],
 "misconception": {"answer": "(end + 1) / 256", "shows": "It is {= tensor('image').scale | digits 4}."},
 "explain": "{= end + 1 | fixed 1} / 255", "teaches": ["saturation"]},
{"id": "a-choice", "setup": {"model": "digits", "arithmetic": "integer", "sample": 1, "view": "values",
    "select": "image"},
 "ask": {"kind": "choice", "question": "Which?", "choices": [
    {"text": "more", "right": "output.sqnr_db > 5"}, {"text": "less", "right": "output.sqnr_db <= 5"}]},
 "hints": ["One", "Two", "Three"], "explain": "It has {= output.sqnr_db | fixed 1} dB."},
{"id": "a-reach",
 "ask": {"kind": "reach", "question": "Reach it.", "condition": "output.sqnr_db >= 10 and recipe.excluded_nodes == 0",
    "reference": {"reduce_range": true}},
 "hints": ["One", "Two", "Three"],
 "misconception": [{"answer": {"symmetric_activations": false}, "shows": "{= output.sqnr_db | fixed 1} dB."}]}
]})j";

const std::string kText = "# A lesson of {end}\n\nThe network sorts {= samples} pictures.\n\n## A scale\n\nThe tensor"
                          " `image` has the type {= tensor('image').dtype}.\n\n* one\n* two **bold**\n\n## A choice\n\n"
                          "| a | b |\n|---|---|\n| 1 | {= 2 ^ 3 | fixed 2} |\n\n## A reach\n\n    code\n\n> quote\n";

void carryOut(Trial& trial, const std::string& json, const std::string& markdown)
{
    trial.folder().written("lesson/lesson.json", json);
    trial.folder().written("lesson/lesson.md", markdown);
    for (const uint64_t seed : { uint64_t(1), UINT64_MAX })
        if (!trial.judge(readLesson(trial.folder().path("lesson"), examplePath(""), seed), "a lesson"))
            return;
    RunSettings settings;
    settings.threads = 1;
    LessonSnapshots snapshots(settings, {}, trial.cancel());
    if (const auto check = checkLesson(trial.folder().path("lesson"), examplePath(""), 1, snapshots);
        trial.judge(check, "lesson check"))
        for (const LessonProblem& problem : check->problems)
            problemText(problem);
}

void runJson(Trial& trial, const std::string& bytes) { carryOut(trial, bytes, kText); }
void runMarkdown(Trial& trial, const std::string& bytes) { carryOut(trial, kLesson, bytes); }
Seeds lessons(const FuzzFolder&) { return { kLesson }; }
Seeds texts(const FuzzFolder&) { return { kText }; }

void runExpression(Trial& trial, const std::string& bytes)
{
    const std::map<std::string, LessonValue> parameters { { "end", 2.5 }, { "digit", 3.0 },
        { "name", std::string("image") } };
    trial.judge(withParameters(bytes, parameters), "parameters");
    const auto expression = parseExpression(bytes);
    if (!trial.judge(expression, "an expression"))
        return;
    if (const auto value = evaluate(*expression, ParameterVocabulary(parameters)); trial.judge(value, "its value"))
        for (const char* format : { "", "fixed 2", "digits 4", "percent 1", "hex", "fixed 400" })
            trial.judge(valueText(*value, format), format);
}

Seeds expressions(const FuzzFolder&)
{
    return { "(end + 1) / 256 - digit * 2 ^ -3", "digit >= 3 and not (end < 1 or name == 'image')",
        "round(end / 0.1) % 7 + abs(-digit) + min(end, digit, 2) + max(1, 2)", "if(digit > 2, sqrt(end), log2(8))",
        "Reach {end} with {= end + 1 | fixed 1} and \\{digit} {name}" };
}

} // namespace

void addLessonTargets(FuzzTargets& targets)
{
    targets.push_back({ "lesson-json", FuzzForm::Text, "lesson.dict", lessons, runJson, 5 });
    targets.push_back({ "lesson-md", FuzzForm::Text, "lesson.dict", texts, runMarkdown, 5 });
    targets.push_back({ "expression", FuzzForm::Text, "lesson.dict", expressions, runExpression, 200 });
}

} // namespace qs::test
