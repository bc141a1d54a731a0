// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/export/hand_over.h"

#include "core/base/files/atomic_file.h"
#include "core/onnx/write/export.h"
#include "core/quant/recipe/recipe_json.h"
#include "core/quant/write/ort_script.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/export/exports.h"
#include "widgets/session/recipe/quantized_snapshot.h"

#include <algorithm>
#include <memory>

namespace qs {

namespace {

/// What a job needs of the session, taken on the GUI thread.
struct Order {
    HandOver what;
    std::string path;
    SnapshotPtr shown;
    Recipe recipe;
    std::string excluded; ///< text of the list
};

const QString kHandOverTag = QStringLiteral("hand-over");

/// The shown model's, or made anew for another recipe or form.
Result<std::shared_ptr<const Quantization>> quantized(const Order& order, const JobContext& job)
{
    Recipe recipe = order.recipe;
    if (order.what == HandOver::Qdq)
        recipe.format = RecipeFormat::Qdq;
    else if (order.what == HandOver::QOperator)
        recipe.format = RecipeFormat::QOperator;
    QS_TRY(const SnapshotPtr made, quantizedSnapshot(order.shown, recipe, job));
    return made->quantization;
}

/// Appends to `notes` why ONNX Runtime does not make the same of it.
Status writeScript(const Order& order, const Quantization& made, std::vector<std::string>& notes)
{
    const std::string& source = order.shown->inputs.floatPath;
    const std::string start = made.preparationChanged ? order.path + ".float.onnx" : source;
    const size_t dot = source.rfind(".onnx");
    const std::string out = source.substr(0, dot) + ".quantized.onnx";
    QS_TRY(const OrtScript script,
        ortScript(made.prepared, made.recipe, made.ranges, { order.path, start, out, needsExternalData(made.draft) }));
    notes = script.notes;
    std::vector<AtomicFile> files;
    if (made.preparationChanged) {
        QS_TRY(files, stageModel(made.prepared, start));
    }
    QS_TRY(AtomicFile text, AtomicFile::create(order.path));
    QS_CHECK(text.write(script.text));
    files.push_back(std::move(text));
    return AtomicFile::commitAll(files);
}

Status deliver(const Order& order, const JobContext& job, std::vector<std::string>& notes)
{
    if (order.what == HandOver::ExcludeList)
        return writeFile(order.path, order.excluded);
    if (order.what == HandOver::RecipeJson)
        return writeFile(order.path, recipeToJson(order.recipe));
    QS_TRY(const auto made, quantized(order, job));
    if (order.what == HandOver::Script)
        return writeScript(order, *made, notes);
    return exportModel(made->draft, order.path);
}

std::string joined(const std::vector<std::string>& sentences)
{
    std::string text;
    for (const std::string& sentence : sentences)
        text += (text.empty() ? "" : "; ") + sentence;
    return text;
}

/// That what was written is not what people may take it for; once for all reasons.
void tellOfWritten(Session& session, HandOver what, const QString& path, const std::vector<std::string>& notes)
{
    const bool model = what == HandOver::Model || what == HandOver::Qdq || what == HandOver::QOperator;
    auto issue = model || what == HandOver::Script ? session.otherModelThanFile(
                     model ? Session::tr("what was written is that model") : Session::tr("the script makes that model"))
                                                   : std::nullopt;
    if (!notes.empty()) {
        const std::string otherwise = issue ? "; " + issue->what : std::string();
        issue = badInput(
            "ONNX Runtime does not make the same model of it, so its numbers are others: " + joined(notes) + otherwise,
            path.toStdString(),
            Session::tr("to get the model whose numbers are shown, export it as ONNX").toStdString());
    }
    if (issue)
        emit session.told(*issue);
}

/// Nodes that would be quantized by their type alone and are not.
std::string excludedNames(const RecipeView& recipe)
{
    std::string names;
    for (size_t n = 0; n < recipe.nodes().size(); ++n) {
        const NodeState& state = recipe.states()[n];
        const bool byType = state.origin == ValueOrigin::Default || state.origin == ValueOrigin::ByType;
        if (!state.quantized && !byType)
            names += recipe.nodes()[n].name + "\n";
    }
    return names;
}

} // namespace

bool isAnotherModel(HandOver what, const Recipe& recipe)
{
    return (what == HandOver::Qdq || what == HandOver::QOperator) && !isStatic(recipe.format);
}

void handOver(Session& session, const RecipeView& recipe, HandOver what, const QString& path)
{
    Order order { what, path.toStdString(), session.snapshot(), session.recipe().recipe(), {} };
    if (what == HandOver::ExcludeList)
        order.excluded = excludedNames(recipe);
    const auto notes = std::make_shared<std::vector<std::string>>();
    writeInJob(
        session, kHandOverTag, path,
        [order = std::move(order), notes](const JobContext& job) { return deliver(order, job, *notes); },
        [&session, what, path, notes] { tellOfWritten(session, what, path, *notes); });
}

void readRecipeInto(Session& session, const QString& path)
{
    const QString name = fileName(path.toStdString());
    JobRequest job;
    job.tag = kHandOverTag;
    job.title = RecipeView::tr("Read %1").arg(name);
    job.process = [&session, file = path.toStdString(), name](const JobContext&) -> Result<std::function<void()>> {
        QS_TRY(const Recipe recipe, readRecipe(file));
        return std::function<void()>(
            [&session, recipe, name] { session.recipe().apply(RecipeView::tr("Recipe of %1").arg(name), recipe); });
    };
    job.failed = [&session](const Issue& issue) { emit session.failed(issue); };
    session.jobs().start(std::move(job));
}

} // namespace qs
