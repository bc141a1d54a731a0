// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/task_words.h"

#include "core/analysis/tasks/box_forms.h"
#include "widgets/models/base/formatting.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace qs {

namespace {

struct TaskWords {
    Q_DECLARE_TR_FUNCTIONS(TaskWords)
};

constexpr size_t kMostClasses = 5;

QString boxFormText(BoxForm form)
{
    switch (form) {
    case BoxForm::Yolov5:
        return TaskWords::tr("YOLOv5, v7 or decoded YOLOX");
    case BoxForm::Yolov8:
        return TaskWords::tr("YOLOv8, v9 or 11");
    case BoxForm::Yolox:
        return TaskWords::tr("YOLOX, not decoded");
    case BoxForm::EndToEnd:
        return TaskWords::tr("end to end, 6 numbers a box");
    case BoxForm::List:
        return TaskWords::tr("boxes, scores and classes");
    case BoxForm::Ssd:
        return TaskWords::tr("SSD, boxes and scores by class");
    case BoxForm::Detr:
        return TaskWords::tr("DETR");
    case BoxForm::DetrSigmoid:
        return TaskWords::tr("RT-DETR or D-FINE");
    case BoxForm::Nms:
        return TaskWords::tr("NonMaxSuppression with boxes and scores");
    case BoxForm::None:
        break;
    }
    return {};
}

QString sequenceDetails(const TaskRow& t)
{
    if (!t.commonStart)
        return {};
    return TaskWords::tr("%1 of %2 have a position with another class; on average %3 positions agree before the first "
                         "one")
        .arg(countText(t.differing), samplesText(t.samples.size()), numberText(*t.commonStart));
}

QString maskDetails(const TaskRow& t)
{
    std::vector<std::pair<double, size_t>> worst;
    for (size_t c = 0; c < t.counts.all.size(); ++c)
        if (const Number overlap = shareOf(t.counts, c))
            worst.emplace_back(*overlap, c);
    std::ranges::sort(worst);
    QStringList lines { TaskWords::tr("%1 of the pixels have the same class").arg(percentText(t.partAgreement)) };
    for (size_t i = 0; i < std::min(worst.size(), kMostClasses) && worst.size() > 1; ++i)
        lines << TaskWords::tr("class %1: IoU %2").arg(worst[i].second).arg(numberText(worst[i].first));
    return lines.join(u'\n');
}

QString boxDetails(const TaskRow& t)
{
    if (!t.measuredAt.empty())
        return TaskWords::tr("Part of the boxes; their numbers stand at %1").arg(toQt(t.measuredAt));
    if (t.boxes.samples == 0)
        return TaskWords::tr("No sample could be read as boxes");
    const auto boxes = [](double count) { return countText(uint64_t(count)); };
    QStringList lines { TaskWords::tr("%1 boxes in the float model, %2 in the quantized one")
                            .arg(boxes(t.boxes.floatBoxes), boxes(t.boxes.quantBoxes)),
        TaskWords::tr("%1 matched: mean IoU %2, confidence %3 apart")
            .arg(boxes(t.boxes.matched), numberText(t.meanOverlap()), numberText(t.confidenceDifference())),
        TaskWords::tr("%1 missed, %2 extra, %3 with another class")
            .arg(boxes(t.boxes.missed()), boxes(t.boxes.extra()), boxes(t.boxes.reclassed)),
        TaskWords::tr("confidence from %1, matched from IoU %2")
            .arg(numberText(t.thresholds.score), numberText(t.thresholds.match)) };
    if (leavesSuppression(t.what.form))
        lines << TaskWords::tr("suppressed above IoU %1").arg(numberText(t.thresholds.suppression));
    return lines.join(u'\n');
}

} // namespace

QString taskChoiceText(const TaskChoice& choice)
{
    switch (choice.kind) {
    case TaskKind::Values:
        return TaskWords::tr("values");
    case TaskKind::Classes:
        return TaskWords::tr("classes");
    case TaskKind::Sequence:
        return TaskWords::tr("sequence");
    case TaskKind::Mask:
        return TaskWords::tr("mask");
    case TaskKind::Boxes:
        break;
    }
    return TaskWords::tr("boxes: %1").arg(boxFormText(choice.form));
}

QString taskRowText(const TaskRow& task)
{
    return task.told ? TaskWords::tr("%1 (told)").arg(taskChoiceText(task.what)) : taskChoiceText(task.what);
}

QString agreementName(const TaskRow& task)
{
    switch (task.what.kind) {
    case TaskKind::Classes:
        return TaskWords::tr("Top-1 agreement");
    case TaskKind::Sequence:
        return task.scored == ScoredToken::Next ? TaskWords::tr("Same next token")
            : task.scored == ScoredToken::Own   ? TaskWords::tr("Same token by position")
                                                : TaskWords::tr("Same class by position");
    case TaskKind::Mask:
        return TaskWords::tr("Mean IoU of masks");
    case TaskKind::Boxes:
        return TaskWords::tr("Boxes that agree");
    case TaskKind::Values:
        break;
    }
    return {};
}

QString agreementText(const Number& agreement, TaskKind kind)
{
    return kind == TaskKind::Mask ? numberText(agreement) : percentText(agreement);
}

QString agreementText(const TaskRow& task) { return agreementText(task.agreement, task.what.kind); }

QString taskDetails(const TaskRow& task)
{
    switch (task.what.kind) {
    case TaskKind::Sequence:
        return sequenceDetails(task);
    case TaskKind::Mask:
        return task.parts > 0 ? maskDetails(task) : QString();
    case TaskKind::Boxes:
        return boxDetails(task);
    default:
        return {};
    }
}

QString noBoxesText(const TaskRow& task)
{
    return TaskWords::tr("no boxes above %1 in either").arg(QString::number(task.thresholds.score));
}

QString sampleDifference(const TaskRow& task, const TaskSample& sample)
{
    if (!sample.differs)
        return {};
    if (sample.firstDifference)
        return TaskWords::tr("from position %1").arg(countText(uint64_t(*sample.firstDifference)));
    if (task.what.kind != TaskKind::Boxes)
        return {};
    QStringList parts;
    const auto add = [&](double boxes, const QString& what) {
        if (boxes > 0)
            parts << what.arg(countText(uint64_t(boxes)));
    };
    add(sample.boxes.missed(), TaskWords::tr("%1 missed"));
    add(sample.boxes.extra(), TaskWords::tr("%1 extra"));
    add(sample.boxes.reclassed, TaskWords::tr("%1 with another class"));
    return parts.join(QStringLiteral(", "));
}

const OutputRow* tellingOutput(const Comparison& comparison)
{
    const auto it
        = std::ranges::find_if(comparison.outputs, [](const OutputRow& row) { return !row.task.samples.empty(); });
    return it == comparison.outputs.end() ? nullptr : &*it;
}

bool hasClasses(const Comparison& comparison) { return !comparison.floatClass.empty(); }

bool hasOtherTask(const Comparison& comparison)
{
    const OutputRow* telling = tellingOutput(comparison);
    return telling && telling->task.what.kind != TaskKind::Classes;
}

} // namespace qs
