// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/quantize/qlinear.h"

#include "core/base/rounding.h"
#include "core/kernels/window/code_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace qs {

namespace {

template <class T> T nearestCode(float v)
{
    constexpr double low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    return static_cast<T>(static_cast<int>(clampOr(roundHalfEven(v), low, high, low)));
}

/// Sum of two scaled codes and a constant, in units of the output. The runtime starts with the second operand, or
/// with the repeated one.
template <class T> void add(const QLinearBinary& p, Run<T> a, Run<T> b, T* out, float* real, size_t n)
{
    if (a.stride == 0 && b.stride != 0)
        return add<T>({ p.op, p.b, p.a, p.out }, b, a, out, real, n);
    const float ra = p.a.scale / p.out.scale, rb = p.b.scale / p.out.scale;
    const float shift = std::fma(ra, float(p.a.zeroPoint), rb * float(p.b.zeroPoint));
    const float fixed = float(p.out.zeroPoint) - shift;
    for (size_t i = 0; i < n; ++i) {
        const float v = std::fma(float(a.data[i * a.stride]), ra, std::fma(float(b.data[i * b.stride]), rb, fixed));
        out[i] = nearestCode<T>(v);
        if (real)
            real[i] = (v - float(p.out.zeroPoint)) * p.out.scale;
    }
}

template <class T> void multiply(const QLinearBinary& p, Run<T> a, Run<T> b, T* out, float* real, size_t n)
{
    const float ratio = p.a.scale * p.b.scale / p.out.scale;
    for (size_t i = 0; i < n; ++i) {
        const int32_t product = (a.data[i * a.stride] - p.a.zeroPoint) * (b.data[i * b.stride] - p.b.zeroPoint);
        const float v = float(product) * ratio;
        out[i] = nearestCode<T>(v + float(p.out.zeroPoint));
        if (real)
            real[i] = v * p.out.scale;
    }
}

} // namespace

template <class T> void qlinearReference(const QLinearBinary& p, Run<T> a, Run<T> b, T* out, float* real, size_t n)
{
    if (p.op == BinaryOp::Add)
        add(p, a, b, out, real, n);
    else
        multiply(p, a, b, out, real, n);
}

