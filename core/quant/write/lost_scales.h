// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"

namespace qs {

/// Tensors of the float model `draft` whose scale would be below what float16 holds by the rules of the recipe's
/// release: they have scale 1 in `quantized`, as ONNX Runtime's tools write it, and lose their values.
void warnOfLostScales(FloatModel& quantized, const GraphDraft& draft, const Recipe& recipe);

} // namespace qs
