// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "core/onnx/import.h"
#include "core/project/about/model_info.h"
#include "core/project/files/used_files.h"
#include "core/project/snapshot/loaded_model.h"
#include "core/report/text/text_table.h"

#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>

namespace qs::cli {

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

std::string infoJson(const Model& model, const ModelInfo& info)
{
    Json types = Json::object();
    for (const auto& [type, count] : info.nodeTypes)
        types[type] = count;
    Json opsets = Json::object();
    for (const auto& [domain, version] : model.opsetImports)
        opsets[domain] = version;
    Json unsupported = Json::array();
    for (const auto& u : info.unsupported)
        unsupported.push_back({ { "node", u.node }, { "op_type", u.opType }, { "reason", u.reason } });
    const Json json = { { "schema_version", 1 }, { "path", model.path }, { "ir_version", model.irVersion },
        { "producer", model.producer }, { "opset_imports", opsets }, { "inputs", portsJson(info.inputs) },
        { "outputs", portsJson(info.outputs) }, { "nodes", info.nodes }, { "node_types", types },
        { "parameters", info.parameters }, { "macs", info.macs ? Json(*info.macs) : Json(nullptr) },
        { "form", std::string(quantFormName(info.form)) },
        { "dtypes", { { "activations", info.activationTypes }, { "weights", info.weightTypes } } },
        { "granularity", info.granularity }, { "unsupported", unsupported },
        { "origins",
            { { "module_path", info.origins.modulePath }, { "stack_trace", info.origins.stackTrace },
                { "name_scope", info.origins.nameScope }, { "unknown", info.origins.unknown } } } };
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string join(const auto& names) { return fmt::format("{}", fmt::join(names, ", ")); }

std::string portText(const ModelInfo::Port& p)
{
    if (!p.type.container.empty())
        return p.name + "  " + p.type.container;
    return fmt::format(
        "{}  {} {}", p.name, dtypeName(p.type.dtype), p.type.dims ? dimsText(*p.type.dims) : "of unknown rank");
}

std::string infoText(const Model& model, const ModelInfo& info)
{
    std::string text = printable(model.path) + "\n";
    auto line = [&](std::string_view key, const std::string& value) {
        text += fmt::format("  {:<14}{}\n", key, printable(value));
    };
    std::string opsets;
    for (const auto& [domain, version] : model.opsetImports)
        opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ", domain.empty() ? "ai.onnx" : domain, version);
    line("format", fmt::format("ONNX, IR version {}, opsets {}", model.irVersion, opsets));
    if (!model.producer.empty())
        line("producer", model.producer);
    line("form", std::string(quantFormName(info.form)));
    line("activations", join(info.activationTypes));
    line("weights", join(info.weightTypes) + (info.granularity.empty() ? "" : "  (" + join(info.granularity) + ")"));
    for (const auto& p : info.inputs)
        line("input", portText(p));
    for (const auto& p : info.outputs)
        line("output", portText(p));
    line("parameters", fmt::format("{}", info.parameters));
    line("MACs", info.macs ? fmt::format("{}", *info.macs) : "unknown (dynamic sizes)");
    line("nodes", fmt::format("{}", info.nodes));
    for (const auto& [type, count] : info.nodeTypes)
        text += fmt::format("    {:>5}  {}\n", count, printable(type));
    line("origins",
        fmt::format("{} with a module, {} with a line of the program, {} with scopes in their name, {} unknown",
            info.origins.modulePath, info.origins.stackTrace, info.origins.nameScope, info.origins.unknown));
    for (const auto& u : info.unsupported)
        line("cannot run", fmt::format("{} ({}): {}", u.node, u.opType, u.reason));
    return text;
}

} // namespace

Command addInfo(CLI::App& app, Context& context)
{
    auto path = std::make_shared<std::string>();
    app.add_option("MODEL", *path, "ONNX file")->required();
    addCommonOptions(app, context.common);
    return [path](Context& c) -> Result<int> {
        QS_CHECK(threadCount(c.common));
        QS_TRY(const uint64_t limit, memoryLimit(c.common));
        FileRoles files;
        addFilesOf(files, c.common);
        files.reads(*path, "the model");
        QS_CHECK(checkFiles(files));
        QS_TRY(const LoadedModel model, loadModel(*path, { .onlyLookedAt = true, .memoryLimit = limit }));
        addFilesOf(files, *model.model, "the model");
        QS_CHECK(files.check());
        const ModelInfo info = modelInfo(model);
        QS_CHECK(unchanged(filesOf(*model.model)));
        printWarnings(model.model->warnings, c.common);
        if (!c.common.json.empty())
            QS_CHECK(writeOutput(c.common.json, infoJson(*model.model, info)));
        if (c.common.json != "-")
            std::cout << infoText(*model.model, info);
        return int(kDone);
    };
}

} // namespace qs::cli
