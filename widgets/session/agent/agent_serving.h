// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/agent/agent_edits.h"
#include "widgets/session/agent/gui_calls.h"
#include "widgets/session/agent/window_ear.h"

#include <QDateTime>
#include <QStringList>
#include <QTimer>

#include <future>
#include <memory>
#include <optional>
#include <vector>

namespace qs {

class AgentCall;
class AgentDoor;

/// Lets an agent take part in a window's work: who is attached, what it does, what it may. One agent at a time. All of
/// it is answered on other threads; nothing here waits.
class AgentServing : public QObject {
    Q_OBJECT
public:
    explicit AgentServing(Session& session, QObject* parent = nullptr);
    ~AgentServing() override; ///< lets go

    /// Agents may attach from now on. Issue: they cannot find the window.
    Status start();
    void stop(); ///< whoever is attached is let go
    bool serving() const { return m_door != nullptr; }
    QString socket() const; ///< path; empty: it serves nobody
    void letGo(); ///< whoever is attached; others may attach

    struct Guest {
        QString name; ///< as it calls itself; may be empty
        QStringList folders; ///< that it may name files in
        QDateTime since;
    };
    const std::optional<Guest>& guest() const { return m_guest; } ///< who is attached
    QString doing() const; ///< tool that it has called and that takes a while; empty: none
    AgentEdits& edits() { return m_edits; }

signals:
    void changed(); ///< also where start() failed

private:
    using DoorMark = std::shared_ptr<const int>; ///< tells one door from another that was closed before
    void come(const DoorMark& door, const QStringList& folders);
    void leave(const DoorMark& door);
    void begin(const std::shared_ptr<AgentCall>& call);
    void showCall();
    class Admission;

    Session& m_session;
    AgentEdits m_edits;
    WindowEar m_ear;
    GuiCalls m_gui;
    std::optional<Guest> m_guest;
    DoorMark m_guestDoor;
    std::shared_ptr<AgentCall> m_call; ///< null: none
    bool m_long = false; ///< it is in the list of jobs
    QTimer m_longTimer;
    std::unique_ptr<AgentDoor> m_door;
    std::vector<std::future<void>> m_closing; ///< doors that wait for what runs behind them
};

} // namespace qs
