// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/tables/match_model.h"
#include "widgets/views/base/table_panel.h"

class QAction;

namespace qs {

/// Pairs of tensors and those without a partner; links them by hand and takes links away, each as one step of undo.
class MatchingPanel : public TablePanel {
    Q_OBJECT
public:
    explicit MatchingPanel(Session& session, QWidget* parent = nullptr);
    QAction* linkAction() const { return m_link; }
    QAction* unlinkAction() const { return m_unlink; }
    /// What link() would do without asking: the chosen rows hold one tensor of each file.
    std::optional<std::pair<QString, QString>> chosenPair() const;
    void link(const QString& floatName, const QString& quantName);

private:
    void buildActions();
    void refreshActions();
    void linkChosen();
    void askForPartner(int row);
    void unlinkChosen();
    bool editable() const;
    const MatchModel& matches() const { return *static_cast<const MatchModel*>(model()); }

    Session& m_session;
    QAction* m_link;
    QAction* m_unlink;
    QAction* m_export;
};

} // namespace qs
