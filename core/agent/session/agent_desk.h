// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/folders/allowed_folders.h"
#include "core/agent/session/own_session.h"
#include "core/agent/session/shared_session.h"
#include "core/base/files/file_roles.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace qs {

/// All that one client works on: its sessions by their names, the folders that it may use, and every file that it read
/// or wrote, so that no result ever takes the place of an input. With a shared session there is that one alone.
class AgentDesk {
public:
    static constexpr size_t kMostSessions = 8; ///< the one that was used longest ago makes room

    static constexpr const char* kSharedName = "window";

    AgentDesk(AllowedFolders folders, RunSettings settings, std::unique_ptr<SharedSession> shared = nullptr)
        : m_folders(std::move(folders))
        , m_settings(settings)
        , m_shared(std::move(shared))
    {
    }

    const AllowedFolders& folders() const { return m_folders; }
    bool isShared() const { return m_shared != nullptr; } ///< else sessions of its own
    const RunSettings& settings() const { return m_settings; }

    /// Opens models as a session of its own ("s1", "s2" ...), or in the shared one; it is used last then. Models whose
    /// weights lie outside the folders are an issue.
    Result<AgentSession*> open(Inputs inputs, const WorkContext& work);
    /// "" is the one that was opened or used last. Issue: there is none of that name, or nothing is open.
    Result<AgentSession*> session(const std::string& name, const WorkContext& work);
    const std::string& current() const { return m_current; } ///< name of the session that was used last; may be empty
    /// In the order in which they were opened.
    std::vector<std::pair<std::string, AgentSession*>> sessions() const;

    /// Where a result may be written. Issues: outside, in the place of a file that was read, or of any other that was
    /// not written here unless `overwrite`. A model may have files beside it.
    Result<std::string> placeFor(const std::string& path, const std::string& role, bool overwrite,
        const WorkContext& work, bool model = false) const;
    void wrote(const std::string& path) { m_written.insert(path); }
    /// A file that was read beside those of a session: no result may take its place either.
    void alsoRead(const std::string& path, const std::string& role) { m_alsoRead.reads(path, role); }
    void alsoReadTokenizer(const std::string& path);

private:
    struct Entry {
        std::string name;
        std::unique_ptr<OwnSession> session;
        size_t used = 0;
    };

    AgentSession::Check modelCheck() const;
    AgentSession* add(OwnSession session);
    Result<AgentSession*> sharedSession(const std::string& name, const WorkContext& work);
    void noteRead(const AgentSession& session);

    AllowedFolders m_folders;
    RunSettings m_settings;
    std::unique_ptr<SharedSession> m_shared; ///< null: sessions of its own
    std::vector<Entry> m_entries;
    std::map<std::string, FileRoles> m_read; ///< by what was opened, also of sessions that are gone
    FileRoles m_alsoRead;
    std::set<std::string> m_written;
    std::string m_current, m_sharedKey;
    size_t m_opened = 0, m_uses = 0;
};

} // namespace qs
