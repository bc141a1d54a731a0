// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"
#include "core/onnx/files/proto.h"

namespace qs {

/// Declared type of a value. Negative sizes count as unknown, since exporters write -1 for a dynamic size.
ValueType valueTypeOf(const onnx::TypeProto& type);

/// True when all sizes are given and no memory could ever hold that many elements.
bool isImpossible(const ValueType& type);

} // namespace qs
