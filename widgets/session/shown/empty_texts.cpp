// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/shown/empty_texts.h"

#include "core/graph/draft.h"
#include "core/quant/recipe/op_types.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/models/words/error_text.h"

#include <algorithm>
#include <utility>

namespace qs {

namespace {

struct Blocked {
    size_t nodes = 0, behind = 0; ///< by themselves, and by what they depend on
    const Issue* first = nullptr;
};

Blocked blockedNodes(const LoadedModel& model)
{
    Blocked blocked;
    for (size_t n = 0; n < model.graph().nodes().size(); ++n)
        if (const auto& step = model.plan->step(NodeId(n)); step.blocked) {
            ++(step.ownReason ? blocked.nodes : blocked.behind);
            blocked.first = blocked.first ? blocked.first : &*step.blocked;
        }
    if (blocked.nodes == 0) // what they depend on is no node
        std::swap(blocked.nodes, blocked.behind);
    return blocked;
}

QString blockedNote(const std::optional<LoadedModel>& model)
{
    const Blocked blocked = model ? blockedNodes(*model) : Blocked {};
    if (!blocked.first)
        return {};
    const QString behind = blocked.behind == 0
        ? QString()
        : tr(", so %1 other(s) cannot either", int(blocked.behind)).arg(countText(blocked.behind));
    return tr("%1 node(s) cannot run", int(blocked.nodes)).arg(countText(blocked.nodes)) + behind + QStringLiteral(": ")
        + issueHeadline(*blocked.first);
}

QString kindNote(const Snapshot& snapshot)
{
    if (const QString note = bothFloatNote(snapshot); !note.isEmpty())
        return note;
    const auto& first = snapshot.floatModel;
    const auto& second = snapshot.quantModel;
    const QString float_ = fileName(snapshot.inputs.floatPath), quantized = fileName(snapshot.inputs.quantPath);
    if (first && second && !first->isFloat() && !second->isFloat())
        return tr("Both models are quantized: %1 stands in the float model's place, so the numbers are of one against "
                  "the other.")
            .arg(float_);
    if (first && second && !first->isFloat())
        return tr("The models stand in each other's place: %1 is quantized, %2 is float.").arg(float_, quantized);
    return {};
}

} // namespace

bool numbersFollow(const Snapshot& snapshot)
{
    return !snapshot.comparison && !snapshot.data && !snapshot.inputs.data.spec.empty()
        && (snapshot.floatModel || snapshot.quantModel);
}

QString whyNothingQuantized(const Snapshot& snapshot)
{
    const GraphDraft* draft = snapshot.floatModel ? snapshot.floatModel->draft.get() : nullptr;
    const auto isQuantized = [&types = defaultOpTypes(RecipeFormat::Qdq)](const DraftNode& node) {
        return std::ranges::find(types, node.opType) != types.end();
    };
    const auto hasBody = [](const DraftNode& node) { return !subgraphs(node.attributes).empty(); };
    if (draft && std::ranges::none_of(draft->nodes, isQuantized))
        return std::ranges::any_of(draft->nodes, hasBody)
            ? tr(
                "Nothing can be quantized outside of If, Loop and Scan. Where a constant input chooses the branch, fix "
                "it (Recipe ▸ Fix inputs), so that the branch takes the place of its If.")
            : tr("%1 has no node of a type that is quantized.").arg(fileName(snapshot.inputs.floatPath));
    return tr("Nothing is quantized yet: run the recipe (What-if), or open a quantized model.");
}

QString whyNothingCompared(const Snapshot& snapshot)
{
    if (snapshot.comparison)
        return {};
    if (numbersFollow(snapshot))
        return tr("The models are read; numbers follow when they have run.");
    if (!snapshot.floatModel && !snapshot.quantModel)
        return tr("Open a float and a quantized model and data to compare them.");
    if (!snapshot.quantModel && !snapshot.floatModel->isFloat())
        return tr("%1 is quantized already. Open the float model that it was made of.")
            .arg(fileName(snapshot.inputs.floatPath));
    if (!snapshot.floatModel)
        return tr("Open the float model that %1 was made of.").arg(fileName(snapshot.inputs.quantPath));
    QStringList parts;
    for (const auto* model : { &snapshot.floatModel, &snapshot.quantModel })
        if (const QString note = blockedNote(*model); !note.isEmpty() && parts.isEmpty())
            parts << note;
    if (!snapshot.data && !snapshot.inputs.data.spec.empty())
        parts << tr("The graph is drawn; its numbers follow.");
    else if (!snapshot.data)
        parts << (snapshot.quantModel
                ? tr("Open data to compare the models.")
                : tr("Open a quantized model, or data to quantize %1 with.").arg(fileName(snapshot.inputs.floatPath)));
    else if (parts.isEmpty())
        parts << (snapshot.quantModel ? tr("Nothing is compared yet.") : whyNothingQuantized(snapshot));
    return parts.join(u' ');
}

QString whyNoRecipe(const Snapshot& snapshot)
{
    const auto& first = snapshot.floatModel;
    const auto& second = snapshot.quantModel;
    if (!first)
        return second ? tr("Open the float model that %1 was made of, to change how it is quantized.")
                            .arg(fileName(snapshot.inputs.quantPath))
                      : QString();
    const QString name = fileName(snapshot.inputs.floatPath);
    if (!first->isFloat())
        return tr("%1 is quantized already. Open the float model that it was made of, to change how it is quantized.")
            .arg(name);
    if (second && second->isFloat() && !snapshot.inputs.recipe)
        return tr("%1 has no quantizers, so there is no recipe in it. Open %2 without it to quantize that here.")
            .arg(fileName(snapshot.inputs.quantPath), name);
    return {};
}

QString bothFloatNote(const Snapshot& snapshot)
{
    const auto& first = snapshot.floatModel;
    const auto& second = snapshot.quantModel;
    if (!first || !second || !first->isFloat() || !second->isFloat())
        return {};
    return snapshot.inputs.recipe
        ? tr("The recipe quantizes no node, so there is nothing to compare with %1 but itself.")
              .arg(fileName(snapshot.inputs.floatPath))
        : tr("Both models are float: %1 has no quantizers.").arg(fileName(snapshot.inputs.quantPath));
}

QString pairNote(const Snapshot& snapshot)
{
    if (const QString note = kindNote(snapshot); !note.isEmpty())
        return note;
    for (const auto* model : { &snapshot.floatModel, &snapshot.quantModel })
        if (const QString note = blockedNote(*model); !note.isEmpty())
            return note;
    return {};
}

} // namespace qs
