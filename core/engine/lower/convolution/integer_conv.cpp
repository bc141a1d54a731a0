// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/integer_conv.h"

#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/convolution/fast_conv.h"
#include "core/engine/registry/registry.h"
#include "core/ops/window.h"
#include "core/tensor/convert.h"

#include <algorithm>

/// QLinearConv and ConvInteger. The fast path works channels-last, the reference plain.
namespace qs {

namespace {

/// Output positions per block: their sums stay in the cache until they are rounded.
constexpr int64_t kBlockPositions = 60;

/// A convolution node with what could be prepared before running.
struct ConvNode {
    const Node* node = nullptr;
    ConvSlots slots;
    KernelMode mode = KernelMode::Fast;
    std::shared_ptr<const PackedConvWeights> packed;
    PairSaturation saturation = PairSaturation::None; ///< of QLinearConv; ConvInteger's sums are exact
};

} // namespace

Result<ConvSizes> convSizes(const Node& node, const Shape& x, const Shape& w)
{
    const size_t rank = x.size();
    const int64_t groups = node.attributes.integer("group", 1);
    if (rank < 3 || rank > 5 || w.size() != rank)
        return badInput("an input of shape " + shapeText(x) + " and a weight of shape " + shapeText(w)
            + " are not a convolution over 1 to 3 axes");
    if (groups < 1 || groups > INT32_MAX || x[1] % groups != 0 || x[1] / groups != w[1] || w[0] % groups != 0)
        return badInput("the weight of shape " + shapeText(w) + " does not fit " + std::to_string(x[1])
            + " channels in " + std::to_string(groups) + " groups");
    QS_TRY(const WindowAttributes attributes, windowAttributes(node));
    QS_TRY(const auto axes,
        windowAxes(node, attributes, WindowKind::Conv, std::span(x).subspan(2), std::span(w).subspan(2)));
    ConvSizes s;
    IntegerConv& c = s.conv;
    c.batch = x[0];
    c.inChannels = x[1];
    c.outChannels = w[0];
    c.groups = groups;
    s.out = { x[0], w[0] };
    for (size_t i = 0; i < axes.size(); ++i) {
        const size_t d = i + 3 - axes.size();
        c.in[d] = axes[i].in;
        c.out[d] = axes[i].out;
        c.kernel[d] = axes[i].kernel;
        c.stride[d] = axes[i].stride;
        c.dilation[d] = axes[i].dilation;
        c.pad[d] = axes[i].padBegin;
        s.out.push_back(axes[i].out);
    }
    return s;
}

namespace {

/// What one run works with.
struct ConvRun {
    IntegerConv conv;
    Shape out;
    Tensor x; ///< plain for the reference, channels-last for the fast path
    int32_t xZero = 0;
    std::vector<int32_t> wZero;
};

Result<ConvRun> prepareRun(const ConvNode& n, const StepContext& s)
{
    const Tensor &x = s.in(0), &w = s.in(n.slots.w);
    QS_CHECK(checkCodes(x, "an input"));
    QS_CHECK(checkCodes(w, "a weight"));
    QS_TRY(ConvSizes sizes, convSizes(*n.node, x.shape(), w.shape()));
    const auto xZero = zeroPointsOf(s.input(n.slots.xZero));
    ConvRun run { sizes.conv, std::move(sizes.out), {}, xZero.empty() ? 0 : xZero[0],
        zeroPointsOf(s.input(n.slots.wZero)) };
    if (xZero.size() > 1 || (run.wZero.size() > 1 && static_cast<int64_t>(run.wZero.size()) != run.conv.outChannels))
        return badInput("a zero point does not fit the channels");
    run.x = s.toLayout(x, n.mode == KernelMode::Reference ? Layout::Plain : Layout::ChannelsLast);
    return run;
}

/// Corrects rows of sums where pairs saturate, and counts them. Made once a run.
class ConvSaturation {
public:
    ConvSaturation(const ConvNode& n, const ConvRun& run, const StepContext& s)
        : m_conv(run.conv)
        , m_zero(run.xZero)
        , m_shift(leftShift(n.saturation))
    {
        if (!saturates(n.saturation, run.x.dtype(), s.in(n.slots.w).dtype()))
            return;
        const Tensor weight = s.toLayout(s.in(n.slots.w), Layout::Plain);
        m_tables = convSaturationTables(run.conv, codesOf(weight));
        m_x = s.toLayout(run.x, Layout::ChannelsLast);
        m_row.resize(static_cast<size_t>(saturationScratch(run.conv)));
        m_counts.resize(static_cast<size_t>(run.conv.outChannels));
        m_tally.columns = m_counts;
    }
    /// Rows count over all images; one call stays within one image.
    void correct(int32_t* sums, int64_t first, int64_t rows)
    {
        if (m_tables.empty())
            return;
        const int64_t positions = m_conv.outPositions(), image = first / positions;
        saturateConvRows(m_conv, m_tables, codesOf(m_x).data + image * m_conv.inPositions() * m_conv.inChannels, m_zero,
            m_shift, first - image * positions, rows, m_row.data(), sums, m_tally);
    }
    void report(const StepContext& s) const
    {
        if (!m_tables.empty())
            countPairs(s, m_conv.batch * m_conv.outPositions(), saturationScratch(m_conv), m_tally);
    }

private:
    IntegerConv m_conv;
    int32_t m_zero, m_shift;
    Tensor m_x;
    std::vector<SaturationTable> m_tables;
    std::vector<uint8_t> m_row;
    std::vector<uint64_t> m_counts;
    SaturationTally m_tally; ///< of these counts
};

/// Calls done(sums, first row, rows): all rows of an image at once for the reference, block by block else. A row is
/// one output position with a sum for each output channel.
template <class Done> void forEachBlock(const ConvNode& n, const ConvRun& run, const StepContext& s, Done done)
{
    const IntegerConv& c = run.conv;
    const Tensor weight = s.toLayout(s.in(n.slots.w), Layout::Plain);
    const Codes w = codesOf(weight);
    const int64_t positions = c.outPositions();
    ConvSaturation saturation(n, run, s);
    if (n.mode == KernelMode::Reference) {
        Tensor planes = s.allocate(DType::Int32, run.out);
        integerConvReference(c, codesOf(run.x), run.xZero, w, run.wZero, planes.fill<int32_t>().data());
        Tensor rows = s.toLayout(planes, Layout::ChannelsLast);
        for (int64_t b = 0; b < c.batch; ++b)
            saturation.correct(rows.fill<int32_t>().data() + b * positions * c.outChannels, b * positions, positions);
        saturation.report(s);
        return done(rows.data<int32_t>().data(), int64_t(0), c.batch * positions);
    }
    PackedConvWeights own;
    if (!n.packed)
        own = packConvWeights(c, w, run.wZero);
    const PackedConvWeights& packed = n.packed ? *n.packed : own;
    const int64_t block = std::min(kBlockPositions, std::max<int64_t>(positions, 1));
    Tensor scratch = s.allocate(DType::Int16, { std::max<int64_t>(1, integerConvScratch(c, block)) });
    Tensor sums = s.allocate(DType::Int32, { block * c.outChannels });
    for (int64_t b = 0; b < c.batch; ++b) {
        const Codes image = codesOf(run.x).from(b * c.inPositions() * c.inChannels);
        for (int64_t first = 0; first < positions; first += block) {
            const int64_t count = std::min(block, positions - first);
            integerConvRows(
                c, image, run.xZero, packed, first, count, scratch.fill<int16_t>().data(), sums.fill<int32_t>().data());
            saturation.correct(sums.fill<int32_t>().data(), b * positions + first, count);
            done(sums.data<int32_t>().data(), b * positions + first, count);
        }
    }
    saturation.report(s);
}

Status runConvInteger(const ConvNode& n, StepContext& s)
{
    QS_CHECK(needInputs(s, 2));
    QS_TRY(const ConvRun run, prepareRun(n, s));
    QS_TRY(Tensor out, allocateChecked(s, DType::Int32, run.out));
    out = s.allocate(DType::Int32, run.out, Layout::ChannelsLast);
    const int64_t channels = run.conv.outChannels;
    forEachBlock(n, run, s, [&](const int32_t* sums, int64_t first, int64_t rows) {
        std::copy_n(sums, rows * channels, out.fill<int32_t>().data() + first * channels);
    });
    s.setOutput(0, std::move(out));
    return {};
}

} // namespace

Result<std::vector<float>> channelScales(const StepContext& s, int64_t channels)
{
    QS_TRY(const float xScale, singleReal(s.in(1), "the input scale"));
    std::vector<float> scale = toFloats(s.in(4));
    if (scale.size() != 1 && static_cast<int64_t>(scale.size()) != channels)
        return badInput("the weight has " + std::to_string(scale.size()) + " scales for " + std::to_string(channels)
            + " output channels");
    if (!scale.empty())
        scale.resize(static_cast<size_t>(channels), scale[0]);
    for (float& v : scale)
        v = xScale * v;
    return scale;
}

namespace {

Status runQLinearConv(const ConvNode& n, StepContext& s)
{
    QS_CHECK(needInputs(s, 7));
    QS_TRY(const ConvRun run, prepareRun(n, s));
    const int64_t channels = run.conv.outChannels;
    QS_TRY(const OutputCodes codes, outputCodes(s, 6, 7, s.in(0).dtype()));
    QS_TRY(const std::vector<float> scale, channelScales(s, channels));
    std::vector<float> multiplier = scale;
    for (float& m : multiplier)
        m /= codes.scale;
    const Tensor* bias = s.input(8);
    if (bias && (bias->dtype() != DType::Int32 || bias->count() != channels))
        return badInput("the bias must be " + std::to_string(channels) + " int32 numbers");
    QS_TRY(Tensor out, allocateChecked(s, codes.type, run.out));
    out = s.allocate(codes.type, run.out, Layout::ChannelsLast);
    Tensor unrounded;
    if (s.wantsUnrounded())
        unrounded = s.allocate(DType::Float32, run.out, Layout::ChannelsLast);
    const RowEpilogue epilogue { n.mode, codes, channels, scale, multiplier,
        bias ? bias->data<int32_t>() : std::span<const int32_t>(), out.fill<uint8_t>().data(),
        s.wantsUnrounded() ? unrounded.fill<float>().data() : nullptr };
    forEachBlock(n, run, s,
        [&](const int32_t* sums, int64_t first, int64_t rows) { requantizeRows(epilogue, sums, first, rows); });
    s.setOutput(0, std::move(out));
    if (s.wantsUnrounded())
        s.setUnrounded(std::move(unrounded));
    return {};
}

/// Packs constant weights; the spatial sizes of the input do not matter for that.
std::shared_ptr<const PackedConvWeights> packConstant(const LowerContext& c, const ConvSlots& slots)
{
    const Tensor* w = c.constant(slots.w);
    const bool zeroGiven = c.node.hasInput(slots.wZero);
    const int64_t groups = c.node.attributes.integer("group", 1);
    if (c.mode == KernelMode::Reference || !w || !isCode(w->dtype()) || w->rank() < 3 || w->rank() > 5
        || (zeroGiven && !c.constant(slots.wZero)) || groups < 1 || groups > w->dim(0) || w->dim(0) % groups != 0)
        return nullptr;
    const auto zeros = zeroPointsOf(zeroGiven ? c.constant(slots.wZero) : nullptr);
    if (zeros.size() > 1 && static_cast<int64_t>(zeros.size()) != w->dim(0))
        return nullptr;
    IntegerConv conv;
    conv.inChannels = w->dim(1) * groups;
    conv.outChannels = w->dim(0);
    conv.groups = groups;
    for (size_t i = 2; i < w->rank(); ++i)
        conv.kernel[i + 3 - w->rank()] = w->dim(i);
    return std::make_shared<PackedConvWeights>(packConvWeights(conv, codesOf(*w), zeros));
}

template <Status (*run)(const ConvNode&, StepContext&)>
Result<LoweredNode> lowerConv(const LowerContext& c, const ConvSlots& slots)
{
    const bool requantizes = slots.requantizes;
    const PairSaturation saturation = requantizes ? c.saturation : PairSaturation::None;
    if (c.mode == KernelMode::Fast && saturation == PairSaturation::None)
        return lowerFastConv(c, slots);
    const ConvNode node { &c.node, slots, c.mode, packConstant(c, slots), saturation };
    const bool depthwise = node.packed && !node.packed->depthwise.empty();
    LoweredNode lowered { [node](StepContext& s) { return run(node, s); },
        c.mode == KernelMode::Reference ? "reference"
            : depthwise                 ? "int16 depthwise"
                                        : "int16 pairs",
        LayoutRule::Any };
    lowered.offersUnrounded = requantizes;
    lowered.countsPairs = node.saturation != PairSaturation::None;
    return lowered;
}

} // namespace

void lowerIntegerConv(LoweringRegistry& r)
{
    r.add("", "QLinearConv", [](const LowerContext& c) { return lowerConv<runQLinearConv>(c, kQLinearConv); });
    r.add("", "ConvInteger", [](const LowerContext& c) { return lowerConv<runConvInteger>(c, kConvInteger); });
}

} // namespace qs
