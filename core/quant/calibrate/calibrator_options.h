// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/ranges/ranges.h"

#include <cstddef>
#include <optional>

namespace qs {

/// Everything that chooses a range from the statistics of a calibration; the defaults are ONNX Runtime's.
struct CalibratorOptions {
    Calibrator kind = Calibrator::MinMax;
    /// CalibTensorRangeSymmetric. Unset: on for Percentile, off for the others; Entropy and Distribution ignore it.
    std::optional<bool> symmetric;
    double percentile = 99.999; ///< CalibPercentile, 0..100
    std::optional<size_t> bins; ///< unset: 128 for Entropy, 2048 for the others
    size_t quantizedBins = 128; ///< Entropy
    double averagingConstant = 0.01; ///< CalibMovingAverageConstant, 0..1; matters only between chunks
    /// CalibStridedMinMax: samples are taken in chunks of this many, merged as ONNX Runtime merges them; it must divide
    /// their number. 0: one chunk.
    size_t stride = 0;
    /// CalibMaxIntermediateOutputs, for extremes alone: ONNX Runtime forgets the samples so far whenever it has this
    /// many. 0: never.
    size_t maxIntermediateOutputs = 0;
    bool cubeRoot = false; ///< Distribution: scenario "p3"
    std::optional<int> mseLevels; ///< Mse: steps between the lowest and the highest code; unset: those of the type
    bool operator==(const CalibratorOptions&) const = default;
};

} // namespace qs
