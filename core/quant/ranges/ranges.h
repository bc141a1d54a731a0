// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/named_values.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// How the range of an activation is chosen from what it was seen to hold.
enum class Calibrator {
    MinMax, ///< smallest and largest value
    MovingAverage, ///< mean, or exponential mean over chunks, of each sample's extremes
    Percentile, ///< cuts the share of the values above a percentile
    Entropy, ///< the cut whose quantized histogram has the least relative entropy
    Mse, ///< the range of least mean squared error of quantization
    Distribution, ///< average and deviation, for float8
};

inline constexpr NamedValues<Calibrator, 6> kCalibrators { { { Calibrator::MinMax, "minmax" },
    { Calibrator::MovingAverage, "moving-average" }, { Calibrator::Percentile, "percentile" },
    { Calibrator::Entropy, "entropy" }, { Calibrator::Mse, "mse" }, { Calibrator::Distribution, "distribution" } } };

/// Range of one tensor as calibration gives it: not yet widened to hold 0, not yet symmetric for a quantizer.
struct TensorRange {
    DType dtype = DType::Float32; ///< Float32 or Float16: the tensor's own type; all numbers below are exact in it
    float lowest = 0;
    float highest = 0;
    Shape shape; ///< as ONNX Runtime stores it: {1} from extremes, {} (scalar) from histograms
    std::optional<float> average, deviation; ///< from Distribution alone
    bool extreme
        = false; ///< some values are so far from the rest (-3.4e38 in attention masks) that no scale serves both
    bool operator==(const TensorRange&) const = default;
};

/// Ranges of a model's activations by tensor name.
struct Ranges {
    Calibrator calibrator = Calibrator::MinMax;
    bool smoothQuant = false; ///< found on a model changed by SmoothQuant
    std::map<std::string, TensorRange, std::less<>> tensors;

    /// Null when there is none.
    const TensorRange* find(std::string_view name) const;
    bool operator==(const Ranges&) const = default;
};

} // namespace qs
