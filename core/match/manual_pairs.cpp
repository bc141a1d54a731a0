// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/alignment.h"

#include "core/base/whole_file.h"

#include <nlohmann/json.hpp>

namespace qs {

Result<ManualPairs> readManualPairs(const std::string& path)
{
    QS_TRY(const std::string text, readWholeFile(path, "give the path of a map file"));
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const std::string remedy = "write {\"pairs\":[{\"float\":\"A\",\"quantized\":\"B\"}]}";
    if (json.is_discarded() || !json.is_object() || !json.contains("pairs") || !json["pairs"].is_array())
        return badInput("is no map of pairs", path, remedy);
    ManualPairs pairs;
    for (const auto& entry : json["pairs"]) {
        if (!entry.is_object() || !entry.contains("float") || !entry.contains("quantized")
            || !entry["float"].is_string() || !entry["quantized"].is_string())
            return badInput("has an entry that is no pair", path, remedy);
        pairs.emplace_back(entry["float"].get<std::string>(), entry["quantized"].get<std::string>());
    }
    return pairs;
}

} // namespace qs
