// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/file_roles.h"
#include "core/project/snapshot/snapshot.h"

#include <QString>

#include <string>
#include <vector>

namespace qs {

class Session;

/// What is open when somebody asks for a file, and what was set aside for a lesson: none of it may be replaced.
class OpenWork {
public:
    explicit OpenWork(const Session& session);
    /// Looks at the disk. The issue says what would be lost.
    Status mayWrite(const QString& path) const;
    /// A project: the one that is open may be saved where it is.
    Status maySave(const QString& path) const;

private:
    Status mayWrite(const QString& path, FileRoles files) const;

    std::vector<Inputs> m_files;
    std::vector<SnapshotPtr> m_shown;
    std::string m_project;
    std::vector<std::string> m_otherProjects;
};

} // namespace qs
