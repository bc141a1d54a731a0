// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/qdq/quant_view.h"

#include <vector>

namespace qs {

/// A node that takes the codes of an activation for other numbers than whoever wrote them.
struct OddReader {
    NodeId node; ///< DequantizeLinear or an operator on codes
    uint32_t quantizer = 0; ///< of what it reads, with the writer's parameters: index in the QuantView
    QuantParams read; ///< the reader's scale and zero point
};

/// Readers whose constant scale or zero point is another than that of the codes they read, in node order, by the
/// constants alone. Equal numbers in another tensor are equal. Only scales per tensor are told.
std::vector<OddReader> oddReaders(const Graph& graph, const ConstantLookup& constants, const QuantView& view);

} // namespace qs
