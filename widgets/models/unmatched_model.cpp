// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/unmatched_model.h"

#include "widgets/models/formatting.h"

namespace qs {

namespace {

std::vector<ColumnSpec> unmatchedColumns()
{
    const auto tr = [](const char* text) { return UnmatchedModel::tr(text); };
    const auto text = ColumnKind::Text;
    return {
        { tr("tensor without a partner"), tr("Name in that file"), QStringLiteral("features/conv_2_output_quantized"),
            text },
        { tr("file"), tr("Which file has the tensor"), QStringLiteral("quantized"), text },
        { tr("op"), tr("Operator that makes it"), QStringLiteral("QuantizeLinear"), text },
        { tr("shape"), tr("Declared or inferred shape"), QStringLiteral("1×32×25×20"), text },
        { tr("node"), tr("Node that makes it"), QStringLiteral("features/conv_2"), text },
    };
}

struct Entry {
    Side side;
    ValueId value;
    const Graph* graph;
};

Entry entryOf(const Snapshot& snapshot, int row)
{
    const Alignment& alignment = *snapshot.alignment;
    const auto index = size_t(row);
    if (index < alignment.unmatchedFloat.size())
        return { Side::Float, alignment.unmatchedFloat[index], &snapshot.floatModel->graph() };
    return { Side::Quantized, alignment.unmatchedQuant[index - alignment.unmatchedFloat.size()],
        &snapshot.quantModel->graph() };
}

} // namespace

UnmatchedModel::UnmatchedModel(QObject* parent)
    : ColumnModel(unmatchedColumns(), parent)
{
}

Place UnmatchedModel::place(int row) const
{
    const Entry entry = entryOf(current(), row);
    Place place;
    place.side = entry.side;
    place.value = entry.value;
    place.node = entry.graph->value(entry.value).producer;
    return place;
}

int UnmatchedModel::countOf(const Snapshot& snapshot) const
{
    if (!snapshot.alignment || !snapshot.floatModel || !snapshot.quantModel)
        return 0;
    return int(snapshot.alignment->unmatchedFloat.size() + snapshot.alignment->unmatchedQuant.size());
}

std::string UnmatchedModel::keyOf(const Snapshot& snapshot, int row) const
{
    const Entry entry = entryOf(snapshot, row);
    return (entry.side == Side::Float ? "f " : "q ") + entry.graph->value(entry.value).name;
}

bool UnmatchedModel::sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const
{
    return entryOf(a, rowA).value == entryOf(b, rowB).value;
}

QString UnmatchedModel::text(int row, int column) const
{
    const Entry entry = entryOf(current(), row);
    const Value& value = entry.graph->value(entry.value);
    const qs::Node* node = value.producer.valid() ? &entry.graph->node(value.producer) : nullptr;
    switch (column) {
    case Tensor:
        return toQt(value.name);
    case File:
        return entry.side == Side::Float ? tr("float") : tr("quantized");
    case Op:
        return node ? toQt(node->opType) : tr("input");
    case ShapeColumn:
        return value.type.dims ? dimsLabel(value.type.dims) : QString();
    case Node:
        return node ? toQt(node->name) : QString();
    default:
        return {};
    }
}

Number UnmatchedModel::number(int, int) const { return {}; }

QString UnmatchedModel::filterText(int row) const
{
    return text(row, File) + u' ' + text(row, Tensor) + u' ' + text(row, Op) + u' ' + text(row, Node);
}

} // namespace qs
