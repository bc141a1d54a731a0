// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/json/matching_json.h"

#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

Json inside(const std::vector<InsideValue>& values, const Graph& graph, const Graph& other)
{
    Json list = Json::array();
    for (const InsideValue& value : values)
        list.push_back({ { "value", graph.value(value.value).name }, { "node", other.node(value.node).name },
            { "op_type", other.node(value.node).opType } });
    return list;
}

Json reasons(const std::map<ValueId, WhyAlone>& why, const Graph& graph)
{
    Json list = Json::array();
    for (const auto& [value, reason] : why)
        list.push_back({ { "value", graph.value(value).name }, { "why", std::string(whyAloneName(reason)) } });
    return list;
}

} // namespace

Json insideJson(const Snapshot& s)
{
    const Graph &f = s.floatModel->graph(), &q = s.quantModel->graph();
    return { { "float", inside(s.alignment->insideFloat, f, q) },
        { "quantized", inside(s.alignment->insideQuant, q, f) } };
}

Json unmatchedWhyJson(const Snapshot& s)
{
    return { { "float", reasons(s.alignment->whyFloat, s.floatModel->graph()) },
        { "quantized", reasons(s.alignment->whyQuant, s.quantModel->graph()) } };
}

} // namespace qs
