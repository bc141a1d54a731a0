// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"

namespace qs {

/// By node of the draft: an output of the model depends on it.
std::vector<bool> neededNodes(const GraphDraft& draft);

} // namespace qs
