// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/task_text.h"

#include "core/analysis/tasks/box_forms.h"
#include "core/report/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace qs::text {

namespace {

constexpr size_t kMostClasses = 5;

const char* scoredName(ScoredToken scored)
{
    return scored == ScoredToken::Next ? "next token" : scored == ScoredToken::Own ? "token" : "class";
}

std::string sequenceSentence(const TaskRow& t)
{
    if (!t.commonStart)
        return {};
    return fmt::format("{} of {} have a position with another {}; on average {} positions agree before the first one",
        count(t.differing), counted(t.samples.size(), "sample"), scoredName(t.scored), number(t.commonStart));
}

/// The classes whose masks have least in common.
std::string maskSentence(const TaskRow& t)
{
    std::vector<std::pair<double, size_t>> worst;
    for (size_t c = 0; c < t.counts.all.size(); ++c)
        if (const Number overlap = shareOf(t.counts, c))
            worst.emplace_back(*overlap, c);
    std::ranges::sort(worst);
    std::string line
        = fmt::format("{} of {} pixels have the same class", percent(t.partAgreement), count(uint64_t(t.parts)));
    for (size_t i = 0; i < std::min(worst.size(), kMostClasses) && worst.size() > 1; ++i)
        line += (i ? ", " : "; lowest IoU: class ") + std::to_string(worst[i].second) + " " + number(worst[i].first);
    return line;
}

std::string boxesSentence(const TaskRow& t)
{
    if (!t.measuredAt.empty())
        return fmt::format("one tensor of the boxes; their numbers stand at {}", t.measuredAt);
    if (t.boxes.samples == 0)
        return "no sample could be read as boxes";
    return fmt::format("{} boxes of the float model, {} of the quantized one: {} matched (mean IoU {}, confidence {} "
                       "apart), {} missed, {} extra, {} with another class; confidence from {}, IoU from {}{}",
        count(uint64_t(t.boxes.floatBoxes)), count(uint64_t(t.boxes.quantBoxes)), count(uint64_t(t.boxes.matched)),
        number(t.meanOverlap()), number(t.confidenceDifference()), count(uint64_t(t.boxes.missed())),
        count(uint64_t(t.boxes.extra())), count(uint64_t(t.boxes.reclassed)), number(t.thresholds.score),
        number(t.thresholds.match),
        leavesSuppression(t.what.form) ? ", suppressed from " + number(t.thresholds.suppression) : std::string());
}

} // namespace

std::string taskName(const TaskRow& task)
{
    std::string name(taskKindName(task.what.kind));
    if (task.what.kind == TaskKind::Boxes)
        name += " " + std::string(boxFormName(task.what.form));
    return task.told ? name + ", told" : name;
}

std::string taskAgreement(const TaskRow& task)
{
    if (!task.agreement)
        return "-";
    switch (task.what.kind) {
    case TaskKind::Classes:
        return percent(task.agreement) + " of samples";
    case TaskKind::Sequence:
        return percent(task.agreement) + " of positions";
    case TaskKind::Mask:
        return "IoU " + number(task.agreement);
    case TaskKind::Boxes:
        return percent(task.agreement) + " of boxes";
    case TaskKind::Values:
        break;
    }
    return "-";
}

std::string taskSentence(const TaskRow& task)
{
    switch (task.what.kind) {
    case TaskKind::Sequence:
        return sequenceSentence(task);
    case TaskKind::Mask:
        return task.parts > 0 ? maskSentence(task) : std::string();
    case TaskKind::Boxes:
        return boxesSentence(task);
    default:
        return {};
    }
}

std::string sampleDifference(const TaskRow& task, const TaskSample& sample)
{
    if (!sample.differs)
        return {};
    if (sample.firstDifference)
        return "from position " + count(uint64_t(*sample.firstDifference));
    if (task.what.kind != TaskKind::Boxes)
        return {};
    std::string list;
    const auto add = [&](double boxes, const char* what) {
        if (boxes > 0)
            list += (list.empty() ? "" : ", ") + count(uint64_t(boxes)) + what;
    };
    add(sample.boxes.missed(), " missed");
    add(sample.boxes.extra(), " extra");
    add(sample.boxes.reclassed, " with another class");
    return list;
}

} // namespace qs::text
