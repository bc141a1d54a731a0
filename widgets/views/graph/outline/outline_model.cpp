// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/outline/outline_model.h"

#include "widgets/models/base/formatting.h"
#include "widgets/views/graph/group_look.h"

#include <algorithm>
#include <utility>

namespace qs {

void OutlineModel::setContent(std::shared_ptr<const GraphContent> content, Numbers numbers)
{
    if (content == m_content)
        return setNumbers(std::move(numbers));
    beginResetModel();
    m_content = std::move(content);
    m_numbers = std::move(numbers);
    build();
    endResetModel();
}

void OutlineModel::setNumbers(Numbers numbers)
{
    m_numbers = std::move(numbers);
    emit headerDataChanged(Qt::Horizontal, Number, Number);
    if (!m_top.empty())
        emit dataChanged(index(0, Number), index(int(m_top.size()) - 1, State));
    for (const Item& item : m_items)
        if (!item.children.empty()) {
            const QModelIndex parent = createIndex(item.row, 0, quintptr(&item - m_items.data()));
            emit dataChanged(index(0, Number, parent), index(int(item.children.size()) - 1, State, parent));
        }
}

void OutlineModel::build()
{
    m_items.clear();
    m_top.clear();
    m_itemOfBox.clear();
    m_neighbours.reset();
    if (!m_content)
        return;
    m_neighbours = std::make_unique<const BoxNeighbours>(m_content->whole);
    const Grouping& grouping = m_content->grouping;
    std::vector<uint32_t> groups(grouping.groups.size(), kNoItem);
    m_itemOfBox.assign(m_content->whole.boxes.size(), kNoItem);
    for (const uint32_t box : grouping.order) {
        Item item;
        item.box = box;
        if (const uint32_t group = grouping.innermost[box]; group != BoxGroup::kNone)
            item.parent = itemOfGroup(group, groups);
        m_itemOfBox[box] = add(std::move(item));
    }
}

uint32_t OutlineModel::add(Item item)
{
    const auto id = uint32_t(m_items.size());
    std::vector<uint32_t>& siblings = item.parent == kNoItem ? m_top : m_items[item.parent].children;
    item.row = int(siblings.size());
    siblings.push_back(id);
    m_items.push_back(std::move(item));
    return id;
}

/// With the groups around it.
uint32_t OutlineModel::itemOfGroup(uint32_t group, std::vector<uint32_t>& items)
{
    if (items[group] != kNoItem)
        return items[group];
    Item item;
    item.group = group;
    if (const uint32_t parent = m_content->grouping.groups[group].parent; parent != BoxGroup::kNone)
        item.parent = itemOfGroup(parent, items);
    return items[group] = add(std::move(item));
}

QModelIndex OutlineModel::indexOf(uint32_t box) const
{
    if (box >= m_itemOfBox.size() || m_itemOfBox[box] == kNoItem)
        return {};
    return createIndex(m_items[m_itemOfBox[box]].row, 0, quintptr(m_itemOfBox[box]));
}

QModelIndex OutlineModel::find(const QString& text, const QModelIndex& start, bool withStart) const
{
    const size_t count = m_items.size();
    const size_t from = start.isValid() ? size_t(start.internalId()) + (withStart ? 0 : 1) : 0;
    for (size_t i = 0; i < count; ++i) {
        const size_t at = (from + i) % count;
        const Item& item = m_items[at];
        if (this->text(item, Name).contains(text, Qt::CaseInsensitive)
            || this->text(item, Kind).startsWith(text, Qt::CaseInsensitive))
            return createIndex(item.row, 0, quintptr(at));
    }
    return {};
}

const OutlineModel::Item* OutlineModel::itemOf(const QModelIndex& index) const
{
    return index.isValid() ? &m_items[size_t(index.internalId())] : nullptr;
}

const std::vector<uint32_t>& OutlineModel::childrenOf(const QModelIndex& parent) const
{
    const Item* item = itemOf(parent);
    return item ? item->children : m_top;
}

QModelIndex OutlineModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    return createIndex(row, column, quintptr(childrenOf(parent)[size_t(row)]));
}

