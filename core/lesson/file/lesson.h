// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/expression/expression.h"
#include "core/project/snapshot/inputs.h"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

/// A lesson as plain values, with the parameters of one seed filled in. Texts are CommonMark, in which `{= expression |
/// format}` stands for a number of the live snapshot (core/lesson/live/live_text.h).
namespace qs {

using LessonJson = nlohmann::ordered_json;

struct LessonModel {
    std::string floatPath, quantizedPath; ///< the second may be empty
    std::string data; ///< as --data has it
    std::optional<size_t> limit; ///< first N samples
    std::string calibration; ///< samples that a recipe's ranges are found with, as --data has it; empty: `data`
    bool operator==(const LessonModel&) const = default;
};

/// What the program shows in a step. A step that says nothing keeps the setup of the one before.
struct LessonSetup {
    bool own = false; ///< of Lesson::own, the learner's pair, in place of a model of the lesson
    std::string model; ///< key of Lesson::models
    /// An object as recipe files have it: the quantized model is made by it. Nothing: the model's quantized file.
    std::optional<LessonJson> recipe;
    std::string arithmetic = "simulated"; ///< empty: as the learner's pair was run
    std::string layout, view, select; ///< for a window; empty: as they are
    size_t sample = 0; ///< which one element("...") looks at
    std::optional<size_t> element; ///< of the sample's selected tensor, row by row: what Arithmetic shows
    bool operator==(const LessonSetup&) const = default;
};

enum class QuestionKind {
    Predict, ///< a number, asked before `then` runs
    Number,
    Choice,
    Pick, ///< a tensor, weight, node, channel or sample
    Reach, ///< a recipe after which `condition` holds
    Repair, ///< the same, and the cause and the place of a planted fault
};

struct LessonChoice {
    std::string text;
    Expression right; ///< true for the one right choice
};

struct LessonPick {
    std::string what; ///< "tensor", "weight", "node", "channel", "sample"
    Expression answer; ///< its name, or the number of the channel or sample
};

struct LessonQuestion {
    QuestionKind kind = QuestionKind::Number;
    std::string text;
    std::optional<Expression> answer; ///< Predict, Number
    std::optional<Expression> tolerance; ///< distance that counts as right; in the unit of the answer
    double relative = 0; ///< the same as a share of the answer; the larger of both counts
    std::string unit; ///< empty: none
    std::vector<LessonChoice> choices; ///< Choice; Repair: causes
    std::optional<LessonPick> pick; ///< Pick; Repair: the place
    std::optional<Expression> condition; ///< Reach, Repair
    LessonJson reference; ///< Reach, Repair: changes of the recipe that reach it; texts and keys may hold `{= ...}`
    std::optional<LessonSetup> then; ///< Predict: what runs once the prediction is made
};

/// A wrong answer that is known. It is run: `shows` is told with the numbers of `run`, or of the question.
struct LessonMisconception {
    std::optional<Expression> answer; ///< a number, the number of a choice, or a name
    LessonJson recipe; ///< Reach, Repair: changes of the recipe; else null
    std::optional<LessonSetup> run;
    std::string shows;
};

struct LessonStep {
    std::string id, title, text;
    LessonSetup setup;
    std::optional<LessonQuestion> question;
    std::vector<std::string> hide; ///< panels that show the answer, until it is given or shown
    std::vector<std::string> hints; ///< three with a question, none without one and in an examination
    std::vector<LessonMisconception> misconceptions;
    std::string explain;
    std::vector<std::string> teaches; ///< panels, keys of numbers, ids of findings that a window leads here from
    std::optional<Expression> when; ///< of an own step: whether its question makes sense on the learner's pair
    std::string otherwise; ///< what is said where it does not

    bool own() const { return setup.own; } ///< about the learner's pair
};

struct Lesson {
    std::string folder, id, title, introduction;
    size_t minutes = 0;
    std::vector<std::string> needs; ///< ids of lessons
    bool examination = false; ///< questions have no hints
    uint64_t seed = 0;
    std::map<std::string, LessonModel> models;
    std::map<std::string, LessonValue> parameters; ///< by the seed
    /// At least one. withOwn() puts `yours` behind them.
    std::vector<LessonStep> steps;
    std::vector<LessonStep> yours; ///< the same on the learner's pair
    std::optional<Inputs> own; ///< that pair

    /// How many steps there are without those about the learner's pair.
    size_t taught() const;
};

} // namespace qs
