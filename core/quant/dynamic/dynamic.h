// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"

namespace qs {

/// Splits each Gemm that is only a product and a sum into MatMul and Add, as ONNX Runtime does before it quantizes
/// dynamically. Unlike there, nodes that the recipe excludes stay as they are, and a transposed weight that others read
/// is copied.
void splitGemms(GraphDraft& draft, const Recipe& recipe);

/// MatMulInteger and ConvInteger on activations that DynamicQuantizeLinear quantizes while the model runs; LSTM becomes
/// DynamicQuantizeLSTM, tables of Gather become codes.
Status quantizeDynamic(FloatModel& model, const Recipe& recipe);

} // namespace qs
