// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/window.h"

#include "core/ops/infer.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

Result<AutoPad> parseAutoPad(const Node& node)
{
    const std::string text = node.attributes.text("auto_pad", "NOTSET");
    if (text == "NOTSET" || text.empty())
        return AutoPad::NotSet;
    if (text == "VALID")
        return AutoPad::Valid;
    if (text == "SAME_UPPER")
        return AutoPad::SameUpper;
    if (text == "SAME_LOWER")
        return AutoPad::SameLower;
    return inferIssue(node, "auto_pad is '" + text + "'", "use NOTSET, VALID, SAME_UPPER or SAME_LOWER");
}

Result<int64_t> listed(
    const Node& node, const char* name, const std::vector<int64_t>& list, size_t i, size_t count, int64_t fallback)
{
    if (list.empty())
        return fallback;
    if (list.size() != count)
        return inferIssue(node,
            std::string(name) + " has " + std::to_string(list.size()) + " entries where " + std::to_string(count)
                + " are needed");
    return list[i];
}

void splitPads(WindowAxis& axis, int64_t total, AutoPad autoPad)
{
    const int64_t smaller = total / 2;
    axis.padBegin = autoPad == AutoPad::SameLower ? total - smaller : smaller;
    axis.padEnd = total - axis.padBegin;
}

/// False when not even one window fits.
bool sizeForward(WindowAxis& a, const WindowAttributes& attributes, WindowKind kind)
{
    const int64_t extent = (a.kernel - 1) * a.dilation + 1;
    if (attributes.autoPad == AutoPad::SameUpper || attributes.autoPad == AutoPad::SameLower) {
        a.out = (a.in + a.stride - 1) / a.stride;
        splitPads(a, std::max<int64_t>(0, (a.out - 1) * a.stride + extent - a.in), attributes.autoPad);
        return true;
    }
    const int64_t room = a.in + a.padBegin + a.padEnd - extent;
    if (room < 0)
        return false;
    const bool ceil = kind == WindowKind::Pool && attributes.ceilMode;
    a.out = (room + (ceil ? a.stride - 1 : 0)) / a.stride + 1;
    if (ceil && (a.out - 1) * a.stride >= a.in + a.padBegin)
        --a.out;
    return true;
}

/// `asked`: output size given by output_shape, or -1.
void sizeTransposed(WindowAxis& a, const WindowAttributes& attributes, int64_t outputPadding, int64_t asked)
{
    const int64_t full = (a.in - 1) * a.stride + outputPadding + (a.kernel - 1) * a.dilation + 1;
    const bool same = attributes.autoPad == AutoPad::SameUpper || attributes.autoPad == AutoPad::SameLower;
    if (asked < 0 && same)
        asked = std::min(full, a.in * a.stride); // pads are not negative: a kernel below the stride leaves less
    if (asked < 0) {
        a.out = std::max<int64_t>(0, full - a.padBegin - a.padEnd);
        return;
    }
    a.out = asked;
    const int64_t total = std::max<int64_t>(0, full - asked);
    // ONNX: the larger half goes to the end with SAME_UPPER, to the beginning otherwise.
    splitPads(a, total, attributes.autoPad == AutoPad::SameUpper ? AutoPad::SameUpper : AutoPad::SameLower);
}

bool plausible(int64_t v) { return v >= 0 && v < std::numeric_limits<int32_t>::max(); }

} // namespace

Result<WindowAttributes> windowAttributes(const Node& node)
{
    WindowAttributes w;
    w.kernel = node.attributes.integers("kernel_shape");
    w.strides = node.attributes.integers("strides");
    w.dilations = node.attributes.integers("dilations");
    w.pads = node.attributes.integers("pads");
    w.outputPadding = node.attributes.integers("output_padding");
    w.outputShape = node.attributes.integers("output_shape");
    w.ceilMode = node.attributes.integer("ceil_mode", 0) != 0;
    QS_TRY(w.autoPad, parseAutoPad(node));
    return w;
}

Result<WindowAxis> windowAxis(const Node& node, const WindowAttributes& attributes, WindowKind kind, size_t i,
    size_t rank, int64_t in, int64_t kernel)
{
    WindowAxis a;
    a.in = in;
    a.kernel = kernel;
    QS_TRY(a.stride, listed(node, "strides", attributes.strides, i, rank, 1));
    QS_TRY(a.dilation, listed(node, "dilations", attributes.dilations, i, rank, 1));
    if (attributes.autoPad == AutoPad::NotSet) {
        QS_TRY(a.padBegin, listed(node, "pads", attributes.pads, i, 2 * rank, 0));
        QS_TRY(a.padEnd, listed(node, "pads", attributes.pads, i + rank, 2 * rank, 0));
    }
    if (a.kernel < 1 || a.stride < 1 || a.dilation < 1 || !plausible(a.kernel) || !plausible(a.stride)
        || !plausible(a.dilation))
        return inferIssue(node, "kernel, strides and dilations must be positive");
    if (a.padBegin == INT64_MIN || a.padEnd == INT64_MIN || !plausible(std::abs(a.padBegin))
        || !plausible(std::abs(a.padEnd)))
        return inferIssue(node, "pads are out of range");
    if (!plausible(a.in))
        return inferIssue(node, "a spatial size of " + std::to_string(in) + " is out of range");
    if (kind != WindowKind::ConvTranspose) {
        if (!sizeForward(a, attributes, kind))
            return inferIssue(node,
                "a window of " + std::to_string((kernel - 1) * a.dilation + 1) + " does not fit in a spatial size of "
                    + std::to_string(in) + " with its padding");
        return a;
    }
    QS_TRY(const int64_t outputPadding, listed(node, "output_padding", attributes.outputPadding, i, rank, 0));
    // Some exporters list batch and channels in output_shape too.
    const size_t extra = attributes.outputShape.size() == rank + 2 ? 2 : 0;
    QS_TRY(const int64_t asked, listed(node, "output_shape", attributes.outputShape, i + extra, rank + extra, -1));
    if (asked < -1 || outputPadding == INT64_MIN || !plausible(std::abs(outputPadding)) || !plausible(std::abs(asked)))
        return inferIssue(node, "output_shape and output_padding are out of range");
    sizeTransposed(a, attributes, outputPadding, asked);
    return a;
}

Result<std::vector<WindowAxis>> windowAxes(const Node& node, const WindowAttributes& attributes, WindowKind kind,
    std::span<const int64_t> in, std::span<const int64_t> kernel)
{
    std::vector<WindowAxis> axes;
    for (size_t i = 0; i < in.size(); ++i) {
        QS_TRY(WindowAxis axis, windowAxis(node, attributes, kind, i, in.size(), in[i], kernel[i]));
        axes.push_back(axis);
    }
    return axes;
}

} // namespace qs
