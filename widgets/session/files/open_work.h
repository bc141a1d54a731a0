// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/file_roles.h"
#include "core/project/snapshot/snapshot.h"

#include <QString>

namespace qs {

class Session;

/// What is open when somebody asks for a file: none of it may be replaced.
class OpenWork {
public:
    explicit OpenWork(const Session& session);
    /// Looks at the disk. The issue says what would be lost.
    Status mayWrite(const QString& path) const;
    /// A project: the one that is open may be saved where it is.
    Status maySave(const QString& path) const;

private:
    Status mayWrite(const QString& path, FileRoles files) const;

    Inputs m_files;
    SnapshotPtr m_shown;
    std::string m_project;
};

} // namespace qs
