// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/product/float_rows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

// Not the targets of the other files: these loops are bound by arithmetic and gain from AVX-512, and without fused
// multiplication and addition there are better kernels.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/product/float_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr size_t kLanes = hn::MaxLanes(D());
constexpr size_t kPanel = 2 * kLanes; ///< filters of a panel
/// Pixels whose sums over a panel fill the registers.
constexpr size_t kMostPixels = HWY_TARGET <= HWY_AVX3 ? 12 : 6;
/// Weights that stay in the cache while each pixel gets all its filters: what it writes is in one place then.
constexpr size_t kNearBytes = size_t(288) << 10;
constexpr size_t kMostOutputs = HWY_TARGET <= HWY_AVX3 ? 8 : 6; ///< that a depthwise convolution makes at once
constexpr size_t kMostPairs = HWY_TARGET <= HWY_AVX3 ? 6 : 3; ///< the same for outputs of two rows
constexpr size_t kGroup = 4; ///< taps of a depthwise convolution whose products are added up first

/// The bound of an epilogue as numbers. Where an operand is NaN or both are zeros, these instructions give the second
/// one, as a comparison with the first would choose.
struct Bounds {
    explicit Bounds(const SumEpilogue& epilogue)
        : low(hn::Set(D(),
            epilogue.bound == SumEpilogue::Bound::Clip       ? epilogue.low
                : epilogue.bound == SumEpilogue::Bound::Relu ? 0
                                                             : -kInfinity))
        , high(hn::Set(D(), epilogue.bound == SumEpilogue::Bound::Clip ? epilogue.high : kInfinity))
    {
    }
    HWY_INLINE V operator()(V sum) const { return hn::Min(high, hn::Max(low, sum)); }
    static constexpr float kInfinity = std::numeric_limits<float>::infinity();
    V low, high;
};

/// `count` elements, fewer than a vector has where kPart.
template <bool kPart> HWY_INLINE V loadSome(D d, const float* p, size_t count)
{
    if constexpr (kPart)
        return hn::MaskedLoad(hn::FirstN(d, count), d, p);
    else
        return hn::LoadU(d, p);
}

template <bool kPart> HWY_INLINE void storeSome(D d, V v, float* p, size_t count)
{
    if constexpr (kPart)
        hn::BlendedStore(v, hn::FirstN(d, count), d, p);
    else
        hn::StoreU(v, d, p);
}

/// Pixels and the filters of a panel whose sums fit the registers.
struct PanelTile {
    const PixelRun& run;
    ptrdiff_t offset; ///< floats from the run's first pixel to the tile's
    const float* panel;
    size_t taps, inputs;
    float* y;
    size_t yStride;
    size_t filters; ///< at most kPanel
};

/// One pointer for three pixels, so that they stay in registers.
template <size_t kPixels> struct PixelPointers {
    HWY_INLINE PixelPointers(const float* first, ptrdiff_t pixelStride)
        : stride(pixelStride)
    {
        x[0] = first;
        for (size_t i = 1; i < kCount; ++i)
            x[i] = x[i - 1] + 3 * stride;
    }
    HWY_INLINE float operator[](size_t p) const
    {
        return p % 3 == 0 ? *x[p / 3] : p % 3 == 1 ? x[p / 3][stride] : x[p / 3][2 * stride];
    }
    HWY_INLINE void next()
    {
        for (size_t k = 0; k < kCount; ++k)
            ++x[k];
    }
    static constexpr size_t kCount = (kPixels + 2) / 3;
    const float* x[kCount];
    ptrdiff_t stride;
};

/// Adds the products of one input; w: its weights. An array of them goes through memory in some sizes (GCC 12).
template <size_t kPixels, size_t kVectors>
HWY_INLINE void addInput(V (&sums)[kPixels][kVectors], const PixelPointers<kPixels>& x, const float* w)
{
    const D d;
    const V first = hn::Load(d, w), second = hn::Load(d, w + (kVectors - 1) * kLanes);
    HWY_UNROLL(12)
    for (size_t p = 0; p < kPixels; ++p) {
        const V value = hn::Set(d, x[p]);
        sums[p][0] = hn::MulAdd(value, first, sums[p][0]);
        if constexpr (kVectors == 2)
            sums[p][1] = hn::MulAdd(value, second, sums[p][1]);
    }
}

