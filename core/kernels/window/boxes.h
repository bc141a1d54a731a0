// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

/// What detectors do with boxes and regions.
namespace qs {

/// Boxes of one sample (count x 4) and their scores for one class.
struct BoxScores {
    const float* boxes = nullptr;
    const float* scores = nullptr;
    int64_t count = 0;
    bool centred = false; ///< x, y, width, height; else two opposite corners as y, x, y, x
};
struct SuppressionLimits {
    int64_t most = 0; ///< boxes kept
    float overlap = 0; ///< intersection over union above it suppresses
    std::optional<float> score; ///< only boxes above it
};
/// Boxes kept, best first; equal scores by ascending index. Source: ONNX NonMaxSuppression.
std::vector<int64_t> suppressNonMax(const BoxScores& b, const SuppressionLimits& limits);
/// Naive version.
std::vector<int64_t> suppressNonMaxReference(const BoxScores& b, const SuppressionLimits& limits);

/// Samples of a row of bins of one region.
constexpr double kMostRowSamples = 1 << 22;
constexpr int64_t kMostRegionSamples = 1024; ///< a bin and axis

/// Regions of feature maps brought to one size. `regions`: corners x1, y1, x2, y2, `stride` apart.
struct RegionPool {
    int64_t channels = 1, height = 1, width = 1; ///< of the maps
    int64_t regions = 0, stride = 4;
    int64_t outHeight = 1, outWidth = 1;
    double scale = 1; ///< of region coordinates
    int64_t samples = 0; ///< a bin and axis; 0: as many as the bin has elements
    bool halfPixel = true;
    bool largest = false; ///< the largest share of a sample instead of the mean
};
/// How many samples a row of its bins has.
template <class T> double rowSamples(const RegionPool& p, const T* region);
/// Bilinear samples a bin, averaged; `maps` of each region is its sample's. Source: He et al., Mask R-CNN; ONNX
/// RoiAlign. T: float and double.
template <class T> void regionAlign(const RegionPool& p, const T* x, const T* regions, const int64_t* sample, T* y);
/// The largest element of each bin of whole elements; 0 for empty bins. Source: Girshick, Fast R-CNN; ONNX MaxRoiPool.
template <class T> void regionMaxPool(const RegionPool& p, const T* x, const T* regions, const int64_t* sample, T* y);

} // namespace qs
