// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/session/agent_desk.h"

#include <string>
#include <vector>

namespace qs {

/// A text that can be read whole: a report of a session's last comparison, its recipe, the list of recipe options.
struct AgentResource {
    std::string uri, name, help, mimeType;
};
std::vector<AgentResource> agentResources(const AgentDesk& desk);

struct ResourceText {
    std::string mimeType, text;
};
/// Issue: there is no such resource (BadUse), or it is longer than fits into an answer.
Result<ResourceText> readResource(AgentDesk& desk, const std::string& uri, const WorkContext& work);

} // namespace qs
