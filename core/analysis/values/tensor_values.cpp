// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/values/tensor_values.h"

#include "core/analysis/rows/similarity.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qs {

namespace {

constexpr size_t kBetweenAsking = 1 << 14; ///< elements after which a token is asked

/// What a kind is the difference of; nulls where it is none.
struct TwoSides {
    const Elements* from = nullptr;
    const Elements* to = nullptr;
};

TwoSides sidesOf(const TensorValues& values, ValueKind kind)
{
    const auto pointer = [](const std::optional<Elements>& side) { return side ? &*side : nullptr; };
    const Elements* quantized = quantizedOf(values, kind);
    const Elements* from = kind == ValueKind::Float ? nullptr
        : kind == ValueKind::Between                ? pointer(values.quantized)
                                                    : pointer(values.reference);
    return from && quantized ? TwoSides { from, quantized } : TwoSides {};
}

/// What is added up on the way.
struct Sums {
    ValueStatistics found;
    double squares = 0, signal = 0, noise = 0;
    uint64_t limits = 0;
    std::vector<bool> codes; ///< by code above the lowest

    void addValue(double value)
    {
        ValueStatistics& s = found;
        ++s.count;
        if (!std::isfinite(value)) {
            ++(std::isnan(value) ? s.nans : s.infinities);
            return;
        }
        s.zeros += value == 0;
        s.lowest = s.finite ? std::min(s.lowest, value) : value;
        s.highest = s.finite ? std::max(s.highest, value) : value;
        ++s.finite;
        const double away = value - s.mean; // Welford 1962
        s.mean += away / double(s.finite);
        squares += away * (value - s.mean);
    }
    void addPair(double x, double y)
    {
        if (!std::isfinite(x) || !std::isfinite(y))
            return;
        signal += x * x;
        noise += (y - x) * (y - x);
    }
};

bool isExtreme(FindWhat what) { return what >= FindWhat::LargestDifference; }

/// Larger is nearer to what is looked for; not a number: never.
double rankOf(const TensorValues& values, ValueKind kind, FindWhat what, size_t element)
{
    if (what != FindWhat::LargestDifference) {
        const double value = valueAt(values, kind, element);
        return what == FindWhat::Lowest ? -value : value;
    }
    const TwoSides sides = sidesOf(values, kind == ValueKind::Float ? ValueKind::Quantized : kind);
    return sides.from ? std::fabs(sides.to->real(element) - sides.from->real(element))
                      : std::numeric_limits<double>::quiet_NaN();
}

bool matches(const TensorValues& values, ValueKind kind, const ValueSearch& search, size_t element)
{
    if (search.what == FindWhat::AtLimit) {
        const Elements* quantized = quantizedOf(values, kind == ValueKind::Float ? ValueKind::Quantized : kind);
        return quantized && quantized->atLimit(element) != 0;
    }
    const double value = valueAt(values, kind, element);
    switch (search.what) {
    case FindWhat::Above:
        return value > search.value;
    case FindWhat::Below:
        return value < search.value;
    case FindWhat::Equal:
        return value == search.value || value == double(float(search.value));
    default:
        return !std::isfinite(value);
    }
}

} // namespace

const Elements* quantizedOf(const TensorValues& values, ValueKind kind)
{
    const bool second = kind == ValueKind::Other || kind == ValueKind::OtherCodes || kind == ValueKind::OtherDifference
        || kind == ValueKind::Between;
    const auto& side = second ? values.other : values.quantized;
    return kind == ValueKind::Float || !side ? nullptr : &*side;
}

bool isCodes(ValueKind kind) { return kind == ValueKind::Codes || kind == ValueKind::OtherCodes; }

bool hasKind(const TensorValues& values, ValueKind kind)
{
    if (kind == ValueKind::Float)
        return values.reference.has_value();
    const Elements* side = quantizedOf(values, kind);
    if (isCodes(kind))
        return side && side->hasCodes();
    if (kind == ValueKind::Quantized || kind == ValueKind::Other)
        return side != nullptr;
    return sidesOf(values, kind).from != nullptr;
}

double valueAt(const TensorValues& values, ValueKind kind, size_t element)
{
    if (kind == ValueKind::Float)
        return values.reference->real(element);
    const Elements& side = *quantizedOf(values, kind);
    if (isCodes(kind))
        return double(side.code(element));
    if (kind == ValueKind::Quantized || kind == ValueKind::Other)
        return side.real(element);
    const double from = sidesOf(values, kind).from->real(element), difference = side.real(element) - from;
    return kind != ValueKind::Relative ? difference : difference == 0 ? 0 : difference / std::fabs(from);
}

std::optional<ValueStatistics> statisticsOf(
    const TensorValues& values, ValueKind kind, const SliceGrid& grid, const CancelToken& cancel)
{
    const TwoSides sides = sidesOf(values, kind);
    const Elements* coded = quantizedOf(values, kind);
    if (coded && (!coded->hasCodes() || dtypeBits(coded->params().dtype) > 16))
        coded = nullptr;
    const CodeRange range = coded ? coded->params().codes() : CodeRange { 0, 0 };
    Sums sums;
    if (coded)
        sums.codes.resize(size_t(range.high - range.low + 1));
    bool stopped = false;
    size_t asked = 0;
    grid.eachRow([&](size_t begin, int64_t step, size_t n) {
        for (size_t i = 0; i < n && !stopped; ++i) {
            const auto element = size_t(int64_t(begin) + int64_t(i) * step);
            sums.addValue(valueAt(values, kind, element));
            if (sides.from)
                sums.addPair(sides.from->real(element), sides.to->real(element));
            if (coded) {
                const int64_t code = std::clamp(coded->code(element), range.low, range.high);
                sums.codes[size_t(code - range.low)] = true;
                sums.limits += code == range.low || code == range.high;
            }
            if (++asked % kBetweenAsking == 0)
                stopped = cancel.cancelled();
        }
        return !stopped;
    });
    if (stopped)
        return std::nullopt;
    ValueStatistics& s = sums.found;
    s.deviation = s.finite ? std::sqrt(sums.squares / double(s.finite)) : 0;
    s.largest = std::max(std::fabs(s.lowest), std::fabs(s.highest));
    if (coded && s.count > 0) {
        s.distinctCodes = uint64_t(std::ranges::count(sums.codes, true));
        s.atLimits = double(sums.limits) / double(s.count);
    }
    s.sqnrDb = powerRatioDb(sums.signal, sums.noise);
    s.exact = sides.from && s.count > 0 && sums.noise == 0;
    return s;
}

std::optional<size_t> findValue(const TensorValues& values, ValueKind kind, const SliceGrid& grid,
    const ValueSearch& search, std::optional<size_t> from, const CancelToken& cancel)
{
    const size_t count = grid.count();
    std::optional<size_t> best;
    double bestRank = 0;
    size_t at = isExtreme(search.what) || !from ? (search.backwards ? 0 : count - 1) : *from;
    for (size_t step = 0; step < count; ++step) {
        at = search.backwards ? (at == 0 ? count : at) - 1 : (at + 1 == count ? 0 : at + 1);
        if (step % kBetweenAsking == 0 && cancel.cancelled())
            return std::nullopt;
        const size_t element = grid.at(at);
        if (!isExtreme(search.what)) {
            if (matches(values, kind, search, element))
                return at;
            continue;
        }
        const double rank = rankOf(values, kind, search.what, element);
        if (!std::isnan(rank) && (!best || rank > bestRank)) {
            best = at;
            bestRank = rank;
        }
    }
    return best;
}

} // namespace qs
