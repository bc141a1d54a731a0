// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/reduce/reduce.h"

#include "core/tensor/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace qs {

namespace {

template <class T> using Sum = std::conditional_t<std::is_floating_point_v<T>, double, std::make_unsigned_t<int64_t>>;

template <class T> constexpr T highest()
{
    if constexpr (std::numeric_limits<T>::has_infinity)
        return std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::max();
}

/// A wrapped 64-bit sum of T's seen as a number.
template <class T> double asDouble(Sum<T> v)
{
    if constexpr (std::is_floating_point_v<T>)
        return v;
    return std::is_signed_v<T> ? double(int64_t(v)) : double(v);
}

/// Result of an irrational function: integers are truncated.
template <class T> T fromDouble(double v)
{
    if constexpr (std::is_floating_point_v<T>)
        return T(v);
    return std::abs(v) < 9.2e18 ? T(int64_t(v)) : v < 0 ? lowest<T>() : highest<T>();
}

// One accumulator a kind: start, add an element, finish.
template <class T> struct AddTerms {
    using Acc = Sum<T>;
    static Acc start() { return 0; }
    static Acc add(Acc a, T v) { return a + Acc(v); }
    static T finish(Acc a, int64_t) { return T(a); }
};
template <class T> struct MeanTerms : AddTerms<T> {
    static T finish(Sum<T> a, int64_t n)
    {
        if constexpr (std::is_floating_point_v<T>)
            return T(a / double(n));
        if (n == 0)
            return 0;
        return std::is_signed_v<T> ? T(int64_t(a) / n) : T(a / uint64_t(n));
    }
};
template <class T> struct AbsTerms : AddTerms<T> {
    static Sum<T> add(Sum<T> a, T v) { return v < 0 ? a - Sum<T>(v) : a + Sum<T>(v); }
};
template <class T> struct SquareTerms : AddTerms<T> {
    static Sum<T> add(Sum<T> a, T v) { return a + Sum<T>(v) * Sum<T>(v); }
};
template <class T> struct RootTerms : SquareTerms<T> {
    static T finish(Sum<T> a, int64_t) { return fromDouble<T>(std::sqrt(asDouble<T>(a))); }
};
template <class T> struct LogTerms : AddTerms<T> {
    static T finish(Sum<T> a, int64_t) { return fromDouble<T>(std::log(asDouble<T>(a))); }
};
template <class T> struct ProductTerms {
    using Acc = Sum<T>;
    static Acc start() { return 1; }
    static Acc add(Acc a, T v) { return a * Acc(v); }
    static T finish(Acc a, int64_t) { return T(a); }
};
template <class T> struct MaxTerms {
    using Acc = T;
    static Acc start() { return lowest<T>(); }
    // NaN once seen stays, as numpy and ONNX Runtime do.
    static Acc add(Acc a, T v) { return v > a || v != v ? v : a; }
    static T finish(Acc a, int64_t) { return a; }
};
template <class T> struct MinTerms {
    using Acc = T;
    static Acc start() { return highest<T>(); }
    static Acc add(Acc a, T v) { return v < a || v != v ? v : a; }
    static T finish(Acc a, int64_t) { return a; }
};

/// One contiguous run folded into eight interleaved accumulators where the operation is a sum.
template <class K, class T> typename K::Acc foldRun(typename K::Acc a, const T* x, int64_t n)
{
    int64_t i = 0;
    if constexpr (std::is_base_of_v<AddTerms<T>, K>) {
        if (n >= 16) {
            typename K::Acc lanes[8];
            std::fill_n(lanes, 8, K::start());
            for (; i + 8 <= n; i += 8)
                for (int64_t l = 0; l < 8; ++l)
                    lanes[l] = K::add(lanes[l], x[i + l]);
            for (auto lane : lanes)
                a += lane;
        }
    }
    for (; i < n; ++i)
        a = K::add(a, x[i]);
    return a;
}

template <class K, class T> void fold(const ReducePlan& p, const T* x, T* y)
{
    const int64_t count = p.foldedCount();
    if (p.runFolded) {
        for (int64_t kept : p.kept) {
            auto a = K::start();
            for (int64_t folded : p.folded)
                a = foldRun<K>(a, x + kept + folded, p.run);
            *y++ = K::finish(a, count);
        }
        return;
    }
    constexpr int64_t kTile = 64;
    typename K::Acc tile[kTile];
    for (int64_t kept : p.kept)
        for (int64_t first = 0; first < p.run; first += kTile) {
            const int64_t n = std::min(kTile, p.run - first);
            std::fill_n(tile, n, K::start());
            for (int64_t folded : p.folded) {
                const T* from = x + kept + folded + first;
                for (int64_t i = 0; i < n; ++i)
                    tile[i] = K::add(tile[i], from[i]);
            }
            for (int64_t i = 0; i < n; ++i)
                *y++ = K::finish(tile[i], count);
        }
}

/// log(sum(exp(x))) with the largest element taken out first.
template <class T> void logSumExp(const ReducePlan& p, const T* x, T* y)
{
    const int64_t outputs = p.runFolded ? 1 : p.run, length = p.runFolded ? p.run : 1;
    for (int64_t kept : p.kept)
        for (int64_t o = 0; o < outputs; ++o) {
            double top = -std::numeric_limits<double>::infinity(), sum = 0;
            const auto forEach = [&](auto visit) {
                for (int64_t folded : p.folded)
                    for (int64_t i = 0; i < length; ++i)
                        visit(double(x[kept + folded + o + i]));
            };
            forEach([&](double v) { top = v > top || v != v ? v : top; });
            if (std::isfinite(top))
                forEach([&](double v) { sum += std::exp(v - top); });
            *y++ = fromDouble<T>(std::isfinite(top) ? top + std::log(sum) : top);
        }
}

/// Offsets of all index combinations of the given axes, row-major.
std::vector<int64_t> offsetsOf(const Shape& sizes, const std::vector<int64_t>& strides)
{
    std::vector<int64_t> offsets { 0 };
    for (size_t d = 0; d < sizes.size(); ++d) {
        std::vector<int64_t> next;
        next.reserve(offsets.size() * size_t(sizes[d]));
        for (int64_t base : offsets)
            for (int64_t i = 0; i < sizes[d]; ++i)
                next.push_back(base + i * strides[d]);
        offsets = std::move(next);
    }
    return offsets;
}

} // namespace

