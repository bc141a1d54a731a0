// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/convolution/fast_conv.h"

#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/common/row_parts.h"
#include "core/kernels/codes/code_conv.h"

namespace qs {

namespace {

constexpr int64_t kPositionsTogether = 16; ///< a multiple of the rows that the product kernels take at a time

/// The numbers of a convolution beside its codes.
struct ConvNumbers {
    int32_t xZero = 0;
    OutputCodes codes;
    std::vector<float> scale, multiplier; ///< empty for ConvInteger
    std::vector<int32_t> bias;
};

/// A convolution whose numbers are known.
struct ReadyConv {
    ReadyConv(ConvNumbers n, std::shared_ptr<const CodeConvWeights> weights, DType x)
        : numbers(std::move(n))
        , xType(x)
        , conv(std::move(weights), x == DType::Int8, numbers.xZero, requantization())
    {
    }
    Requantization requantization() const
    {
        const bool isSigned = numbers.codes.type == DType::Int8;
        return { numbers.multiplier, numbers.bias, numbers.codes.zeroPoint, isSigned ? -128 : 0, isSigned ? 127 : 255 };
    }
    ConvNumbers numbers;
    DType xType;
    CodeConv conv;
};

struct FastConv {
    Node node;
    ConvSlots slots;
    std::shared_ptr<const CodeConvWeights> weights; ///< null where they are computed
    std::shared_ptr<const ReadyConv> ready; ///< null where a number is computed
};

Result<ConvNumbers> readNumbers(const StepContext& s, const ConvSlots& slots, int64_t channels)
{
    ConvNumbers n;
    const auto xZero = zeroPointsOf(s.input(slots.xZero));
    if (xZero.size() > 1)
        return badInput("a zero point does not fit the channels");
    n.xZero = xZero.empty() ? 0 : xZero[0];
    if (!slots.requantizes)
        return n;
    QS_TRY(n.codes, outputCodes(s, 6, 7, s.input(0) ? s.in(0).dtype() : DType::Undefined));
    QS_TRY(n.scale, channelScales(s, channels));
    n.multiplier = n.scale;
    for (float& m : n.multiplier)
        m /= n.codes.scale;
    if (const Tensor* bias = s.input(8)) {
        if (bias->dtype() != DType::Int32 || bias->count() != channels)
            return badInput("the bias must be " + std::to_string(channels) + " int32 numbers");
        n.bias.assign(bias->data<int32_t>().begin(), bias->data<int32_t>().end());
    }
    return n;
}

/// Sizes as far as the weight tells them; null when the weight cannot be packed.
std::shared_ptr<const CodeConvWeights> packWeights(const Node& node, const Tensor& w, const Tensor* wZero)
{
    const int64_t groups = node.attributes.integer("group", 1);
    if (!isCode(w.dtype()) || w.rank() < 3 || w.rank() > 5 || groups < 1 || w.dim(0) % groups != 0 || groups > w.dim(0))
        return nullptr;
    const auto zeros = zeroPointsOf(wZero);
    if (zeros.size() > 1 && static_cast<int64_t>(zeros.size()) != w.dim(0))
        return nullptr;
    IntegerConv conv;
    conv.inChannels = w.dim(1) * groups;
    conv.outChannels = w.dim(0);
    conv.groups = groups;
    for (size_t i = 2; i < w.rank(); ++i)
        conv.kernel[i + 3 - w.rank()] = w.dim(i);
    return std::make_shared<CodeConvWeights>(packCodeConv(conv, codesOf(w), zeros));
}

bool isConstant(const LowerContext& c, size_t slot) { return !c.node.hasInput(slot) || c.constant(slot); }

std::shared_ptr<const CodeConvWeights> packConstantCodes(const LowerContext& c, const ConvSlots& slots)
{
    const Tensor* w = c.constant(slots.w);
    return w && isConstant(c, slots.wZero) ? packWeights(c.node, *w, c.constant(slots.wZero)) : nullptr;
}

std::shared_ptr<const ReadyConv> prepareConstant(
    const LowerContext& c, const ConvSlots& slots, const std::shared_ptr<const CodeConvWeights>& weights)
{
    bool constant = weights && isCode(c.inputType(0)) && isConstant(c, slots.xZero);
    for (size_t slot : { 1, 4, 6, 7, 8 })
        constant = constant && (!slots.requantizes || isConstant(c, slot));
    if (!constant || (slots.requantizes && !c.node.hasInput(7)))
        return nullptr;
    BufferPool pool;
    const StepContext s(c.constants, {}, pool);
    for (size_t slot : { 1, 4, 6 })
        if (slots.requantizes && !s.input(slot))
            return nullptr;
    auto numbers = readNumbers(s, slots, weights->outChannels);
    if (!numbers.ok())
        return nullptr; // said when it runs
    return std::make_shared<ReadyConv>(std::move(numbers.value()), weights, c.inputType(0));
}

Status checkOperands(const FastConv& n, const StepContext& s)
{
    QS_CHECK(needInputs(s, n.slots.requantizes ? 7 : 2));
    QS_CHECK(checkCodes(s.in(0), "an input"));
    QS_CHECK(checkCodes(s.in(n.slots.w), "a weight"));
    const auto wZero = zeroPointsOf(s.input(n.slots.wZero));
    if (s.in(n.slots.w).rank() < 3)
        return badInput("a weight of shape " + shapeText(s.in(n.slots.w).shape()) + " has no window");
    if (wZero.size() > 1 && static_cast<int64_t>(wZero.size()) != s.in(n.slots.w).dim(0))
        return badInput("a zero point does not fit the channels");
    return {};
}

Result<std::shared_ptr<const ReadyConv>> readyConv(const FastConv& n, const StepContext& s)
{
    const DType type = s.in(0).dtype();
    if (n.ready && n.ready->xType == type)
        return n.ready;
    const Tensor w = s.toLayout(s.in(n.slots.w), Layout::Plain);
    const auto weights = n.weights ? n.weights : packWeights(n.node, w, s.input(n.slots.wZero));
    if (!weights)
        return badInput("a weight of shape " + shapeText(w.shape()) + " cannot be multiplied as codes in "
            + std::to_string(n.node.attributes.integer("group", 1)) + " groups");
    QS_TRY(ConvNumbers numbers, readNumbers(s, n.slots, w.dim(0)));
    return std::shared_ptr<const ReadyConv>(std::make_shared<ReadyConv>(std::move(numbers), weights, type));
}

/// Codes and unrounded values from all sums of an image.
void finishSums(
    const ReadyConv& ready, const int32_t* sums, int64_t first, int64_t rows, Tensor& out, Tensor& unrounded)
{
    const auto channels = static_cast<int64_t>(ready.numbers.scale.size());
    requantize(sums, rows, channels, ready.requantization(), out.fill<uint8_t>().data() + first * channels);
    scaleSums(sums, rows, channels, ready.numbers.scale, ready.numbers.bias,
        unrounded.fill<float>().data() + first * channels);
}

Status runFastConv(const FastConv& n, StepContext& s)
{
    QS_CHECK(checkOperands(n, s));
    QS_TRY(const ConvSizes sizes, convSizes(n.node, s.in(0).shape(), s.in(n.slots.w).shape()));
    QS_TRY(const std::shared_ptr<const ReadyConv> ready, readyConv(n, s));
    const IntegerConv& c = sizes.conv;
    const DType type = n.slots.requantizes ? ready->numbers.codes.type : DType::Int32;
    if (!elementCount(sizes.out))
        return badInput("the output of the convolution would be too large");
    Tensor out = s.allocate(type, sizes.out, Layout::ChannelsLast);
    const Tensor x = s.toLayout(s.in(0), Layout::ChannelsLast);
    const int64_t positions = c.outPositions();
    const RowParts parts(s, positions, c.depthwise() ? c.out[2] : kPositionsTogether,
        c.outChannels * c.taps() * (c.inChannels / c.groups));
    const int64_t scratchBytes = (ready->conv.scratchBytes(c) + 63) / 64 * 64;
    Tensor scratch = s.allocate(DType::UInt8, { scratchBytes * static_cast<int64_t>(parts.workers()) });
    Tensor sums, unrounded;
    if (s.wantsUnrounded()) {
        sums = s.allocate(DType::Int32, { c.outPositions(), c.outChannels });
        unrounded = s.allocate(DType::Float32, sizes.out, Layout::ChannelsLast);
    }
    for (int64_t b = 0; b < c.batch; ++b) {
        const uint8_t* image = x.data<uint8_t>().data() + b * c.inPositions() * c.inChannels;
        const auto part = [&](int64_t at, int64_t count, size_t worker) {
            std::byte* const memory = writable(scratch) + static_cast<int64_t>(worker) * scratchBytes;
            const int64_t first = b * positions + at;
            if (!n.slots.requantizes) {
                ready->conv.sums(c, image, at, count, memory, out.fill<int32_t>().data() + first * c.outChannels);
            } else if (s.wantsUnrounded()) {
                int32_t* const rows = sums.fill<int32_t>().data() + at * c.outChannels;
                ready->conv.sums(c, image, at, count, memory, rows);
                finishSums(*ready, rows, first, count, out, unrounded);
            } else {
                ready->conv.codes(c, image, at, count, memory, out.fill<uint8_t>().data() + first * c.outChannels);
            }
        };
        parts.run(s, part);
    }
    s.setOutput(0, std::move(out));
    if (s.wantsUnrounded())
        s.setUnrounded(std::move(unrounded));
    return {};
}

const char* kernelName(const CodeConvWeights* weights)
{
    if (!weights)
        return hasDotProducts() ? "int8 dots" : "int16 pairs";
    if (weights->depthwise())
        return weights->useDots() ? "int8 dots depthwise" : "int16 depthwise";
    return weights->useDots() ? "int8 dots" : "int16 pairs";
}

} // namespace

LoweredNode lowerFastConv(const LowerContext& c, const ConvSlots& slots)
{
    auto node = std::make_shared<FastConv>(FastConv { c.node, slots, packConstantCodes(c, slots), {} });
    node->ready = prepareConstant(c, slots, node->weights);
    LoweredNode lowered { [node](StepContext& s) { return runFastConv(*node, s); }, kernelName(node->weights.get()),
        LayoutRule::Any };
    lowered.offersUnrounded = slots.requantizes;
    return lowered;
}

} // namespace qs
