// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/session/agent_session.h"

namespace qs {

/// Work of somebody who lets the agent take part: both see it, both edit it.
class SharedSession : public AgentSession {
public:
    /// Opens other models in the place of those that are open. Issues: work that is not saved would be lost; it may
    /// not be now; whatever opening reports.
    virtual Status open(const Inputs& inputs, const Check& check, const WorkContext& work) = 0;
    /// Nothing that is open there may be replaced by a file. Issue also: nothing may be written now.
    virtual Status mayWrite(const std::string& path, const WorkContext& work) = 0;
};

} // namespace qs
