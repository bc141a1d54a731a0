// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/shown/selection.h"

namespace qs {

/// Selects the tensor, weight or node that a finding of the shown snapshot speaks of.
inline void selectFinding(Selection& selection, const Finding& finding)
{
    if (finding.activation)
        selection.selectActivation(*finding.activation);
    else if (finding.weight)
        selection.selectWeight(*finding.weight);
    else if (finding.tensor.empty() || !selection.selectByName(finding.tensor))
        selection.selectByName(finding.node);
}

} // namespace qs
