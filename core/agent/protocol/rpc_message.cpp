// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/protocol/rpc_message.h"

#include "core/base/files/json_text.h"
#include "core/base/text/one_line.h"

namespace qs {

namespace {

constexpr JsonLimits kLimits { size_t(1) << 20, 100'000, 32 };
constexpr size_t kLongestId = 256;

bool isId(const AgentJson& id)
{
    return id.is_number_integer() || (id.is_string() && id.get_ref<const std::string&>().size() <= kLongestId);
}

RpcMessage wrong(RpcCode code, std::string why, AgentJson id = nullptr)
{
    return { RpcMessage::Kind::Wrong, std::move(id), {}, AgentJson::object(), { code, std::move(why), nullptr } };
}

/// Names of files may hold anything; what would act stays visible, and the line one line.
std::string lineOf(const AgentJson& json)
{
    return visible(json.dump(-1, ' ', false, AgentJson::error_handler_t::replace));
}

} // namespace

RpcFault outOfMemoryFault()
{
    return { RpcCode::InternalError, "there is not enough memory; open with a limit", nullptr };
}

RpcMessage readMessage(std::string_view line)
{
    if (line.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return {};
    const auto read = readJson(line, kLimits);
    if (!read.ok())
        return wrong(RpcCode::ParseError, "the message " + oneLine(read.issue().what, 200));
    const AgentJson& json = *read;
    if (json.is_array())
        return wrong(RpcCode::InvalidRequest, "lists of messages are not taken: send one message a line");
    if (!json.is_object())
        return wrong(RpcCode::InvalidRequest, "the message is no object");
    const bool hasId = json.contains("id");
    if (hasId && !isId(json["id"]))
        return wrong(RpcCode::InvalidRequest, "the id is neither a short text nor a whole number");
    const AgentJson id = hasId ? json["id"] : AgentJson(nullptr);
    if (!json.contains("jsonrpc") || json["jsonrpc"] != "2.0")
        return wrong(RpcCode::InvalidRequest, "the message does not say \"jsonrpc\": \"2.0\"", id);
    if (!json.contains("method") && (json.contains("result") || json.contains("error")))
        return {};
    if (!json.contains("method") || !json["method"].is_string())
        return wrong(RpcCode::InvalidRequest, "the message names no method", id);
    RpcMessage message { hasId ? RpcMessage::Kind::Request : RpcMessage::Kind::Notification, id,
        json["method"].get<std::string>(), AgentJson::object(), {} };
    if (!json.contains("params"))
        return message;
    if (json["params"].is_object())
        message.params = json["params"];
    else if (hasId)
        return wrong(RpcCode::InvalidParams, "params is no object", id);
    return message;
}

std::string resultLine(const AgentJson& id, AgentJson result)
{
    return lineOf({ { "jsonrpc", "2.0" }, { "id", id }, { "result", std::move(result) } });
}

std::string faultLine(const AgentJson& id, const RpcFault& fault)
{
    AgentJson error { { "code", int(fault.code) }, { "message", fault.message } };
    if (!fault.data.is_null())
        error["data"] = fault.data;
    return lineOf({ { "jsonrpc", "2.0" }, { "id", id }, { "error", std::move(error) } });
}

std::string notificationLine(std::string_view method, AgentJson params)
{
    return lineOf({ { "jsonrpc", "2.0" }, { "method", method }, { "params", std::move(params) } });
}

} // namespace qs
