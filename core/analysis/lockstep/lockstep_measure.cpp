// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/lockstep.h"

#include "core/analysis/lockstep/cache_channels.h"
#include "core/analysis/lockstep/node_alone.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/base/rounding.h"
#include "core/kernels/quantize/quantize.h"
#include "core/kernels/statistics/bins.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace qs {

namespace {

bool areBytes(const Tensor& codes)
{
    return codes.valid() && isInteger(codes.dtype()) && dtypeBits(codes.dtype()) == 8;
}

/// Whether y is nothing but these codes, dequantized with one scale.
bool isDequantized(const Tensor& y, const Tensor& codes, const QuantParams& params)
{
    return params.scale.size() == 1 && areBytes(codes) && y.count() == codes.count()
        && (y.dtype() == DType::Float32 || y.dtype() == codes.dtype());
}

/// They say which elements are meant, or what is so.
bool isWhole(DType type) { return type == DType::Int64 || type == DType::Bool; }

bool holdsNumbers(DType type) { return (isFloat(type) || isInteger(type)) && !isWhole(type); }

/// Marks the bytes that occur among 8-bit codes, in these runs alone where they are given; their values go into
/// `values` (may be null).
void countCodes(const Tensor& codes, Histogram* values, const QuantParams& params,
    const std::optional<ElementRuns>& runs, std::bitset<256>& seen)
{
    if (!areBytes(codes))
        return;
    if (runs) {
        const Tensor plain = toLayout(codes, Layout::Plain);
        for (const auto& [begin, end] : *runs)
            if (end <= size_t(plain.count()))
                markCodes(plain.data<uint8_t>().subspan(begin, end - begin), seen);
        return;
    }
    const auto bytes = codes.data<uint8_t>();
    if (!values)
        return markCodes(bytes, seen);
    std::array<uint64_t, 256> counts {};
    qs::countCodes(bytes, counts);
    const PairQuantizer q = quantizerOf(params, 0);
    for (size_t byte = 0; byte < counts.size(); ++byte) {
        const int32_t code = codes.dtype() == DType::Int8 ? static_cast<int8_t>(byte) : static_cast<int32_t>(byte);
        values->add(dequantizeOne(code, q.scale, q.zeroPoint), counts[byte]);
        if (counts[byte] > 0)
            seen.set(byte);
    }
}

/// What DynamicQuantizeLinear would do to these values; nothing where another node makes the scale.
std::optional<PairQuantizer> dynamicQuantizer(const Graph& graph, const PairPlan& plan, const float* x, size_t n)
{
    const NodeId by = plan.dynamicScale.valid() ? graph.value(plan.dynamicScale).producer : NodeId();
    if (!by.valid() || graph.node(by).opType != "DynamicQuantizeLinear")
        return std::nullopt;
    const DynamicScale own = dynamicScale(rangeWithZero(x, n));
    return PairQuantizer { own.scale, own.zeroPoint, 0, 255 };
}

/// Its weights take factors away that the float model's values have not.
bool readsEqualized(const ComparePair& pair, const PairPlan& plan)
{
    return pair.equalized
        && std::ranges::any_of(nodeAloneInputs(pair, plan), [&](ValueId id) { return pair.equalized->contains(id); });
}

} // namespace

QuantParams pairParams(const PairPlan& plan, const Execution& q, double& scaleSquare)
{
    QuantParams params = plan.params;
    if (!plan.dynamicScale.valid())
        return params;
    params.scale = toFloats(q.get(plan.dynamicScale));
    params.zeroPoint.clear();
    for (int64_t z : plan.dynamicZero.valid() ? toInts(q.get(plan.dynamicZero)) : std::vector<int64_t> { 0 })
        params.zeroPoint.push_back(static_cast<int32_t>(z));
    for (float s : params.scale)
        scaleSquare += double(s) * s / double(params.scale.size());
    return params;
}

ElementRuns Lockstep::counted(ValueId value, const Shape& shape, size_t sample, size_t count, bool wholeRows) const
{
    const auto runs = m_padded ? m_padded->counted(value, shape, sample, wholeRows) : std::nullopt;
    return runs.value_or(ElementRuns { { 0, count } });
}

/// Measures x, y and p (null = none), which lie in one order, sample by sample.
void Lockstep::measureSamples(size_t index, const Feed& feed, const Shape& shape, const QuantParams& params,
    PairRun whole, PairHistograms* histograms, PairMeter::Counts counts)
{
    Measured& m = *m_shared.measured;
    const size_t slices = feed.slicesOf(whole.n);
    const bool known = hasKnownCodes(params) && !params.scale.empty();
    const PairQuantizer quantizer = known ? quantizerOf(params, 0) : PairQuantizer {};
    const size_t axis = std::min<size_t>(size_t(params.axis.value_or(1)), shape.empty() ? 0 : shape.size() - 1);
    size_t inner = 1;
    for (size_t d = axis + 1; d < shape.size(); ++d)
        inner *= size_t(shape[d]);
    whole.quantizer = known ? &quantizer : nullptr;
    const bool mask = m.pairs[index].addedMask, scores = m.pairs[index].scoreRows;
    const size_t width = (mask || scores) && !shape.empty() ? size_t(shape.back()) : 0;
    const auto own = dynamicQuantizer(m_shared.pair->quantPlan->graph(), m.pairs[index], whole.x, whole.n);
    for (size_t s = 0; s < slices; ++s) {
        PairMeter meter(m.sums[index * m.samples + feed.firstSample + s], histograms, counts, m_scratch);
        PairSums local;
        for (const auto& [from, to] : counted(m.pairs[index].x, shape, s, whole.n / slices, scores)) {
            PairRun run = whole;
            const size_t begin = s * (whole.n / slices) + from;
            run.n = to - from;
            run.x += begin;
            run.y += begin;
            run.p = whole.p ? whole.p + begin : nullptr;
            const size_t rowLength = mask ? std::min(width, run.n) : width; // each element masks by itself
            if (params.scale.size() <= 1 && rowLength > 0 && run.n % rowLength == 0)
                meter.addScores(run, rowLength, mask);
            else if (params.scale.size() > 1)
                meter.addChannels(run, params, begin, shape.empty() ? 1 : size_t(shape[axis]), inner);
            else
                meter.addRun(run);
            if (own) { // by the scale that the float model's values would get
                PairExtremes unused;
                run.quantizer = &*own;
                run.activation = {};
                addPairSums(local, unused, run);
            }
        }
        if (own)
            m.sums[index * m.samples + feed.firstSample + s].localEe = local.localEe;
    }
}

