// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/quant_params.h"
#include "core/tensor/tensor.h"

#include <map>
#include <string>
#include <vector>

/// Codes of constants that a quantized file holds, in place of those that rounding gives.
namespace qs {

struct KeptTensor {
    Tensor codes; ///< as the file stores them
    std::string key; ///< codesKey() of what they hold for
    std::vector<float> scale {}; ///< that the file dequantizes an int32 bias with; else empty
};
/// By names of float constants.
using KeptCodes = std::map<std::string, KeptTensor>;

/// What codes hold for: the float constant and its parameters (all but the axis of a single scale), and themselves.
/// `codes` has the constant's shape.
std::string codesKey(const Tensor& constant, const QuantParams& params, const Tensor& codes);

/// Codes as a file stores them in the constant's shape: axes of length 1 may be others, and rows and columns of a
/// matrix are exchanged where `exchanged`. Invalid where they do not fit.
Tensor codesLike(const Tensor& constant, const Tensor& stored, bool exchanged);

/// The kept codes in the constant's shape; invalid where they do not hold for this constant with these parameters.
Tensor codesThatHold(const KeptTensor& kept, const Tensor& constant, const QuantParams& params);

/// The kept codes of an int32 bias for other scales: the file's values, rounded anew and cut at the ends of int32.
/// Invalid where they are no codes of this constant.
Tensor rescaledCodes(const KeptTensor& kept, const Tensor& constant, const QuantParams& params);

/// Of an int32 bias: one scale, or one a channel.
QuantParams biasParams(const std::vector<float>& scale);

/// The kept codes of an int32 bias as values, for a bias that stays in float. Invalid where they are none of this
/// constant.
Tensor valuesOfBias(const KeptTensor& kept, const Tensor& constant);

/// Values of codes, in a real type: scale times (code - zero point), which rounds to the same codes.
Tensor realOf(const Tensor& codes, const QuantParams& params, DType real);

} // namespace qs