/// Adds the products of inputs `first` .. `last` - 1.
template <size_t kPixels, size_t kVectors>
HWY_INLINE void addInputs(V (&sums)[kPixels][kVectors], const PanelTile& t, size_t first, size_t last)
{
    const float* w = t.panel + kPanel * (1 + first);
    if (t.taps == 1) {
        if (!t.run.taps[0])
            return;
        PixelPointers<kPixels> x(t.run.taps[0] + t.offset + first, t.run.stride);
        for (size_t i = first; i < last; ++i, w += kPanel, x.next())
            addInput(sums, x, w);
        return;
    }
    const float* const* taps = t.run.taps;
    const size_t tapCount = t.taps;
    const ptrdiff_t stride = t.run.stride;
    ptrdiff_t place = t.offset + static_cast<ptrdiff_t>(first / tapCount);
    for (size_t tap = first % tapCount; first < last; tap = 0, ++place) {
        const size_t end = std::min(tapCount, tap + (last - first));
        first += end - tap;
        for (; tap < end; ++tap, w += kPanel)
            if (taps[tap])
                addInput(sums, PixelPointers<kPixels>(taps[tap] + place, stride), w);
    }
}

/// Adds a row of addends to the sums of each pixel; `rowFloats`: to the next pixel's row, 0 where all share one.
template <size_t kPixels, size_t kVectors>
HWY_INLINE void addRows(V (&sums)[kPixels][kVectors], const float* rows, size_t rowFloats)
{
    HWY_UNROLL(12)
    for (size_t p = 0; p < kPixels; ++p)
        HWY_UNROLL(2)
    for (size_t v = 0; v < kVectors; ++v)
        sums[p][v] = hn::Add(sums[p][v], hn::Load(D(), rows + p * rowFloats + v * kLanes));
}

/// The sums of all chains.
template <size_t kPixels, size_t kVectors> HWY_INLINE void addChains(V (&sums)[kPixels][kVectors], const PanelTile& t)
{
    const D d;
    HWY_ALIGN float sofar[kPixels * kVectors * kLanes]; // while the next chain has the registers
    constexpr size_t kRow = kVectors * kLanes;
    for (size_t first = 0;;) {
        HWY_UNROLL(12)
        for (size_t p = 0; p < kPixels; ++p)
            HWY_UNROLL(2)
        for (size_t v = 0; v < kVectors; ++v)
            sums[p][v] = hn::Zero(d);
        const size_t last = t.inputs - first > t.run.order.chain ? first + t.run.order.chain : t.inputs;
        addInputs(sums, t, first, last);
        if (first > 0)
            addRows(sums, sofar, kRow);
        else if (t.run.order.biasFirst)
            addRows(sums, t.panel, 0);
        if (last == t.inputs)
            break;
        HWY_UNROLL(12)
        for (size_t p = 0; p < kPixels; ++p)
            HWY_UNROLL(2)
        for (size_t v = 0; v < kVectors; ++v)
            hn::Store(sums[p][v], d, sofar + p * kRow + v * kLanes);
        first = last;
    }
    if (!t.run.order.biasFirst)
        addRows(sums, t.panel, 0);
}

/// kPart: the last vector is not full.
template <size_t kPixels, size_t kVectors, bool kPart>
HWY_INLINE void finishTile(V (&sums)[kPixels][kVectors], const PanelTile& t, const SumEpilogue& epilogue)
{
    const D d;
    constexpr size_t kLast = kVectors - 1;
    const size_t last = t.filters - kLast * kLanes;
    if (epilogue.addend) {
        HWY_UNROLL(12)
        for (size_t p = 0; p < kPixels; ++p) {
            const float* addend = epilogue.addend + p * t.yStride;
            if (kLast > 0)
                sums[p][0] = hn::Add(sums[p][0], hn::LoadU(d, addend));
            sums[p][kLast] = hn::Add(sums[p][kLast], loadSome<kPart>(d, addend + kLast * kLanes, last));
        }
    }
    const Bounds bounds(epilogue);
    HWY_UNROLL(12)
    for (size_t p = 0; p < kPixels; ++p) {
        float* y = t.y + p * t.yStride;
        if (kLast > 0)
            hn::StoreU(bounds(sums[p][0]), d, y);
        storeSome<kPart>(d, bounds(sums[p][kLast]), y + kLast * kLanes, last);
    }
}

