// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/recipe/setting_notes.h"

#include "core/quant/recipe/recipe_edit.h"
#include "widgets/models/base/formatting.h"

#include <QCoreApplication>

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

struct SettingNotes {
    Q_DECLARE_TR_FUNCTIONS(SettingNotes)
};

/// Value that holds the scale; invalid where no QuantizeLinear names one.
ValueId scaleOf(const LoadedModel& model, uint32_t quantizer)
{
    const auto& quantizers = model.quant->quantizers();
    const NodeId quantize = quantizer < quantizers.size() ? quantizers[quantizer].quantize : NodeId();
    const Node* node = quantize.valid() ? &model.graph().node(quantize) : nullptr;
    return node && node->opType == "QuantizeLinear" && node->hasInput(1) ? node->inputs[1] : ValueId();
}

bool aboutActivations(const std::string& path)
{
    return path.starts_with("calibration.") || path.find("activation") != std::string::npos;
}

QString reachText(const SettingReach& reach, bool ranges, bool activations)
{
    const QString all = countText(reach.tensors), own = countText(reach.own);
    const bool read = reach.fromFile == reach.own;
    if (ranges && reach.idle())
        return read ? SettingNotes::tr("No effect: the ranges of all %1 activations come from the file.").arg(all)
                    : SettingNotes::tr("No effect: all %1 activations have ranges of their own.").arg(all);
    if (ranges)
        return SettingNotes::tr("Without effect on %1 of %2 activations: their ranges come from the file.")
            .arg(own, all);
    const QString kind = activations ? SettingNotes::tr("activations") : SettingNotes::tr("weights");
    if (reach.idle())
        return read ? SettingNotes::tr("No effect: all %1 %2 are as in the file.").arg(all, kind)
                    : SettingNotes::tr("No effect: all %1 %2 have values of their own.").arg(all, kind);
    return SettingNotes::tr("Without effect on %1 of %2 %3, which are as in the file.").arg(own, all, kind);
}

/// "16 activations, 12 constants": the ranges are of the activations alone.
QString placedText(Session& session, const std::vector<std::string>& tensors)
{
    const auto& model = session.snapshot()->floatModel;
    const auto constants = model && model->draft
        ? size_t(std::ranges::count_if(tensors, [&](const auto& name) { return model->draft->constant(name); }))
        : 0;
    const size_t activations = tensors.size() - constants;
    const QString read = SettingNotes::tr("%1 activation(s)", nullptr, int(activations)).arg(countText(activations));
    return constants == 0
        ? read
        : read + SettingNotes::tr(", %1 constant(s)", nullptr, int(constants)).arg(countText(constants));
}

/// Symmetric codes in blocks are stored without a sign, as the tables show them.
QString storedText(const Recipe& recipe)
{
    if (recipe.format != RecipeFormat::WeightOnly || recipe.weightOnly.dequantizeForm || !isSigned(recipe.weightType))
        return {};
    const int bits = int(dtypeBits(recipe.weightType));
    return SettingNotes::tr("Symmetric: stored as uint%1 around %2.").arg(bits).arg(1 << (bits - 1));
}

} // namespace

QuantizedNames quantizedNames(Session& session)
{
    QuantizedNames names;
    const SnapshotPtr snapshot = session.snapshot();
    if (const Comparison* comparison = session.comparison(); comparison && snapshot->quantModel) {
        std::unordered_set<ValueId> scales; // those that share one follow it, where nothing says their range
        const Recipe& base = session.recipe().base();
        for (const ActivationRow& row : comparison->activations)
            if (const ValueId scale = row.quantizer ? scaleOf(*snapshot->quantModel, *row.quantizer) : ValueId();
                row.quantizer && (!scale.valid() || scales.insert(scale).second || givesRange(base, row.name)))
                names.activations.push_back(row.name);
        for (const WeightRow& row : comparison->weights)
            if (!row.bias)
                names.weights.push_back(row.name);
    } else if (const auto& model = snapshot->floatModel;
               model && model->draft && session.recipe().baseOrigin() == ValueOrigin::Imported) {
        for (const auto& [name, said] : session.recipe().base().tensors) // until data tell which are compared
            if (!model->draft->constant(name) && givesRange(session.recipe().base(), name))
                names.activations.push_back(name);
    }
    return names;
}

SettingNote settingNote(Session& session, const QuantizedNames& names, const std::string& path)
{
    const RecipeEdits& edits = session.recipe();
    SettingNote note;
    if (!edits.editable())
        return note;
    const SettingReach reach = settingReach(edits.recipe(), edits.recipeBase(), names, path);
    const bool ranges = path.starts_with("calibration.");
    note.unknown = ranges && edits.baseOrigin() == ValueOrigin::Imported && reach.idle() && reach.fromFile > 0
        && edits.recipe().calibration == edits.base().calibration;
    if (path == "weight_type")
        note.text = storedText(edits.recipe());
    if (reach.own == 0 || (!reach.idle() && reach.fromFile == 0) || (ranges && path != "calibration.method"))
        return note;
    const bool activations = aboutActivations(path);
    note.text = reachText(reach, ranges, activations);
    if (ranges)
        note.way = SettingWay::Recalibrate;
    else if (!activations)
        note.way = SettingWay::Recompute;
    return note;
}

SettingNote placementNote(Session& session)
{
    const Recipe& recipe = session.recipe().recipe();
    SettingNote note;
    if (!session.recipe().editable() || !isStatic(recipe.format))
        return note;
    QStringList texts;
    if (!recipe.codes.constants.empty()) {
        texts
            << SettingNotes::tr("Codes are the file's, of %1 constants.").arg(countText(recipe.codes.constants.size()));
        note.way = SettingWay::RoundAnew;
    }
    if (!recipe.placement.nodes.empty() && recipe.format == RecipeFormat::Qdq) {
        texts.prepend(SettingNotes::tr("Quantizers stand where the file has them: %1.")
                          .arg(placedText(session, recipe.placement.tensors)));
        note.way = SettingWay::PlaceByRules;
    }
    note.text = texts.join(u' ');
    return note;
}

QString wayText(SettingWay way)
{
    switch (way) {
    case SettingWay::None:
        break;
    case SettingWay::Recalibrate:
        return SettingNotes::tr("Recalibrate");
    case SettingWay::Recompute:
        return SettingNotes::tr("Recompute");
    case SettingWay::PlaceByRules:
        return SettingNotes::tr("Place by rules");
    case SettingWay::RoundAnew:
        return SettingNotes::tr("Round anew");
    }
    return {};
}

void take(Session& session, SettingWay way)
{
    RecipeHistory& edits = session.recipe();
    const SnapshotPtr snapshot = session.snapshot();
    if (way == SettingWay::PlaceByRules)
        return edits.apply(SettingNotes::tr("Place quantizers by rules"), placedByRules(edits.recipe()));
    if (way == SettingWay::RoundAnew)
        return edits.apply(SettingNotes::tr("Round codes anew"), recomputedCodes(edits.recipe()));
    if (way == SettingWay::None || !snapshot->floatModel || !snapshot->floatModel->draft)
        return;
    const GraphDraft& draft = *snapshot->floatModel->draft;
    if (way == SettingWay::Recalibrate)
        edits.apply(SettingNotes::tr("Recalibrate"), recalibrated(edits.recipe(), draft));
    else
        edits.apply(SettingNotes::tr("Recompute weights"), recomputedWeights(edits.recipe(), draft));
}

} // namespace qs
