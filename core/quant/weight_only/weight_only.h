// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/float_model.h"

namespace qs {

/// MatMul with a constant second factor becomes MatMulNBits, or reads it through a DequantizeLinear of blocks.
/// Issues: a type or block size that the form does not have.
Status quantizeWeightsOnly(FloatModel& model, const Recipe& recipe);

} // namespace qs
