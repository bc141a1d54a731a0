// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/quant/calibrate/calibration_data.h"

#include <span>

namespace qs {

/// The range of every tensor. Where a histogram cannot exist (ONNX Runtime raises an error then), the extremes serve.
/// Issues: options out of range, a stride that does not divide the number of runs, data that were not collected for
/// these options.
Result<Ranges> rangesFor(const CalibrationData& data, const CalibratorOptions& options);

/// ONNX Runtime's search: the cut around zero whose distribution, quantized to `quantizedBins`, has the least relative
/// entropy (Kullback-Leibler divergence, after TensorRT). `edges` has one element more than `counts`. Entropies are
/// compared in the type of the data.
Interval entropyCut(
    std::span<const uint64_t> counts, std::span<const float> edges, size_t quantizedBins, DType type = DType::Float32);

inline constexpr int kMseLevels = 255; ///< where no type is known
/// The range, including zero and inside the histogram's extremes, of least mean squared error when values are rounded
/// to `levels` steps and clipped.
Interval leastSquaresCut(const Histogram& histogram, int levels);
/// The same options with what the type of the codes says about them.
CalibratorOptions forCodes(CalibratorOptions options, DType type);

} // namespace qs
