// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/about/largest_error.h"
#include "widgets/session/details/shown_place.h"
#include "widgets/session/session.h"

namespace qs {

/// Selects the number of the shown tensor with the largest error, among those that are asked for: in a moment, by a
/// job. Nothing happens where something else is selected by then.
void selectLargestError(Session& session, ShownPlace& place, const std::vector<AxisPart>& parts,
    const std::optional<std::pair<double, double>>& within = {});

} // namespace qs
