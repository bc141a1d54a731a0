// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/file_identity.h"
#include "core/base/result.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace qs {

/// A file that is read over a while, as it was when it was opened. What is read of it counts only when unchanged() says
/// so afterwards.
class OpenedFile {
public:
    /// Of a file that is open; issue: it cannot be looked at.
    static Result<std::shared_ptr<OpenedFile>> of(int fd, std::string path);
    /// Of one that is opened elsewhere as long as this lives.
    static Result<std::shared_ptr<OpenedFile>> at(const std::string& path);
    const std::string& path() const { return m_path; }
    uint64_t size() const { return static_cast<uint64_t>(m_stamp.bytes); } ///< when it was opened

    /// An issue when the path leads to another file by now, somebody wrote the file, or parts of it could not be read.
    /// A file that has another name by now, or none, is still there for who opened it, so that is none.
    Status unchanged() const;

    /// For a signal handler: parts of the file are not there to be read.
    std::atomic<bool>& lost() { return m_lost; }

private:
    OpenedFile(std::string path, const struct stat& info, uint64_t head);
    std::string m_path;
    FileStamp m_stamp;
    uint64_t m_head; ///< of its first bytes
    bool m_young; ///< written so shortly before that the clock of files may not tell it from being written again
    std::atomic<bool> m_lost = false;
};

using OpenedFiles = std::vector<std::shared_ptr<const OpenedFile>>;

/// The first issue of OpenedFile::unchanged().
Status unchanged(const OpenedFiles& files);
/// Whether it is such an issue.
bool asksToOpenAgain(const Issue& issue);

} // namespace qs
