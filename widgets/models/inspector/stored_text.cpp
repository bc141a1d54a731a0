// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/inspector/stored_text.h"

#include "core/graph/origin/exporter_origin.h"
#include "core/graph/value_notes.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/side_model.h"
#include "widgets/models/base/translated.h"

#include <QStringList>

namespace qs {

namespace {

constexpr int kMostFolded = 4;

QString nodeWithType(const Node& node) { return QStringLiteral("%1 (%2)").arg(toQt(node.name), toQt(node.opType)); }

QString externalText(const ExternalPlace& place)
{
    const QString bytes = place.length > 0 ? tr(", %1 bytes").arg(countText(place.length)) : QString();
    return tr("%1, from byte %2").arg(fileName(place.file), countText(place.offset)) + bytes;
}

QString madeText(const Node& node)
{
    return node.is("Constant") ? tr("in the node %1").arg(nodeWithType(node))
                               : tr("computed once, by %1").arg(nodeWithType(node));
}

/// "" for what is no constant of the model. `file`: as it was opened, before bodies were expanded.
QString storedText(const LoadedModel& model, const LoadedModel& file, const std::string& name)
{
    const Graph& graph = model.graph();
    const ValueId id = graph.findValue(name);
    if (!id.valid() || !(graph.value(id).initializer || model.plan->constant(id)))
        return {};
    if (!graph.value(id).initializer)
        return graph.value(id).producer.valid() ? madeText(graph.node(graph.value(id).producer)) : QString();
    const auto& notes = model.model->valueNotes;
    if (notes && notes->external.contains(name))
        return externalText(notes->external.at(name));
    const ValueId inFile = file.graph().findValue(name);
    if (!inFile.valid())
        return tr("made while the model was prepared");
    const NodeId maker = file.graph().value(inFile).producer;
    return maker.valid() ? madeText(file.graph().node(maker)) : tr("in the model file");
}

QString foldedText(const LoadedModel& model, const std::string& name)
{
    const auto& notes = model.model->valueNotes;
    if (!notes || !notes->metadata.contains(name))
        return {};
    QStringList names;
    const std::vector<std::string> from = foldedFrom(*notes->metadata.at(name));
    for (const std::string& one : from)
        if (names.size() < kMostFolded)
            names << toQt(one);
    const auto more = int(from.size()) - int(names.size());
    return names.join(QStringLiteral(", ")) + (more > 0 ? tr(" and %n more", more) : QString());
}

/// The recipe made it; it is in no file yet.
bool isMade(const Snapshot& snapshot, const std::string& quantName)
{
    if (!snapshot.quantization || !snapshot.floatFile)
        return false;
    const Graph& graph = snapshot.floatFile->graph();
    const ValueId id = graph.findValue(quantName);
    return !id.valid() || !graph.value(id).initializer;
}

struct ConstantNames {
    std::string floatName, quantName;
};

ConstantNames constantNames(const Snapshot& snapshot, const Place& place)
{
    if (place.weight && snapshot.comparison && *place.weight < snapshot.comparison->weights.size()) {
        const WeightRow& row = snapshot.comparison->weights[*place.weight];
        return { row.name, row.quantizedName };
    }
    const LoadedModel* model = modelOf(snapshot, place.side);
    if (!model || !place.value.valid())
        return {};
    const std::string& name = model->graph().value(place.value).name;
    return place.side == Side::Float ? ConstantNames { name, {} } : ConstantNames { {}, name };
}

} // namespace

void addStored(InspectorRowList& rows, const Snapshot& snapshot, const Place& place)
{
    const ConstantNames names = constantNames(snapshot, place);
    if (!names.floatName.empty() && snapshot.floatModel) {
        const LoadedModel& file = snapshot.floatFile ? *snapshot.floatFile : *snapshot.floatModel;
        rows.add(tr("stored"), storedText(*snapshot.floatModel, file, names.floatName),
            tr("Where the file keeps the constant."));
        rows.add(tr("folded from"), foldedText(*snapshot.floatModel, names.floatName),
            tr("What the exporter's optimizer computed the constant from."));
    }
    if (!names.quantName.empty() && snapshot.quantModel) {
        const LoadedModel& file = snapshot.quantFile ? *snapshot.quantFile : *snapshot.quantModel;
        const bool both = !names.floatName.empty();
        rows.add(both ? tr("stored, quantized") : tr("stored"),
            isMade(snapshot, names.quantName) ? tr("made by the recipe")
                                              : storedText(*snapshot.quantModel, file, names.quantName),
            tr("Where the quantized file keeps the constant."));
    }
}

} // namespace qs
