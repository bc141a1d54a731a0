// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/prepare/prepare.h"
#include "core/quant/read_back/quantized_file.h"
#include "core/quant/recipe/recipe.h"

namespace qs {

/// A float model after those passes of preparation that a quantized file shows, as a recipe switches them on.
struct ExamplePreparation {
    GraphDraft draft;
    GraphPreparation passes;
    std::vector<PassReport> reports;
    size_t changes() const; ///< types that were found left out
    bool makesNames() const; ///< of values that the float file does not have, and the quantized one has
};

/// Passes that are off unless asked for run where more of the values that they leave are in the file.
Result<ExamplePreparation> preparedAs(const QuantizedFile& file, const GraphDraft& floatModel);

/// The recipe was read of the prepared draft and has the excluded nodes: passes that would exclude others are off.
Recipe withPreparation(Recipe recipe, const ExamplePreparation& prepared);

} // namespace qs
