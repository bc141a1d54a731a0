// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

namespace qs {

using NewNames = std::unordered_map<std::string, std::string>; ///< old name -> new name

/// The new name where there is one, else the old one.
const std::string& newName(const NewNames& names, const std::string& old);

/// The subgraph with other names for values that it reads from around it, its own subgraphs included; the same one
/// where it reads none of them. An Issue: a value of its own has such a name.
Result<std::shared_ptr<const Graph>> withOuterRenamed(const std::shared_ptr<const Graph>& body, const NewNames& names);
/// Of all subgraphs among the attributes.
Status renameOuter(Attributes& attributes, const NewNames& names);

} // namespace qs