template <class T> CodeTable makeCodeTable(Grid in, Grid out, const std::function<float(float)>& function)
{
    CodeTable table;
    for (int i = 0; i < 256; ++i) {
        const T code = static_cast<T>(i);
        const float v = function(dequantizeOne(code, in.scale, in.zeroPoint));
        table.real[static_cast<size_t>(i)] = v;
        table.code[static_cast<size_t>(i)] = static_cast<uint8_t>(
            quantizeOne(v, out.scale, out.zeroPoint, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    }
    return table;
}

template <class T> CodeTable makeRequantizeTable(Grid in, Grid out)
{
    CodeTable table = makeCodeTable<T>(in, out, [](float v) { return v; });
    if (in.scale == out.scale && in.zeroPoint == out.zeroPoint)
        for (size_t i = 0; i < 256; ++i)
            table.code[i] = static_cast<uint8_t>(i);
    return table;
}

void lookUpBytes(const std::array<uint8_t, 256>& table, const uint8_t* in, uint8_t* out, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        out[i] = table[in[i]];
}

void lookUp(const CodeTable& table, const uint8_t* in, uint8_t* out, float* real, size_t n)
{
    lookUpBytes(table.code, in, out, n);
    for (size_t i = 0; real && i < n; ++i)
        real[i] = table.real[in[i]];
}

namespace {

/// Part of the input that window `o` covers.
struct Span {
    int64_t begin, end;
    int64_t size() const { return std::max<int64_t>(0, end - begin); }
};

Span covered(const PoolAxis& a, int64_t o)
{
    const int64_t start = o * a.stride - a.padBegin;
    return { std::max<int64_t>(start, 0), std::min(start + a.kernel, a.in) };
}

} // namespace

template <class T> void qlinearAveragePool(const PoolShape& p, Grid in, Grid out, const T* x, T* y, float* real)
{
    const auto& [d, h, w] = p.axes;
    const size_t image = static_cast<size_t>(d.in * h.in * w.in) * p.lanes;
    std::vector<float> sums(p.lanes);
    size_t at = 0;
    for (size_t o = 0; o < p.outer; ++o)
        for (int64_t place = 0; place < d.out * h.out * w.out; ++place) {
            const Span ds = covered(d, place / (h.out * w.out)), hs = covered(h, place / w.out % h.out),
                       ws = covered(w, place % w.out);
            std::fill(sums.begin(), sums.end(), 0.0f);
            for (int64_t i = ds.begin; i < ds.end; ++i)
                for (int64_t j = hs.begin; j < hs.end; ++j)
                    for (int64_t k = ws.begin; k < ws.end; ++k) {
                        const T* from = x + o * image + static_cast<size_t>((i * h.in + j) * w.in + k) * p.lanes;
                        for (size_t l = 0; l < p.lanes; ++l)
                            sums[l] += dequantizeOne(from[l], in.scale, in.zeroPoint);
                    }
            const double count = p.countPadding
                ? double(d.kernel) * double(h.kernel) * double(w.kernel) // may be more than 64 bits count
                : double(ds.size() * hs.size() * ws.size());
            for (size_t l = 0; l < p.lanes; ++l, ++at) {
                const float average = sums[l] / float(count);
                y[at] = nearestCode<T>(average / out.scale + float(out.zeroPoint));
                if (real)
                    real[at] = average;
            }
        }
}

template <class T>
void qlinearGlobalAveragePool(size_t outer, size_t size, size_t lanes, Grid in, Grid out, const T* x, T* y, float* real)
{
    const float multiplier = in.scale / (out.scale * float(size));
    constexpr size_t kMostRows = size_t(1) << 23; // whose sums fit in 32 bits
    std::vector<int64_t> sums(lanes);
    std::vector<int32_t> some(lanes);
    for (size_t o = 0; o < outer; ++o) {
        std::fill(sums.begin(), sums.end(), -int64_t(in.zeroPoint) * int64_t(size));
        for (size_t i = 0; i < size; i += kMostRows) {
            const Codes rows { reinterpret_cast<const uint8_t*>(x) + (o * size + i) * lanes, std::is_signed_v<T> };
            sumCodeRows(rows, int64_t(std::min(kMostRows, size - i)), int64_t(lanes), some.data());
            for (size_t l = 0; l < lanes; ++l)
                sums[l] += some[l];
        }
        for (size_t l = 0; l < lanes; ++l) {
            const float v = float(sums[l]) * multiplier;
            const float low = float(std::numeric_limits<T>::min() - out.zeroPoint);
            const float high = float(std::numeric_limits<T>::max() - out.zeroPoint);
            const double code = roundHalfEven(float(clampOr(v, low, high, low))) + float(out.zeroPoint);
            y[o * lanes + l] = static_cast<T>(static_cast<int>(code));
            if (real)
                real[o * lanes + l] = v * out.scale;
        }
    }
}

SoftmaxTable makeSoftmaxTable(float inputScale, size_t rowLength)
{
    // The largest power times the row's length stays below the largest float, with five powers of e to spare.
    const double headroom = double(std::log(std::numeric_limits<float>::max() / float(rowLength))) - 5;
    const double shift = std::max(0.0, headroom) / double(inputScale);
    SoftmaxTable table;
    for (int i = 0; i < 256; ++i)
        table.power[static_cast<size_t>(i)]
            = static_cast<float>(std::exp((double(i) - 255 + shift) * double(inputScale)));
    return table;
}

template <class T>
void qlinearSoftmaxRow(const SoftmaxTable& table, Grid out, const T* x, T* y, float* real, size_t n, size_t stride)
{
    int top = std::numeric_limits<T>::min();
    for (size_t i = 0; i < n; ++i)
        top = std::max<int>(top, x[i * stride]);
    const auto power = [&](size_t i) { return table.power[static_cast<size_t>(x[i * stride] - top + 255)]; };
    float sum = 0;
    for (size_t i = 0; i < n; ++i)
        sum += power(i);
    // In short rows a power times the steps leaves the range of float32.
    const double steps = double(std::floor(1.0f / out.scale));
    constexpr double low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    for (size_t i = 0; i < n; ++i) {
        const double v = double(power(i)) * steps / double(sum);
        y[i * stride] = static_cast<T>(static_cast<int>(clampOr(roundHalfEven(v) + out.zeroPoint, low, high, low)));
        if (real)
            real[i * stride] = static_cast<float>(v * double(out.scale));
    }
}

template void qlinearReference(const QLinearBinary&, Run<uint8_t>, Run<uint8_t>, uint8_t*, float*, size_t);
template void qlinearReference(const QLinearBinary&, Run<int8_t>, Run<int8_t>, int8_t*, float*, size_t);
template CodeTable makeCodeTable<uint8_t>(Grid, Grid, const std::function<float(float)>&);
template CodeTable makeCodeTable<int8_t>(Grid, Grid, const std::function<float(float)>&);
template CodeTable makeRequantizeTable<uint8_t>(Grid, Grid);
template CodeTable makeRequantizeTable<int8_t>(Grid, Grid);
template void qlinearAveragePool(const PoolShape&, Grid, Grid, const uint8_t*, uint8_t*, float*);
template void qlinearAveragePool(const PoolShape&, Grid, Grid, const int8_t*, int8_t*, float*);
template void qlinearGlobalAveragePool(size_t, size_t, size_t, Grid, Grid, const uint8_t*, uint8_t*, float*);
template void qlinearGlobalAveragePool(size_t, size_t, size_t, Grid, Grid, const int8_t*, int8_t*, float*);
template void qlinearSoftmaxRow(const SoftmaxTable&, Grid, const uint8_t*, uint8_t*, float*, size_t, size_t);
template void qlinearSoftmaxRow(const SoftmaxTable&, Grid, const int8_t*, int8_t*, float*, size_t, size_t);

} // namespace qs
