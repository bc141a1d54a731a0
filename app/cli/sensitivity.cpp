// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/options/recipe_options.h"
#include "app/cli/price/price.h"

#include "core/base/work/memory.h"
#include "core/project/files/used_files.h"
#include "core/project/search/sensitivity.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/report/text/sensitivity_report.h"

#include <iostream>
#include <memory>

namespace qs::cli {

namespace {

struct SensitivityCommand {
    std::string floatPath, ranges, by = "node", arithmetic = "simulated";
    std::vector<std::string> units;
    bool unitsOnly = false;
    PriceOptions price;
    RecipeOptions recipe;
    DataOptions data;
};

Result<int> sensitivity(const SensitivityCommand& o, Context& context)
{
    const auto by = unitKindOf(o.by);
    if (!by)
        return badUse("--by does not know '" + o.by + "'", "use node, tensor or type");
    QS_CHECK(checkPriceOptions(o.price));
    const bool priced = !o.price.price.empty();
    if (priced && *by != UnitKind::Node)
        return badUse("--price is of the weights of nodes", "leave --by out");
    Inputs inputs;
    inputs.compare = false;
    inputs.floatPath = o.floatPath;
    inputs.rangesPath = o.ranges;
    inputs.calibrationCache = o.recipe.calibrationCache;
    QS_CHECK(checkCalibrationCache(o.recipe, o.ranges));
    QS_TRY(const ChosenRecipe chosen, chosenRecipe(priced ? withPricedFormat(o.recipe) : o.recipe));
    if (priced)
        QS_CHECK(checkPriced(chosen.recipe));
    inputs.recipe = chosen.recipe;
    QS_TRY(inputs.profile, arithmeticProfile(o.arithmetic));
    QS_TRY(inputs.data, dataRequest(o.data, context.common));
    QS_TRY(inputs.calibration, calibrationRequest(o.recipe, o.ranges, o.data, context.common));
    QS_TRY(inputs.threads, threadCount(context.common));
    QS_TRY(inputs.memoryLimit, memoryLimit(context.common));
    QS_TRY(inputs.carry, carryPairs(context.common));
    FileRoles files;
    addFilesOf(files, inputs);
    addFilesOf(files, o.recipe);
    addFilesOf(files, o.price, o.floatPath);
    addFilesOf(files, context.common);
    QS_CHECK(checkFiles(files));
    const ProgressFn progress = progressBar(context.common);
    QS_TRY(const SnapshotPtr snapshot, buildSnapshot(inputs, nullptr, progress, context.cancel));
    if (priced) {
        QS_CHECK(runPrice(
            o.price, priceRequest(o.price, o.units, o.unitsOnly), snapshot, chosen, std::move(files), context));
        return int(kDone);
    }
    QS_TRY(const Sensitivity measured, sensitivityOf(*snapshot, *by, o.units, progress, context.cancel, !o.unitsOnly));
    addFilesOf(files, *snapshot);
    QS_CHECK(files.check());
    QS_CHECK(unchanged(*snapshot));
    clearProgress(context.common);
    printWarnings(snapshot->warnings, context.common);
    const SensitivityReport report { *snapshot, measured, chosen.start };
    const ReportInfo info { peakMemoryBytes(), context.common.verbose };
    if (!context.common.json.empty())
        QS_CHECK(writeOutput(context.common.json, sensitivityJson(report, info)));
    if (context.common.json != "-")
        std::cout << sensitivityTable(report, info);
    return int(kDone);
}

} // namespace

Command addSensitivity(CLI::App& app, Context& context)
{
    auto o = std::make_shared<SensitivityCommand>();
    app.add_option("FLOAT", o->floatPath, "float model")->required();
    takesWords(app.add_option("--by", o->by, "what is quantized alone and left out: node, tensor (qdq format) or type"),
        { "node", "tensor", "type" });
    app.add_option("--units", o->units, "measure only these (names or patterns)");
    app.add_flag("--units-only", o->unitsOnly,
        "leave out one unit at a time and no more: about half the time, a Pareto list of at most one unit each");
    addPriceOptions(app, o->price);
    addRecipeOptions(app, o->recipe);
    addCalibrationData(app, o->recipe);
    app.add_option("--ranges", o->ranges, "take ranges of activations from this file, not from the data");
    addDataOptions(app, o->data);
    addCommonOptions(app, context.common);
    addArithmetic(app, o->arithmetic);
    return [o](Context& c) { return sensitivity(*o, c); };
}

} // namespace qs::cli
