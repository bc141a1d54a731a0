// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/ids.h"

namespace qs {

class Graph;

/// An output that is no result but a state for the next run: the keys and values of attention, recognized by the node
/// that makes them or by the name `present…` that exporters give them.
bool isHandedOn(const Graph& graph, ValueId output);

/// The later outputs of attention: its keys and values as they came.
bool isAttentionState(const Graph& graph, ValueId value);

} // namespace qs
