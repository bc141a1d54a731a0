// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"
#include "core/quant/read_back/quantized_file.h"

#include <set>

namespace qs {

/// What a quantized file shows of each node of the float model.
struct NodeChoice {
    enum class Verdict {
        Quantized, ///< all that quantizing it would make is there
        Float, ///< something is not there
        Either, ///< nothing would be made of it
    };
    std::vector<Verdict> nodes; ///< by node of the float model
    std::set<std::string> quietTypes; ///< operators whose outputs stay float though they are quantized
};

NodeChoice nodeChoice(const FloatModel& model, const QuantizedFile& file, RecipeFormat format);

/// Sets the recipe's operator types and excluded nodes so that these are chosen.
void chooseNodes(Recipe& recipe, const FloatModel& model, const NodeChoice& choice);

} // namespace qs
