// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <span>

/// Sliding windows of convolutions and pools: what the attributes say and the sizes that follow.
namespace qs {

enum class AutoPad { NotSet, Valid, SameUpper, SameLower };

/// Attributes as the node gives them; empty lists mean their defaults.
struct WindowAttributes {
    std::vector<int64_t> kernel;
    std::vector<int64_t> strides;
    std::vector<int64_t> dilations;
    std::vector<int64_t> pads; ///< begins, then ends
    std::vector<int64_t> outputPadding; ///< ConvTranspose
    std::vector<int64_t> outputShape; ///< ConvTranspose: spatial sizes
    AutoPad autoPad = AutoPad::NotSet;
    bool ceilMode = false;
};
Result<WindowAttributes> windowAttributes(const Node& node);

/// One spatial axis with everything filled in.
struct WindowAxis {
    int64_t in = 0;
    int64_t out = 0;
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t padBegin = 0;
    int64_t padEnd = 0;
};

enum class WindowKind { Conv, ConvTranspose, Pool };

/// Axis i of `rank` axes for actual sizes. Output sizes: ONNX Conv, ConvTranspose and pools; with ceil_mode a last
/// window that would start in the padding at the end is left out.
Result<WindowAxis> windowAxis(const Node& node, const WindowAttributes& attributes, WindowKind kind, size_t i,
    size_t rank, int64_t in, int64_t kernel);
/// All axes; `kernel` has as many sizes as `in`.
Result<std::vector<WindowAxis>> windowAxes(const Node& node, const WindowAttributes& attributes, WindowKind kind,
    std::span<const int64_t> in, std::span<const int64_t> kernel);

} // namespace qs
