// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/json/info_json.h"

#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

Json portsJson(const std::vector<ModelInfo::Port>& ports)
{
    Json list = Json::array();
    for (const auto& port : ports) {
        Json shape = nullptr;
        if (port.type.dims) {
            shape = Json::array();
            for (const Dim& d : *port.type.dims)
                shape.push_back(d.known() ? Json(d.value) : d.symbol.empty() ? Json(nullptr) : Json(d.symbol));
        }
        const std::string dtype
            = port.type.container.empty() ? std::string(dtypeName(port.type.dtype)) : port.type.container;
        list.push_back({ { "name", port.name }, { "dtype", dtype }, { "shape", shape } });
    }
    return list;
}

} // namespace

nlohmann::ordered_json infoJson(const Model& model, const ModelInfo& info)
{
    Json types = Json::object();
    for (const auto& [type, count] : info.nodeTypes)
        types[type] = count;
    Json innerTypes = Json::object();
    for (const auto& [type, count] : info.innerTypes)
        innerTypes[type] = count;
    Json opsets = Json::object();
    for (const auto& [domain, version] : model.opsetImports)
        opsets[domain] = version;
    Json unsupported = Json::array();
    for (const auto& u : info.unsupported)
        unsupported.push_back({ { "node", u.node }, { "op_type", u.opType }, { "reason", u.reason } });
    return { { "schema_version", 1 }, { "path", model.path }, { "ir_version", model.irVersion },
        { "producer", model.producer }, { "opset_imports", opsets }, { "inputs", portsJson(info.inputs) },
        { "outputs", portsJson(info.outputs) }, { "nodes", info.nodes }, { "node_types", types },
        { "body_node_types", innerTypes }, { "parameters", info.parameters },
        { "macs", info.macs ? Json(*info.macs) : Json(nullptr) },
        { "macs_batch_1", info.macsOfOne ? Json(*info.macsOfOne) : Json(nullptr) },
        { "form", std::string(quantFormName(info.form)) },
        { "dtypes", { { "activations", info.activationTypes }, { "weights", info.weightTypes } } },
        { "bits", { { "activations", info.activationBits }, { "weights", info.weightBits } } },
        { "granularity", info.granularity }, { "unsupported", unsupported },
        { "origins",
            { { "module_path", info.origins.modulePath }, { "stack_trace", info.origins.stackTrace },
                { "name_scope", info.origins.nameScope }, { "unknown", info.origins.unknown } } } };
}

} // namespace qs
