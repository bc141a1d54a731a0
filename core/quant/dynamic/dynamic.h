// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"

namespace qs {

/// Splits each Gemm that is only a product and a sum into MatMul and Add, those in bodies of If, Loop and Scan
/// included, as ONNX Runtime does before it quantizes dynamically. Unlike there, nodes that the recipe excludes stay as
/// they are, and `recipe` then includes the products of those that it included. A weight that is to be transposed is
/// copied where others read it (1.31) or always (1.32); what `recipe` asks of it is then asked of the copy, too.
Status splitGemms(GraphDraft& draft, Recipe& recipe);

/// With Recipe::subgraphs bodies are rebuilt as ONNX Runtime's EnableSubgraph does it: each before the node that has
/// it, with its own nodes and constants; a weight that the graph around it stores is quantized there, and a value that
/// is made there gets its DynamicQuantizeLinear there, in front of the node. Its QDQ format leaves bodies alone, and
/// its static tools find no ranges in them. Where ONNX Runtime fails (types it cannot infer in a body on its own, the
/// bias of a Conv or the weights of an LSTM that lie outside) this goes on.
///
/// MatMulInteger and ConvInteger on activations that DynamicQuantizeLinear quantizes while the model runs; LSTM becomes
/// DynamicQuantizeLSTM, tables of Gather become codes.
Status quantizeDynamic(FloatModel& model, const Recipe& recipe);

} // namespace qs
