// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/whole_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace qs {

namespace {

constexpr size_t kPiece = size_t(1) << 24;

} // namespace

Result<std::string> readWholeFile(const std::string& path, const std::string& remedy)
{
    const Issue unreadable = badInput("cannot be read", path, remedy);
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) // reading one throws
        return unreadable;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    if (!file)
        return unreadable;
    bytes << file.rdbuf();
    if (file.bad())
        return unreadable;
    return bytes.str();
}

Result<Hash128> hashFile(const std::string& path, const std::string& remedy)
{
    const Issue unreadable = badInput("cannot be read", path, remedy);
    std::error_code error;
    const uintmax_t size = std::filesystem::file_size(path, error); // an error for folders
    std::ifstream file(path, std::ios::binary);
    if (error || !file)
        return unreadable;
    std::vector<char> piece(static_cast<size_t>(std::min<uintmax_t>(size, kPiece)));
    Hash128 hash = hashText(std::to_string(size));
    for (uintmax_t done = 0; done < size;) {
        const auto n = static_cast<size_t>(std::min<uintmax_t>(size - done, kPiece));
        if (!file.read(piece.data(), static_cast<std::streamsize>(n)))
            return unreadable;
        hash = combine(hash, hashText({ piece.data(), n }));
        done += n;
    }
    return hash;
}

} // namespace qs
