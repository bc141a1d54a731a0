// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <string>
#include <string_view>

namespace qs {

struct NamedTensor {
    std::string name;
    Tensor tensor;
};

/// A serialized ONNX TensorProto (a test data file). Sequences, optionals, external data and lengths that do not fit
/// the shape are Issues that name `file`.
Result<NamedTensor> parseTensorProto(std::string_view bytes, const std::string& file);

} // namespace qs
