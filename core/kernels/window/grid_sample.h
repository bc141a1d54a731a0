// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace qs {

enum class GridMode { Nearest, Linear, Cubic };
enum class GridPadding { Zeros, Border, Reflection };

/// x: batch x channels x in; grid: batch x out x axes, normalized to -1..1, the last axis first; y: batch x channels x
/// out. Source: Jaderberg et al., Spatial Transformer Networks; ONNX GridSample. T: float and double.
struct GridSample {
    int64_t batch = 1, channels = 1;
    std::vector<int64_t> in; ///< spatial sizes, none 0
    int64_t places = 0; ///< product of the output's spatial sizes
    GridMode mode = GridMode::Linear;
    GridPadding padding = GridPadding::Zeros;
    bool alignCorners = false;
};
/// The taps of a place are found once for all channels.
template <class T> void gridSample(const GridSample& s, const T* x, const T* grid, T* y);
/// Naive: axis by axis, one place and channel at a time.
void gridSampleReference(const GridSample& s, const double* x, const double* grid, double* y);

/// The grid that an affine map (axes x (axes + 1)) gives for `sizes` places. A single place lies in the
/// middle, as in PyTorch. Source: ONNX AffineGrid.
template <class T> void affineGrid(const std::vector<int64_t>& sizes, bool alignCorners, const T* map, T* grid);

} // namespace qs
