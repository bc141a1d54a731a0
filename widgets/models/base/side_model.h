// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"
#include "widgets/models/base/place.h"

namespace qs {

/// The model of a side as it is compared, or null.
inline const LoadedModel* modelOf(const Snapshot& snapshot, Side side)
{
    const auto& model = side == Side::Float ? snapshot.floatModel : snapshot.quantModel;
    return model ? &*model : nullptr;
}

} // namespace qs
