// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/onnx/files/proto.h"
#include "core/tensor/tensor.h"

namespace qs {

/// Tensor of a TensorProto without raw or external data: float_data, int32_data (which also holds the narrow types and
/// packed codes, one byte an entry), int64_data, uint64_data, double_data, string_data.
Result<Tensor> tensorOfTypedFields(const onnx::TensorProto& proto, DType type, const Shape& shape);

} // namespace qs
