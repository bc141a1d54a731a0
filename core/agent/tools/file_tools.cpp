// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/tools/answer_parts.h"
#include "core/agent/tools/report_text.h"

#include "core/base/files/atomic_file.h"
#include "core/base/text/one_line.h"
#include "core/onnx/write/export.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/quant/recipe/recipe_json.h"

#include <filesystem>

namespace qs {

namespace {

AgentJson writtenJson(const AgentDesk& desk, const AgentSession& session, const std::string& path)
{
    std::error_code error;
    AgentJson json = headerOf(desk, session);
    json["path"] = path;
    json["bytes"] = std::filesystem::file_size(path, error);
    return json;
}

Result<AgentJson> quantize(AgentDesk& desk, const ToolArguments& a, const WorkContext& work)
{
    QS_TRY(AgentSession* const session, desk.session(a.text("session"), work));
    QS_TRY(
        const std::string path, desk.placeFor(a.text("path"), "the quantized model", a.truth("overwrite"), work, true));
    QS_TRY(const SnapshotPtr snapshot, session->quantized(work));
    if (!snapshot->quantization)
        return badInput("the model could not be quantized", session->present().floatPath, "look at the recipe");
    QS_TRY(std::vector<AtomicFile> files, stageModel(snapshot->quantization->draft, path));
    QS_CHECK(unchanged(*snapshot));
    if (work.cancel.cancelled())
        return cancelled();
    QS_CHECK(AtomicFile::commitAll(files));
    desk.wrote(path);
    AgentJson json = writtenJson(desk, *session, path);
    json["nodes"] = snapshot->quantization->draft.nodes.size();
    json["ranges"] = snapshot->quantization->ranges.tensors.size();
    json["warnings"] = warningsJson(snapshot->quantization->warnings);
    return json;
}

Result<AgentJson> exported(AgentDesk& desk, const ToolArguments& a, const WorkContext& work)
{
    QS_TRY(AgentSession* const session, desk.session(a.text("session"), work));
    const std::string form = a.text("format");
    const bool ofRecipe = form == "recipe";
    QS_TRY(const std::string path,
        desk.placeFor(a.text("path"), ofRecipe ? "the recipe" : "the report", a.truth("overwrite"), work));
    std::string text;
    if (ofRecipe) {
        QS_TRY(const Recipe recipe, session->recipe(work));
        text = recipeToJson(recipe);
    } else {
        QS_TRY(const SnapshotPtr snapshot, session->compared(work));
        QS_TRY(text, reportText(*snapshot, form, work));
    }
    if (work.cancel.cancelled())
        return cancelled();
    QS_CHECK(writeFile(path, visible(text)));
    desk.wrote(path);
    return writtenJson(desk, *session, path);
}

} // namespace

std::vector<AgentTool> fileTools()
{
    using enum ArgumentKind;
    const ToolArgument overwrite { .name = "overwrite",
        .kind = Truth,
        .help = "replace a file that is there and was not written by this server; never one that was read" };
    AgentTool model { .name = "quantize",
        .title = "Write the quantized model",
        .help = "Quantizes the float model by the recipe of the present step and writes a standard ONNX file that ONNX "
                "Runtime loads.",
        .onlyReads = false,
        .call = quantize };
    model.arguments
        = { sessionArgument(), { .name = "path", .help = "ONNX file to write", .required = true }, overwrite };
    AgentTool report { .name = "export",
        .title = "Write a report or the recipe",
        .help
        = "Writes the report of the comparison, or the recipe, to a file. Compares first where something changed.",
        .onlyReads = false,
        .call = exported };
    ToolArgument format { .name = "format", .help = "what is written", .required = true };
    for (const ReportForm& form : kReportForms)
        format.words.push_back(form.name);
    format.words.push_back("recipe");
    report.arguments
        = { sessionArgument(), format, { .name = "path", .help = "file to write", .required = true }, overwrite };
    return { model, report };
}

} // namespace qs
