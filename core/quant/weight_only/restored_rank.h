// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"

namespace qs {

/// A product whose weight lost its leading dimensions of 1.
struct LostRank {
    std::string input; ///< the other factor
    std::string product; ///< what the product without them gives
    std::string output; ///< what it is to be
    Shape weight; ///< before
    std::string prefix; ///< of the names of new nodes and constants
};

/// The input's declared rank may be below the weight's, so the output needs the ones that the weight gave it.
bool needsRank(const GraphDraft& draft, const std::string& input, const Shape& weight);

/// Nodes that reshape the product to the ones that are left over, the input's leading sizes and the columns; names as
/// ONNX Runtime gives them.
void restoreRank(GraphDraft& draft, const LostRank& lost, std::vector<DraftNode>& out);

} // namespace qs
