// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/table_text.h"
#include "widgets/models/base/worst_first_proxy.h"
#include "widgets/session/session.h"
#include "widgets/views/base/panel.h"

#include <functional>

class QLabel;
class QLineEdit;
class QMenu;
class QSpacerItem;
class QSplitter;
class QTableView;
class QTimer;
class QToolButton;

namespace qs {

class RecipeView;
class TableColumns;
class TableHeader;

/// A table over one of our column models: worst first, filter field, column chooser, copy, following the selection.
class TablePanel : public Panel {
    Q_OBJECT
public:
    struct Setup {
        QString name, title;
        ColumnModel* model = nullptr; ///< becomes a child of the panel
        int worstColumn = -1; ///< sorted worst first by this column; -1 = the model's order
        bool tellsOrder = false; ///< behind the info
        std::function<void(Selection&, int row)> select; ///< the user chose this row of the model
        std::function<std::optional<size_t>(const Place&)> rowOf; ///< the row to mark for a selection
        std::function<QString(const Snapshot&)> info; ///< header text
        std::function<QString(const Snapshot&)> names; ///< before it, cut where there is little room
        std::function<QString(const Theme&)> footer; ///< a line below the table: units, legend; may be rich text
        RecipeView* recipe = nullptr; ///< rows have a check box: whether it quantizes their node
        std::function<std::optional<size_t>(int row)> nodeOf; ///< of the recipe, for a row of the model
        std::function<QString(const Snapshot&)> emptyText; ///< shown instead of rows when there are none
    };
    TablePanel(Session& session, Setup setup, QWidget* parent = nullptr);

    QTableView* table() const { return m_table; }
    ColumnModel* model() const { return m_setup.model; }
    void sortWorstFirst(int column);
    /// Selects the next (+1) or previous (-1) row of the list as it is sorted and filtered.
    void walk(int step);
    void copyRows(TableFormat format) const; ///< chosen rows, or all when at most one is chosen
    void copyChosen() const; ///< chosen rows as TSV
    static TablePanel* inFocus(); ///< null: something else has the focus
    void focusFilter();
    /// Leaves the nodes of the chosen rows in float, or quantizes them again; false where there are none.
    bool toggleNodes();
    std::vector<int> chosenRows() const; ///< of the model
    std::vector<size_t> chosenNodes() const; ///< of the recipe: the units of the chosen rows

protected:
    void addToEmpty(QWidget* widget); ///< below the text that stands where there are no rows
    /// A widget at the right of the table; its share of the width in percent.
    void addBeside(QWidget* widget, int percent);
    /// The table gets what its columns need, and the widgets beside it these shares of the rest; not after the user
    /// shared the width.
    void shareWidth(const std::vector<int>& beside);
    bool eventFilter(QObject* watched, QEvent* event) override;
    /// For rows that come from elsewhere than the snapshot: header, footer and the hint say what is so now.
    void refreshTexts();

private:
    void buildTable();
    void buildHeader();
    std::vector<int> chosenInOrder() const; ///< as they are shown
    void copy(const std::vector<int>& rows, TableFormat format) const;
    void follow(const Place& place);
    void keepRowsWhole();
    void reveal();
    void sortBy(int column);
    void addSorting(QMenu& menu);
    QString orderText() const;
    void showInfo();
    void fitEmpty();
    QWidget* makeFooter();
    void showRecipe();
    bool shownByDefault(int column) const;
    bool hasMeaning(int column) const;
    void showMeaningful();
    void showLeftOut();
    void showColumnMenu(const QPoint& position);
    void showRowMenu(const QPoint& position);

    Session& m_session;
    Setup m_setup;
    WorstFirstProxy* m_proxy;
    QTableView* m_table;
    TableHeader* m_sections;
    TableColumns* m_widths = nullptr;
    QLineEdit* m_filter;
    QToolButton* m_columns;
    QWidget* m_emptyArea; ///< over the rows, where there are none
    QLabel* m_empty;
    QSpacerItem* m_rest;
    QSplitter* m_splitter;
    QTimer* m_reveal; ///< runs out when sizes and sorting have settled
    std::function<void()> m_fillFooter; ///< empty without a footer
    bool m_sharedByHand = false; ///< the user moved the line between the table and what stands beside it
    std::vector<bool> m_meaningful; ///< by column, as it was shown last
    bool m_chosenHidden = false; ///< what is selected has a row that the filter hides
    bool m_following = false; ///< the selection leads, not the user
};

TablePanel* makeTensorsPanel(Session& session, RecipeView& recipe, QWidget* parent);
TablePanel* makeWeightsPanel(Session& session, RecipeView& recipe, QWidget* parent);
TablePanel* makeOutputsPanel(Session& session, QWidget* parent);

} // namespace qs
