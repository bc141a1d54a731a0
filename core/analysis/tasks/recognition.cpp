// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/recognition.h"

#include "core/analysis/tasks/box_recognition.h"
#include "core/analysis/tasks/scores.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int64_t kFewestNamed = 5; ///< channels that no picture has

/// The output's sides are those of the picture, or a whole part of them; open ones may be.
bool isSizedLike(int64_t height, int64_t width, const PictureSize& picture)
{
    const auto fits = [](int64_t side, int64_t whole) {
        return side < 0 || whole <= 0 || (side > 1 && side <= whole && whole % side == 0);
    };
    return fits(height, picture.height) && fits(width, picture.width);
}

/// The classes of [N, H, W, C] are the last axis: the two before it fit the picture, and the last two do not.
bool hasChannelsLast(const OutputFacts& f, const PictureSize& picture)
{
    const bool known = picture.height > 0 && picture.width > 0 && f.size(1) > 1 && f.size(3) > 0;
    return f.rank() == 4 && known && isSizedLike(f.size(1), f.size(2), picture)
        && !isSizedLike(f.size(2), f.size(3), picture);
}

bool mayBeMask(const OutputFacts& f)
{
    const bool classes = f.whole() && (f.rank() == 3 || (f.rank() == 4 && (f.size(1) == 1 || f.size(3) == 1)));
    return classes || (f.real() && f.rank() == 4);
}

void describeMask(const ModelFacts& facts, const OutputFacts& f, OutputTask& task)
{
    task.holdsClasses = f.whole();
    task.channelsLast = f.whole() ? f.rank() == 4 && f.size(1) != 1 : hasChannelsLast(f, facts.picture());
    task.scores = f.scores;
}

/// Scores of classes for each pixel, as the operator that makes them tells, or the name, or as many channels as no
/// picture has at the picture's own size.
bool isMask(const ModelFacts& facts, const OutputFacts& f)
{
    if (!facts.seesPictures() || !mayBeMask(f))
        return false;
    const bool last = hasChannelsLast(f, facts.picture());
    const size_t first = f.rank() == 3 || last ? 1 : 2; // of height and width
    const int64_t height = f.size(first), width = f.size(first + 1);
    if (!isSizedLike(height, width, facts.picture()))
        return false;
    if (f.whole())
        return f.computedBy == "ArgMax";
    const int64_t channels = f.size(last ? 3 : 1);
    if (f.scores == ScoreKind::None)
        return false;
    if (f.scores == ScoreKind::Ranked)
        return channels == 1;
    if (f.scores == ScoreKind::Probabilities || f.scores == ScoreKind::LogProbabilities)
        return channels >= 2;
    const bool named = f.named("mask") || f.named("seg") || f.named("logits");
    const bool whole = facts.picture().height > 0 && height == facts.picture().height && width == facts.picture().width;
    return named || (whole && channels >= kFewestNamed);
}

/// One answer a sample, which whole numbers name.
bool namesClass(const OutputFacts& f)
{
    if (!f.dims || f.dims->empty() || (f.choice != ChoiceKind::Best && f.choice != ChoiceKind::Ordered))
        return false;
    const size_t last = f.choice == ChoiceKind::Best ? f.rank() : f.rank() - 1;
    return std::all_of(f.dims->begin() + 1, f.dims->begin() + ptrdiff_t(std::max<size_t>(last, 1)),
        [](const Dim& d) { return d.value == 1; });
}

TaskKind scoredKind(const OutputFacts& f)
{
    if (namesClass(f))
        return TaskKind::Classes;
    if (f.scores == ScoreKind::None)
        return TaskKind::Values;
    if (!f.dims)
        return TaskKind::Classes; // its first sample will tell
    const auto rows = scoreRows(*f.dims);
    if (!rows)
        return TaskKind::Values;
    return rows->positions == 1 ? TaskKind::Classes : TaskKind::Sequence;
}

bool fits(const ModelFacts& facts, size_t index, const TaskChoice& choice)
{
    const OutputFacts& f = facts.at(index);
    const auto rows = f.dims ? scoreRows(*f.dims) : std::nullopt;
    switch (choice.kind) {
    case TaskKind::Values:
        return true;
    case TaskKind::Classes:
        return f.real() && (!f.dims || (rows && rows->positions == 1));
    case TaskKind::Sequence:
        return f.real() && (!f.dims || rows);
    case TaskKind::Mask:
        return mayBeMask(f);
    case TaskKind::Boxes:
        return boxParts(facts, index, choice.form).has_value();
    }
    return false;
}

