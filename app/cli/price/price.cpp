// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/price/price.h"

#include "core/base/files/whole_file.h"
#include "core/base/work/memory.h"
#include "core/onnx/write/export.h"
#include "core/project/files/genai_folder.h"
#include "core/project/files/used_files.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/quant/recipe/recipe_json.h"
#include "core/quant/write/builder_options.h"
#include "core/report/text/price_report.h"

#include <cmath>
#include <iostream>

namespace qs::cli {

namespace {

/// A chosen point as files, complete but for their names.
struct PricedFiles {
    std::vector<AtomicFile> files;
    std::string unsaid; ///< by the builder's options
    std::vector<std::string> warnings;
};

Status stagePricedModel(const PriceOptions& o, const GraphDraft& draft, const std::string& floatPath, PricedFiles& made)
{
    if (o.out.empty())
        return {};
    QS_TRY(std::vector<AtomicFile> staged, qs::stageModel(draft, o.out));
    std::ranges::move(staged, std::back_inserter(made.files));
    GenaiFolder folder = genaiFolder(floatPath, o.out);
    made.warnings = std::move(folder.warnings);
    for (const auto& [from, to] : folder.copies) {
        QS_TRY(
            const std::string bytes, readWholeFile(from, "look at its rights, or write to the float model's folder"));
        QS_TRY(AtomicFile file, AtomicFile::create(to));
        QS_CHECK(file.write(bytes));
        made.files.push_back(std::move(file));
    }
    return {};
}

Result<PricedFiles> stageFiles(const PriceOptions& o, const Snapshot& snapshot, const WeightPrices& prices,
    const PricePoint& point, const Context& context)
{
    PricedFiles made;
    if (!o.writes())
        return made;
    QS_TRY(const PricedModel model, pricedModel(snapshot, prices, point, progressBar(context.common), context.cancel));
    QS_CHECK(stage(made.files, o.saveRecipe, recipeToJson(model.recipe)));
    if (!o.builderOptions.empty()) {
        QS_TRY(BuilderOptions options, builderOptions(model.prepared, model.recipe));
        QS_CHECK(stage(made.files, o.builderOptions, options.text));
        made.unsaid = std::move(options.unsaid);
    }
    QS_CHECK(stagePricedModel(o, model.draft, snapshot.inputs.floatPath, made));
    if (context.cancel.cancelled())
        return cancelled();
    return made;
}

Status checkLimits(const PriceOptions& o)
{
    if (int(o.maxBytes.has_value()) + int(o.maxKl.has_value()) + int(o.minSqnrDb.has_value()) > 1)
        return badUse("--max-bytes, --max-kl and --min-sqnr each choose a point of the list", "give one of them");
    if (o.maxBytes && *o.maxBytes < 1)
        return badUse("--max-bytes " + std::to_string(*o.maxBytes) + " is no number of bytes", "give 1 or more");
    if (o.maxKl && !(std::isfinite(*o.maxKl) && *o.maxKl >= 0))
        return badUse("--max-kl is a mean KL divergence", "give 0 or more");
    if (o.minSqnrDb && !std::isfinite(*o.minSqnrDb))
        return badUse("--min-sqnr is a number of dB", "give a number");
    if (o.steps && *o.steps < 0)
        return badUse("--steps " + std::to_string(*o.steps) + " is not possible", "give 0 or more");
    if (o.seconds && !(*o.seconds > 0))
        return badUse("--seconds is the time that the search may take", "give more than 0");
    return {};
}

} // namespace

bool PriceOptions::any() const { return steps || seconds || maxBytes || maxKl || minSqnrDb || writes(); }

void addPriceOptions(CLI::App& app, PriceOptions& o)
{
    CLI::Option* price = app.add_option("--price", o.price,
        "bytes: which weights of a weight-only model deserve 8 bits or float in place of 4, by what that gains at the "
        "output for its bytes");
    takesWords(price, { "bytes" });
    app.add_option("--steps", o.steps,
        "with --price: weights that are raised to more bits, one after the other, at most (default: "
            + std::to_string(kPriceSteps) + ")");
    app.add_option("--seconds", o.seconds, "with --price: no step begins after this time");
    app.add_option("--max-bytes", o.maxBytes,
        "with --price: choose what loses least with so many bytes of constants in the file at most");
    app.add_option("--max-kl", o.maxKl,
        "with --price, language models: choose the fewest bytes with a mean KL divergence of the next token of at most "
        "this");
    app.add_option("--min-sqnr", o.minSqnrDb,
        "with --price, other models: choose the fewest bytes with an SQNR of the outputs of at least this, dB");
    app.add_option("--save-recipe", o.saveRecipe, "with --price: write what was chosen as a recipe");
    app.add_option("-o,--out", o.out,
        "with --price: write what was chosen as a model, and beside it the float model's genai_config.json and "
        "tokenizer, where it has them");
    app.add_option("--builder-options", o.builderOptions,
        "with --price: write what was chosen as options of onnxruntime-genai's model builder (JSON)");
}

Status checkPriceOptions(const PriceOptions& o)
{
    if (o.price.empty())
        return o.any() ? badUse("--steps, --seconds, --max-bytes, --max-kl, --min-sqnr, --save-recipe, --out and "
                                "--builder-options belong to --price",
                   "add --price bytes")
                       : Status();
    if (o.price != "bytes")
        return badUse("--price does not know '" + o.price + "'", "use bytes");
    QS_CHECK(checkLimits(o));
    if (o.writes() && !o.maxBytes && !o.maxKl && !o.minSqnrDb)
        return badUse("--save-recipe, --out and --builder-options write a point of the list, and none is chosen",
            "add --max-bytes, --max-kl or --min-sqnr");
    return {};
}

RecipeOptions withPricedFormat(RecipeOptions recipe)
{
    if (recipe.file.empty())
        recipe.flags.try_emplace("format", RecipeValue(std::string(nameIn(kRecipeFormats, RecipeFormat::WeightOnly))));
    return recipe;
}

void addFilesOf(FileRoles& files, const PriceOptions& o, const std::string& floatPath)
{
    files.writes(o.saveRecipe, "the recipe");
    files.writes(o.builderOptions, "the builder's options");
    if (o.out.empty())
        return;
    files.writes(o.out, "the quantized model");
    for (const std::string& path : filesBeside(o.out))
        files.writesBeside(path, "what belongs to the quantized model");
    for (const auto& [from, to] : genaiFolder(floatPath, o.out).copies) {
        files.reads(from, "what belongs to the float model");
        files.writesBeside(to, "what belongs to the quantized model");
    }
}

PriceRequest priceRequest(const PriceOptions& o, const std::vector<std::string>& units, bool unitsOnly)
{
    PriceRequest request;
    request.only = units;
    request.search = !unitsOnly;
    request.steps = size_t(o.steps.value_or(int64_t(kPriceSteps)));
    request.seconds = o.seconds.value_or(request.seconds);
    if (o.maxBytes)
        request.budget.maxBytes = uint64_t(*o.maxBytes);
    request.budget.maxKl = o.maxKl;
    request.budget.minSqnrDb = o.minSqnrDb;
    return request;
}

Status runPrice(const PriceOptions& o, const PriceRequest& request, const SnapshotPtr& snapshot,
    const ChosenRecipe& recipe, FileRoles files, const Context& context)
{
    QS_TRY(const WeightPrices prices, weightPricesOf(*snapshot, request, progressBar(context.common), context.cancel));
    std::optional<PricePoint> chosen;
    if (request.budget.given()) {
        QS_TRY(chosen, chosenPoint(prices, request.budget));
    }
    PricedFiles made;
    if (chosen) {
        QS_TRY(made, stageFiles(o, *snapshot, prices, *chosen, context));
    }
    addFilesOf(files, *snapshot);
    QS_CHECK(files.check());
    QS_CHECK(unchanged(*snapshot));
    QS_CHECK(AtomicFile::commitAll(made.files));
    clearProgress(context.common);
    printWarnings(snapshot->warnings, context.common);
    printWarnings(made.warnings, context.common);
    const PriceReport report { *snapshot, prices, recipe.start, chosen ? &*chosen : nullptr, made.unsaid,
        made.warnings };
    const ReportInfo info { peakMemoryBytes(), context.common.verbose };
    if (!context.common.json.empty())
        QS_CHECK(writeOutput(context.common.json, priceJson(report, info)));
    if (context.common.json != "-")
        std::cout << priceTable(report, info);
    return {};
}

} // namespace qs::cli
