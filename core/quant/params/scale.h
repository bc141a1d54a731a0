// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/dtype.h"

#include <optional>

/// Scales and zero points from real ranges, equal in every bit to those of ONNX Runtime 1.31's or 1.32's quantization
/// tools.
/// Source: ONNX Runtime, onnxruntime.quantization (behaviour, measured).
namespace qs {

/// Lowest and highest code that a quantizer of that type aims at. Reduced ranges come before symmetric ones; unsigned
/// and 4-bit types have no symmetric range of their own.
CodeRange targetCodes(DType type, bool symmetric, bool reduced);

/// What turns a range into parameters.
struct ScaleRules {
    DType type = DType::Int8; ///< of the codes
    DType real = DType::Float32; ///< of the tensor: Float32 or Float16
    bool symmetric = false;
    bool reduced = false; ///< one bit less
    std::optional<double> minimumRange; ///< smallest distance of lowest and highest
    /// Zero point at the lowest code for ranges without negative values, else in the middle; uint8, asymmetric.
    bool restricted = false;
    bool subnormalHalves = false; ///< float16 scales below the normal numbers are kept (1.32)
    std::optional<CodeRange> kept = {}; ///< the codes to aim at, where a Clip leaves only these
};

struct ScaleZero {
    float scale = 1; ///< exact in the tensor's type
    int32_t zeroPoint = 0;
    bool operator==(const ScaleZero&) const = default;
};

/// Both ends must be numbers of the tensor's type (not NaN). The range is widened to hold zero; one that is too small
/// for the type gives scale 1 and zero point 0.
ScaleZero scaleAndZeroPoint(double lowest, double highest, const ScaleRules& rules);

/// Symmetric unless said otherwise: signed types are, unsigned ones are not.
bool weightSymmetric(DType type, std::optional<bool> asked);

/// `value` rounded to Float32 or Float16, as float.
float roundedTo(DType real, double value);
/// Smallest normal number of Float32 or Float16.
double smallestNormal(DType real);
/// Too small to be stored: scale 1 and zero point 0 take its place.
bool vanishes(double scale, const ScaleRules& rules);

} // namespace qs
