// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/protocol/rpc_message.h"

#include <optional>
#include <string>

/// Revisions of the Model Context Protocol. Up to 2025-11-25 a connection begins with `initialize`, in which the
/// version is agreed on; since 2026-07-28 every request says its version in `_meta`, and `server/discover` tells what
/// there is.
namespace qs {

enum class McpEra { Handshake, EachRequest };

/// The version that `initialize` answers: the one that was asked for where it is known, else the newest of that kind.
std::string agreedVersion(const std::string& asked);

/// By which rules a request is answered. `agreed`: initialize was called.
struct McpManner {
    std::optional<McpEra> era;
    RpcFault fault; ///< where there is no era
};
McpManner mannerOf(const RpcMessage& request, bool agreed);

/// What a client calls itself in these params of a request, as one line; "" where they do not say.
std::string clientName(const AgentJson& params);

AgentJson serverInfo();
AgentJson serverCapabilities();
/// Whose work a client edits.
enum class AgentWork { Own, Shared };
std::string serverInstructions(AgentWork work);
AgentJson discovered(AgentWork work); ///< answer of server/discover

/// What every result says beside itself in that era. `cacheable`: of a list, or something that was read.
AgentJson dressed(AgentJson result, McpEra era, bool cacheable);

} // namespace qs
