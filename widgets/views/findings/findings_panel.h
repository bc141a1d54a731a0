// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/findings/finding_model.h"
#include "widgets/session/session.h"
#include "widgets/views/base/panel.h"
#include "widgets/views/findings/finding_card.h"

class QPushButton;
class QScrollArea;
class QTimer;

namespace qs {

/// What is wrong, most important first.
class FindingsPanel : public Panel {
    Q_OBJECT
public:
    explicit FindingsPanel(Session& session, QWidget* parent = nullptr);

    /// Brings the card of a finding of the shown comparison into sight, and gives it the focus.
    void showFinding(size_t finding);

private:
    void outdate(); ///< the cards; they are made anew in an event of their own, once somebody looks at them
    void rebuildLater();
    void rebuild();
    void refreshEdits();
    void refreshTry();
    void apply(size_t card);
    QString editText(const FindingGroup& group) const;
    void show(size_t index);
    void copyAll() const;
    void goTo(qsizetype card);
    std::optional<size_t> current() const; ///< the card that has the focus, or what is in it has
    bool eventFilter(QObject* watched, QEvent* event) override;

    Session& m_session;
    FindingModel m_model;
    QScrollArea* m_scroll;
    QPushButton* m_try;
    QTimer* m_rebuild;
    bool m_outdated = false;
    std::vector<FindingGroup> m_groups;
    std::vector<FindingCard*> m_cards; ///< one a group, as many as are shown
};

} // namespace qs
