// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/output_task.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr std::string_view kBoxesPrefix = "boxes:";
constexpr std::array<std::string_view, 5> kKinds { "values", "classes", "sequence", "mask", "boxes" };
constexpr std::array<std::string_view, 10> kForms { "", "yolov5", "yolov8", "yolox", "end2end", "list", "ssd", "detr",
    "detr-sigmoid", "nms" };

} // namespace

std::string_view taskKindName(TaskKind kind) { return kKinds[size_t(kind)]; }

std::string_view boxFormName(BoxForm form) { return kForms[size_t(form)]; }

std::string taskText(const TaskChoice& choice)
{
    if (choice.kind != TaskKind::Boxes)
        return std::string(taskKindName(choice.kind));
    return std::string(kBoxesPrefix) + std::string(boxFormName(choice.form));
}

const std::vector<TaskChoice>& allTaskChoices()
{
    static const std::vector<TaskChoice> all = [] {
        std::vector<TaskChoice> list { { TaskKind::Classes }, { TaskKind::Sequence }, { TaskKind::Mask },
            { TaskKind::Values } };
        for (size_t form = 1; form < kForms.size(); ++form)
            list.push_back({ TaskKind::Boxes, BoxForm(form) });
        return list;
    }();
    return all;
}

std::optional<TaskChoice> taskFromText(std::string_view text)
{
    const auto& all = allTaskChoices();
    const auto found = std::ranges::find_if(all, [&](const TaskChoice& choice) { return taskText(choice) == text; });
    return found == all.end() ? std::nullopt : std::optional(*found);
}

bool BoxThresholds::valid() const
{
    const auto share = [](double v) { return v >= 0 && v <= 1; };
    return share(score) && share(suppression) && share(match);
}

} // namespace qs
