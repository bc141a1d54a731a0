// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/column_model.h"
#include "widgets/session/session.h"

#include <QStyledItemDelegate>

#include <functional>
#include <optional>

namespace qs {

class RecipeView;

/// Draws the cells that are more than text: a bar in the colour scale beside its number, the noise split, the channel
/// strip. Numbers that the recipe has moved on from are dimmed. Text cells get the default painting without the dotted
/// focus frame. Long names keep their end.
class CellDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    CellDelegate(const Session& session, ColumnKind kind, QObject* parent);
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    /// Cells get a check box that says whether the recipe quantizes the node that `nodeOf` finds for a row.
    using NodeOf = std::function<std::optional<size_t>(const QModelIndex&)>;
    void showRecipe(RecipeView& recipe, NodeOf nodeOf);
    bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
        const QModelIndex& index) override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
    bool stale() const; ///< a number that is not of the recipe as it is
    void paintBar(QPainter* painter, QRect area, const QModelIndex& index) const;
    void paintSplit(QPainter* painter, QRect area, const QModelIndex& index) const;
    void paintStrip(QPainter* painter, QRect area, const QModelIndex& index) const;

    const Session& m_session;
    ColumnKind m_kind;
    RecipeView* m_recipe = nullptr;
    NodeOf m_nodeOf;
};

} // namespace qs
