// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"

namespace qs {

/// In what two quantized models differ, by names.
struct DraftDifferences {
    std::vector<std::string> nodes; ///< names of nodes that only one has, or has otherwise
    std::vector<std::string> lackingConstants; ///< that only one has
    std::vector<std::string> changedConstants; ///< of other types, shapes or values
    size_t count() const { return nodes.size() + lackingConstants.size() + changedConstants.size(); }
};

/// Order does not count.
DraftDifferences draftDifferences(const GraphDraft& a, const GraphDraft& b);

} // namespace qs