template <size_t kPixels, size_t kVectors> void multiplyTile(const PanelTile& t, const SumEpilogue& epilogue)
{
    // What is needed at the end comes in lines far apart, which the CPU does not foresee.
    HWY_UNROLL(12)
    for (size_t p = 0; p < kPixels; ++p)
        HWY_UNROLL(2)
    for (size_t v = 0; v < kVectors; ++v) {
        const size_t at = p * t.yStride + v * kLanes;
        if (epilogue.addend)
            __builtin_prefetch(epilogue.addend + at, 0);
        __builtin_prefetch(t.y + at, 1);
    }
    V sums[kPixels][kVectors];
    addChains(sums, t);
    if (t.filters == kVectors * kLanes)
        finishTile<kPixels, kVectors, false>(sums, t, epilogue);
    else
        finishTile<kPixels, kVectors, true>(sums, t, epilogue);
}

void multiply(
    const PanelWeights& w, const PixelRun& run, size_t firstPanel, size_t lastPanel, const SumEpilogue& epilogue)
{
    using Fn = void (*)(const PanelTile&, const SumEpilogue&);
    constexpr auto fns = []<size_t... kPixels>(std::index_sequence<kPixels...>)
    {
        return std::array<std::array<Fn, kMostPixels>, 2> { { { multiplyTile<kPixels + 1, 1>... },
            { multiplyTile<kPixels + 1, 2>... } } };
    }
    (std::make_index_sequence<kMostPixels>());
    const size_t tiles = (run.count + kMostPixels - 1) / kMostPixels;
    const auto one = [&](size_t panel, size_t i) {
        const size_t filter = panel * kPanel, filters = std::min(kPanel, w.filters - filter);
        // Tiles of nearly equal sizes: small ones leave registers empty.
        const size_t first = run.count * i / tiles, count = run.count * (i + 1) / tiles - first;
        const size_t at = first * run.yStride + filter;
        const PanelTile tile { run, static_cast<ptrdiff_t>(first) * run.stride,
            w.panels.data() + panel * w.panelFloats(), w.taps, w.inputs(), run.y + at, run.yStride, filters };
        fns[filters > kLanes][count - 1](tile, epilogue.from(at));
    };
    if ((lastPanel - firstPanel) * w.panelFloats() * sizeof(float) <= kNearBytes) {
        for (size_t i = 0; i < tiles; ++i)
            for (size_t panel = firstPanel; panel < lastPanel; ++panel)
                one(panel, i);
        return;
    }
    for (size_t panel = firstPanel; panel < lastPanel; ++panel)
        for (size_t i = 0; i < tiles; ++i)
            one(panel, i);
}

/// Neighbouring outputs of a depthwise convolution that have the same columns of the kernel inside the input.
struct DepthwiseTile {
    const float* const* rows;
    ptrdiff_t offset; ///< in a row, of what tap 0 of the first output meets; perhaps before its begin
    ptrdiff_t step, tapStep; ///< floats between the inputs of neighbouring outputs, and of neighbouring taps
    ptrdiff_t firstTap, lastTap;
    float* y;
    size_t rowOutputs; ///< floats from a row of the output to the next
};

template <size_t kOutputs, bool kPart>
HWY_INLINE void finishBlock(
    V (&sums)[kOutputs], size_t channels, size_t count, size_t at, float* y, const SumEpilogue& epilogue)
{
    const D d;
    if (epilogue.addend) {
        HWY_UNROLL(8)
        for (size_t o = 0; o < kOutputs; ++o)
            sums[o] = hn::Add(sums[o], loadSome<kPart>(d, epilogue.addend + at + o * channels, count));
    }
    const Bounds bounds(epilogue);
    HWY_UNROLL(8)
    for (size_t o = 0; o < kOutputs; ++o)
        storeSome<kPart>(d, bounds(sums[o]), y + at + o * channels, count);
}

