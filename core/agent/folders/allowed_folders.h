// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>
#include <vector>

namespace qs {

/// The folders that somebody who is not at this machine may name files in. Links and ".." are followed before anything
/// is judged. A relative path is taken from the current folder, or else from the first folder that makes it allowed.
class AllowedFolders {
public:
    /// None: the current folder. Issue: a path that is no folder.
    static Result<AllowedFolders> of(const std::vector<std::string>& folders);
    /// The same for somebody whose current folder is another; all paths are absolute.
    static Result<AllowedFolders> seenFrom(const std::string& current, const std::vector<std::string>& folders);

    /// Where something lies that is there. Issues: outside, missing.
    Result<std::string> existing(const std::string& path) const;
    /// Where a file is to be written, there or not. Issues: outside, a folder that is missing, a folder itself.
    Result<std::string> toWrite(const std::string& path) const;
    /// Outside: an issue. `path` leads to something that was opened; "" passes.
    Status check(const std::string& path) const;
    /// No file of a folder lies elsewhere by a link. Other paths pass.
    Status checkBelow(const std::string& folder) const;

    const std::vector<std::string>& folders() const { return m_folders; }

private:
    bool holds(const std::string& resolved) const;
    Issue outside(const std::string& path) const;
    std::vector<std::string> candidates(const std::string& path) const;

    std::vector<std::string> m_folders; ///< without links
    std::string m_current; ///< empty: that of this process
};

} // namespace qs
