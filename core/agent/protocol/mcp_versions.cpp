// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/protocol/mcp_versions.h"

#include "core/base/text/one_line.h"
#include "core/base/version.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr std::array<std::string_view, 4> kHandshakeVersions { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" };
constexpr std::string_view kNewest = "2026-07-28";
constexpr const char *kVersionKey = "io.modelcontextprotocol/protocolVersion",
                     *kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities",
                     *kServerKey = "io.modelcontextprotocol/serverInfo";

McpManner refused(RpcCode code, std::string message, AgentJson data = nullptr)
{
    return { std::nullopt, { code, std::move(message), std::move(data) } };
}

} // namespace

std::string agreedVersion(const std::string& asked)
{
    const bool known = std::ranges::find(kHandshakeVersions, asked) != kHandshakeVersions.end();
    return known ? asked : std::string(kHandshakeVersions.front());
}

McpManner mannerOf(const RpcMessage& request, bool agreed)
{
    const auto meta = request.params.find("_meta");
    const bool hasMeta = meta != request.params.end() && meta->is_object();
    if (!hasMeta || !meta->contains(kVersionKey)) {
        if (agreed || request.method == "ping")
            return { McpEra::Handshake, {} };
        return refused(RpcCode::InvalidParams,
            std::string("nothing says the version of the protocol: call initialize first, or give params._meta with ")
                + kVersionKey + " and " + kCapabilitiesKey);
    }
    const AgentJson& version = (*meta)[kVersionKey];
    if (!version.is_string())
        return refused(RpcCode::InvalidParams, std::string(kVersionKey) + " is no text");
    if (version != kNewest)
        return refused(RpcCode::UnsupportedVersion, "this version of the protocol is not supported",
            { { "supported", AgentJson::array({ kNewest }) },
                { "requested", oneLine(version.get<std::string>(), 80) } });
    if (!meta->contains(kCapabilitiesKey) || !(*meta)[kCapabilitiesKey].is_object())
        return refused(RpcCode::InvalidParams, std::string("params._meta lacks ") + kCapabilitiesKey);
    return { McpEra::EachRequest, {} };
}

std::string clientName(const AgentJson& params)
{
    constexpr size_t kLongestName = 60;
    const AgentJson::json_pointer known[] = { AgentJson::json_pointer("/clientInfo"),
        AgentJson::json_pointer("/_meta/io.modelcontextprotocol~1clientInfo") };
    for (const auto& place : known)
        for (const char* key : { "title", "name" })
            if (params.contains(place) && params[place].is_object() && params[place].contains(key)
                && params[place][key].is_string() && !params[place][key].get_ref<const std::string&>().empty())
                return oneLine(params[place][key].get<std::string>(), kLongestName);
    return {};
}

AgentJson serverInfo() { return { { "name", "quantscope" }, { "title", "Quantscope" }, { "version", kVersion } }; }

AgentJson serverCapabilities() { return { { "tools", AgentJson::object() }, { "resources", AgentJson::object() } }; }

std::string serverInstructions(AgentWork work)
{
    const std::string shared = "You take part in a window that a person looks at: there is one session, which is open "
                               "already, so begin with compare. Your edits are steps in their undo history under your "
                               "name, which they may take back or refuse; leave theirs alone. ";
    return (work == AgentWork::Shared ? shared : std::string())
        + "Finds where a quantized ONNX model loses its accuracy, and mends it. Usual way: open (float, quantized, "
          "data), compare, findings, edit_recipe with apply_finding or changes, compare again and hold 'now' against "
          "'before', undo what did not help, quantize to write the model. tensor and explain look closer; sensitivity "
          "says what to leave in float. Decibels are signal to quantization noise: more is better, null is exact. "
          "Answers are short: limit and offset give more, resources hold whole reports.";
}

AgentJson discovered(AgentWork work)
{
    return { { "supportedVersions", AgentJson::array({ kNewest }) }, { "capabilities", serverCapabilities() },
        { "instructions", serverInstructions(work) } };
}

AgentJson dressed(AgentJson result, McpEra era, bool cacheable)
{
    if (era == McpEra::Handshake)
        return result;
    result["resultType"] = "complete";
    if (cacheable) {
        result["ttlMs"] = 0;
        result["cacheScope"] = "private";
    }
    result["_meta"] = { { kServerKey, serverInfo() } };
    return result;
}

} // namespace qs