/// Sums of a depthwise convolution that grow by groups of taps.
template <size_t kOutputs> struct GroupedSums {
    explicit GroupedSums(size_t allTaps)
        : taps(allTaps)
    {
        for (size_t o = 0; o < kOutputs; ++o)
            sums[o] = part[o] = hn::Zero(D());
    }
    /// Before the products of this tap are added to `part`.
    HWY_INLINE void begin(size_t tap)
    {
        const size_t next = tap / kGroup + (taps % kGroup == 3 && tap + 1 == taps ? 1 : 0);
        if (next != group)
            endGroup();
        group = next;
    }
    HWY_INLINE void endGroup()
    {
        HWY_UNROLL(8)
        for (size_t o = 0; o < kOutputs; ++o) {
            sums[o] = hn::Add(part[o], sums[o]);
            part[o] = hn::Zero(D());
        }
    }
    HWY_INLINE void end(const float* bias)
    {
        HWY_UNROLL(8)
        for (size_t o = 0; o < kOutputs; ++o)
            sums[o] = hn::Add(hn::Add(part[o], sums[o]), hn::Load(D(), bias));
    }
    size_t taps, group = 0;
    V sums[kOutputs], part[kOutputs];
};

/// The same outputs of two rows: what one loads serves both.
template <size_t kOutputs, bool kPart>
HWY_INLINE void makeBlockOfTwo(
    const DepthwiseWeights& w, const DepthwiseTile& t, size_t channel, const float* block, const SumEpilogue& epilogue)
{
    const D d;
    const size_t count = w.channels - channel, rowFloats = w.kernelColumns * kLanes;
    const size_t taps = w.kernelRows * w.kernelColumns;
    GroupedSums<kOutputs> first(taps), second(taps);
    const float* bias = block;
    block += kLanes;
    for (size_t row = 0; row <= w.kernelRows; ++row) {
        if (!t.rows[row])
            continue;
        const float* x = t.rows[row] + t.offset + static_cast<ptrdiff_t>(channel) + t.firstTap * t.tapStep;
        const bool inFirst = row<w.kernelRows, inSecond = row> 0;
        const size_t firstRow = inFirst ? row : 0, secondRow = inSecond ? row - 1 : 0;
        const float* firstWeights = block + firstRow * rowFloats;
        const float* secondWeights = block + secondRow * rowFloats;
        const auto add = [&](auto toFirst, auto toSecond) HWY_ATTR {
            for (ptrdiff_t kx = t.firstTap; kx < t.lastTap; ++kx, x += t.tapStep) {
                const V a = hn::Load(d, firstWeights + static_cast<size_t>(kx) * kLanes);
                const V b = hn::Load(d, secondWeights + static_cast<size_t>(kx) * kLanes);
                if constexpr (toFirst())
                    first.begin(firstRow * w.kernelColumns + static_cast<size_t>(kx));
                if constexpr (toSecond())
                    second.begin(secondRow * w.kernelColumns + static_cast<size_t>(kx));
                HWY_UNROLL(8)
                for (size_t o = 0; o < kOutputs; ++o) {
                    const V v = loadSome<kPart>(d, x + static_cast<ptrdiff_t>(o) * t.step, count);
                    if constexpr (toFirst())
                        first.part[o] = hn::Add(first.part[o], hn::Mul(v, a));
                    if constexpr (toSecond())
                        second.part[o] = hn::Add(second.part[o], hn::Mul(v, b));
                }
            }
        };
        if (inFirst && inSecond)
            add(std::true_type(), std::true_type());
        else if (inFirst)
            add(std::true_type(), std::false_type());
        else
            add(std::false_type(), std::true_type());
    }
    first.end(bias);
    second.end(bias);
    finishBlock<kOutputs, kPart>(first.sums, w.channels, count, channel, t.y, epilogue);
    finishBlock<kOutputs, kPart>(second.sums, w.channels, count, t.rowOutputs + channel, t.y, epilogue);
}

