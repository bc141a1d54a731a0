// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/alignment.h"

#include "core/base/files/json_text.h"
#include "core/base/files/whole_file.h"

#include <nlohmann/json.hpp>

namespace qs {

namespace {

const std::string kMapRemedy = "write {\"pairs\":[{\"float\":\"A\",\"quantized\":\"B\"}]}";

Result<ManualPairs> pairsIn(const nlohmann::ordered_json& list, const std::string& path)
{
    if (!list.is_array())
        return badInput("is no map of pairs", path, kMapRemedy);
    ManualPairs pairs;
    for (const auto& entry : list) {
        if (!entry.is_object() || !entry.contains("float") || !entry.contains("quantized")
            || !entry["float"].is_string() || !entry["quantized"].is_string())
            return badInput("has an entry that is no pair", path, kMapRemedy);
        pairs.emplace_back(entry["float"].get<std::string>(), entry["quantized"].get<std::string>());
    }
    return pairs;
}

} // namespace

Result<ManualLinks> readManualLinks(const std::string& path)
{
    QS_TRY(const std::string text, readWholeFile(path, "give the path of a map file"));
    const auto read = readJson(text);
    if (!read)
        return badInput("is no map of pairs: it " + read.issue().what, path, kMapRemedy);
    const nlohmann::ordered_json& json = *read;
    if (!json.is_object() || !json.contains("pairs"))
        return badInput("is no map of pairs", path, kMapRemedy);
    ManualLinks links;
    QS_TRY(links.pairs, pairsIn(json["pairs"], path));
    if (json.contains("apart")) {
        QS_TRY(links.apart, pairsIn(json["apart"], path));
    }
    return links;
}

ManualLinks withLink(ManualLinks links, const std::string& floatName, const std::string& quantName)
{
    std::erase_if(links.pairs, [&](const auto& pair) { return pair.first == floatName; });
    std::erase(links.apart, std::pair(floatName, quantName));
    links.pairs.emplace_back(floatName, quantName);
    return links;
}

ManualLinks withoutLink(ManualLinks links, const std::string& floatName, const std::string& quantName)
{
    if (std::erase(links.pairs, std::pair(floatName, quantName)) == 0)
        links.apart.emplace_back(floatName, quantName);
    return links;
}

std::string manualLinksJson(const ManualLinks& links)
{
    const auto list = [](const ManualPairs& pairs) {
        auto json = nlohmann::ordered_json::array();
        for (const auto& [floatName, quantName] : pairs)
            json.push_back({ { "float", floatName }, { "quantized", quantName } });
        return json;
    };
    nlohmann::ordered_json json { { "pairs", list(links.pairs) } };
    if (!links.apart.empty())
        json["apart"] = list(links.apart);
    return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace qs
