// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/attribute.h"

#include <QString>

namespace qs {

/// A node's attribute for people, shortened: "[1, 1, 1, 1]", "float32 64×3×3×3", "subgraph, 12 nodes".
QString attributeText(const AttributeValue& value);

} // namespace qs
