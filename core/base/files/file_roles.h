// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// All files that a piece of work reads and writes, each with what it is to it ("the float model"). No result may take
/// the place of an input or of another result, however the files are called. Empty paths are passed over.
class FileRoles {
public:
    void reads(std::string path, std::string role);
    /// All files in a folder and the folders in it whose names pass.
    void readsBelow(std::string folder, std::string role, std::function<bool(std::string_view name)> passes);
    /// "-" is the standard output.
    void writes(std::string path, std::string role);
    /// A file that is written only where a result does not fit into one.
    void writesBeside(std::string path, std::string role);

    /// One sentence naming both roles. Devices and pipes have no contents that could be lost.
    Status check() const;
    std::vector<std::string> results() const; ///< paths of those that are written, without "-"

private:
    struct File {
        std::string path, role;
        bool certain = true; ///< to be written
    };
    struct Folder {
        std::string path, role;
        std::function<bool(std::string_view name)> passes;
    };
    std::vector<File> m_inputs, m_results;
    std::vector<Folder> m_folders;
};

} // namespace qs
