// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/recipe/node_tree_model.h"

#include "widgets/models/base/formatting.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

/// Parts of a node's name: by slashes, else by dots; the last one is the node's own.
QStringList partsOf(const std::string& name)
{
    const QString text = toQt(name);
    const QStringList slashes = text.split(u'/', Qt::SkipEmptyParts);
    return slashes.size() > 1 ? slashes : text.split(u'.', Qt::SkipEmptyParts);
}

bool isQuantized(const NodeState& state) { return state.quantized && !state.staysFloat; }

} // namespace

NodeTreeModel::NodeTreeModel(QObject* parent)
    : QAbstractItemModel(parent)
{
}

const NodeTreeModel::Item* NodeTreeModel::at(const QModelIndex& index) const
{
    return index.isValid() ? &m_items[size_t(index.internalId())] : nullptr;
}

const std::vector<int>& NodeTreeModel::childrenOf(const QModelIndex& index) const
{
    const Item* item = at(index);
    return item ? item->children : m_top;
}

int NodeTreeModel::rowCount(const QModelIndex& parent) const
{
    return parent.column() > 0 ? 0 : int(childrenOf(parent).size());
}

int NodeTreeModel::columnCount(const QModelIndex&) const { return ColumnCount; }

QModelIndex NodeTreeModel::index(int row, int column, const QModelIndex& parent) const
{
    if (row < 0 || column < 0 || column >= ColumnCount || row >= rowCount(parent))
        return {};
    return createIndex(row, column, quintptr(childrenOf(parent)[size_t(row)]));
}

QModelIndex NodeTreeModel::parent(const QModelIndex& index) const
{
    const Item* item = at(index);
    if (!item || item->parent < 0)
        return {};
    return createIndex(m_items[size_t(item->parent)].row, 0, quintptr(item->parent));
}

QVariant NodeTreeModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Item& item = *at(index);
    const TriState state = triState(m_states, item.members);
    if (role == Qt::ToolTipRole)
        return toolTip(item);
    if (role == QuantizedRole)
        return std::ranges::any_of(item.members, [this](size_t i) { return isQuantized(m_states[i]); });
    if (role == LeafRole)
        return item.leaf;
    if (index.column() == Name) {
        if (role == Qt::DisplayRole || role == SortRole)
            return item.title;
        if (role == Qt::CheckStateRole)
            return int(state == TriState::All ? Qt::Checked
                    : state == TriState::None ? Qt::Unchecked
                                              : Qt::PartiallyChecked);
        return {};
    }
    const bool excluded = state == TriState::None;
    const auto node = nodeOf(index);
    const std::optional<double> number = node && !excluded ? m_numbers[*node] : std::nullopt;
    if (role == Qt::TextAlignmentRole)
        return int(Qt::AlignRight | Qt::AlignVCenter);
    if (role == SortRole)
        return number ? QVariant(*number) : QVariant();
    if (role != Qt::DisplayRole)
        return {};
    if (node && state != TriState::Some)
        return excluded                  ? (m_states[*node].ofFile ? tr("of file") : tr("float"))
            : m_states[*node].staysFloat ? tr("stays float")
            : number                     ? decibelText(number)
                                         : QString();
    const auto quantized = std::ranges::count_if(item.members, [&](size_t i) { return isQuantized(m_states[i]); });
    return tr("%1 of %2").arg(countText(quint64(quantized)), countText(item.members.size()));
}

QVariant NodeTreeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return section == Name ? tr("Quantized node") : tr("SQNR");
}

bool NodeTreeModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (role != Qt::CheckStateRole || !checkIndex(index, CheckIndexOption::IndexIsValid))
        return false;
    const Item& item = *at(index);
    emit changeRequested(item.members, value.toInt() == Qt::Checked, fullTitle(item));
    return true;
}

Qt::ItemFlags NodeTreeModel::flags(const QModelIndex& index) const
{
    if (!index.isValid())
        return {};
    const Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
    return index.column() == Name ? flags | Qt::ItemIsUserCheckable : flags;
}

