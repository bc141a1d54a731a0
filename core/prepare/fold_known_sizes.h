// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"

namespace qs {

/// What is computed of sizes that are known becomes a constant, also Gather of one size of a shape that is not known as
/// a whole. The number of nodes that went.
Result<size_t> foldKnownSizes(GraphDraft& draft);

} // namespace qs
