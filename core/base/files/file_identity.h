// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <tuple>

namespace qs {

/// Which file it is, whatever it is called: equal for other spellings, links and mounts of one file. A path that leads
/// to nothing yet is a name in a folder.
struct FileIdentity {
    uint64_t device = 0, inode = 0; ///< of the file, or of the folder that it would lie in
    std::string name; ///< in that folder; empty: the file exists
    bool exists() const { return name.empty(); }
    bool operator==(const FileIdentity&) const = default;
    bool operator<(const FileIdentity& other) const
    {
        return std::tie(device, inode, name) < std::tie(other.device, other.inode, other.name);
    }
};

/// nullopt where not even the folder exists.
std::optional<FileIdentity> fileIdentity(const std::string& path);

/// Where the path leads when its links are followed, also when nothing is there yet.
std::string resolvedPath(const std::string& path);

/// What tells that somebody wrote a file.
struct FileStamp {
    uint64_t device = 0, inode = 0;
    int64_t bytes = 0, seconds = 0, nanoseconds = 0; ///< its length, and when it was written
    explicit FileStamp(const struct stat& info);
    bool operator==(const FileStamp&) const = default;
};

} // namespace qs