void NodeTreeModel::setNodes(const std::vector<RecipeNode>& nodes, const NodeUnits& units)
{
    if (nodes == m_nodes && units == m_units)
        return;
    beginResetModel();
    m_nodes = nodes;
    m_units = units;
    m_states.assign(nodes.size(), {});
    m_numbers.assign(nodes.size(), std::nullopt);
    build();
    endResetModel();
}

void NodeTreeModel::setGrouping(NodeGrouping grouping)
{
    if (grouping == m_grouping)
        return;
    beginResetModel();
    m_grouping = grouping;
    build();
    endResetModel();
}

void NodeTreeModel::setStates(std::vector<NodeState> states, std::vector<std::optional<double>> numbers)
{
    if (states.size() != m_nodes.size() || numbers.size() != m_nodes.size()
        || (states == m_states && numbers == m_numbers))
        return;
    m_states = std::move(states);
    m_numbers = std::move(numbers);
    const auto announce = [this](const auto& self, const QModelIndex& parent) -> void {
        const int rows = rowCount(parent);
        if (rows == 0)
            return;
        emit dataChanged(index(0, 0, parent), index(rows - 1, ColumnCount - 1, parent));
        for (int row = 0; row < rows; ++row)
            self(self, index(row, 0, parent));
    };
    announce(announce, {});
}

int NodeTreeModel::add(int parent, const QString& title)
{
    const int id = int(m_items.size());
    std::vector<int>& siblings = parent < 0 ? m_top : m_items[size_t(parent)].children;
    siblings.push_back(id);
    Item item;
    item.title = title;
    item.parent = parent;
    m_items.push_back(std::move(item));
    return id;
}

/// A row for what belongs together; one for each part is below it where there are several.
void NodeTreeModel::addUnit(int parent, const std::vector<size_t>& members, const TitleOf& titleOf)
{
    int above = parent;
    if (members.size() > 1) {
        QStringList titles;
        for (const size_t member : members)
            titles << titleOf(member);
        above = add(parent, titles.join(QStringLiteral(" + ")));
        m_items[size_t(above)].unit = true;
    }
    for (const size_t member : members) {
        const int leaf = add(above, titleOf(member));
        m_items[size_t(leaf)].leaf = true;
        m_items[size_t(leaf)].members = { member };
    }
}

/// As an edit names it: nodes by their names, a scope with those around it.
QString NodeTreeModel::fullTitle(const Item& item) const
{
    if (item.leaf || item.unit)
        return unitTitle(m_nodes, item.members);
    return item.parent < 0 ? item.title : fullTitle(m_items[size_t(item.parent)]) + u'/' + item.title;
}

void NodeTreeModel::build()
{
    m_items.clear();
    m_top.clear();
    if (m_grouping == NodeGrouping::Scope)
        buildScopes();
    else
        buildTypes();
    finish();
}

void NodeTreeModel::buildScopes()
{
    std::map<std::pair<int, QString>, int> groups;
    const auto lastPart = [this](size_t n) {
        const QStringList parts = partsOf(m_nodes[n].name);
        return parts.isEmpty() ? toQt(m_nodes[n].name) : parts.back();
    };
    for (size_t n = 0; n < m_nodes.size(); ++n) {
        if (m_units.of(n).front() != n)
            continue; // stands with the first of its unit
        const QStringList parts = partsOf(m_nodes[n].name);
        int parent = -1;
        for (qsizetype i = 0; i + 1 < parts.size(); ++i) {
            const auto [known, isNew] = groups.try_emplace({ parent, parts[i] }, -1);
            if (isNew)
                known->second = add(parent, parts[i]);
            parent = known->second;
        }
        addUnit(parent, m_units.of(n), lastPart);
    }
    collapseChains();
}

/// A scope that holds one thing alone is written before its name.
void NodeTreeModel::collapseChains()
{
    const auto collapsed = [this](int id) {
        while (m_items[size_t(id)].children.size() == 1) {
            const int only = m_items[size_t(id)].children[0];
            m_items[size_t(only)].title = m_items[size_t(id)].title + u'/' + m_items[size_t(only)].title;
            m_items[size_t(only)].parent = m_items[size_t(id)].parent;
            id = only;
        }
        return id;
    };
    std::vector<int> open;
    for (int& id : m_top)
        open.push_back(id = collapsed(id));
    for (size_t i = 0; i < open.size(); ++i)
        for (int& id : m_items[size_t(open[i])].children)
            open.push_back(id = collapsed(id));
}

