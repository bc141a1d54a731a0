// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/tools/agent_tool.h"

#include <functional>

/// What answers are made of.
namespace qs {

constexpr int64_t kMostRows = 200; ///< of one answer

const ToolArgument& sessionArgument();
ToolArgument limitArgument(int64_t otherwise, std::string_view what);
const ToolArgument& offsetArgument();

/// Of a list, what was asked for by `offset` and `limit`.
struct AnswerWindow {
    size_t first, end;
};
AnswerWindow windowIn(size_t count, const ToolArguments& arguments, int64_t limit);

/// The part of a list that was asked for: total, offset, the rows under `name`, and next_offset where there are more.
/// `row` makes what is shown of one.
AgentJson windowOf(const AgentJson& list, const char* name, const ToolArguments& arguments, int64_t limit,
    const std::function<AgentJson(const AgentJson&, size_t)>& row);

/// Rows of a comparison, lowest SQNR first, then those that are equal.
std::vector<AgentJson> worstFirst(std::vector<AgentJson> rows);

/// At most that many of a list, with the number of all beside it as `<key>_total` where some are missing.
void shorten(AgentJson& object, const char* key, size_t most);

/// Those of its members that are named, in this order.
AgentJson picked(const AgentJson& object, std::initializer_list<const char*> keys);

/// "session", "step", "step_text": what an answer is about.
AgentJson headerOf(const AgentDesk& desk, const AgentSession& session);

/// A recipe may name a file that codes are taken from, beside the float model where its path is relative. Issue: it
/// lies outside the folders.
Status checkCodesFile(const AllowedFolders& folders, const Recipe& recipe, const std::string& floatPath);

/// At most so many warnings.
AgentJson warningsJson(const std::vector<std::string>& warnings);

} // namespace qs
