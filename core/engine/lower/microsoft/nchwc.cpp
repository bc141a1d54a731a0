// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/microsoft/parts.h"
#include "core/engine/lowered/channel_block.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"
#include "core/kernels/convolution/blocked_filter.h"
#include "core/kernels/movement/strided_copy.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cstring>

/// com.microsoft.nchwc, what ONNX Runtime's optimizer makes of convolutions at level "all": images in blocks of
/// channels. Here the images keep the order that their shapes say; only their channels are filled up to whole blocks,
/// and filters are put back in order when they are lowered. Source: ONNX Runtime's nchwc schemas.
namespace qs {

namespace {

/// Runs as `node` with these inputs; those that are not known here are the node's own.
Result<LoweredNode> lowerAs(const LowerContext& c, Node node, std::vector<InnerOp::Input> inputs)
{
    std::vector<Tensor> constants;
    for (const InnerOp::Input& in : inputs)
        constants.push_back(in.constant);
    QS_TRY(InnerOp inner, InnerOp::make(std::move(node), std::move(inputs), c.mode));
    const LayoutRule layouts = inner.lowered().layouts;
    const std::string kernel = inner.kernel();
    auto run = [op = std::move(inner), constants = std::move(constants)](StepContext& s) -> Status {
        std::vector<const Tensor*> all;
        for (size_t i = 0; i < constants.size(); ++i)
            all.push_back(constants[i].valid() ? &constants[i] : s.input(i));
        QS_TRY(Tensor y, op.run(s, all));
        s.setOutput(0, std::move(y));
        return {};
    };
    return LoweredNode { std::move(run), kernel, layouts };
}

constexpr const char* kLowerLevel = "let ONNX Runtime write the file at level ORT_ENABLE_EXTENDED or below";

/// The filter as filters x channels x kernel.
Result<Tensor> orderedFilter(const LowerContext& c)
{
    const Tensor* w = c.constant(1);
    if (!w || w->dtype() != DType::Float32 || w->rank() < 3)
        return badInput("its filter is no float32 constant of the file", {}, kLowerLevel);
    auto plain = plainFilter(*w, c.node.attributes.integer("group", 1), c.channelBlock);
    if (!plain)
        return badInput("a filter of shape " + shapeText(w->shape()) + " does not fill blocks of "
                + std::to_string(c.channelBlock) + " channels",
            {}, kLowerLevel);
    return std::move(*plain);
}

Result<LoweredNode> lowerBlockedConv(const LowerContext& c)
{
    QS_TRY(Tensor filter, orderedFilter(c));
    std::vector<InnerOp::Input> inputs;
    for (size_t i = 0; i < 4; ++i)
        inputs.push_back(InnerOp::of(c, i));
    inputs[1] = { DType::Float32, std::move(filter), true };
    Node conv = innerNode("FusedConv", kMicrosoftDomain, 1);
    conv.attributes = c.node.attributes;
    return lowerAs(c, std::move(conv), std::move(inputs));
}

/// Pools do with blocks of channels what they do with channels.
Result<LoweredNode> lowerBlockedPool(const LowerContext& c)
{
    Node pool = innerNode(c.node.opType);
    pool.attributes = c.node.attributes;
    return lowerAs(c, std::move(pool), { InnerOp::of(c, 0) });
}

Result<LoweredNode> lowerBlockedUpsample(const LowerContext& c)
{
    const Attributes& a = c.node.attributes;
    Node resize = innerNode("Resize");
    resize.attributes.set("mode", a.text("mode", "nearest"));
    resize.attributes.set("nearest_mode", std::string("floor"));
    resize.attributes.set("coordinate_transformation_mode", a.text("coordinate_transformation_mode", "asymmetric"));
    const std::vector<int64_t> scales = a.integers("scales");
    const std::vector<float> factors(scales.begin(), scales.end());
    const Tensor known = Tensor::of<float>({ static_cast<int64_t>(factors.size()) }, factors);
    return lowerAs(
        c, std::move(resize), { InnerOp::of(c, 0), { DType::Undefined, {}, false }, { DType::Float32, known, true } });
}

/// Strides of batch, channels, spatial axes in an image of this shape in memory.
std::vector<int64_t> imageStrides(const Shape& memory, bool channelsLast)
{
    std::vector<int64_t> strides = rowMajorStrides(memory);
    if (channelsLast)
        std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
    return strides;
}

/// Copies an image with its channels in another place, or more or fewer of them; new ones are zero.
Status reorderImage(StepContext& s, bool lastBefore, bool lastAfter, int64_t channels)
{
    const Tensor& x = s.in(0);
    Shape shape = x.shape(); // batch, channels, spatial axes
    if (lastBefore)
        std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
    StridedCopy copy { shape, imageStrides(x.shape(), lastBefore), {} };
    copy.shape[1] = std::min(shape[1], channels);
    shape[1] = channels;
    if (lastAfter)
        std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
    copy.to = imageStrides(shape, lastAfter);
    QS_TRY(Tensor y, allocateChecked(s, x.dtype(), shape));
    if (y.byteCount() > 0)
        std::memset(writable(y), 0, y.byteCount());
    copyStrided(KernelMode::Fast, x, 0, y, 0, copy);
    s.setOutput(0, std::move(y));
    return {};
}

Status needImage(const StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    if (s.in(0).dtype() != DType::Float32)
        return unsupportedType(s.in(0).dtype());
    if (s.in(0).rank() < 3)
        return badInput("an input of shape " + shapeText(s.in(0).shape()) + " is no image");
    return {};
}

Result<LoweredNode> lowerReorderInput(const LowerContext& c)
{
    const bool last = c.node.attributes.integer("channels_last", 0) != 0;
    auto run = [last, block = c.channelBlock](StepContext& s) -> Status {
        QS_CHECK(needImage(s));
        const Tensor& x = s.in(0);
        const int64_t channels = last ? x.shape().back() : x.dim(1);
        const int64_t filled = filledUp(channels, block);
        if (!last && filled == channels) {
            s.setOutput(0, x);
            return {};
        }
        return reorderImage(s, last, false, filled);
    };
    return LoweredNode { std::move(run), "copy" };
}

Result<LoweredNode> lowerReorderOutput(const LowerContext& c)
{
    const bool last = c.node.attributes.integer("channels_last", 0) != 0;
    const int64_t channels = c.node.attributes.integer("channels", 0);
    auto run = [last, channels](StepContext& s) -> Status {
        QS_CHECK(needImage(s));
        const Tensor& x = s.in(0);
        if (channels < 0 || channels > x.dim(1))
            return badInput("an image of shape " + shapeText(x.shape()) + " does not have " + std::to_string(channels)
                + " channels");
        if (!last && channels == x.dim(1)) {
            s.setOutput(0, x);
            return {};
        }
        return reorderImage(s, false, last, channels);
    };
    return LoweredNode { std::move(run), "copy" };
}

} // namespace

void lowerNchwc(LoweringRegistry& r)
{
    r.add(kNchwcDomain, "Conv", lowerBlockedConv);
    for (const char* pool : { "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool" })
        r.add(kNchwcDomain, pool, lowerBlockedPool);
    r.add(kNchwcDomain, "Upsample", lowerBlockedUpsample);
    r.add(kNchwcDomain, "ReorderInput", lowerReorderInput);
    r.add(kNchwcDomain, "ReorderOutput", lowerReorderOutput);
}

} // namespace qs
