// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/arithmetic/saturation_lab_models.h"
#include "widgets/models/arithmetic/saturation_model.h"
#include "widgets/session/details/saturation_lab.h"
#include "widgets/views/base/table_panel.h"

class QLabel;
class QPushButton;
class QTableView;
class QTabWidget;

namespace qs {

/// The laboratory of saturating sums: nodes by share and by what is lost, their worst pair of codes and channels, every
/// value by each arithmetic, and remedies with their price.
class SaturationPanel : public TablePanel {
    Q_OBJECT
public:
    explicit SaturationPanel(Session& session, QWidget* parent = nullptr);
    QPushButton* switchButton() const { return m_switch; } ///< to integer-avx2; hidden while that is what runs
    QPushButton* measureButton() const { return m_measure; }
    QPushButton* applyButton() const { return m_apply; }
    QTabWidget* tabs() const { return m_tabs; }
    QTableView* remedies() const { return m_remedies; }
    QTableView* channels() const { return m_channels; }
    QTableView* arithmetics() const { return m_arithmetics; }
    QString worstPair() const; ///< text

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildPages();
    QTableView* makeTable(ColumnModel& model, const QString& name);
    QWidget* makeRemedies();
    void connectAll();
    void refresh();
    void refreshNode();
    void followValue();
    void refreshTrials();
    void applyTrial();
    const SaturatingNode* node() const; ///< that is selected, else the worst; null: none

    Session& m_session;
    ShownArithmetics m_table;
    ShownChannelLosses m_losses;
    ShownSaturationTrials m_trials;
    ArithmeticModel m_arithmeticModel;
    ChannelLossModel m_channelModel;
    SaturationTrialModel m_trialModel;
    QTabWidget* m_tabs;
    QLabel *m_pair, *m_note;
    QPushButton *m_switch, *m_measure, *m_apply;
    QTableView *m_channels, *m_arithmetics, *m_remedies;
};

} // namespace qs
