// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/recipe/node_units.h"

#include <QAbstractItemModel>
#include <QString>

#include <functional>
#include <optional>
#include <vector>

namespace qs {

enum class NodeGrouping { Scope, Type };

/// The nodes of a float model under their name scopes or operator types, with a check box that says whether the recipe
/// quantizes them. Nodes that are one unit are one row with its parts below. Checking asks for an edit; the state
/// changes when the recipe did.
class NodeTreeModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Name, Value, ColumnCount };
    enum Role { SortRole = Qt::UserRole, QuantizedRole, LeafRole };
    explicit NodeTreeModel(QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

    /// Nothing happens where the nodes and their units are the same as before.
    void setNodes(const std::vector<RecipeNode>& nodes, const NodeUnits& units);
    void setGrouping(NodeGrouping grouping);
    NodeGrouping grouping() const { return m_grouping; }
    /// One each a node: what the recipe says, and a number to show (dB; empty: none).
    void setStates(std::vector<NodeState> states, std::vector<std::optional<double>> numbers);

    const std::vector<RecipeNode>& nodes() const { return m_nodes; }
    const NodeUnits& units() const { return m_units; }
    const std::vector<NodeState>& states() const { return m_states; }
    /// Of a leaf; of a unit the last one, whose output is the unit's.
    std::optional<size_t> nodeOf(const QModelIndex& index) const;
    const std::vector<size_t>& membersOf(const QModelIndex& index) const;
    QModelIndex indexOf(const std::string& node) const; ///< of its own row
    QModelIndex unitIndexOf(const std::string& node) const; ///< of the row of its unit; its own where it is alone
    size_t quantizedCount() const; ///< without those that stay in float all the same

signals:
    /// `title` names what is meant: a node, a scope, a type.
    void changeRequested(const std::vector<size_t>& members, bool quantized, const QString& title);

private:
    struct Item {
        QString title;
        int parent = -1; ///< -1: top level
        int row = 0;
        std::vector<int> children;
        std::vector<size_t> members; ///< nodes below, or the leaf itself
        bool leaf = false;
        bool unit = false; ///< its children are parts of one unit
    };
    const Item* at(const QModelIndex& index) const;
    const std::vector<int>& childrenOf(const QModelIndex& index) const;
    int add(int parent, const QString& title);
    using TitleOf = std::function<QString(size_t node)>;
    void addUnit(int parent, const std::vector<size_t>& members, const TitleOf& titleOf);
    QString fullTitle(const Item& item) const;
    void build();
    void buildScopes();
    void buildTypes();
    void collapseChains();
    void finish();
    QString toolTip(const Item& item) const;

    NodeGrouping m_grouping = NodeGrouping::Scope;
    std::vector<RecipeNode> m_nodes;
    NodeUnits m_units;
    std::vector<NodeState> m_states;
    std::vector<std::optional<double>> m_numbers;
    std::vector<Item> m_items;
    std::vector<int> m_top;
};

/// Where a setting comes from, for people: "preset", "from the file", "by pattern /head/*".
QString originText(ValueOrigin origin, const std::string& by = {});

} // namespace qs
