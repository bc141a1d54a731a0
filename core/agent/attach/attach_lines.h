// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What an agent's process and a window say to each other before and after the messages of the protocol, a line each.
namespace qs {

/// The first line of who wants to attach. All paths are absolute.
struct AttachRequest {
    std::string folder; ///< its current one
    std::vector<std::string> allow; ///< that it may name files in; never empty
};
std::string attachLine(const AttachRequest& request);
/// Issue: the line is none, or of another version of this program.
Result<AttachRequest> readAttachLine(std::string_view line);

/// The answer to it: the window's name, or why not.
std::string admittedLine(const std::string& window);
std::string refusedLine(const Issue& why);
Result<std::string> readAdmission(std::string_view line);

/// The last line of a window that lets go of an agent: why. Nothing: the line is a message.
std::string farewellLine(const std::string& why);
std::optional<std::string> readFarewell(std::string_view line);

} // namespace qs