QModelIndex OutlineModel::parent(const QModelIndex& index) const
{
    const Item* item = itemOf(index);
    if (!item || item->parent == kNoItem)
        return {};
    return createIndex(m_items[item->parent].row, 0, quintptr(item->parent));
}

int OutlineModel::rowCount(const QModelIndex& parent) const
{
    return parent.column() > 0 ? 0 : int(childrenOf(parent).size());
}

int OutlineModel::columnCount(const QModelIndex&) const { return ColumnCount; }

QVariant OutlineModel::data(const QModelIndex& index, int role) const
{
    const Item* item = itemOf(index);
    if (!item)
        return {};
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
        return text(*item, index.column());
    case Qt::AccessibleTextRole: // the row is read as one sentence
        return index.column() == Name ? sentence(*item) : text(*item, index.column());
    case Qt::TextAlignmentRole:
        return index.column() == Number ? QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
    case BoxRole:
        return item->box ? QVariant(*item->box) : QVariant();
    default:
        return {};
    }
}

QVariant OutlineModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::ToolTipRole))
        return {};
    switch (section) {
    case Name:
        return tr("Name");
    case Kind:
        return tr("Operator");
    case Number:
        return role == Qt::DisplayRole ? metricInfo(m_numbers.metric).title : metricInfo(m_numbers.metric).definition;
    case State:
        return tr("State");
    case Reads:
        return tr("Reads");
    case Feeds:
        return tr("Feeds");
    default:
        return {};
    }
}

QString OutlineModel::numberOfGroup(uint32_t group) const
{
    const Grouping& grouping = m_content->grouping;
    const BoxGroup& of = grouping.groups[group];
    const std::vector<uint32_t> boxes(grouping.order.begin() + of.first, grouping.order.begin() + of.end);
    const auto worst = worstOf(boxes, m_numbers.ofBoxes, m_numbers.metric);
    return worst ? m_numbers.ofBoxes[*worst].text : QString();
}

QString OutlineModel::textOfGroup(const Item& item, int column) const
{
    const BoxGroup& group = m_content->grouping.groups[*item.group];
    switch (column) {
    case Name:
        return toQt(group.title);
    case Kind:
        return tr("group of %1")
            .arg(nodesAmong(
                m_content->whole, std::span(m_content->grouping.order).subspan(group.first, group.end - group.first)));
    case Number:
        return m_numbers.ofBoxes.empty() ? QString() : numberOfGroup(*item.group);
    default:
        return {};
    }
}

QString OutlineModel::text(const Item& item, int column) const
{
    if (item.group)
        return textOfGroup(item, column);
    const FoldedGraph& whole = m_content->whole;
    const DisplayBox& box = whole.boxes[*item.box];
    const BoxNumber* number = *item.box < m_numbers.ofBoxes.size() ? &m_numbers.ofBoxes[*item.box] : nullptr;
    switch (column) {
    case Name:
        return boxName(*m_content, box);
    case Kind:
        return boxKind(*m_content, box);
    case Number:
        return number ? number->text : QString();
    case State:
        return number && number->blocked ? tr("cannot run")
            : m_numbers.stateOf          ? m_numbers.stateOf(*item.box)
                                         : QString();
    case Reads:
        return boxNames(*m_content, whole, m_neighbours->reads(*item.box));
    case Feeds:
        return boxNames(*m_content, whole, m_neighbours->feeds(*item.box));
    default:
        return {};
    }
}

QString OutlineModel::sentence(const Item& item) const
{
    QStringList parts { text(item, Name), text(item, Kind) };
    if (const QString number = text(item, Number); !number.isEmpty())
        parts << metricInfo(m_numbers.metric).title + u' ' + number;
    if (const QString state = text(item, State); !state.isEmpty())
        parts << state;
    if (const QString reads = text(item, Reads); !reads.isEmpty())
        parts << tr("reads %1").arg(reads);
    if (const QString feeds = text(item, Feeds); !feeds.isEmpty())
        parts << tr("feeds %1").arg(feeds);
    return parts.join(QStringLiteral(", "));
}

} // namespace qs

#include "moc_outline_model.cpp"
