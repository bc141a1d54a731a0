// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/json/files_json.h"

#include "core/report/json_number.h"

namespace qs {

nlohmann::ordered_json filesJson(const std::vector<FileFacts>& files)
{
    auto list = nlohmann::ordered_json::array();
    for (const FileFacts& f : files) {
        nlohmann::ordered_json row = { { "role", f.role }, { "path", nullptr }, { "bytes", nullptr },
            { "parameters", f.parameters }, { "macs", nullptr }, { "int8_mac_share", jsonNumber(f.codeShare) },
            { "output_sqnr_db", jsonNumber(f.outputSqnrDb) }, { "exact", f.exact },
            { "accuracy", jsonNumber(f.accuracy) }, { "top1_agreement", jsonNumber(f.top1Agreement) },
            { "run_time", nullptr } };
        if (!f.path.empty())
            row["path"] = f.path;
        if (f.bytes)
            row["bytes"] = *f.bytes;
        if (f.macs)
            row["macs"] = *f.macs;
        if (f.time)
            row["run_time"] = { { "arithmetic", f.role == "float" ? "float" : std::string(profileName(f.profile)) },
                { "median_ms", f.time->medianMs }, { "min_ms", f.time->minMs }, { "max_ms", f.time->maxMs },
                { "runs", f.time->runs }, { "threads", f.time->threads } };
        list.push_back(std::move(row));
    }
    return list;
}

nlohmann::ordered_json calibrationJson(const Snapshot& s)
{
    if (!calibratedHere(s))
        return nullptr;
    const bool same = !s.calibrationData;
    return { { "data", same ? s.inputs.data.spec : s.inputs.calibration.spec },
        { "samples", (same ? s.data : s.calibrationData)->samples() }, { "judges_too", same } };
}

nlohmann::ordered_json elementsJson(const ElementDifferences& found)
{
    nlohmann::ordered_json json = { { "rtol", found.tolerance.relative }, { "atol", found.tolerance.absolute },
        { "rows", nlohmann::ordered_json::array() }, { "unlike", found.unlike } };
    for (const ElementRow& r : found.rows) {
        nlohmann::ordered_json row = { { "name", r.name }, { "a_name", r.aName }, { "b_name", r.bName },
            { "output", r.output }, { "elements", r.elements }, { "beyond", r.beyond }, { "beyond_share", r.share() },
            { "max_difference", r.largest }, { "first", nullptr } };
        if (r.first)
            row["first"] = { { "sample", r.first->sample }, { "at", r.first->at }, { "a", jsonNumber(r.first->a) },
                { "b", jsonNumber(r.first->b) } };
        json["rows"].push_back(std::move(row));
    }
    return json;
}

} // namespace qs