ReducePlan makeReducePlan(const Shape& shape, const std::vector<bool>& reduced)
{
    Shape sizes;
    std::vector<bool> folds;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 1)
            continue;
        if (!folds.empty() && folds.back() == reduced[d]) {
            sizes.back() *= shape[d];
            continue;
        }
        sizes.push_back(shape[d]);
        folds.push_back(reduced[d]);
    }
    ReducePlan plan;
    if (sizes.empty())
        return plan;
    const std::vector<int64_t> strides = rowMajorStrides(sizes);
    plan.run = sizes.back();
    plan.runFolded = folds.back();
    Shape keptSizes, foldedSizes;
    std::vector<int64_t> keptStrides, foldedStrides;
    for (size_t d = 0; d + 1 < sizes.size(); ++d) {
        (folds[d] ? foldedSizes : keptSizes).push_back(sizes[d]);
        (folds[d] ? foldedStrides : keptStrides).push_back(strides[d]);
    }
    plan.kept = offsetsOf(keptSizes, keptStrides);
    plan.folded = offsetsOf(foldedSizes, foldedStrides);
    return plan;
}

template <class T> void reduce(ReduceKind kind, const ReducePlan& p, const T* x, T* y) noexcept
{
    switch (kind) {
    case ReduceKind::Sum:
        return fold<AddTerms<T>>(p, x, y);
    case ReduceKind::Mean:
        return fold<MeanTerms<T>>(p, x, y);
    case ReduceKind::Max:
        return fold<MaxTerms<T>>(p, x, y);
    case ReduceKind::Min:
        return fold<MinTerms<T>>(p, x, y);
    case ReduceKind::Prod:
        return fold<ProductTerms<T>>(p, x, y);
    case ReduceKind::L1:
        return fold<AbsTerms<T>>(p, x, y);
    case ReduceKind::L2:
        return fold<RootTerms<T>>(p, x, y);
    case ReduceKind::LogSum:
        return fold<LogTerms<T>>(p, x, y);
    case ReduceKind::LogSumExp:
        return logSumExp(p, x, y);
    case ReduceKind::SumSquare:
        return fold<SquareTerms<T>>(p, x, y);
    }
}

