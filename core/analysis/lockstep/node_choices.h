// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/graph/draft.h"

#include <functional>
#include <string>
#include <vector>

namespace qs {

/// Another way to set a node, by what other nodes of its file and the float model have.
struct SettingChoice {
    NodeId node;
    std::string text; ///< in which the node is not as the float model, if this is right; a sentence, no full stop
    std::function<Status(GraphDraft& draft, size_t node)> put; ///< `node`: its place in the draft
};

/// The likely ones first. `floatNodes` of the float model compute what the node has to.
std::vector<SettingChoice> nodeChoices(
    const Plan& plan, NodeId node, const Plan& floatPlan, const std::vector<NodeId>& floatNodes);

} // namespace qs
