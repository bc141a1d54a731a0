// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/inspector/place_origin.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/side_model.h"
#include "widgets/models/base/translated.h"

#include <QStringList>

#include <algorithm>

namespace qs {

namespace {

/// Paths of traces may come from another system.
QString lastPart(const std::string& path)
{
    const size_t slash = path.find_last_of("/\\");
    return toQt(slash == std::string::npos ? path : path.substr(slash + 1));
}

QString lastName(const std::string& dotted)
{
    const size_t dot = dotted.rfind('.');
    return toQt(dot == std::string::npos ? dotted : dotted.substr(dot + 1));
}

QString lineText(const SourceFrame& frame) { return lastPart(frame.file) + u':' + QString::number(frame.line); }

NodeId quantNodeOf(const Comparison& comparison, const Place& place)
{
    if (place.weight && *place.weight < comparison.weights.size())
        return comparison.weights[*place.weight].quantNode;
    const auto row = std::ranges::find(comparison.activations, place.node, &ActivationRow::floatNode);
    return row == comparison.activations.end() ? NodeId() : row->quantNode;
}

} // namespace

const Node* nodeOfPlace(const Snapshot& snapshot, const Place& place)
{
    const LoadedModel* model = modelOf(snapshot, place.side);
    if (!model)
        return nullptr;
    const Graph& graph = model->graph();
    if (const auto inner = innerNode(graph, place.inner))
        return inner->node;
    if (place.node.valid())
        return &graph.node(place.node);
    if (!place.value.valid())
        return nullptr;
    const Value& value = graph.value(place.value);
    if (value.producer.valid())
        return &graph.node(value.producer);
    return value.initializer && !value.uses.empty() ? &graph.node(value.uses.front().node) : nullptr;
}

const Node* partnerOfPlace(const Snapshot& snapshot, const Place& place)
{
    if (place.inner.valid() || place.side != Side::Float || !place.node.valid() || !snapshot.comparison
        || !snapshot.quantModel)
        return nullptr;
    const NodeId id = quantNodeOf(*snapshot.comparison, place);
    return id.valid() ? &snapshot.quantModel->graph().node(id) : nullptr;
}

ExporterOrigin placeOrigin(const Snapshot& snapshot, const Place& place)
{
    const Node* node = nodeOfPlace(snapshot, place);
    ExporterOrigin origin = node ? exporterOrigin(*node) : ExporterOrigin();
    if (const Node* partner = origin.frame ? nullptr : partnerOfPlace(snapshot, place)) {
        ExporterOrigin other = exporterOrigin(*partner);
        if (other.frame || !origin.known())
            return other;
    }
    return origin;
}

QString sourceText(const ExporterOrigin& origin)
{
    const SourceFrame* frame = origin.shownFrame();
    if (!frame)
        return {};
    QString text = lineText(*frame);
    if (!frame->function.empty())
        text = tr("%1 in %2").arg(text, toQt(frame->function));
    return frame->code.empty() ? text : text + QStringLiteral(" — ") + toQt(frame->code);
}

QString originLine(const Node& node)
{
    const ExporterOrigin origin = exporterOrigin(node);
    QStringList parts;
    if (origin.pathBy == OriginEvidence::Metadata) {
        const QString type = lastName(origin.moduleType());
        const QString path = toQt(origin.path);
        if (!path.isEmpty() || !type.isEmpty())
            parts << (type.isEmpty() ? path : path.isEmpty() ? type : path + QStringLiteral(" (%1)").arg(type));
    }
    if (const SourceFrame* frame = origin.shownFrame())
        parts << lineText(*frame);
    return parts.join(QStringLiteral(" · "));
}

} // namespace qs
