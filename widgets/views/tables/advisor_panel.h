// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/tables/advice_models.h"
#include "widgets/session/recipe/advisor.h"
#include "widgets/views/base/panel.h"

class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;
class QSplitter;
class QTableView;

namespace qs {

class PointChart;

/// What excluding nodes would buy, as a ranking and as a curve of work against quality, and the best calibrators. A
/// click on a point of the curve, or a double click on a row, applies it as one edit.
class AdvisorPanel : public Panel {
    Q_OBJECT
public:
    AdvisorPanel(Session& session, Advisor& advisor, QWidget* parent = nullptr);
    PointChart& curve() const { return *m_curve; }
    QTableView* ranking() const { return m_ranking; }
    QTableView* found() const { return m_found; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildHeader();
    void buildTables();
    static void fitColumns(QTableView& table, const ColumnModel& model, std::initializer_list<ColumnKey> keys);
    void setFound();
    void fitFound();
    void shareRoom();
    QTableView* makeTable(QAbstractItemModel& model, const QString& name);
    void refresh();
    void refreshCurve();
    void dim(QTableView& table, bool old);
    void keepFocus(QWidget& button, QWidget& answer);
    QString rankingInfo() const;
    void applyPoint(size_t point);

    Session& m_session;
    Advisor& m_advisor;
    SensitivityModel m_sensitivity;
    FoundRecipeModel m_foundModel;
    const Sensitivity* m_shown = nullptr;
    std::vector<size_t> m_points; ///< of the curve: their exclusions
    PointChart* m_curve;
    QTableView *m_ranking, *m_found;
    QLabel* m_hint;
    QComboBox* m_by;
    QSpinBox* m_seconds;
    QPushButton *m_measure, *m_search;
    QSplitter* m_splitter;
    bool m_sharedByHand = false; ///< the user moved a border between the three
    QWidget* m_awaited = nullptr; ///< gets the focus when what was asked for is there
};

} // namespace qs
