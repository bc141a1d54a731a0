// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/file_roles.h"

#include "core/base/files/file_identity.h"

#include <filesystem>
#include <map>

namespace qs {

namespace fs = std::filesystem;

namespace {

constexpr int kDeepestFolder = 16;

bool holdsContents(const std::string& path)
{
    struct stat info { };
    return stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode);
}

/// Calls `found(path)` for each file that passes.
void filesBelow(const fs::path& folder, const std::function<bool(std::string_view)>& passes, int depth,
    const std::function<void(const std::string&)>& found)
{
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        std::error_code none;
        if (it->is_directory(none)) {
            if (depth < kDeepestFolder)
                filesBelow(it->path(), passes, depth + 1, found);
        } else if (passes(it->path().filename().native())) {
            found(it->path().string());
        }
    }
}

} // namespace

void FileRoles::reads(std::string path, std::string role)
{
    if (!path.empty())
        m_inputs.push_back({ std::move(path), std::move(role) });
}

void FileRoles::readsBelow(std::string folder, std::string role, std::function<bool(std::string_view name)> passes)
{
    if (!folder.empty())
        m_folders.push_back({ std::move(folder), std::move(role), std::move(passes) });
}

void FileRoles::writes(std::string path, std::string role)
{
    if (!path.empty())
        m_results.push_back({ std::move(path), std::move(role) });
}

void FileRoles::writesBeside(std::string path, std::string role)
{
    m_results.push_back({ std::move(path), std::move(role), false });
}

Status FileRoles::check() const
{
    std::map<FileIdentity, const File*> written;
    bool anyExists = false;
    const File* onStdout = nullptr;
    for (const File& result : m_results) {
        if (result.path == "-") {
            if (onStdout)
                return badUse(
                    onStdout->role + " and " + result.role + " would both be written to '-'", "give each its own file");
            onStdout = &result;
            continue;
        }
        const auto identity = fileIdentity(result.path);
        if (!identity || !holdsContents(result.path))
            continue;
        anyExists |= identity->exists();
        const auto [other, fresh] = written.emplace(*identity, &result);
        if (!fresh)
            return badUse(
                other->second->role + " and " + result.role + " would both be written to '" + result.path + "'",
                "give each its own file");
    }
    if (!anyExists)
        return {};
    Status status;
    const auto keep = [&](const std::string& path, const std::string& role) {
        const auto identity = fileIdentity(path);
        const auto hit = identity && status.ok() ? written.find(*identity) : written.end();
        if (hit == written.end())
            return;
        const File& result = *hit->second;
        status = badUse(result.role + ", '" + result.path + "', would overwrite " + role
                + (result.path == path ? "" : ", '" + path + "'"),
            "give it a file of its own");
    };
    for (const File& input : m_inputs)
        keep(input.path, input.role);
    for (const Folder& folder : m_folders)
        filesBelow(folder.path, folder.passes, 0, [&](const std::string& path) { keep(path, folder.role); });
    return status;
}

std::vector<std::string> FileRoles::results() const
{
    std::vector<std::string> paths;
    for (const File& result : m_results)
        if (result.certain && result.path != "-")
            paths.push_back(result.path);
    return paths;
}

} // namespace qs
