// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/protocol/mcp_versions.h"
#include "core/agent/session/agent_desk.h"

#include <optional>
#include <string>
#include <variant>

namespace qs {

/// What a request gets: its result, or a fault.
using McpAnswer = std::variant<AgentJson, RpcFault>;

/// Methods that need nothing of the desk, at once: ping, initialize, server/discover, tools/list,
/// resources/templates/list. Nothing: another method.
std::optional<McpAnswer> answerAtOnce(const RpcMessage& request, McpEra era, AgentWork work);

/// The others: tools/call, resources/list, resources/read. A tool that fails gives a result that says so in a sentence,
/// for whoever called it to read. Cancelled work gives a fault that nobody needs to hear.
McpAnswer answerOf(const RpcMessage& request, McpEra era, AgentDesk& desk, const WorkContext& work);

/// Of a tool that somebody else than the client stopped.
McpAnswer stoppedAnswer(McpEra era);

} // namespace qs
