// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/window_shape.h"

namespace qs {

Result<WindowShape> windowShape(const Node& node, const WindowAttributes& attributes, WindowKind kind,
    const Shape& input, std::span<const int64_t> kernel)
{
    const size_t rank = input.size() - 2;
    if (rank > 3)
        return badInput("windows over more than three spatial axes are not supported");
    QS_TRY(const std::vector<WindowAxis> axes, windowAxes(node, attributes, kind, std::span(input).subspan(2), kernel));
    WindowShape s;
    s.batch = input[0];
    s.channels = input[1];
    s.spatialRank = static_cast<int>(rank);
    for (size_t i = 0; i < rank; ++i) {
        const WindowAxis& a = axes[i];
        s.axes[3 - rank + i] = { a.in, a.out, a.kernel, a.stride, a.dilation, a.padBegin, a.padEnd };
    }
    if (!elementCount(windowOutput(s, s.channels)))
        return badInput("the output of the window would be too large");
    return s;
}

Shape windowOutput(const WindowShape& s, int64_t channels)
{
    Shape out { s.batch, channels };
    for (size_t i = 3 - static_cast<size_t>(s.spatialRank); i < 3; ++i)
        out.push_back(s.axes[i].out);
    return out;
}

} // namespace qs
