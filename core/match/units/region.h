// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/alignment.h"
#include "core/match/graph/canonical.h"

#include <map>
#include <set>
#include <vector>

namespace qs {

/// One file of an alignment: its values by canonical root, and which of them have a partner.
struct MatchedFile {
    const CanonicalGraph& graph;
    std::map<ValueId, std::set<ValueId>> partners; ///< root -> roots of the other file
    std::set<ValueId> unmatched; ///< as the alignment lists them
    std::set<ValueId> linked; ///< by their numbers alone

    bool known(ValueId root) const { return partners.contains(root); }
};

/// What lies between a value and the values before it that have a partner.
struct Region {
    std::vector<ValueId> values; ///< roots without a partner, the nearest first
    std::set<ValueId> border; ///< roots where it ends: with a partner, or graph inputs
    std::vector<NodeId> steps; ///< nodes that compute something, the last first
    bool complete = true; ///< false: larger than any unit
};

/// The region before a root, its producer included. What is only asked for its sizes is no part of it.
Region regionBefore(const MatchedFile& file, ValueId root);

/// Only the sizes of what it reads matter.
bool readsSizes(const Node& node);

} // namespace qs
