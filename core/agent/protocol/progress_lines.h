// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/protocol/rpc_message.h"
#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"

#include <functional>

namespace qs {

/// Tells a client how far a request is: numbers that only grow over all phases, some times a second. `token` is what
/// the client calls it; null: it does not ask, and nothing is told. Nothing is told of cancelled work.
ProgressFn progressLines(
    const AgentJson& token, const CancelToken& cancel, std::function<void(const std::string& line)> write);

} // namespace qs
