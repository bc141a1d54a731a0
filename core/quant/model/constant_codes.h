// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"
#include "core/tensor/quant_params.h"

namespace qs {

/// The codes that a file has of a constant (FloatModel::kept), where they hold with these parameters; else an invalid
/// tensor. `model.codes` notes which it was.
Tensor keptCodes(FloatModel& model, const std::string& name, const Tensor& constant, const QuantParams& params);

/// Of an int32 bias whose scale is another than in the file, beside a weight with the file's codes: the file's values
/// with these parameters, since they belong to that weight (equalized, trained); else an invalid tensor.
Tensor keptBias(FloatModel& model, const std::string& name, const std::string& weight, const Tensor& constant,
    const QuantParams& params);

/// Codes of a weight or constant operand: those of the file where they hold, else as weightCodes().
Tensor constantCodes(FloatModel& model, const std::string& name, const Tensor& constant, const QuantParams& params);

/// Biases that stay in float get the file's values, where all that reads them has a weight with the file's codes.
/// The nodes are quantized already, and biases that have codes are no constants any more.
void keepFloatBiases(FloatModel& model);

} // namespace qs
