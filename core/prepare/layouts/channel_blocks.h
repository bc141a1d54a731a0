// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/graph/draft.h"

namespace qs {

/// Operators of com.microsoft.nchwc, whose images and filters ONNX Runtime keeps in blocks of channels.
bool hasChannelBlocks(const Graph& graph);

/// The same network in ONNX's operators and FusedConv: filters in order, without the channels that fill blocks up.
/// Values keep their names; a constant in another order has a new one. What does not fit together stays in its blocks.
/// `plan`: of the draft's source, which is unchanged.
void takeApartBlocks(GraphDraft& draft, const Plan& plan);

} // namespace qs
