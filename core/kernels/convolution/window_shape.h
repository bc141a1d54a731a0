// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>

namespace qs {

/// One spatial axis of a sliding window. Transposed convolutions read `in` and write `out` as usual; their pads crop
/// the output.
struct SpatialAxis {
    int64_t in = 1;
    int64_t out = 1;
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t padBegin = 0;
    int64_t padEnd = 0;
};

/// A window over N x C x spatial. Fewer than three spatial axes stand at the end; the others keep their defaults.
struct WindowShape {
    int64_t batch = 1;
    int64_t channels = 1; ///< of the input
    int spatialRank = 2;
    std::array<SpatialAxis, 3> axes {};

    int64_t inSize() const { return axes[0].in * axes[1].in * axes[2].in; }
    int64_t outSize() const { return axes[0].out * axes[1].out * axes[2].out; }
    int64_t kernelSize() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
};

enum class ConvDirection { Forward, Transposed };

/// Convolution: weights lie filters x channels/groups x kernel; transposed: channels x filters/groups x kernel.
struct ConvShape {
    WindowShape window;
    int64_t filters = 1;
    int64_t groups = 1;
};

} // namespace qs
