// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantized_example.h"

#include "core/prepare/prepare.h"
#include "core/quant/recipe_edit.h"

namespace qs {

Result<ReadBack> readExample(
    const std::shared_ptr<const Model>& floatModel, const std::shared_ptr<const Model>& quantized)
{
    GraphDraft draft(floatModel);
    auto plain = readBack(quantized, &draft);
    if (!plain || plain->differences == 0)
        return plain;
    QS_TRY(const auto reports, prepareGraph(draft));
    size_t changes = 0;
    for (const PassReport& report : reports)
        changes += report.pass == "infer_shapes" ? 0 : report.changes;
    if (changes == 0)
        return plain;
    auto prepared = readBack(quantized, &draft);
    const bool closer
        = prepared && prepared->differences && (!plain->differences || *prepared->differences < *plain->differences);
    if (!closer)
        return plain;
    prepared->recipe.preparation.enabled = true;
    return prepared;
}

Recipe recipeWithRanges(const ReadBack& back) { return withRanges(back.recipe, back.ranges); }

std::string describeReadBack(const ReadBack& back)
{
    const Recipe& r = back.recipe;
    const auto type = [](DType t) { return std::string(dtypeName(t)); };
    const auto count = [](size_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); };
    std::string text = std::string(recipeFormatName(r.format));
    const bool isStatic = r.format == RecipeFormat::Qdq || r.format == RecipeFormat::QOperator;
    if (isStatic)
        text += ", " + type(r.activationType) + " activations" + (r.symmetricActivations ? " (symmetric)" : "");
    text += ", " + type(r.weightType) + " weights";
    if (r.format == RecipeFormat::WeightOnly)
        text += " in blocks of " + std::to_string(r.weightOnly.blockSize);
    if (r.perChannel)
        text += " per channel";
    if (r.reduceRange)
        text += " of reduced range";
    if (!r.opTypes.empty())
        text += ", " + count(r.opTypes.size(), "operator type");
    if (!r.exclude.empty())
        text += ", " + count(r.exclude.size(), "node") + " excluded";
    if (!r.tensors.empty())
        text += ", " + count(r.tensors.size(), "tensor") + " of " + (r.tensors.size() == 1 ? "its" : "their") + " own";
    if (isStatic)
        text += ", " + count(back.ranges.tensors.size(), "range");
    if (back.differences)
        text += *back.differences == 0
            ? "; quantizing so gives the same nodes and constants"
            : "; quantizing so leaves " + count(*back.differences, "difference") + " in nodes and constants";
    return text;
}

} // namespace qs
