// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/about/largest_error.h"
#include "widgets/session/details/shown_place.h"
#include "widgets/session/session.h"

namespace qs {

/// The tensor or weight that is selected; nothing where there is none with numbers of its own.
std::optional<TensorPlace> tensorAt(const Session& session, const Place& place);
/// Numbers that depend on data wait for data, and while a comparison runs, which has the processors.
bool waitsForRun(const Session& session, const TensorPlace& place);
/// The samples that views take together: the selected one, else the first ones.
std::vector<size_t> shownSamples(const Session& session, const Place& place);

/// Selects the number of the shown tensor with the largest error, among those that are asked for: in a moment, by a
/// job. Nothing happens where something else is selected by then.
void selectLargestError(Session& session, ShownPlace& place, const std::vector<AxisPart>& parts,
    const std::optional<std::pair<double, double>>& within = {});

} // namespace qs
