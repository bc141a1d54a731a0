// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/session/agent_session.h"

#include <string>
#include <string_view>

namespace qs {

/// Codes of JSON-RPC 2.0, and those that the Model Context Protocol adds.
enum class RpcCode : int {
    ParseError = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    InternalError = -32603,
    Busy = -32000,
    ResourceNotFound = -32002, ///< before 2026-07-28
    UnsupportedVersion = -32022,
};

struct RpcFault {
    RpcCode code = RpcCode::InternalError;
    std::string message;
    AgentJson data = nullptr; ///< null: none
};

RpcFault outOfMemoryFault();

/// One line that came in.
struct RpcMessage {
    enum class Kind {
        Request,
        Notification,
        Wrong, ///< is answered with `fault`
        Nothing, ///< an empty line, or an answer to something that was never asked
    };
    Kind kind = Kind::Nothing;
    AgentJson id = nullptr; ///< a text or a whole number; of Wrong null where it cannot be told
    std::string method;
    AgentJson params = AgentJson::object();
    RpcFault fault;
};

/// Reads a line that may hold anything, within limits of depth and number of values. Lists of messages are not taken.
RpcMessage readMessage(std::string_view line);

/// Lines to write, without their end.
std::string resultLine(const AgentJson& id, AgentJson result);
std::string faultLine(const AgentJson& id, const RpcFault& fault);
std::string notificationLine(std::string_view method, AgentJson params);

} // namespace qs
