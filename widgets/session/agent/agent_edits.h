// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <QString>

#include <set>

namespace qs {

/// What an agent does to the recipe of a window: ordinary steps of undo that say whose they are, as far as the person
/// lets it.
class AgentEdits : public QObject {
    Q_OBJECT
public:
    explicit AgentEdits(Session& session, QObject* parent = nullptr);

    static QString markedText(const QString& text); ///< "Agent: exclude conv_3"
    static bool isMarked(const QString& text);

    bool allowed() const { return m_allowed; } ///< else the agent looks only
    void setAllowed(bool allowed);
    /// Steps of the agent that are done and that the person has not accepted, up to an edit of theirs.
    int open() const;
    /// What the agent did so far stays when its edits are refused later.
    void accept();
    /// Takes the open steps back, and allows no more. Gives how many of the agent's steps lie before an edit of the
    /// person and therefore stay. Issue: other models are being opened, so no step was taken back.
    Result<int> refuse();

    /// Why nothing may be edited, opened or written now; one sentence for the agent.
    Status possible() const;
    /// As one step. `before` is what it began with.
    Status edit(const QString& text, const Recipe& before, const Recipe& after);
    Status undo(int steps); ///< only the agent's own
    Status redo(int steps);

signals:
    void changed();

private:
    Status editable() const;

    Session& m_session;
    bool m_allowed = true;
    std::set<WorkStatePtr> m_accepted; ///< states that the person has seen and kept
};

} // namespace qs
