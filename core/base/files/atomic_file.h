// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Temporary neighbour of `path` for a file that is written first and takes the name when it is complete and on the
/// disk: whatever happens, there is the whole file or what was there before, with the owner and the permissions that it
/// had. Without commit() the neighbour goes. Symbolic links are followed; terminals, /dev/null and pipes are written to
/// directly. Issues: a folder, a disk, where the standard output already goes, or not to be written.
class AtomicFile {
public:
    static Result<AtomicFile> create(const std::string& path);
    AtomicFile(AtomicFile&& other) noexcept;
    AtomicFile& operator=(AtomicFile&&) = delete;
    ~AtomicFile();
    int fd() const { return m_fd; }
    const std::string& temporaryPath() const { return m_temporary; } ///< empty for what is written to directly
    Status write(std::string_view bytes);
    /// For who writes to fd(): the issue of errno.
    Issue writeIssue(int error) const;
    Status commit();
    /// All of them or none: where one cannot take its name, the others give back theirs.
    static Status commitAll(std::vector<AtomicFile>& files);
    /// A file that only the one that is replaced needed: goes when the new one is there.
    void removeAfterwards(const std::string& path) { m_removed.push_back(path); }
    /// Removes all temporary files of this process: for a signal handler that ends it (async-signal-safe).
    static void removeTemporaries() noexcept;

private:
    AtomicFile() = default;
    Status openDirectly(mode_t mode);
    Status openNeighbour(bool replaces);
    Status finish();
    Status takeName(bool keepOld);
    void giveBackName();
    void conclude();
    void remember();
    void forget();

    enum class Old {
        Gone, ///< or there was none and nobody asked
        None,
        Kept ///< has the neighbour's name now
    };
    std::string m_given, m_path, m_temporary; ///< m_path: of the file itself, behind links
    std::vector<std::string> m_removed;
    Old m_old = Old::Gone;
    int m_fd = -1;
    int m_slot = -1; ///< where removeTemporaries() finds the path; -1 = nowhere
};

/// Whether a file can be written there; nothing of it changes.
Status canBeWritten(const std::string& path);

/// The whole file, or what was there before.
Status writeFile(const std::string& path, std::string_view bytes);

} // namespace qs