class Tasks {
public:
    Tasks(const ModelFacts& facts, const std::vector<std::optional<TaskChoice>>& told)
        : m_facts(facts)
        , m_told(told)
        , m_tasks(told.size())
        , m_free(told.size())
    {
        for (size_t i = 0; i < told.size(); ++i) {
            m_tasks[i].primary = i;
            m_tasks[i].choices = facts.at(i).choice != ChoiceKind::None;
            m_free[i] = !told[i];
        }
    }

    std::vector<OutputTask> found()
    {
        for (size_t i = 0; i < m_told.size(); ++i)
            if (m_told[i] && fits(m_facts, i, *m_told[i]))
                tell(i, *m_told[i]);
        if (const auto boxes = recognizedBoxes(m_facts, m_free))
            setBoxes({ TaskKind::Boxes, boxes->form }, boxes->parts, false);
        for (size_t i = 0; i < m_tasks.size(); ++i)
            if (m_free[i])
                recognize(i);
        return std::move(m_tasks);
    }

private:
    void setBoxes(TaskChoice what, const std::vector<size_t>& parts, bool told)
    {
        for (const size_t part : parts) {
            if (part != parts[0] && m_told[part])
                continue; // it is read, and is something of its own as well
            m_tasks[part].what = what;
            m_tasks[part].told = told;
            m_tasks[part].primary = parts[0];
            m_free[part] = false;
        }
        m_tasks[parts[0]].parts = parts;
        m_tasks[parts[0]].centres = m_facts.at(parts[0]).centres;
    }

    void tell(size_t i, const TaskChoice& choice)
    {
        if (choice.kind == TaskKind::Boxes)
            return setBoxes(choice, *boxParts(m_facts, i, choice.form), true);
        OutputTask& task = m_tasks[i];
        task.what = choice;
        task.told = true;
        const OutputFacts& f = m_facts.at(i);
        if (choice.kind == TaskKind::Mask)
            describeMask(m_facts, f, task);
        else if (choice.kind != TaskKind::Values)
            task.scores = f.scores == ScoreKind::None ? ScoreKind::Ranked : f.scores;
    }

    void recognize(size_t i)
    {
        const OutputFacts& f = m_facts.at(i);
        OutputTask& task = m_tasks[i];
        task.what.kind = isMask(m_facts, f) ? TaskKind::Mask : scoredKind(f);
        if (task.what.kind == TaskKind::Mask)
            describeMask(m_facts, f, task);
        else if (namesClass(f)) {
            task.scores = ScoreKind::Ranked;
            task.holdsClasses = true;
        } else if (task.what.kind != TaskKind::Values)
            task.scores = f.scores;
    }

    const ModelFacts& m_facts;
    const std::vector<std::optional<TaskChoice>>& m_told;
    std::vector<OutputTask> m_tasks;
    std::vector<bool> m_free;
};

} // namespace

std::vector<OutputTask> outputTasks(const Plan& plan, std::span<const ValueId> outputs, const TaskChoices& choices)
{
    std::vector<std::optional<TaskChoice>> told;
    for (const ValueId id : outputs) {
        const auto said = choices.told.find(plan.graph().value(id).name);
        told.push_back(said == choices.told.end() ? std::nullopt : std::optional(said->second));
    }
    std::vector<OutputTask> tasks = Tasks(ModelFacts(plan, outputs), told).found();
    for (size_t i = 0; i < tasks.size(); ++i)
        if (tasks[i].what.kind == TaskKind::Sequence && tasks[i].scores != ScoreKind::Ranked)
            tasks[i].tokens = tokenInputs(plan, outputs[i]);
    return tasks;
}

bool canBe(const Plan& plan, std::span<const ValueId> outputs, size_t index, const TaskChoice& choice)
{
    return fits(ModelFacts(plan, outputs), index, choice);
}

Status checkTasks(const Plan& plan, const TaskChoices& choices)
{
    const auto outputs = plan.graph().outputs();
    std::string names;
    for (const ValueId id : outputs)
        names += (names.empty() ? "" : ", ") + plan.graph().value(id).name;
    for (const auto& [name, choice] : choices.told) {
        const auto at = std::ranges::find(
            outputs, name, [&](ValueId id) -> const std::string& { return plan.graph().value(id).name; });
        if (at == outputs.end())
            return badInput("the task of '" + name + "' is told, but no output has that name", {},
                "name one of the outputs: " + names);
        const auto& dims = plan.facts().of(*at).dims;
        if (!canBe(plan, outputs, size_t(at - outputs.begin()), choice))
            return badInput(
                "output '" + name + "' of shape " + (dims ? dimsText(*dims) : "?") + " cannot be " + taskText(choice),
                {}, "choose a task that fits its type and the other outputs, or leave it automatic");
    }
    return {};
}

} // namespace qs
