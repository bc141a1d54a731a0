// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/inspector/inner_rows.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/models/words/attribute_text.h"

#include <set>

namespace qs {

namespace {

QString innerValue(const Graph& body, ValueId id)
{
    if (!id.valid())
        return tr("(none)");
    const Value& value = body.value(id);
    const QString dims = value.type.dims ? QStringLiteral("  ") + dimsLabel(value.type.dims)
        : value.initializer              ? QStringLiteral("  ") + shapeLabel(value.initializer->shape())
                                         : QString();
    const bool outer = !value.producer.valid() && !value.initializer && !body.isInput(id);
    return toQt(value.name) + dims + (outer ? tr("  from outside") : QString());
}

/// Names of what an operand is made of: itself, and through quantizers what is stored.
void addStored(const Graph& body, ValueId id, std::set<std::string>& names)
{
    for (size_t steps = 0; id.valid() && steps <= body.nodes().size(); ++steps) {
        const Value& value = body.value(id);
        names.insert(value.name);
        if (!value.producer.valid())
            return;
        const Node& producer = body.node(value.producer);
        const bool quantizer = producer.opType == "QuantizeLinear" || producer.opType == "DequantizeLinear";
        id = quantizer && producer.hasInput(0) ? producer.inputs[0] : ValueId {};
    }
}

} // namespace

void addInnerNode(InspectorRowList& rows, const LoadedModel& model, const InnerPlace& inner)
{
    const auto found = innerNode(model.graph(), inner);
    if (!found)
        return;
    const Node& node = *found->node;
    rows.section(tr("Node in a body"));
    rows.add(tr("name"), toQt(node.name));
    rows.add(tr("operator"), toQt(node.opType));
    rows.add(tr("lies in"),
        tr("%1 of %2").arg(toQt(inner.steps.back().body), toQt(model.graph().node(inner.owner).name)),
        toQt(innerName(model.graph(), inner)));
    for (const auto& [name, value] : node.attributes.all())
        rows.add(toQt(name), attributeText(value), tr("Attribute"));
    for (size_t i = 0; i < node.inputs.size(); ++i)
        rows.add(tr("input %1").arg(i), innerValue(*found->graph, node.inputs[i]));
    for (size_t i = 0; i < node.outputs.size(); ++i)
        rows.add(tr("output %1").arg(i), innerValue(*found->graph, node.outputs[i]));
    rows.add(tr("numbers"),
        tr("none of its values: bodies that run often, or not for all samples, are compared as a whole. Those of its "
           "weights follow, where both files have them."));
}

std::vector<size_t> innerWeights(const Snapshot& snapshot, const LoadedModel& model, const Place& place)
{
    const auto found = innerNode(model.graph(), place.inner);
    if (!found || !snapshot.comparison)
        return {};
    std::set<std::string> names;
    for (const ValueId input : found->node->inputs)
        addStored(*found->graph, input, names);
    const bool isFloat = place.side == Side::Float;
    std::vector<size_t> rows;
    const auto& weights = snapshot.comparison->weights;
    for (size_t i = 0; i < weights.size(); ++i) {
        const WeightRow& row = weights[i];
        const bool here = (isFloat ? row.floatNode : row.quantNode) == place.inner.owner && !row.floatValue.valid();
        if (here && names.contains(isFloat ? row.name : row.quantizedName))
            rows.push_back(i);
    }
    return rows;
}

} // namespace qs
