// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/graph/draft.h"

namespace qs {

/// The operators that are quantized or fused have the inputs and the output without which they mean nothing; rules that
/// read them count on them. Issue: the first node that has not.
Status checkNeededValues(const GraphDraft& draft);

} // namespace qs
