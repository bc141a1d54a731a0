// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <cstddef>
#include <string_view>

namespace qs {

/// How a file is quantized, as `info` prints it.
enum class QuantForm { Float, Qdq, QOperator, Dynamic, WeightOnly, Mixed };
std::string_view quantFormName(QuantForm form);

/// What a graph holds of each form.
struct FormEvidence {
    size_t activationPairs = 0, weightPairs = 0; ///< of QuantizeLinear and DequantizeLinear
    bool operatorsOnCodes = false;
    bool dynamicQuantizers = false;
};
QuantForm quantFormOf(const Graph& graph, const FormEvidence& evidence, bool hasQuantizers);

} // namespace qs
