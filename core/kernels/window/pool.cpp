// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/window/pool.h"

#include "core/kernels/window/code_pool.h"
#include "core/kernels/window/pool_taps.h"
#include "core/tensor/arithmetic.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace qs {

namespace {

/// Channels whose sums stay in registers and the nearest cache.
constexpr int64_t kPoolTile = 128;

double divisorOf(const WindowShape& s, AverageDivisor divisor, const TapRange (&t)[3])
{
    double count = 1; // of pads alone there may be more than 64 bits count
    for (size_t i = 0; i < 3; ++i) {
        if (divisor == AverageDivisor::InsideOnly)
            count *= static_cast<double>(t[i].last - t[i].first);
        else
            count *= static_cast<double>(paddedTaps(s.axes[i], t[i]));
    }
    return std::max(count, 1.0);
}

template <class Term>
void addTaps(
    const WindowShape& s, const TapRange (&t)[3], const float* x, int64_t inner, int64_t n, double* sums, Term term)
{
    std::fill_n(sums, n, 0.0);
    forEachTap(s, t, [&](int64_t p) {
        const float* from = x + p * inner;
        for (int64_t c = 0; c < n; ++c)
            sums[c] += term(double(from[c]));
    });
}

/// total[c] += sum of the window, in the order asked for.
void addInOrder(const WindowShape& s, const TapRange (&t)[3], SumOrder order, const float* x, int64_t inner, int64_t n,
    float* total)
{
    std::fill_n(total, n, 0.0f);
    auto add = [&](const TapRange(&taps)[3], float* to) {
        forEachTap(s, taps, [&](int64_t p) {
            const float* from = x + p * inner;
            for (int64_t c = 0; c < n; ++c)
                to[c] += from[c];
        });
    };
    if (order == SumOrder::Rows)
        return add(t, total);
    float part[kPoolTile];
    if (order == SumOrder::Columns) {
        for (int64_t w = t[2].first; w < t[2].last; ++w) {
            const TapRange column[3] { t[0], t[1], { w, w + 1, t[2].start } };
            std::fill_n(part, n, 0.0f);
            add(column, part);
            for (int64_t c = 0; c < n; ++c)
                total[c] += part[c];
        }
        return;
    }
    const int64_t whole = t[2].last / 4 * 4;
    float lanes[4][kPoolTile];
    for (int64_t lane = 0; lane < 4; ++lane) {
        std::fill_n(lanes[lane], n, 0.0f);
        for (int64_t w = lane; w < whole; w += 4)
            for (int64_t c = 0; c < n; ++c)
                lanes[lane][c] += x[w * inner + c];
    }
    for (int64_t c = 0; c < n; ++c)
        total[c] = (lanes[0][c] + lanes[2][c]) + (lanes[1][c] + lanes[3][c]);
    const TapRange rest[3] { t[0], t[1], { whole, t[2].last, t[2].start } };
    add(rest, total);
}

} // namespace

SumOrder averageOrder(const WindowShape& s)
{
    constexpr int64_t kWidest = 32, kLargestStride = 2;
    return s.axes[2].stride <= kLargestStride && s.axes[2].kernel <= kWidest ? SumOrder::Columns : SumOrder::Rows;
}

namespace {

/// The largest codes of one window: pointers to its taps, some at a time.
template <class T>
void largestOfWindow(const WindowShape& s, const TapRange (&t)[3], const T* block, int64_t inner, T* to)
{
    constexpr size_t kMost = 64;
    const uint8_t* taps[kMost];
    size_t count = 0;
    auto* out = reinterpret_cast<uint8_t*>(to);
    const auto flush = [&] {
        largestCodes({ taps, count }, std::is_signed_v<T>, inner, out);
        taps[0] = out;
        count = 1;
    };
    forEachTap(s, t, [&](int64_t p) {
        if (count == kMost)
            flush();
        taps[count++] = reinterpret_cast<const uint8_t*>(block + p * inner);
    });
    if (count > 0)
        flush();
    else
        std::fill_n(to, inner, lowest<T>());
}

} // namespace

template <class T> void maxPool(const WindowShape& s, int64_t outer, int64_t inner, const T* x, T* y) noexcept
{
    for (int64_t n = 0; n < outer; ++n) {
        const T* block = x + n * s.inSize() * inner;
        T* out = y + n * s.outSize() * inner;
        forEachWindow(s, [&](int64_t o, const TapRange(&t)[3]) {
            T* to = out + o * inner;
            if constexpr (sizeof(T) == 1) {
                constexpr int64_t kFewest = 16; // a vector of channels
                if (inner >= kFewest)
                    return largestOfWindow(s, t, block, inner, to);
            }
            std::fill_n(to, inner, lowest<T>());
            forEachTap(s, t, [&](int64_t p) {
                const T* from = block + p * inner;
                for (int64_t c = 0; c < inner; ++c)
                    to[c] = from[c] > to[c] ? from[c] : to[c];
            });
        });
    }
}

