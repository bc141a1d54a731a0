// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/qdq/params.h"

namespace qs {

/// Puts the pairs, quantized constants and biases into the model's draft, under the names that ONNX Runtime gives.
/// Issues: a tensor shares parameters that nothing has, a bias that does not fit.
Status writeQdq(FloatModel& model, const QdqMarks& marks, const QdqParameters& parameters);

} // namespace qs