template <size_t kOutputs, bool kPart>
HWY_INLINE void makeBlock(
    const DepthwiseWeights& w, const DepthwiseTile& t, size_t channel, const float* block, const SumEpilogue& epilogue)
{
    const D d;
    const size_t count = w.channels - channel;
    GroupedSums<kOutputs> sums(w.kernelRows * w.kernelColumns);
    const float* bias = block;
    block += kLanes;
    for (size_t ky = 0; ky < w.kernelRows; ++ky, block += w.kernelColumns * kLanes) {
        if (!t.rows[ky])
            continue;
        const float* x = t.rows[ky] + t.offset + static_cast<ptrdiff_t>(channel) + t.firstTap * t.tapStep;
        for (ptrdiff_t kx = t.firstTap; kx < t.lastTap; ++kx, x += t.tapStep) {
            const V weight = hn::Load(d, block + static_cast<size_t>(kx) * kLanes);
            sums.begin(ky * w.kernelColumns + static_cast<size_t>(kx));
            HWY_UNROLL(8)
            for (size_t o = 0; o < kOutputs; ++o) {
                const V v = loadSome<kPart>(d, x + static_cast<ptrdiff_t>(o) * t.step, count);
                sums.part[o] = hn::Add(sums.part[o], hn::Mul(v, weight));
            }
        }
    }
    sums.end(bias);
    finishBlock<kOutputs, kPart>(sums.sums, w.channels, count, channel, t.y, epilogue);
}

template <size_t kOutputs, bool kTwo>
void makeOutputs(const DepthwiseWeights& w, const DepthwiseTile& t, const SumEpilogue& epilogue)
{
    const float* block = w.blocks.data();
    size_t channel = 0;
    for (; channel + kLanes <= w.channels; channel += kLanes) {
        if constexpr (kTwo)
            makeBlockOfTwo<kOutputs, false>(w, t, channel, block, epilogue);
        else
            makeBlock<kOutputs, false>(w, t, channel, block, epilogue);
        block += (1 + w.kernelRows * w.kernelColumns) * kLanes;
    }
    if (channel == w.channels)
        return;
    if constexpr (kTwo)
        makeBlockOfTwo<kOutputs, true>(w, t, channel, block, epilogue);
    else
        makeBlock<kOutputs, true>(w, t, channel, block, epilogue);
}

ptrdiff_t ceilDiv(ptrdiff_t a, ptrdiff_t b) { return a <= 0 ? 0 : (a + b - 1) / b; }

template <size_t kMost, bool kTwo>
void depthwiseRows(const DepthwiseWeights& w, const DepthwiseRow& r, const SumEpilogue& epilogue)
{
    using Fn = void (*)(const DepthwiseWeights&, const DepthwiseTile&, const SumEpilogue&);
    constexpr auto fns = []<size_t... kOutputs>(std::index_sequence<kOutputs...>)
    {
        return std::array<Fn, kMost> { makeOutputs<kOutputs + 1, kTwo>... };
    }
    (std::make_index_sequence<kMost>());
    const auto channels = static_cast<ptrdiff_t>(w.channels), taps = static_cast<ptrdiff_t>(w.kernelColumns);
    const auto make = [&](ptrdiff_t first, ptrdiff_t count, ptrdiff_t firstTap, ptrdiff_t lastTap) {
        const DepthwiseTile tile { r.rows, (first * r.stride - r.padBegin) * channels, r.stride * channels,
            r.dilation * channels, firstTap, lastTap, r.y + first * channels,
            static_cast<size_t>(r.outputs * channels) };
        fns[static_cast<size_t>(count - 1)](w, tile, epilogue.from(static_cast<size_t>(first * channels)));
    };
    const auto makeEdge = [&](ptrdiff_t output) {
        const ptrdiff_t begin = output * r.stride - r.padBegin;
        const ptrdiff_t firstTap = std::min(taps, ceilDiv(-begin, r.dilation));
        make(output, 1, firstTap, std::clamp(ceilDiv(r.columns - begin, r.dilation), firstTap, taps));
    };
    // Outputs whose window lies inside the input.
    const ptrdiff_t insideBegin = std::min(ceilDiv(r.padBegin, r.stride), r.outputs);
    const ptrdiff_t insideEnd
        = std::clamp(ceilDiv(r.columns + r.padBegin - (taps - 1) * r.dilation, r.stride), insideBegin, r.outputs);
    for (ptrdiff_t o = 0; o < insideBegin; ++o)
        makeEdge(o);
    const ptrdiff_t inside = insideEnd - insideBegin, most = kMost, tiles = (inside + most - 1) / most;
    for (ptrdiff_t i = 0; i < tiles; ++i) {
        const ptrdiff_t first = inside * i / tiles;
        make(insideBegin + first, inside * (i + 1) / tiles - first, 0, taps);
    }
    for (ptrdiff_t o = insideEnd; o < r.outputs; ++o)
        makeEdge(o);
}

