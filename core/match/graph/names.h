// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <string>
#include <vector>

namespace qs {

/// Names that ONNX Runtime's quantizer may give the quantized form of a float tensor, best first, without the name
/// itself. Source: the naming rules of onnxruntime.quantization.
std::vector<std::string> quantizedNames(const std::string& floatName);

/// Names that tf2onnx gives the tensor of a TFLite file where it calls the same one of the float file `floatName`
/// ("scope/mul:0"), best first; none for other names.
std::vector<std::string> convertedNames(const std::string& floatName);

} // namespace qs
