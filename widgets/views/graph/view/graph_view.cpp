// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/view/graph_view.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace qs {

namespace {

constexpr size_t kLargeGraph = 300; ///< boxes from which on repeated blocks are closed at first

QJsonArray toJson(const std::set<std::string>& keys)
{
    QJsonArray array;
    for (const std::string& key : keys)
        array.append(QString::fromStdString(key));
    return array;
}

std::set<std::string> fromJson(const QJsonValue& value)
{
    std::set<std::string> keys;
    for (const QJsonValue& key : value.toArray())
        keys.insert(key.toString().toStdString());
    return keys;
}

/// Which groups are layers of a transformer, or several of them: repeated blocks with attention, fused or spelled out.
std::vector<bool> layersAmong(const Graph& graph, const FoldedGraph& whole, const Grouping& grouping)
{
    std::vector<bool> layers(grouping.groups.size());
    for (uint32_t b = 0; b < whole.boxes.size(); ++b) {
        const NodeId node = whole.boxes[b].mainNode();
        const std::string_view type = node.valid() ? std::string_view(graph.node(node).opType) : std::string_view();
        if (type.find("Attention") == type.npos && type.find("Softmax") == type.npos)
            continue;
        for (const uint32_t g : grouping.around(b))
            if (grouping.groups[g].kind == BoxGroup::Kind::Block || grouping.groups[g].kind == BoxGroup::Kind::Run)
                layers[g] = true;
    }
    return layers;
}

} // namespace

std::shared_ptr<const GraphContent> GraphContent::of(const LoadedModel& model, FoldMode mode, GroupBy by)
{
    const Plan& plan = *model.plan;
    const DimsLookup dims = [&plan](ValueId id) -> std::optional<Dims> {
        const Tensor* constant = plan.constant(id);
        return constant ? std::optional(toDims(constant->shape())) : plan.facts().of(id).dims;
    };
    auto content = std::make_shared<GraphContent>();
    content->mode = mode;
    content->by = by;
    content->model = model.model;
    content->whole = foldGraph(
        model.graph(), *model.quant, [&plan](ValueId id) { return plan.constant(id); }, dims, mode);
    const std::vector<DrawnBody> bodies = addBodies(model.graph(), mode, content->whole);
    content->grouping = groupBoxes(model.graph(), content->whole, dims, by, bodies);
    content->layers = layersAmong(model.graph(), content->whole, content->grouping);
    return content;
}

bool GraphContent::closedAtFirst(uint32_t group) const
{
    const BoxGroup& of = grouping.groups[group];
    if (of.kind == BoxGroup::Kind::Body)
        return of.key.starts_with("bodies:"); // and open within
    return by == GroupBy::Names || whole.boxes.size() > kLargeGraph || layers[group];
}

std::string GraphContent::nameOf(uint32_t box) const
{
    const DisplayBox& of = whole.boxes[box];
    const bool node = of.kind == DisplayBox::Kind::Operator && of.mainNode().valid();
    return node                  ? model->graph.node(of.mainNode()).name
        : of.mainValue().valid() ? model->graph.value(of.mainValue()).name
                                 : std::string();
}

std::optional<uint32_t> GraphContent::find(const std::string& name) const
{
    if (const NodeId node = model->graph.findNode(name); node.valid())
        if (const auto box = whole.box(node))
            return box;
    const ValueId value = model->graph.findValue(name);
    return value.valid() ? whole.box(value) : std::nullopt;
}

bool GraphView::isClosed(const GraphContent& content, uint32_t group) const
{
    const std::string& key = content.grouping.groups[group].key;
    return !opened.contains(key) && (closed.contains(key) || content.closedAtFirst(group));
}

void GraphView::setClosed(const GraphContent& content, uint32_t group, bool close)
{
    const std::string& key = content.grouping.groups[group].key;
    opened.erase(key);
    closed.erase(key);
    if (close != content.closedAtFirst(group))
        (close ? closed : opened).insert(key);
}

void GraphView::setAllClosed(const GraphContent& content, bool close)
{
    for (uint32_t g = 0; g < content.grouping.groups.size(); ++g)
        setClosed(content, g, close);
}

bool GraphView::openPathTo(const GraphContent& content, uint32_t box)
{
    bool changed = false;
    for (const uint32_t g : content.grouping.around(box)) {
        changed = changed || isClosed(content, g);
        setClosed(content, g, false);
    }
    return changed;
}

FoldedGraph GraphView::drawnOf(const GraphContent& content) const
{
    std::vector<uint32_t> middle;
    if (around)
        for (const std::string& name : around->middle)
            if (const auto box = content.find(name))
                middle.push_back(*box);
    if (!middle.empty())
        return partOf(content.whole, boxesAround(content.whole, middle, around->wanted));
    return joinGroups(content.whole, content.grouping, [&](uint32_t group) { return isClosed(content, group); });
}

QString GraphView::toText() const
{
    const QJsonObject object { { QStringLiteral("group"), int(by) }, { QStringLiteral("opened"), toJson(opened) },
        { QStringLiteral("closed"), toJson(closed) } };
    return QString::fromLatin1(QJsonDocument(object).toJson(QJsonDocument::Compact).toBase64());
}

std::optional<GraphView> GraphView::fromText(const QString& text)
{
    const QJsonDocument document = QJsonDocument::fromJson(QByteArray::fromBase64(text.toLatin1()));
    if (!document.isObject())
        return std::nullopt;
    GraphView view;
    const int by = document[QStringLiteral("group")].toInt(int(GroupBy::Blocks));
    if (by >= int(GroupBy::Nothing) && by <= int(GroupBy::Names))
        view.by = static_cast<GroupBy>(by);
    view.opened = fromJson(document[QStringLiteral("opened")]);
    view.closed = fromJson(document[QStringLiteral("closed")]);
    return view;
}

} // namespace qs
