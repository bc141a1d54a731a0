// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/metric.h"
#include "widgets/views/graph/graph_numbers.h"
#include "widgets/views/graph/outline/box_words.h"

#include <QAbstractItemModel>

#include <functional>
#include <memory>
#include <optional>

namespace qs {

/// A graph as a text: its groups as branches, its boxes in a topological order, each with its number, what it reads
/// and what it feeds. The texts are made when somebody asks for them.
class OutlineModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Name, Number, Kind, State, Reads, Feeds, ColumnCount };
    enum Role { BoxRole = Qt::UserRole }; ///< box of the content; invalid for groups

    /// What changes without the graph.
    struct Numbers {
        std::vector<BoxNumber> ofBoxes; ///< one a box of the content
        Metric metric = Metric::Accumulated;
        std::function<QString(uint32_t box)> stateOf; ///< "left in float"; may be empty
    };
    using QAbstractItemModel::QAbstractItemModel;

    /// Null: no graph.
    void setContent(std::shared_ptr<const GraphContent> content, Numbers numbers);
    void setNumbers(Numbers numbers);
    const GraphContent* content() const { return m_content.get(); }
    QModelIndex indexOf(uint32_t box) const;
    /// The first row at `start` or behind it, from the top again at the end, whose name or kind holds the text.
    QModelIndex find(const QString& text, const QModelIndex& start, bool withStart) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    static constexpr uint32_t kNoItem = UINT32_MAX;
    struct Item {
        uint32_t parent = kNoItem;
        int row = 0;
        std::optional<uint32_t> box, group; ///< one of them
        std::vector<uint32_t> children;
    };
    void build();
    uint32_t add(Item item);
    uint32_t itemOfGroup(uint32_t group, std::vector<uint32_t>& items);
    const Item* itemOf(const QModelIndex& index) const;
    const std::vector<uint32_t>& childrenOf(const QModelIndex& parent) const;
    QString text(const Item& item, int column) const;
    QString textOfGroup(const Item& item, int column) const;
    QString sentence(const Item& item) const;
    QString numberOfGroup(uint32_t group) const;

    std::shared_ptr<const GraphContent> m_content;
    std::unique_ptr<const BoxNeighbours> m_neighbours;
    Numbers m_numbers;
    std::vector<Item> m_items;
    std::vector<uint32_t> m_top; ///< items without a parent
    std::vector<uint32_t> m_itemOfBox;
};

} // namespace qs
