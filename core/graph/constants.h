// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/ids.h"
#include "core/tensor/tensor.h"

#include <functional>

namespace qs {

/// Constant value of a graph value (initializer, Constant node, folded), or null when it depends on data. Lets parts
/// below the engine use what the engine folded.
using ConstantLookup = std::function<const Tensor*(ValueId)>;

} // namespace qs
