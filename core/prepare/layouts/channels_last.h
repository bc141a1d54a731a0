// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/graph/draft.h"

namespace qs {

/// Operators of the graph work on images with their channels last, as ONNX Runtime's optimizer makes of others.
bool hasChannelsLast(const Graph& graph);

/// Puts the images of such operators, and of those between them that take any order, in ONNX's order of axes, channels
/// second, in which the other file has them. Values keep their names, constants their elements; what else reads such a
/// value gets it from a Transpose in the order that the file says. `plan`: of the draft's source, which is unchanged.
void putChannelsSecond(GraphDraft& draft, const Plan& plan);

} // namespace qs
