// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/search/recipe_search.h"

#include "core/project/snapshot/build_snapshot.h"
#include "core/quant/recipe/recipe_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <tuple>

namespace qs {

namespace {

struct Candidate {
    Calibrator calibrator;
    double percentile; ///< of Percentile
    const char* name;
};
constexpr std::array<Candidate, 6> kCandidates { {
    { Calibrator::MinMax, 0, "min-max" },
    { Calibrator::Mse, 0, "MSE" },
    { Calibrator::Percentile, 99.99, "percentile 99.99" },
    { Calibrator::Entropy, 0, "entropy" },
    { Calibrator::Percentile, 99.9, "percentile 99.9" },
    { Calibrator::Percentile, 99.999, "percentile 99.999" },
} };

auto worth(const RunNumbers& n)
{
    const double sqnr = n.exact ? std::numeric_limits<double>::infinity() : n.outputSqnrDb.value_or(-1e9);
    return std::tuple(n.accuracy.value_or(0), sqnr);
}

} // namespace

std::vector<std::pair<std::string, Recipe>> searchCandidates(const Recipe& from, const GraphDraft& floatModel)
{
    const Recipe base = recalibrated(from, floatModel);
    std::vector<std::pair<std::string, Recipe>> candidates;
    for (const bool reduced : { false, true })
        for (const bool channels : { true, false })
            for (const Candidate& candidate : kCandidates) {
                Recipe recipe = base;
                recipe.calibration.kind = candidate.calibrator;
                if (candidate.calibrator == Calibrator::Percentile)
                    recipe.calibration.percentile = candidate.percentile;
                recipe.perChannel = channels;
                recipe.reduceRange = reduced;
                candidates.emplace_back(fmt::format("{}, {}{}", candidate.name, channels ? "per channel" : "per tensor",
                                            reduced ? ", reduced range" : ""),
                    std::move(recipe));
            }
    return candidates;
}

Result<std::vector<FoundRecipe>> searchRecipes(
    const SnapshotPtr& start, const Recipe& from, double seconds, const ProgressFn& progress, const CancelToken& cancel)
{
    if (!start->floatModel || !start->data)
        return badInput("there is nothing to search with", {}, "open a float model and data first");
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    const auto candidates = searchCandidates(from, *start->floatModel->draft);
    std::vector<FoundRecipe> found;
    SnapshotPtr last = start;
    for (const auto& [name, recipe] : candidates) {
        if (!found.empty() && std::chrono::steady_clock::now() > end)
            break;
        Inputs inputs = byRecipe(start->inputs, recipe);
        inputs.other = {};
        inputs.rangesPath.clear();
        inputs.histograms = inputs.nodeAlone = false;
        QS_TRY(last, buildSnapshot(inputs, last, {}, cancel));
        if (progress)
            progress("search", found.size() + 1, candidates.size());
        if (last->comparison)
            found.push_back({ name, recipe, runNumbers(*last) });
    }
    std::ranges::stable_sort(
        found, [](const FoundRecipe& a, const FoundRecipe& b) { return worth(a.numbers) > worth(b.numbers); });
    return found;
}

} // namespace qs
