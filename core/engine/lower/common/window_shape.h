// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/kernels/convolution/window_shape.h"
#include "core/ops/window.h"

namespace qs {

/// Geometry of one execution; fails for more than three spatial axes and for windows that do not fit.
Result<WindowShape> windowShape(const Node& node, const WindowAttributes& attributes, WindowKind kind,
    const Shape& input, std::span<const int64_t> kernel);
/// N x `channels` x spatial outputs.
Shape windowOutput(const WindowShape& s, int64_t channels);

} // namespace qs
