// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/cancel.h"

#include <filesystem>
#include <string>
#include <vector>

/// The program's commands in this process: starts would cost more than the work.
namespace qs::test {

using Arguments = std::vector<std::string>;

Arguments operator+(Arguments command, const Arguments& more);

/// As the program does it, but for signals. Whatever is printed goes nowhere.
Result<int> carriedOut(const Arguments& arguments, const CancelToken& cancel);
/// The same where it must work: else there is nothing to test.
void prepare(const Arguments& arguments);
/// In one line, for people.
std::string commandLine(const Arguments& arguments);

/// "" where it cannot be read.
std::string bytesOf(const std::string& path);
/// Ends the program when that fails: there is nothing to test then.
void writeBytes(const std::string& path, const std::string& bytes);

/// A folder that goes away with it.
class FuzzFolder {
public:
    FuzzFolder();
    ~FuzzFolder();
    FuzzFolder(const FuzzFolder&) = delete;
    FuzzFolder& operator=(const FuzzFolder&) = delete;
    std::string path(const std::string& name) const { return (m_path / name).string(); }
    /// Its path.
    std::string written(const std::string& name, const std::string& bytes) const;

private:
    std::filesystem::path m_path;
};

} // namespace qs::test
