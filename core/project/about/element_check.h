// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/element_differences.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

/// Element by element, over the samples and with the arithmetic of the comparison. `a`: the first of two quantized
/// models, which is compared with that of `b`; null: the first file of `b` is compared with its second.
Result<ElementDifferences> elementDifferences(
    const Snapshot* a, const Snapshot& b, const ElementTolerance& tolerance, const WorkContext& work);

} // namespace qs
