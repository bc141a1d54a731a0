// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/files/runs.h"

#include <QString>

namespace qs {

/// What the two quantized models (A and B) are called, so that they can be told apart.
struct ComparedNames {
    QString a, b; ///< b: empty where there is no second one
};

/// A file by its name, with the folders that differ where both have one name; a run by its own; else "the recipe".
ComparedNames comparedNames(const Snapshot& snapshot, const RunTree& runs);

} // namespace qs
