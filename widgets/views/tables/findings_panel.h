// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/findings/finding_model.h"
#include "widgets/session/session.h"
#include "widgets/views/base/panel.h"

class QLabel;
class QPushButton;
class QScrollArea;
class QTimer;
class QVBoxLayout;

namespace qs {

/// One finding: severity bar and icon, title, summary, remedy; Apply makes the edit that it is (empty: it is none),
/// Show selects its place, Explain unfolds the rule.
class FindingCard : public QFrame {
    Q_OBJECT
public:
    FindingCard(const Finding& finding, const QString& edit, const Session& session, QWidget* parent);
    void setApplied(const QString& edit);
    void setMeasuring(bool measuring); ///< what the remedy gains

signals:
    void applyRequested();
    void showRequested();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void nameGain(const Finding& finding, QVBoxLayout* column);

    Severity m_severity;
    const Session& m_session;
    QPushButton* m_apply;
    QLabel* m_gain;
    QString m_gainText; ///< what is known of it
    bool m_open = false; ///< nobody measured it
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
