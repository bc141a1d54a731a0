// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/finding_model.h"
#include "widgets/session/session.h"
#include "widgets/views/panel.h"

class QScrollArea;

namespace qs {

/// One finding: severity bar and icon, title, summary, remedy; Show selects its place, Explain unfolds the rule.
class FindingCard : public QFrame {
    Q_OBJECT
public:
    FindingCard(const Finding& finding, const Session& session, QWidget* parent);

signals:
    void showRequested();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Severity m_severity;
    const Session& m_session;
};

/// What is wrong, most important first.
class FindingsPanel : public Panel {
    Q_OBJECT
public:
    explicit FindingsPanel(Session& session, QWidget* parent = nullptr);

private:
    void rebuild();
    void show(const Finding& finding);

    Session& m_session;
    FindingModel m_model;
    QScrollArea* m_scroll;
};

} // namespace qs
