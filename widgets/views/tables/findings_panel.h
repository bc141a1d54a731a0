// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/findings/finding_model.h"
#include "widgets/session/session.h"
#include "widgets/views/base/panel.h"

class QPushButton;
class QScrollArea;
class QTimer;

namespace qs {

/// One finding: severity bar and icon, title, summary, remedy; Apply makes the edit that it is (empty: it is none),
/// Show selects its place, Explain unfolds the rule.
class FindingCard : public QFrame {
    Q_OBJECT
public:
    FindingCard(const Finding& finding, const QString& edit, const Session& session, QWidget* parent);
    void setApplied(const QString& edit);

signals:
    void applyRequested();
    void showRequested();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void nameGain(const Finding& finding);

    Severity m_severity;
    const Session& m_session;
    QPushButton* m_apply;
    QString m_gainOf; ///< what the gain on the button is of
};

/// What is wrong, most important first.
class FindingsPanel : public Panel {
    Q_OBJECT
public:
    explicit FindingsPanel(Session& session, QWidget* parent = nullptr);

private:
    void outdate(); ///< the cards; they are made anew in an event of their own, once somebody looks at them
    void rebuildLater();
    void rebuild();
    void refreshEdits();
    void refreshTry();
    void apply(int row);
    QString editText(const Finding& finding) const;
    void show(int row);

    Session& m_session;
    FindingModel m_model;
    QScrollArea* m_scroll;
    QPushButton* m_try;
    QTimer* m_rebuild;
    bool m_outdated = false;
    std::vector<FindingCard*> m_cards; ///< one a row, as many as are shown
};

} // namespace qs
