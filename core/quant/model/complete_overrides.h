// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"

namespace qs {

/// The recipe's overrides and what follows from them where an activation has another type than the recipe's: all that
/// its producer and its readers read and make get that type, too, and tensors at the border a conversion. As
/// MixedPrecisionTensorQuantOverridesFixer of onnxruntime.quantization completes them. Issues: overrides that ask for
/// different types at one tensor.
Result<std::map<std::string, TensorOverride>> completeOverrides(const FloatModel& model, const Recipe& recipe);

/// The recipe with completed overrides, where it asks for that.
Result<Recipe> withCompleteOverrides(const FloatModel& model, const Recipe& recipe);

} // namespace qs
