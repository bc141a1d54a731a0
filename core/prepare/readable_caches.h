// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"

namespace qs {

/// Whether an attention of the graph puts out keys and values as codes.
bool hasCodedCaches(const Graph& graph);

/// Names of the outputs in which an attention puts out keys and values as codes, by comma; "" for other nodes.
std::string codedCacheName(const Graph& graph, const Node& node);

/// Behind each such output a node that makes floats of the codes, to be compared with what the float model remembers:
/// codes of one scale for each head and channel, or two in a byte, are no tensor that a comparison can read.
void addCacheReaders(GraphDraft& draft);

} // namespace qs