void sumPool(const WindowShape& s, const PoolParams& p, int64_t outer, int64_t inner, const float* x, float* y) noexcept
{
    double sums[kPoolTile];
    float averages[kPoolTile];
    for (int64_t n = 0; n < outer; ++n) {
        const float* block = x + n * s.inSize() * inner;
        float* out = y + n * s.outSize() * inner;
        forEachWindow(s, [&](int64_t o, const TapRange(&t)[3]) {
            for (int64_t c0 = 0; c0 < inner; c0 += kPoolTile) {
                const int64_t count = std::min(kPoolTile, inner - c0);
                float* to = out + o * inner + c0;
                if (p.kind == PoolKind::Average) {
                    addInOrder(s, t, p.order, block + c0, inner, count, averages);
                    const auto divisor = static_cast<float>(divisorOf(s, p.divisor, t));
                    for (int64_t c = 0; c < count; ++c)
                        to[c] = averages[c] / divisor;
                    continue;
                }
                addTaps(s, t, block + c0, inner, count, sums, [&p](double v) { return std::pow(std::abs(v), p.p); });
                for (int64_t c = 0; c < count; ++c)
                    to[c] = float(std::pow(sums[c], 1 / p.p));
            }
        });
    }
}

template <class T>
void maxPoolIndices(const WindowShape& s, IndexOrder order, const T* x, T* y, int64_t* indices) noexcept
{
    const int64_t inD = s.axes[0].in, inH = s.axes[1].in, inW = s.axes[2].in;
    for (int64_t n = 0; n < s.batch * s.channels; ++n) {
        const T* plane = x + n * s.inSize();
        forEachWindow(s, [&](int64_t o, const TapRange(&t)[3]) {
            T best = lowest<T>();
            int64_t at = -1;
            forEachTap(s, t, [&](int64_t p) {
                if (at < 0 || plane[p] > best) {
                    best = plane[p];
                    at = p;
                }
            });
            y[n * s.outSize() + o] = best;
            if (order != IndexOrder::RowMajor && at >= 0) {
                const int64_t d = at / (inH * inW), h = at / inW % inH, w = at % inW;
                // The first spatial axis runs fastest; unused leading axes have size 1 and position 0.
                at = d + inD * (h + inH * w);
            }
            indices[n * s.outSize() + o] = n * s.inSize() + at;
        });
    }
}

void poolReference(const WindowShape& s, const PoolParams& p, const double* x, double* y) noexcept
{
    const auto& [d, h, w] = s.axes;
    const auto inside = [](int64_t i, const SpatialAxis& a) { return i >= 0 && i < a.in; };
    const auto padded = [](int64_t i, const SpatialAxis& a) { return i >= -a.padBegin && i < a.in + a.padEnd; };
    for (int64_t i = 0; i < s.batch * s.channels * s.outSize(); ++i) {
        const int64_t plane = i / s.outSize() * s.inSize(), o = i % s.outSize();
        const int64_t od = o / (h.out * w.out), oh = o / w.out % h.out, ow = o % w.out;
        double best = -std::numeric_limits<double>::infinity(), sum = 0, insideCount = 0, paddedCount = 0;
        for (int64_t k = 0; k < s.kernelSize(); ++k) {
            const int64_t id = od * d.stride + k / (h.kernel * w.kernel) * d.dilation - d.padBegin;
            const int64_t ih = oh * h.stride + k / w.kernel % h.kernel * h.dilation - h.padBegin;
            const int64_t iw = ow * w.stride + k % w.kernel * w.dilation - w.padBegin;
            paddedCount += padded(id, d) && padded(ih, h) && padded(iw, w);
            if (!inside(id, d) || !inside(ih, h) || !inside(iw, w))
                continue;
            const double v = x[plane + (id * h.in + ih) * w.in + iw];
            ++insideCount;
            best = v > best ? v : best;
            sum += p.kind == PoolKind::Lp ? std::pow(std::abs(v), p.p) : v;
        }
        const double divisor = p.divisor == AverageDivisor::InsideOnly ? insideCount : paddedCount;
        y[i] = p.kind == PoolKind::Max ? best
            : p.kind == PoolKind::Lp   ? std::pow(sum, 1 / p.p)
                                       : sum / std::max(divisor, 1.0);
    }
}

#define QS_POOL(T)                                                                                                     \
    template void maxPool<T>(const WindowShape&, int64_t, int64_t, const T*, T*) noexcept;                             \
    template void maxPoolIndices<T>(const WindowShape&, IndexOrder, const T*, T*, int64_t*) noexcept;
QS_POOL(float)
QS_POOL(double)
QS_POOL(int8_t)
QS_POOL(uint8_t)
#undef QS_POOL

} // namespace qs