template <class T> void meanVarianceNormalize(const ReducePlan& p, const T* x, T* y, bool byDeviation) noexcept
{
    const int64_t outputs = p.runFolded ? 1 : p.run, length = p.runFolded ? p.run : 1;
    const double count = double(p.foldedCount());
    for (int64_t kept : p.kept)
        for (int64_t o = 0; o < outputs; ++o) {
            const auto forEach = [&](auto visit) {
                for (int64_t folded : p.folded)
                    for (int64_t i = 0; i < length; ++i)
                        visit(kept + folded + o + i);
            };
            double sum = 0, squares = 0;
            forEach([&](int64_t e) { sum += double(x[e]); });
            const double mean = sum / count;
            forEach([&](int64_t e) { squares += (double(x[e]) - mean) * (double(x[e]) - mean); });
            const double deviation = byDeviation ? std::sqrt(squares / count) + 1e-9 : 1;
            forEach([&](int64_t e) { y[e] = T((double(x[e]) - mean) / deviation); });
        }
}

template void meanVarianceNormalize<float>(const ReducePlan&, const float*, float*, bool) noexcept;
template void meanVarianceNormalize<double>(const ReducePlan&, const double*, double*, bool) noexcept;

template <class T> void argReduce(ArgKind kind, ArgTie tie, const AxisShape& s, const T* x, int64_t* y) noexcept
{
    for (int64_t o = 0; o < s.outer; ++o)
        for (int64_t i = 0; i < s.inner; ++i) {
            const T* line = x + o * s.size * s.inner + i;
            int64_t best = 0;
            for (int64_t k = 1; k < s.size; ++k) {
                const T v = line[k * s.inner], top = line[best * s.inner];
                const bool better = kind == ArgKind::Max ? v > top : v < top;
                if (better || (tie == ArgTie::Last && v == top))
                    best = k;
            }
            y[o * s.inner + i] = best;
        }
}

template <class T> void cumSum(const CumSumParams& p, const AxisShape& s, const T* x, T* y) noexcept
{
    for (int64_t o = 0; o < s.outer; ++o)
        for (int64_t i = 0; i < s.inner; ++i) {
            Sum<T> sum = p.product ? 1 : 0;
            for (int64_t k = 0; k < s.size; ++k) {
                const int64_t at = (o * s.size + (p.reverse ? s.size - 1 - k : k)) * s.inner + i;
                const Sum<T> before = sum;
                sum = p.product ? sum * Sum<T>(x[at]) : sum + Sum<T>(x[at]);
                y[at] = T(p.exclusive ? before : sum);
            }
        }
}

#define QS_REDUCE(T)                                                                                                   \
    template void reduce<T>(ReduceKind, const ReducePlan&, const T*, T*) noexcept;                                     \
    template void argReduce<T>(ArgKind, ArgTie, const AxisShape&, const T*, int64_t*) noexcept;
QS_REDUCE(float)
QS_REDUCE(double)
QS_REDUCE(int8_t)
QS_REDUCE(int16_t)
QS_REDUCE(int32_t)
QS_REDUCE(int64_t)
QS_REDUCE(uint8_t)
QS_REDUCE(uint16_t)
QS_REDUCE(uint32_t)
QS_REDUCE(uint64_t)
#undef QS_REDUCE

#define QS_CUMSUM(T) template void cumSum<T>(const CumSumParams&, const AxisShape&, const T*, T*) noexcept;
QS_CUMSUM(float)
QS_CUMSUM(double)
QS_CUMSUM(int32_t)
QS_CUMSUM(int64_t)
QS_CUMSUM(uint32_t)
QS_CUMSUM(uint64_t)
#undef QS_CUMSUM

} // namespace qs