void Lockstep::measureWhole(size_t index, const Tensor& xt, const Tensor& yt, const Feed& feed)
{
    if (xt.count() != yt.count() || (!isWhole(yt.dtype()) && !isInteger(yt.dtype())))
        return;
    Measured& m = *m_shared.measured;
    const std::vector<int64_t> x = toInts(xt), y = toInts(yt);
    const std::vector<float> values(x.begin(), x.end());
    const size_t slices = feed.slicesOf(x.size()), slice = x.size() / slices;
    for (size_t s = 0; s < slices; ++s) {
        PairSums& sums = m.sums[index * m.samples + feed.firstSample + s];
        for (const auto& [from, to] : counted(m.pairs[index].x, xt.shape(), s, slice)) {
            const size_t begin = s * slice + from;
            if (!std::equal(x.begin() + ptrdiff_t(begin), x.begin() + ptrdiff_t(s * slice + to),
                    y.begin() + ptrdiff_t(begin))) {
                sums = {};
                sums.ee = NAN; // no number: see fillActivations()
                break;
            }
            addPairSums(sums, values.data() + begin, values.data() + begin, nullptr, to - from, nullptr, {});
        }
    }
    PairShared& shared = *m.shared[index];
    const std::lock_guard lock(shared.mutex);
    if (shared.shape.empty())
        shared.shape = xt.shape();
}

Status Lockstep::measure(size_t index, Execution& f, Execution& q, const Feed& feed)
{
    Measured& m = *m_shared.measured;
    const PairPlan& plan = m.pairs[index];
    const Tensor& xt = f.get(plan.x);
    const Tensor& yt = plan.beforeRounding.valid() ? q.unrounded(plan.beforeRounding) : q.get(plan.y);
    if (isWhole(xt.dtype()))
        measureWhole(index, xt, yt, feed);
    if (xt.count() != yt.count() || !holdsNumbers(xt.dtype()))
        return {};
    const Tensor unrounded = plan.unrounded.valid() ? q.unrounded(plan.unrounded) : Tensor();
    double scaleSquare = 0;
    QuantParams params = pairParams(plan, q, scaleSquare);
    const bool plain = params.scale.size() > 1 || plan.factors || plan.cache || plan.scoreRows || plan.addedMask
        || xt.shape() != yt.shape() || m_padded;
    const Layout order = plain ? Layout::Plain : yt.layout();
    Tensor keepX, keepY, keepP;
    PairRun whole { .n = static_cast<size_t>(xt.count()), .activation = plan.activation };
    whole.x = asFloats(xt, order, nullptr, m_x, keepX);
    if (plan.factors)
        whole.x = withFactors(*plan.factors, xt.shape(), whole.x, m_factored);
    whole.y = asFloats(yt, order, &params, m_y, keepY);
    if (plan.p.valid() && plan.ownQuantizer)
        whole.p = asFloats(q.get(plan.p), order, nullptr, m_p, keepP);
    else if (unrounded.valid())
        whole.p = asFloats(unrounded, order, nullptr, m_p, keepP);
    std::optional<CacheChannels> cache;
    if (plan.cache)
        cache.emplace(q.unrounded(plan.cache->node), plan.cache->values, xt, yt, params, whole);
    // Counts merge in any order: what another worker holds is not waited for.
    PairShared& shared = *m.shared[index];
    std::unique_lock lock(shared.mutex, std::try_to_lock);
    PairHistograms own;
    PairHistograms* const histograms = !m_shared.histograms && !plan.needsHistograms() ? nullptr
        : lock                                                                         ? &shared.histograms
                                                                                       : &own;
    const Tensor codes = plan.codes.valid() ? q.get(plan.codes) : Tensor();
    const auto runs = m_padded ? m_padded->countedOfAll(plan.x, xt.shape()) : std::nullopt;
    const bool yIsCodes = !runs && isDequantized(yt, codes, params);
    measureSamples(index, feed, cache ? cache->shape() : xt.shape(), params, whole, histograms,
        { !m.knownFloats[index], !yIsCodes });
    std::bitset<256> seen = lock ? shared.codes : std::bitset<256>();
    countCodes(codes, yIsCodes && histograms ? &histograms->y : nullptr, params, runs, seen);
    if (!lock) {
        lock.lock();
        shared.histograms.merge(own);
    }
    shared.codes |= seen;
    if (cache)
        mergePeaks(cache->peaks(), shared.cachePeaks);
    if (shared.shape.empty())
        shared.shape = xt.shape();
    lock.unlock();
    const size_t cell = index * m.samples + feed.firstSample;
    std::fill_n(m.scaleSquares.begin() + ptrdiff_t(cell), feed.slicesOf(whole.n), scaleSquare);
    if (m_shared.nodeAlone && !plan.factors && !readsEqualized(*m_shared.pair, plan))
        measureNodeAlone(*m_shared.pair, plan, f, xt, m_quantPool, runs, m.nodeSums[cell]);
    return {};
}

} // namespace qs
