// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/folders/allowed_folders.h"

#include "core/base/files/file_identity.h"
#include "core/base/text/one_line.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace fs = std::filesystem;

namespace {

constexpr size_t kLongestPath = 4096, kShownPath = 200;

std::string shown(const std::string& path) { return "'" + oneLine(path, kShownPath) + "'"; }

bool isName(const fs::path& part) { return !part.empty() && part != "." && part != ".."; }

/// "" where it cannot be said. What is not there yet lies in the last folder that is; a link that leads to nothing is
/// not followed.
std::string whereItLeads(const std::string& path)
{
    std::error_code error;
    if (const fs::path whole = fs::canonical(path, error); !error)
        return whole.string();
    fs::path folder = fs::absolute(resolvedPath(path), error), missing;
    while (!error && !fs::exists(fs::symlink_status(folder, error))) {
        if (!isName(folder.filename()))
            return {};
        missing = missing.empty() ? folder.filename() : folder.filename() / missing;
        folder = folder.parent_path();
        error.clear(); // symlink_status says so of what is not there
    }
    folder = fs::canonical(folder, error);
    return error || missing.empty() ? std::string() : (folder / missing).string();
}

bool isThere(const std::string& path)
{
    std::error_code error;
    return fs::exists(path, error);
}

} // namespace

Result<AllowedFolders> AllowedFolders::of(const std::vector<std::string>& folders)
{
    AllowedFolders allowed;
    for (const std::string& folder : folders.empty() ? std::vector<std::string> { "." } : folders) {
        std::error_code error;
        const fs::path whole = fs::canonical(folder, error);
        if (error || !fs::is_directory(whole, error))
            return badInput("is no folder", folder, "give a folder that is there to --allow");
        allowed.m_folders.push_back(whole.string());
    }
    return allowed;
}

Result<AllowedFolders> AllowedFolders::seenFrom(const std::string& current, const std::vector<std::string>& folders)
{
    QS_TRY(AllowedFolders allowed, of(folders.empty() ? std::vector<std::string> { current } : folders));
    allowed.m_current = current;
    return allowed;
}

bool AllowedFolders::holds(const std::string& resolved) const
{
    return std::ranges::any_of(m_folders, [&](const std::string& folder) {
        const std::string inside = folder.ends_with('/') ? folder : folder + '/';
        return resolved == folder || resolved.starts_with(inside);
    });
}

Issue AllowedFolders::outside(const std::string& path) const
{
    std::string list;
    for (const std::string& folder : m_folders)
        list += (list.empty() ? "" : " or ") + shown(folder);
    return badInput("the path " + shown(path) + " lies outside the allowed folders", {},
        "give a path in " + list + ", or start the server with --allow FOLDER");
}

std::vector<std::string> AllowedFolders::candidates(const std::string& path) const
{
    std::vector<std::string> places { (fs::path(m_current) / path).string() };
    if (fs::path(path).is_relative())
        for (const std::string& folder : m_folders)
            places.push_back((fs::path(folder) / path).string());
    return places;
}

Result<std::string> AllowedFolders::existing(const std::string& path) const
{
    if (path.empty() || path.size() > kLongestPath || path.find('\0') != std::string::npos)
        return badInput(shown(path) + " is no path", {}, "give the path of a file");
    bool inside = false;
    for (const std::string& place : candidates(path)) {
        const std::string resolved = whereItLeads(place);
        if (resolved.empty() || !holds(resolved))
            continue;
        inside = true;
        if (isThere(resolved))
            return resolved;
    }
    // What is not there outside is not told from what is.
    return inside ? badInput("there is no file " + shown(path), {}, "give the path of one") : outside(path);
}

Result<std::string> AllowedFolders::toWrite(const std::string& path) const
{
    if (path.empty() || path.size() > kLongestPath || path.find('\0') != std::string::npos)
        return badInput(shown(path) + " is no path", {}, "give the path of a file");
    std::string missing;
    for (const std::string& place : candidates(path)) {
        const std::string resolved = whereItLeads(place), folder = fs::path(resolved).parent_path();
        std::error_code error;
        if (resolved.empty() || !holds(resolved))
            continue;
        if (fs::is_directory(resolved, error))
            return badInput(shown(path) + " is a folder", {}, "name a file in it");
        if (isThere(folder))
            return resolved;
        missing = missing.empty() ? folder : missing;
    }
    return missing.empty() ? outside(path)
                           : badInput("there is no folder " + shown(missing), {}, "make it, or name another place");
}

Status AllowedFolders::check(const std::string& path) const
{
    if (path.empty() || holds(whereItLeads(path)))
        return {};
    return outside(path);
}

Status AllowedFolders::checkBelow(const std::string& folder) const
{
    std::error_code error;
    if (!fs::is_directory(folder, error))
        return {};
    auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
        if (entry->is_symlink(error))
            QS_CHECK(check(entry->path().string()));
    return {};
}

} // namespace qs
