// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/file_identity.h"

#include <filesystem>

namespace qs {

namespace fs = std::filesystem;

namespace {

constexpr int kMostLinks = 40; ///< as the kernel follows

} // namespace

std::string resolvedPath(const std::string& path)
{
    std::error_code error;
    fs::path at = path;
    for (int i = 0; i < kMostLinks && fs::is_symlink(at, error); ++i) {
        const fs::path target = fs::read_symlink(at, error);
        if (error)
            break;
        at = at.parent_path() / target; // an absolute target takes the place of all
    }
    const fs::path folder = fs::canonical(at.has_parent_path() ? at.parent_path() : fs::path("."), error);
    return error ? at.string() : (folder / at.filename()).string();
}

std::optional<FileIdentity> fileIdentity(const std::string& path)
{
    struct stat info { };
    if (stat(path.c_str(), &info) == 0)
        return FileIdentity { info.st_dev, info.st_ino, {} };
    const fs::path target = resolvedPath(path);
    if (stat(target.parent_path().c_str(), &info) != 0 || !target.has_filename())
        return std::nullopt;
    return FileIdentity { info.st_dev, info.st_ino, target.filename().string() };
}

FileStamp::FileStamp(const struct stat& info)
    : device(info.st_dev)
    , inode(info.st_ino)
    , bytes(info.st_size)
    , seconds(info.st_mtim.tv_sec)
    , nanoseconds(info.st_mtim.tv_nsec)
{
}

} // namespace qs
