// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/session/shared_session.h"
#include "widgets/session/agent/agent_edits.h"
#include "widgets/session/agent/gui_calls.h"
#include "widgets/session/agent/window_ear.h"

#include <functional>
#include <string>
#include <vector>

namespace qs {

/// The work of a window as an agent has it: it reads what the window shows, runs what the window would run, and edits
/// through the window's undo stack. Used by the agent's thread, which waits where the window is busy.
class WindowSession : public SharedSession {
public:
    /// All of them outlive this.
    struct Window {
        Session& session;
        AgentEdits& edits;
        WindowEar& ear;
        GuiCalls& gui;
    };
    explicit WindowSession(const Window& window);

    Status look(const WorkContext& work) override;
    const SnapshotPtr& models() const override { return m_seen.shown; }
    Inputs present() const override { return m_seen.present; }
    Result<SnapshotPtr> compared(const WorkContext& work) override;
    Result<SnapshotPtr> tried(size_t most, const WorkContext& work) override; ///< all remedies, as the window does it
    Result<SnapshotPtr> ready(const WorkContext& work) override;
    Result<SnapshotPtr> quantized(const WorkContext& work) override;
    Result<Recipe> recipe(const WorkContext& work) override;
    Status edit(std::string text, const Recipe& before, Recipe after, const WorkContext& work) override;
    Status undo(size_t steps, const WorkContext& work) override;
    Status redo(size_t steps, const WorkContext& work) override;
    bool isFile() const override { return false; } ///< an edit that changes nothing is none here
    size_t step() const override { return m_seen.step; }
    size_t steps() const override { return m_seen.texts.size(); }
    std::string stepText(size_t step) const override { return m_seen.texts[step]; }
    Status open(const Inputs& inputs, const Check& check, const WorkContext& work) override;
    Status mayWrite(const std::string& path, const WorkContext& work) override;

private:
    /// What the window was like when it was last looked at.
    struct Seen {
        SnapshotPtr shown;
        Inputs present;
        std::vector<std::string> texts;
        size_t step = 0;
    };
    static Seen seen(Session& session);
    void take(Seen now);
    Result<SnapshotPtr> settled(const WorkContext& work);
    std::function<void()> meanwhile(const WorkContext& work) const;
    Status change(const WorkContext& work, std::function<Status()> change);

    Window m_window;
    Seen m_seen;
};

} // namespace qs
