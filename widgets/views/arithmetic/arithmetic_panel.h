// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/arithmetic/element_steps_model.h"
#include "widgets/models/arithmetic/term_model.h"
#include "widgets/session/details/shown_element.h"
#include "widgets/views/arithmetic/element_stepper.h"
#include "widgets/views/base/panel.h"

class QButtonGroup;
class QLabel;
class QMenu;
class QPushButton;
class QSortFilterProxyModel;
class QSplitter;
class QTableView;
class QToolButton;

namespace qs {

class SliceField;

/// Where one number of the selected tensor comes from: its terms, the steps behind them, and the difference to the
/// float network by operand. Of the selected number, else of the one with the largest error.
class ArithmeticPanel : public Panel {
    Q_OBJECT
public:
    explicit ArithmeticPanel(Session& session, QWidget* parent = nullptr);
    ~ArithmeticPanel() override;

    ShownElement& shown() const { return *m_shown; }
    TermModel& terms() const { return *m_terms; }
    ElementStepsModel& steps() const { return *m_steps; }
    ElementStepper& stepper() const { return *m_stepper; }
    QTableView& termTable() const { return *m_termTable; }
    SliceField& field() const { return *m_field; }
    QString headline() const; ///< as it stands above the tables
    QString note() const; ///< what else is to be said; empty: nothing

    void showLargestError(); ///< of all that is shown
    /// Selects an operand of a term: where does it come from?
    void follow(const Operand& operand);
    QString copiedTerms(bool all) const; ///< the chosen ones or all, as tab-separated text with a header line

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildTop();
    void buildTables();
    QTableView* makeTable(QAbstractItemModel& model, const QString& name);
    void buildChips();
    void refresh();
    void refreshChips();
    void showSteps(); ///< where the stepper stands
    void fitColumns();
    void fillMenu(QMenu& menu, int row);
    void followRow(const QModelIndex& index);
    bool aheadOf(int position) const;
    QString notes() const;
    void showTables();
    void showNotes();

    Session& m_session;
    ShownPlace m_place;
    ShownElement* m_shown;
    TermModel* m_terms;
    QSortFilterProxyModel* m_sorted;
    ElementStepsModel* m_steps;
    ElementStepper* m_stepper;
    QButtonGroup* m_chips;
    qs::Shape m_shape; ///< of the tensor of the last number, for one sample
    size_t m_sample = 0; ///< of that number
    SliceField* m_field;
    QPushButton* m_largest;
    QToolButton *m_back, *m_forward;
    QPushButton* m_play;
    QLabel *m_headline, *m_sum, *m_note, *m_empty;
    QSplitter* m_splitter;
    QTableView *m_termTable, *m_stepTable;
};

} // namespace qs
