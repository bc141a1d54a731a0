// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/json/blame_json.h"

#include "core/report/json_number.h"

#include <nlohmann/json.hpp>

namespace qs {

void addBlameJson(const TokenBlame& blame, const TokenWords* words, nlohmann::ordered_json& document)
{
    using Json = nlohmann::ordered_json;
    const auto text = [&](int64_t id) { return words ? Json(words->word(id)) : Json(nullptr); };
    document["blamed"] = { { "prompt", blame.prompt }, { "position", blame.position }, { "float_id", blame.floatId },
        { "quantized_id", blame.quantId }, { "float_text", text(blame.floatId) },
        { "quantized_text", text(blame.quantId) }, { "float_difference", jsonNumber(blame.floatDifference) },
        { "quantized_difference", jsonNumber(blame.quantDifference) }, { "total", jsonNumber(blame.total()) } };
    auto list = nlohmann::ordered_json::array();
    for (const BlamedUnit& unit : blame.units)
        list.push_back({ { "unit", unit.unit }, { "kind", blameKindName(unit.kind) }, { "parent", unit.parent },
            { "forward", jsonNumber(unit.forward) }, { "backward", jsonNumber(unit.backward) },
            { "alone", jsonNumber(unit.alone) }, { "restored", jsonNumber(unit.restored) } });
    document["blame"] = std::move(list);
}

} // namespace qs
