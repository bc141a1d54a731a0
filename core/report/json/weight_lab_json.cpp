// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/json/weight_lab_json.h"

#include "core/report/json_number.h"

#include <nlohmann/json.hpp>

namespace qs {

namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson trialsJson(const std::vector<WeightTrial>& trials)
{
    OrderedJson list = OrderedJson::array();
    for (const WeightTrial& t : trials)
        list.push_back({ { "name", weightTrialName(t) }, { "dtype", std::string(dtypeName(t.type)) },
            { "symmetric", t.symmetric }, { "per_channel", t.perChannel }, { "block_size", t.blockSize },
            { "reduced", t.reduced }, { "sqnr_db", jsonNumber(t.sqnrDb) }, { "exact", t.exact },
            { "worst_channel_db", jsonNumber(t.worstChannelDb) } });
    return list;
}

} // namespace

OrderedJson weightLabJson(const std::optional<WeightLab>& lab)
{
    if (!lab)
        return nullptr;
    OrderedJson json = { { "outlier_share", lab->outlierShare }, { "bulk_range", lab->bulkRange } };
    OrderedJson lowest = OrderedJson::array(), highest = OrderedJson::array(), outliers = OrderedJson::array();
    for (const WeightChannel& c : lab->channels) {
        lowest.push_back(jsonNumber(c.lowest));
        highest.push_back(jsonNumber(c.highest));
        outliers.push_back(jsonNumber(c.outlierShare));
    }
    json["channel_lowest"] = std::move(lowest);
    json["channel_highest"] = std::move(highest);
    json["channel_outlier_share"] = std::move(outliers);
    json["trials"] = trialsJson(lab->trials);
    json["equalized"] = nullptr;
    if (lab->equalized)
        json["equalized"] = { { "range_ratio", jsonNumber(lab->equalized->rangeRatio) },
            { "channel_abs_max", lab->equalized->channelAbsMax }, { "trials", trialsJson(lab->equalized->trials) } };
    return json;
}

OrderedJson equalizationJson(const WeightLaboratory& laboratory)
{
    return { { "pairs", laboratory.preview.pairs }, { "clips", laboratory.preview.clips },
        { "note", laboratory.note.empty() ? OrderedJson(nullptr) : OrderedJson(laboratory.note) } };
}

} // namespace qs
