// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <QString>

namespace qs {

/// The models are there to be drawn while the data that are to be run are still to come.
bool numbersFollow(const Snapshot& snapshot);

/// Of a float model with data: why no quantized one was made of it, and what to do.
QString whyNothingQuantized(const Snapshot& snapshot);

/// Why there is no comparison, and what to do about it; what is empty shows this. "" where there is one.
QString whyNothingCompared(const Snapshot& snapshot);

/// What about the two models makes their comparison something else than a float model against its quantized form: both
/// are float, both are quantized, nodes that cannot run. "" for usual pairs.
QString pairNote(const Snapshot& snapshot);

/// That both models that are compared are float: what makes their comparison say nothing. "" for others.
QString bothFloatNote(const Snapshot& snapshot);

/// Why there is no recipe that could be changed. "" where there is one, or may be when the quantized file was read, and
/// where no model is open.
QString whyNoRecipe(const Snapshot& snapshot);

} // namespace qs
