// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/options/recipe_flags.h"

#include "core/base/files/atomic_file.h"
#include "core/onnx/import.h"
#include "core/onnx/write/export.h"
#include "core/project/files/used_files.h"
#include "core/project/quantize/proved_preparation.h"
#include "core/project/snapshot/samples.h"
#include "core/quant/write/quantizer.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>
#include <nlohmann/json.hpp>

namespace qs::cli {

namespace {

using Json = nlohmann::ordered_json;

struct PrepareCommand {
    std::string model, out;
    std::vector<std::string> preparation;
    DataOptions data;
};

Result<std::vector<std::string>> chosenPasses(const PrepareCommand& o)
{
    if (o.preparation.empty())
        return usualPreparation();
    std::vector<std::string> passes;
    for (const std::string& name : commaList(o.preparation)) {
        const auto& known = preparationPasses();
        if (name == "all")
            passes.insert(passes.end(), known.begin(), known.end());
        else if (std::ranges::find(known, name) == known.end())
            return badUse("--preparation '" + name + "' is not known",
                fmt::format("use all, or some of {}", fmt::join(known, ", ")));
        else
            passes.push_back(name);
    }
    return passes;
}

Json nodesJson(const std::vector<NamedNode>& nodes)
{
    Json list = Json::array();
    for (const NamedNode& node : nodes)
        list.push_back({ { "name", node.name }, { "op_type", node.opType } });
    return list;
}

std::string resultJson(const PrepareCommand& o, const ProvedPreparation& made)
{
    Json passes = Json::array();
    for (const ProvedPass& p : made.passes)
        passes.push_back({ { "pass", p.report.pass }, { "changes", p.report.changes },
            { "kept_float", p.report.keepFloat }, { "nodes_before", p.nodesBefore }, { "nodes_after", p.nodesAfter },
            { "removed", nodesJson(p.removed) }, { "added", nodesJson(p.added) },
            { "distance", p.distance && std::isfinite(*p.distance) ? Json(*p.distance) : Json(nullptr) },
            { "undone", p.undone }, { "reason", p.reason } });
    const Json json = { { "schema_version", 1 }, { "float", o.model }, { "path", o.out }, { "samples", made.samples },
        { "nodes", made.draft.nodes.size() }, { "passes", passes } };
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// "Conv 4, BatchNormalization 4"
std::string typesText(const std::vector<NamedNode>& nodes)
{
    std::map<std::string, size_t> counts;
    for (const NamedNode& node : nodes)
        ++counts[node.opType];
    std::string text;
    for (const auto& [type, count] : counts)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", type, count);
    return text.empty() ? "nothing" : text;
}

std::string passText(const ProvedPass& p)
{
    const std::string& name = p.report.pass;
    if (p.report.changes == 0)
        return fmt::format("{}: nothing to do{}\n", name,
            p.report.keepFloat.empty()
                ? std::string()
                : fmt::format(" here; {} nodes had better stay float", p.report.keepFloat.size()));
    if (p.undone)
        return fmt::format("{}: taken back: {}\n", name, p.reason);
    const std::string proof = *p.distance == 0 ? "outputs equal" : fmt::format("outputs within {:.1e}", *p.distance);
    if (p.removed.empty() && p.added.empty())
        return fmt::format("{}: {} changes, {}\n", name, p.report.changes, proof);
    return fmt::format("{}: {} -> {} ({} -> {} nodes), {}\n", name, typesText(p.removed), typesText(p.added),
        p.nodesBefore, p.nodesAfter, proof);
}

FileRoles filesOfPrepare(const PrepareCommand& o, const CommonOptions& common)
{
    FileRoles files;
    addFilesOf(files, common);
    addFilesOf(files, o.data);
    files.reads(o.model, "the float model");
    files.writes(o.out, "the prepared model");
    for (const std::string& path : filesBeside(o.out))
        files.writesBeside(path, "what belongs to the prepared model");
    return files;
}

Result<int> prepare(const PrepareCommand& o, Context& context)
{
    const CommonOptions& common = context.common;
    QS_TRY(const auto passes, chosenPasses(o));
    DataOptions dataOptions = o.data;
    if (!dataOptions.given())
        dataOptions.data = "random:2";
    QS_TRY(const DataRequest request, dataRequest(dataOptions, common));
    QS_TRY(const WorkContext work, workContext(context));
    FileRoles used = filesOfPrepare(o, common);
    QS_CHECK(checkFiles(used));
    QS_TRY(const auto model, importModel(o.model, work.memoryBytes()));
    addFilesOf(used, *model, "the float model");
    QS_CHECK(used.check());
    QS_CHECK(checkIsFloat(GraphDraft(model)));
    QS_TRY(const auto data, openDataFor(model->graph, request));
    printWarnings(model->warnings, common);
    printWarnings(data->warnings(), common);
    QS_TRY(const ProvedPreparation made, provedPreparation(model, passes, *data, work));
    clearProgress(common);
    QS_TRY(std::vector<AtomicFile> files, stageModel(made.draft, o.out));
    QS_CHECK(unchanged(filesOf(*model)));
    QS_CHECK(AtomicFile::commitAll(files));
    if (!common.json.empty())
        QS_CHECK(writeOutput(common.json, resultJson(o, made)));
    if (common.json == "-" || common.quiet)
        return int(kDone);
    for (const ProvedPass& pass : made.passes)
        std::cout << passText(pass);
    std::cout << fmt::format("{}: {} nodes, proved on {} sample{}\n", o.out, made.draft.nodes.size(), made.samples,
        made.samples == 1 ? "" : "s");
    return int(kDone);
}

} // namespace

Command addPrepare(CLI::App& app, Context& context)
{
    auto o = std::make_shared<PrepareCommand>();
    app.add_option("FLOAT", o->model, "float model")->required();
    app.add_option("-o,--out", o->out, "ONNX file to write")->required();
    const auto& passes = preparationPasses();
    std::vector<std::string> words { passes.begin(), passes.end() };
    words.push_back("all");
    takesWords(app.add_option("--preparation", o->preparation,
                   fmt::format("these passes, by comma, or all: {} (default: {})", fmt::join(passes, ", "),
                       fmt::join(usualPreparation(), ", "))),
        words);
    addDataOptions(app, o->data, DataNeed::Optional);
    addCommonOptions(app, context.common);
    return [o](Context& c) { return prepare(*o, c); };
}

} // namespace qs::cli
