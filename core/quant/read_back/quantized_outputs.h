// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"
#include "core/quant/read_back/quantized_file.h"

#include <functional>

namespace qs {

/// Conv, ConvTranspose, Gemm, MatMul.
bool isProduct(const DraftNode& node);
/// Relu, Clip.
bool isClip(const DraftNode& node);

/// The file makes codes of each real output of a node: of itself, or of what the only node that reads it makes where
/// that one `passes`, as a Relu or Clip that runs in one step with the node.
bool hasQuantizedOutputs(const FloatModel& model, const QuantizedFile& file, const DraftNode& node,
    const std::function<bool(const DraftNode&)>& passes);

} // namespace qs
