// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace qs::test {

using Files = std::map<std::string, std::string>; ///< contents by name

/// One command of the session.
struct Step {
    std::string name;
    std::vector<std::string> command; ///< program and arguments, all paths absolute
    Files before; ///< that it replaces, in its folder
    bool judges = false; ///< exit code 1, an answer that is an error, or a pass that is taken back says what is wrong
                         ///< in its own words
    bool together = false; ///< its results come and go as one
    std::string input = "/dev/null"; ///< for stdin
    bool inPools = false; ///< its threads are Qt's, which tells nobody that one could not begin
};

/// What somebody does in a day, from looking at a model to lessons. The commands read what is prepared in `inputs`, and
/// write to `folder`.
std::vector<Step> scriptedSession(const std::filesystem::path& inputs, const std::filesystem::path& folder);

/// Whole contents; "" where there is no such file.
std::string contentOf(const std::filesystem::path& file);
void putContent(const std::filesystem::path& file, const std::string& content);

} // namespace qs::test
