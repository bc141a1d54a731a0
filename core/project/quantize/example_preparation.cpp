// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantize/example_preparation.h"

#include "core/quant/recipe/op_types.h"
#include "core/quant/recipe/recipe_options.h"

#include <algorithm>
#include <optional>

namespace qs {

namespace {

Result<ExamplePreparation> preparedBy(const GraphPreparation& passes, const GraphDraft& floatModel)
{
    Recipe recipe;
    recipe.preparation = passes;
    ExamplePreparation prepared { floatModel, passes, {} };
    QS_TRY(prepared.reports, prepareGraph(prepared.draft, skippedPasses(recipe)));
    return prepared;
}

/// Of the values that the draft's nodes make: how many the file has, and how many it has not.
struct Shared {
    ptrdiff_t there = 0, lacking = 0;
    ptrdiff_t fit() const { return there - lacking; }
};

Shared sharedWith(const QuantizedFile& file, const GraphDraft& draft)
{
    Shared shared;
    for (const DraftNode& node : draft.nodes)
        for (const std::string& name : node.outputs)
            if (!name.empty())
                ++(file.producers.contains(name) ? shared.there : shared.lacking);
    return shared;
}

bool isChosen(const Recipe& recipe, const GraphDraft& draft, const std::string& name)
{
    const auto node = std::ranges::find(draft.nodes, name, &DraftNode::name);
    const auto& types = opTypesOf(recipe);
    return node != draft.nodes.end() && std::ranges::find(types, node->opType) != types.end()
        && std::ranges::find(recipe.exclude, name) == recipe.exclude.end();
}

} // namespace

size_t ExamplePreparation::changes() const
{
    size_t all = 0;
    for (const PassReport& report : reports)
        all += report.pass == "infer_shapes" ? 0 : report.changes;
    return all;
}

bool ExamplePreparation::makesNames() const { return passes.fuseGemm || passes.fuseAttention; }

Result<ExamplePreparation> preparedAs(const QuantizedFile& file, const GraphDraft& floatModel)
{
    GraphPreparation passes;
    passes.enabled = true;
    QS_TRY(ExamplePreparation best, preparedBy(passes, floatModel));
    Shared most = sharedWith(file, best.draft);
    const auto attempt = [&](bool gemm, bool attention) -> Status {
        if (most.lacking == 0)
            return {};
        GraphPreparation more = passes;
        more.fuseGemm = gemm;
        more.fuseAttention = more.fuseSkipLayerNorm = attention;
        QS_TRY(ExamplePreparation made, preparedBy(more, floatModel));
        if (const Shared shared = sharedWith(file, made.draft); shared.fit() > most.fit()) {
            best = std::move(made);
            most = shared;
        }
        return {};
    };
    QS_CHECK(attempt(true, false));
    QS_CHECK(attempt(false, true));
    QS_CHECK(attempt(true, true));
    return best;
}

Recipe withPreparation(Recipe recipe, const ExamplePreparation& prepared)
{
    recipe.preparation = prepared.passes;
    for (const RecipeOption& pass : passOptions())
        for (const PassReport& report : prepared.reports)
            if (pass.key() == report.pass && report.changes == 0
                && std::ranges::any_of(
                    report.keepFloat, [&](const std::string& node) { return isChosen(recipe, prepared.draft, node); }))
                pass.value.set(recipe, false);
    return recipe;
}

} // namespace qs
