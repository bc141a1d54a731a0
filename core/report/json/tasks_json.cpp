// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/json/tasks_json.h"

#include "core/report/json_number.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

void addSequence(const TaskRow& t, Json& json)
{
    json["differing_samples"] = t.differing;
    json["common_start"] = jsonNumber(t.commonStart);
    Json list = Json::array();
    for (size_t i = 0; i < t.counts.all.size(); ++i)
        list.push_back(jsonNumber(shareOf(t.counts, i)));
    json["by_position"] = std::move(list);
}

void addMask(const TaskRow& t, Json& json)
{
    json["mean_iou"] = jsonNumber(t.agreement);
    json["pixels"] = t.parts;
    json["pixel_agreement"] = jsonNumber(t.partAgreement);
    Json list = Json::array();
    for (size_t i = 0; i < t.counts.all.size(); ++i)
        if (const Number overlap = shareOf(t.counts, i))
            list.push_back({ { "class", i }, { "iou", *overlap } });
    json["by_class"] = std::move(list);
}

void addBoxCounts(const BoxSums& b, Json& json)
{
    json["float_boxes"] = b.floatBoxes;
    json["quantized_boxes"] = b.quantBoxes;
    json["matched"] = b.matched;
    json["missed"] = b.missed();
    json["extra"] = b.extra();
    json["class_changes"] = b.reclassed;
}

void addBoxes(const TaskRow& t, Json& json)
{
    json["form"] = std::string(boxFormName(t.what.form));
    json["measured_at"] = t.measuredAt.empty() ? Json(nullptr) : Json(t.measuredAt);
    if (!t.measuredAt.empty())
        return;
    json["differing_samples"] = t.differing;
    addBoxCounts(t.boxes, json);
    json["matched_share"] = jsonNumber(t.matchedShare());
    json["mean_iou"] = jsonNumber(t.meanOverlap());
    json["mean_confidence_difference"] = jsonNumber(t.confidenceDifference());
    json["thresholds"]
        = { { "score", t.thresholds.score }, { "nms", t.thresholds.suppression }, { "match", t.thresholds.match } };
}

} // namespace

Json taskJson(const TaskRow& t)
{
    Json json = { { "kind", std::string(taskKindName(t.what.kind)) }, { "told", t.told },
        { "agreement", jsonNumber(t.agreement) } };
    if (t.what.kind == TaskKind::Classes)
        json["differing_samples"] = t.differing;
    else if (t.what.kind == TaskKind::Sequence)
        addSequence(t, json);
    else if (t.what.kind == TaskKind::Mask)
        addMask(t, json);
    else if (t.what.kind == TaskKind::Boxes)
        addBoxes(t, json);
    return json;
}

Json taskSampleJson(const TaskRow& t, size_t index)
{
    if (index >= t.samples.size())
        return nullptr;
    const TaskSample& sample = t.samples[index];
    Json json = { { "agreement", jsonNumber(sample.agreement) } };
    if (t.what.kind == TaskKind::Sequence)
        json["first_difference"] = jsonNumber(sample.firstDifference);
    else if (t.what.kind == TaskKind::Boxes)
        addBoxCounts(sample.boxes, json);
    return json;
}

} // namespace qs
