// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/whole_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace qs {

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

} // namespace qs