void depthwise(const DepthwiseWeights& w, const DepthwiseRow& r, const SumEpilogue& epilogue)
{
    r.two ? depthwiseRows<kMostPairs, true>(w, r, epilogue) : depthwiseRows<kMostOutputs, false>(w, r, epilogue);
}

/// 0 where these kernels are not to be used.
size_t lanes() { return HWY_TARGET <= HWY_AVX2 ? kLanes : 0; }

} // namespace
} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {
HWY_EXPORT(lanes);
HWY_EXPORT(multiply);
HWY_EXPORT(depthwise);

bool hasFloatRows() { return HWY_DYNAMIC_DISPATCH(lanes)() > 0; }

PanelWeights packPanels(const PlainWeights& given, const float* bias)
{
    constexpr size_t kBlock = 16; // inputs: a cache line where they are neighbours
    PanelWeights w { given.channels, given.taps, given.filters, 2 * HWY_DYNAMIC_DISPATCH(lanes)(), {} };
    const size_t inputs = w.inputs();
    w.panels.resize(w.panelCount() * w.panelFloats());
    for (size_t panel = 0; panel < w.panelCount(); ++panel) {
        float* to = w.panels.data() + panel * w.panelFloats();
        const size_t first = panel * w.panelFilters, count = std::min(w.panelFilters, w.filters - first);
        if (bias)
            std::copy_n(bias + first, count, to);
        to += w.panelFilters;
        for (size_t block = 0; block < inputs; block += kBlock)
            for (size_t f = 0; f < count; ++f)
                for (size_t i = block; i < std::min(inputs, block + kBlock); ++i)
                    to[i * w.panelFilters + f]
                        = given.weights[(first + f) * given.filterStride + i * given.inputStride];
    }
    return w;
}

DepthwiseWeights packDepthwise(
    const float* weights, const float* bias, size_t channels, size_t kernelRows, size_t kernelColumns)
{
    DepthwiseWeights w { channels, kernelRows, kernelColumns, {} };
    const size_t taps = kernelRows * kernelColumns, lanes = HWY_DYNAMIC_DISPATCH(lanes)();
    w.blocks.resize((channels + lanes - 1) / lanes * (taps + 1) * lanes);
    for (size_t c = 0; c < channels; ++c) {
        float* to = w.blocks.data() + c / lanes * (taps + 1) * lanes + c % lanes;
        *to = bias ? bias[c] : 0;
        for (size_t i = 0; i < taps; ++i)
            to[(i + 1) * lanes] = weights[c * taps + i];
    }
    return w;
}

void multiplyPixels(
    const PanelWeights& weights, const PixelRun& run, size_t firstPanel, size_t lastPanel, const SumEpilogue& epilogue)
{
    HWY_DYNAMIC_DISPATCH(multiply)(weights, run, firstPanel, lastPanel, epilogue);
}

void depthwiseRow(const DepthwiseWeights& weights, const DepthwiseRow& row, const SumEpilogue& epilogue)
{
    HWY_DYNAMIC_DISPATCH(depthwise)(weights, row, epilogue);
}

} // namespace qs
#endif