void NodeTreeModel::buildTypes()
{
    std::map<std::string, int> groups;
    const auto heads = [this](size_t n) { return m_units.of(n).front() == n; };
    for (size_t n = 0; n < m_nodes.size(); ++n)
        if (heads(n))
            groups.try_emplace(m_nodes[n].opType, -1);
    for (auto& [type, id] : groups)
        id = add(-1, toQt(type));
    for (size_t n = 0; n < m_nodes.size(); ++n)
        if (heads(n))
            addUnit(groups.at(m_nodes[n].opType), m_units.of(n), [this](size_t m) { return toQt(m_nodes[m].name); });
}

/// Rows, and the nodes below each group.
void NodeTreeModel::finish()
{
    const auto walk = [this](const auto& self, const std::vector<int>& ids) -> void {
        for (size_t row = 0; row < ids.size(); ++row) {
            Item& item = m_items[size_t(ids[row])];
            item.row = int(row);
            self(self, item.children);
            for (const int child : item.children) {
                const auto& below = m_items[size_t(child)].members;
                item.members.insert(item.members.end(), below.begin(), below.end());
            }
        }
    };
    walk(walk, m_top);
}

std::optional<size_t> NodeTreeModel::nodeOf(const QModelIndex& index) const
{
    const Item* item = at(index);
    return item && (item->leaf || item->unit) ? std::optional(item->members.back()) : std::nullopt;
}

const std::vector<size_t>& NodeTreeModel::membersOf(const QModelIndex& index) const
{
    static const std::vector<size_t> kNone;
    const Item* item = at(index);
    return item ? item->members : kNone;
}

QModelIndex NodeTreeModel::indexOf(const std::string& node) const
{
    for (size_t id = 0; id < m_items.size(); ++id)
        if (m_items[id].leaf && m_nodes[m_items[id].members[0]].name == node)
            return createIndex(m_items[id].row, 0, quintptr(id));
    return {};
}

QModelIndex NodeTreeModel::unitIndexOf(const std::string& node) const
{
    const QModelIndex own = indexOf(node);
    const Item* above = at(own.parent());
    return above && above->unit ? own.parent() : own;
}

size_t NodeTreeModel::quantizedCount() const { return size_t(std::ranges::count_if(m_states, isQuantized)); }

QString NodeTreeModel::toolTip(const Item& item) const
{
    if (item.unit)
        return tr(
            "%1: one box of the quantized graph, quantized or left in float as a whole; the rows below change one "
            "part alone")
            .arg(fullTitle(item));
    if (!item.leaf)
        return tr("%1: %2 nodes").arg(fullTitle(item), countText(item.members.size()));
    const RecipeNode& node = m_nodes[item.members[0]];
    const NodeState& state = m_states[item.members[0]];
    return tr("%1 (%2): %3, %4")
        .arg(toQt(node.name), toQt(node.opType),
            state.staysFloat      ? tr("stays in float though the recipe quantizes it")
                : state.quantized ? tr("quantized")
                : state.ofFile    ? tr("as in the file, which a recipe cannot say")
                                  : tr("left in float"),
            originText(state.origin, state.by));
}

QString originText(ValueOrigin origin, const std::string& by)
{
    const auto tr = [](const char* text) { return NodeTreeModel::tr(text); };
    switch (origin) {
    case ValueOrigin::Default:
        return tr("by default");
    case ValueOrigin::Preset:
        return tr("from the preset");
    case ValueOrigin::Imported:
        return tr("from the file");
    case ValueOrigin::ByType:
        return tr("by operator type %1").arg(toQt(by));
    case ValueOrigin::ByPattern:
        return by.empty() ? tr("not among what is included") : tr("by the pattern %1").arg(toQt(by));
    case ValueOrigin::Override:
        return tr("set here");
    }
    return {};
}

} // namespace qs

#include "moc_node_tree_model.cpp"
