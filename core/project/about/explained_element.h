// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/work_context.h"
#include "core/explain/explanation/explanation.h"
#include "core/project/about/read_values.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

/// Where an element of a tensor comes from.
struct ElementAsked {
    TensorPlace place;
    Shape at; ///< one index an axis, the batch included
    size_t sample = 0;
    bool withinSample = true; ///< as readValues() shows it; false: in the whole batch that the sample is run in
};

/// In the arithmetic of the snapshot, which a model that is open alone takes, too; with the difference to the float
/// network where the snapshot pairs both. Takes as long as running the models up to there.
Result<ElementExplanation> explainElement(const Snapshot& snapshot, const ElementAsked& asked, const WorkContext& work);

/// The quantized model's side of a tensor of the float one, in the arithmetic of the snapshot: the value whose elements
/// the difference is about. The tensor itself where it has none, and where the elements lie in another order.
TensorPlace quantizedSide(const Snapshot& snapshot, const TensorPlace& place);

} // namespace qs
