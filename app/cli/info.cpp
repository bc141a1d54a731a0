// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "core/base/text/grouped_digits.h"
#include "core/onnx/import.h"
#include "core/project/about/model_info.h"
#include "core/project/files/used_files.h"
#include "core/project/snapshot/loaded_model.h"
#include "core/quant/model/load_warnings.h"
#include "core/report/json/info_json.h"
#include "core/report/text/text_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <set>

namespace qs::cli {

namespace {

std::string join(const auto& names) { return fmt::format("{}", fmt::join(names, ", ")); }

/// ", codes of 4, 8 bits" where a Clip leaves fewer codes than the types have.
std::string fewerBits(const std::set<std::string>& types, const std::set<size_t>& bits)
{
    const auto isWhole = [&](size_t n) {
        return std::ranges::any_of(types, [&](const auto& type) { return type.ends_with(fmt::format("int{}", n)); });
    };
    return std::ranges::all_of(bits, isWhole) ? std::string() : fmt::format(", codes of {} bits", join(bits));
}

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
    line("activations", join(info.activationTypes) + fewerBits(info.activationTypes, info.activationBits));
    line("weights",
        join(info.weightTypes) + fewerBits(info.weightTypes, info.weightBits)
            + (info.granularity.empty() ? "" : "  (" + join(info.granularity) + ")"));
    for (const auto& p : info.inputs)
        line("input", portText(p));
    for (const auto& p : info.outputs)
        line("output", portText(p));
    line("parameters", groupedDigits(info.parameters));
    line("MACs",
        info.macs            ? groupedDigits(*info.macs)
            : info.macsOfOne ? groupedDigits(*info.macsOfOne) + " with a batch of 1"
                             : "unknown (dynamic sizes)");
    line("nodes", fmt::format("{}", info.nodes));
    for (const auto& [type, count] : info.nodeTypes)
        text += fmt::format("    {:>5}  {}\n", count, printable(type));
    size_t inner = 0;
    for (const auto& [type, count] : info.innerTypes)
        inner += count;
    if (inner > 0)
        line("in bodies", fmt::format("{} of If, Loop and Scan", inner));
    for (const auto& [type, count] : info.innerTypes)
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
    for (const char* option : { "--seed", "--carry" }) // taken as every command takes them, of no use here
        app.get_option(option)->group("");
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
        printWarnings(loadWarnings(model.model), c.common);
        if (!c.common.json.empty())
            QS_CHECK(writeOutput(c.common.json,
                infoJson(*model.model, info).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
                    + "\n"));
        if (c.common.json != "-")
            std::cout << infoText(*model.model, info);
        return int(kDone);
    };
}

} // namespace qs::cli
