// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Resizing along one axis: where an output element lies in the input, and with which weights input elements enter.
namespace qs {

enum class ResizeCoordinates {
    HalfPixel,
    HalfPixelSymmetric,
    PytorchHalfPixel,
    AlignCorners,
    Asymmetric,
    TfHalfPixelForNearest,
    TfCropAndResize,
};
/// Truncate is opset 10: down to the left when enlarging, up when shrinking.
enum class NearestRounding { PreferFloor, PreferCeil, Floor, Ceil, Truncate };

struct ResizeAxis {
    int64_t in = 1, out = 1;
    float scale = 1; ///< output size / input size as the file gives it
    ResizeCoordinates coordinates = ResizeCoordinates::HalfPixel;
    float cropStart = 0, cropEnd = 1; ///< TfCropAndResize
};

/// Input coordinate of output element `i`. Source: ONNX Resize, in float32 as runtimes compute it.
float sourceCoordinate(const ResizeAxis& axis, int64_t i);
/// True when TfCropAndResize leaves the input there.
bool outsideCrop(const ResizeAxis& axis, int64_t i);
/// Nearest input element of each output element; -1 where the crop leaves the input.
std::vector<int64_t> nearestElements(const ResizeAxis& axis, NearestRounding rounding);

/// output i = sum over t of weight[i * taps + t] * input[index[i * taps + t]].
struct AxisFilter {
    size_t taps = 0;
    std::vector<int64_t> index;
    std::vector<float> weight;
};
struct FilterOptions {
    bool cubic = false;
    bool antialias = false;
    bool excludeOutside = false; ///< else the border elements stand for what lies outside
    float cubicCoefficient = -0.75f;
};
/// How many elements of the input it looks at for one of the output.
int64_t filterTaps(const ResizeAxis& axis, const FilterOptions& options);
AxisFilter axisFilter(const ResizeAxis& axis, const FilterOptions& options);

/// x: outer x in x inner, y: outer x out x inner, both row-major.
void applyFilterReference(
    const AxisFilter& filter, const float* x, float* y, int64_t outer, int64_t in, int64_t out, int64_t inner);
void applyFilter(
    const AxisFilter& filter, const float* x, float* y, int64_t outer, int64_t in, int64_t out, int64_t inner);

} // namespace qs
