// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/protocol/mcp_answers.h"

#include "core/agent/tools/agent_resources.h"
#include "core/agent/tools/agent_tool.h"
#include "core/base/issue_text.h"
#include "core/base/text/one_line.h"
#include "core/base/thrown_issue.h"

#include <new>

namespace qs {

namespace {

constexpr size_t kLongestAnswer = size_t(256) << 10;

AgentJson textContent(const std::string& text)
{
    AgentJson content = AgentJson::array();
    content.push_back({ { "type", "text" }, { "text", text } });
    return content;
}

AgentJson failed(const std::string& sentence) { return { { "content", textContent(sentence) }, { "isError", true } }; }

AgentJson toolJson(const AgentTool& tool)
{
    AgentJson json { { "name", tool.name }, { "title", tool.title }, { "description", tool.help },
        { "inputSchema", schemaOf(tool) } };
    json["annotations"] = { { "title", tool.title }, { "readOnlyHint", tool.onlyReads }, { "destructiveHint", false },
        { "openWorldHint", false } };
    return json;
}

/// There is one page: whoever has a place in another one did not get it from here.
McpAnswer listed(const RpcMessage& request, McpEra era, const char* name, AgentJson list)
{
    if (request.params.contains("cursor") && !request.params["cursor"].is_null())
        return RpcFault { RpcCode::InvalidParams, "there is no such cursor: the list has one page", nullptr };
    return dressed({ { name, std::move(list) } }, era, true);
}

McpAnswer initialized(const RpcMessage& request, AgentWork work)
{
    const auto asked = request.params.find("protocolVersion");
    if (asked == request.params.end() || !asked->is_string())
        return RpcFault { RpcCode::InvalidParams, "initialize says no protocolVersion", nullptr };
    return AgentJson { { "protocolVersion", agreedVersion(asked->get<std::string>()) },
        { "capabilities", serverCapabilities() }, { "serverInfo", serverInfo() },
        { "instructions", serverInstructions(work) } };
}

AgentJson toolList()
{
    AgentJson list = AgentJson::array();
    for (const AgentTool& tool : agentTools())
        list.push_back(toolJson(tool));
    return list;
}

/// The answer as structure and, for those that read none, as the same text.
AgentJson toolResult(const Result<AgentJson>& answer)
{
    if (!answer.ok())
        return failed(issueText(answer.issue()));
    const std::string text = answer->dump(-1, ' ', false, AgentJson::error_handler_t::replace);
    if (text.size() > kLongestAnswer)
        return failed(
            "the answer has " + std::to_string(text.size()) + " bytes, which is too much; ask for less with limit");
    return { { "content", textContent(text) }, { "structuredContent", *answer }, { "isError", false } };
}

McpAnswer called(const RpcMessage& request, McpEra era, AgentDesk& desk, const WorkContext& work)
{
    const auto name = request.params.find("name");
    if (name == request.params.end() || !name->is_string())
        return RpcFault { RpcCode::InvalidParams, "tools/call names no tool", nullptr };
    const AgentTool* const tool = toolNamed(name->get<std::string>());
    if (!tool)
        return RpcFault { RpcCode::InvalidParams,
            "there is no tool '" + oneLine(name->get<std::string>(), 80) + "'; tools/list says which there are",
            nullptr };
    const AgentJson arguments
        = request.params.contains("arguments") ? request.params["arguments"] : AgentJson::object();
    if (const Status fits = checkArguments(*tool, arguments); !fits.ok())
        return dressed(failed(issueText(fits.issue())), era, false);
    return dressed(toolResult(callTool(*tool, desk, ToolArguments(arguments), work)), era, false);
}

AgentJson resourceList(const AgentDesk& desk)
{
    AgentJson list = AgentJson::array();
    for (const AgentResource& r : agentResources(desk))
        list.push_back({ { "uri", r.uri }, { "name", r.name }, { "description", r.help }, { "mimeType", r.mimeType } });
    return list;
}

McpAnswer resourceRead(const RpcMessage& request, McpEra era, AgentDesk& desk, const WorkContext& work)
{
    const auto uri = request.params.find("uri");
    if (uri == request.params.end() || !uri->is_string())
        return RpcFault { RpcCode::InvalidParams, "resources/read names no uri", nullptr };
    const auto read = readResource(desk, uri->get<std::string>(), work);
    if (!read.ok()) {
        const RpcCode missing = era == McpEra::Handshake ? RpcCode::ResourceNotFound : RpcCode::InvalidParams;
        return RpcFault { read.issue().kind == IssueKind::BadUse ? missing : RpcCode::InternalError,
            issueText(read.issue()), nullptr };
    }
    AgentJson contents = AgentJson::array();
    contents.push_back({ { "uri", *uri }, { "mimeType", read->mimeType }, { "text", read->text } });
    return dressed({ { "contents", std::move(contents) } }, era, true);
}

} // namespace

McpAnswer stoppedAnswer(McpEra era)
{
    return dressed(failed("the person at the window stopped this: ask them before you go on"), era, false);
}

std::optional<McpAnswer> answerAtOnce(const RpcMessage& request, McpEra era, AgentWork work)
{
    if (request.method == "ping")
        return dressed(AgentJson::object(), era, false);
    if (request.method == "initialize")
        return initialized(request, work);
    if (request.method == "server/discover")
        return dressed(discovered(work), era, true);
    if (request.method == "tools/list")
        return listed(request, era, "tools", toolList());
    if (request.method == "resources/templates/list")
        return listed(request, era, "resourceTemplates", AgentJson::array());
    return std::nullopt;
}

McpAnswer answerOf(const RpcMessage& request, McpEra era, AgentDesk& desk, const WorkContext& work)
{
    try {
        if (request.method == "tools/call")
            return called(request, era, desk, work);
        if (request.method == "resources/list")
            return listed(request, era, "resources", resourceList(desk));
        if (request.method == "resources/read")
            return resourceRead(request, era, desk, work);
    } catch (const std::bad_alloc&) {
        return outOfMemoryFault();
    } catch (const std::exception& e) {
        return RpcFault { RpcCode::InternalError, oneLine(issueOfThrown(e).what, 200), nullptr };
    }
    return RpcFault { RpcCode::MethodNotFound, "there is no method '" + oneLine(request.method, 80) + "'", nullptr };
}

} // namespace qs
