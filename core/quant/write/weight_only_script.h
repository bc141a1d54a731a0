// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"

namespace qs {

/// The call of ONNX Runtime's MatMulNBitsQuantizer with its algorithm's options, and what comes before it. `notes` gets
/// what it does otherwise.
std::string weightOnlyCall(
    const FloatModel& model, const Recipe& recipe, bool externalData, std::vector<std::string>& notes);

} // namespace qs
