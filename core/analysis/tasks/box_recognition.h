// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/tasks/output_facts.h"

#include <optional>
#include <vector>

namespace qs {

/// Outputs that say together what a detector found.
struct BoxOutputs {
    BoxForm form = BoxForm::None;
    std::vector<size_t> parts; ///< in the order of boxesOf()
};

/// The outputs that boxes of this form would have where this one holds the boxes (Nms: the indices). Nothing where
/// their types do not fit or several would.
std::optional<std::vector<size_t>> boxParts(const ModelFacts& facts, size_t primary, BoxForm form);

/// What is certain: the number of candidates follows from the strides, or types, operators and names agree. `free`:
/// outputs of which nothing is said yet.
std::optional<BoxOutputs> recognizedBoxes(const ModelFacts& facts, const std::vector<bool>& free);

} // namespace qs
