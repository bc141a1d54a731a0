// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/session/agent_desk.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

enum class ArgumentKind { Text, Whole, Truth, Texts, Wholes, Object, Sizes };

/// One argument of a tool: what its JSON schema says, and what is checked.
struct ToolArgument {
    std::string_view name;
    ArgumentKind kind = ArgumentKind::Text;
    std::string_view help {};
    bool required = false;
    std::vector<std::string_view> words {}; ///< Text: all there are; empty: any
    int64_t least = 0, most = INT64_MAX; ///< Whole
    std::optional<int64_t> otherwise {}; ///< Whole: where it is not given
};

/// Arguments that were checked.
class ToolArguments {
public:
    explicit ToolArguments(const AgentJson& json)
        : m_json(json)
    {
    }
    bool has(const char* name) const { return m_json.contains(name); }
    std::string text(const char* name, const std::string& otherwise = {}) const;
    int64_t whole(const char* name, int64_t otherwise) const;
    bool truth(const char* name) const;
    std::vector<std::string> texts(const char* name) const;
    std::vector<int64_t> wholes(const char* name) const;
    const AgentJson& object(const char* name) const { return m_json.at(name); }

private:
    const AgentJson& m_json;
};

/// Something that can be asked of a desk. Answers are JSON objects, small, and say how to get more.
struct AgentTool {
    std::string_view name, title, help;
    std::vector<ToolArgument> arguments;
    bool onlyReads = true; ///< neither files nor the recipe change
    Result<AgentJson> (*call)(AgentDesk& desk, const ToolArguments& arguments, const WorkContext& work) = nullptr;
};

/// JSON schema of the arguments; nothing else is allowed.
AgentJson schemaOf(const AgentTool& tool);
/// The first argument that does not fit, by name. `arguments` is any JSON.
Status checkArguments(const AgentTool& tool, const AgentJson& arguments);

/// All of them.
std::span<const AgentTool> agentTools();
const AgentTool* toolNamed(std::string_view name); ///< null: there is none
/// What the tool answers to arguments that fit. Issues say what to do by tools, where others name commands.
Result<AgentJson> callTool(
    const AgentTool& tool, AgentDesk& desk, const ToolArguments& arguments, const WorkContext& work);

/// A sentence that names options of the command line, by what an agent can give in their place: arguments of tools,
/// fields of a recipe. What it cannot give stays.
std::string inAgentWords(const std::string& text);

// Families, each in a file of its own.
std::vector<AgentTool> openTools();
std::vector<AgentTool> compareTools();
std::vector<AgentTool> tensorTools();
std::vector<AgentTool> recipeTools();
std::vector<AgentTool> sensitivityTools();
std::vector<AgentTool> fileTools();
std::vector<AgentTool> languageTools();

} // namespace qs
