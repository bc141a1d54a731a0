// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/language/caches.h"

#include "core/analysis/caches/cache_sums.h"
#include "core/base/work/cancel_scope.h"
#include "core/project/snapshot/inputs.h"

#include <nlohmann/json.hpp>

#include <map>

namespace qs {

namespace {

/// What names no file is about the data's.
template <class T> Result<T> aboutPrompts(Result<T> made, const Snapshot& snapshot)
{
    if (made.ok() || !made.issue().file.empty())
        return made;
    Issue issue = made.issue();
    issue.file = snapshot.inputs.data.spec;
    return issue;
}

/// Numbers as float32 has them, so that readers get the same bits.
nlohmann::ordered_json scalesOfRow(const CacheRow& row, CacheBits bits, CacheScales scales)
{
    const auto b = size_t(bits);
    if (scales == CacheScales::PerTensor)
        return nlohmann::ordered_json::array({ double(row.tensorScale[b]) });
    auto list = nlohmann::ordered_json::array();
    for (const float scale : row.channelScales[b])
        list.push_back(double(scale));
    return list;
}

} // namespace

Result<CacheReport> cachesOf(
    const Snapshot& snapshot, const CacheOptions& options, const ProgressFn& progress, const CancelToken& cancel)
{
    const CancelScope scope(cancel);
    const WorkContext work = workFor(snapshot.inputs, progress, cancel);
    return aboutPrompts(measureCaches(snapshot.floatFile->plan, *snapshot.data, options, work), snapshot);
}

Result<CacheMap> cacheMapOf(const Snapshot& snapshot, const CacheOptions& options, size_t row,
    std::optional<size_t> head, const ProgressFn& progress, const CancelToken& cancel)
{
    const CancelScope scope(cancel);
    const WorkContext work = workFor(snapshot.inputs, progress, cancel);
    return aboutPrompts(cacheMap(snapshot.floatFile->plan, *snapshot.data, options, row, head, work), snapshot);
}

Result<std::string> cacheScaleFile(const CacheReport& report, CacheBits bits, CacheScales scales)
{
    if (scales == CacheScales::PerToken)
        return badUse(
            "scales per token are found while the model runs, and no file holds them", "use --per tensor or channel");
    std::map<size_t, std::array<const CacheRow*, 2>> layers; // keys, values
    for (const CacheRow& row : report.rows) {
        if (row.kind == CacheKind::KeyBeforeRotary)
            continue;
        const CacheRow*& place = layers[row.layer][row.kind == CacheKind::Value];
        if (place)
            return badInput("layer " + std::to_string(row.layer) + " has two caches of that kind, '" + place->name
                    + "' and '" + row.name + "', and a scale file can hold one",
                {}, "use --json, which holds both");
        place = &row;
    }
    auto keys = nlohmann::ordered_json::array(), values = keys, ids = keys;
    for (const auto& [layer, rows] : layers) {
        if (!rows[0] || !rows[1])
            return badInput(
                "layer " + std::to_string(layer) + " has " + (rows[0] ? "no cache of values" : "no cache of keys"), {},
                "use --json, which holds what there is");
        keys.push_back(scalesOfRow(*rows[0], bits, scales));
        values.push_back(scalesOfRow(*rows[1], bits, scales));
        ids.push_back(layer);
    }
    const nlohmann::ordered_json file = { { "scales", { { "k_scales", keys }, { "v_scales", values } } },
        { "qmax", double(codeOfThreshold(bits)) }, { "layer_ids", ids } };
    return file.dump() + "\n";
}

} // namespace qs
