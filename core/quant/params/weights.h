// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/quant/params/scale.h"
#include "core/tensor/quant_params.h"
#include "core/tensor/tensor.h"

#include <span>

/// Constants turned into codes as ONNX Runtime's quantization tools do it.
namespace qs {

/// Parameters of a float32 or float16 constant: one for all of it, or one for each index of `axis` (not negative).
/// Issue (without the tensor's name): it holds NaN or infinity.
Result<QuantParams> weightParams(const Tensor& weight, const ScaleRules& rules, std::optional<int64_t> axis);

/// Parameters of blocks of `blockSize` along `axis` of a matrix; the last block may be smaller. `rules.reduced` and
/// `rules.minimumRange` do not apply.
Result<QuantParams> blockedWeightParams(const Tensor& weight, const ScaleRules& rules, int64_t axis, int64_t blockSize);

/// The constant's codes: divided by the scale in float32, rounded half to even, zero point added, saturated to all of
/// the type. Packed when the type has 4 bits. Float8: divided in the constant's own type.
Tensor weightCodes(const Tensor& weight, const QuantParams& params);

/// Shape of the parameters: scalar, one dimension, or the blocked shape of a weight of that shape.
Shape paramsShape(const QuantParams& params, const Shape& weight);

/// An int32 bias on the grid of its layer's sums.
struct QuantizedBias {
    std::vector<float> scale; ///< one, or one a channel; exact in `real`
    DType real = DType::Float32; ///< of the scales: the bias' type, or Float32 for a wide one
    Tensor codes; ///< int32, shape of the bias
    bool saturated = false;
};
struct BiasRules {
    float beta = 1; ///< of Gemm
    bool noneForBetaZero = false; ///< beta 0 gives codes of 0 (1.32); else the scale becomes 0
    /// Where float16 scales would be 0 or cut the bias, they are float32 and as large as the bias needs (1.32, Q/DQ).
    bool wideScales = false;
};
/// Issue: the bias does not fit the channels.
Result<QuantizedBias> quantizeBias(
    const Tensor& bias, float inputScale, std::span<const float> weightScales, const BiasRules& rules = {});

/// Enlarges the scales of a symmetric int8 or int16 weight where the bias would not fit int32; true if any changed.
/// `upwards`: a float16 scale is never rounded below what the bias needs (1.32, Q/DQ).
/// Issue: the bias does not fit the channels.
Result<bool> adjustScalesForBias(
    QuantParams& weight, const Tensor& bias, float inputScale, DType real, bool upwards = false);

/// A tensor of Float32 or Float16 that holds these values, which must be exact in it.
Tensor realTensor(DType real, Shape shape, std::span<const float> values);
/// A tensor of an integer type of 2 to 32 bits, or of zeros of float8.
Tensor codeTensor(DType type, Shape shape, std::span<const int32_t> values);

} // namespace qs
