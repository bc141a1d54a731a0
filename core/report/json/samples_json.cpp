// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/json/samples_json.h"

#include "core/report/json_number.h"

namespace qs {

namespace {

nlohmann::ordered_json momentsJson(const std::optional<InputMoments>& m)
{
    const auto of = [&](double InputMoments::*number) { return jsonNumber(m ? Number((*m).*number) : Number()); };
    return { { "mean", of(&InputMoments::mean) }, { "deviation", of(&InputMoments::deviation) },
        { "range", { of(&InputMoments::lowest), of(&InputMoments::highest) } } };
}

nlohmann::ordered_json inputJson(const InputRow& row)
{
    nlohmann::ordered_json json = { { "name", row.name } };
    json.update(momentsJson(row.all));
    json["channels"] = nlohmann::ordered_json::array();
    for (const InputMoments& channel : row.channels)
        json["channels"].push_back(momentsJson(channel));
    json["calibrated_range"] = nullptr;
    if (row.calibrated)
        json["calibrated_range"] = { jsonNumber(row.calibrated->first), jsonNumber(row.calibrated->second) };
    json["note"] = row.note;
    return json;
}

} // namespace

void addSamplesJson(const Comparison& c, nlohmann::ordered_json& document)
{
    document["inputs"] = nlohmann::ordered_json::array();
    for (const InputRow& row : c.inputs)
        document["inputs"].push_back(inputJson(row));
    document["duplicates"] = c.duplicates;
    document["calibration_coverage"] = nullptr;
    if (c.coverage)
        document["calibration_coverage"]
            = { { "values", c.coverage->values }, { "outside_share", jsonNumber(c.coverage->outside) },
                  { "tensors", c.coverage->tensors }, { "tensors_outside", c.coverage->tensorsOutside },
                  { "worst", c.coverage->worst }, { "worst_share", jsonNumber(c.coverage->worstShare) } };
    document["calibration"] = nullptr;
    if (const auto& s = c.calibration)
        document["calibration"] = { { "samples", s->samples }, { "judged_samples", s->judged },
            { "repeated_samples", s->repeated }, { "classes", s->classes },
            { "settled_after", s->settledAfter > 0 ? nlohmann::ordered_json(s->settledAfter) : nullptr } };
    document["ranges_settled_after"]
        = c.rangesSettledAfter > 0 ? nlohmann::ordered_json(c.rangesSettledAfter) : nullptr;
    document["learning_curve"] = nlohmann::ordered_json::array();
    for (const RangeGrowth& g : c.rangeGrowth)
        document["learning_curve"].push_back({ { "samples", g.samples },
            { "mean_range_share", jsonNumber(g.meanShare) }, { "settled_share", jsonNumber(g.settledShare) } });
}

} // namespace qs
