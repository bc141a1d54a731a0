// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"

#include <optional>
#include <vector>

namespace qs {

/// A matrix [inputs, columns], row by row.
struct AddedMatrix {
    int64_t inputs = 0, columns = 0;
    std::vector<double> values;
};

/// What is added to a product with a weight by branches beside it, two products of the same input with constants, as
/// adapters of low rank are that were not merged (LoRA): x W + factor (x A) B, of which this is factor A B, of all
/// branches together. Nothing: there is none.
std::optional<AddedMatrix> addedMatrix(const Plan& plan, NodeId product);

} // namespace qs
