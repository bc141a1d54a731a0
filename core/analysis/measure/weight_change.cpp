// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/weight_change.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace qs {

namespace {

constexpr double kLeftShare = 0.001; ///< of elements that the change may not explain
constexpr double kLeastFactor = 0.01, kLeastShift = 0.6; ///< below it is rounding

/// Calls each(index, x, y, scale, zero point) for all elements.
void eachElement(
    std::span<const float> x, std::span<const float> y, const QuantParams& params, const WeightGrid& grid, auto each)
{
    grid.eachRun(x.size(), [&](size_t scale, size_t begin, size_t n) {
        const size_t s = std::min(scale, params.scale.size() - 1);
        for (size_t i = begin; i < begin + n; ++i)
            each(double(x[i]), double(y[i]), double(params.scale[s]), params.zero(s));
    });
}

/// Each scale's elements lie beside the float model's by whole steps of their own, the largest of which it returns; 0
/// where they do not, or where a scale has too few to tell.
double largestShift(
    std::span<const float> x, std::span<const float> y, const QuantParams& params, const WeightGrid& grid, double room)
{
    constexpr size_t kFewest = 16; // elements of a scale
    std::vector<double> shifts(params.scale.size());
    std::vector<size_t> counts(params.scale.size());
    const auto each = [&](auto&& use) {
        grid.eachRun(x.size(), [&](size_t scale, size_t begin, size_t n) {
            const size_t s = std::min(scale, params.scale.size() - 1);
            for (size_t i = begin; i < begin + n && params.scale[s] != 0; ++i)
                use(s, (double(y[i]) - x[i]) / double(params.scale[s]),
                    room * (std::fabs(double(x[i])) + std::fabs(double(y[i]))) / std::fabs(double(params.scale[s])));
        });
    };
    each([&](size_t s, double steps, double) {
        shifts[s] += steps;
        ++counts[s];
    });
    for (size_t s = 0; s < shifts.size(); ++s)
        shifts[s] = counts[s] > 0 ? std::nearbyint(shifts[s] / double(counts[s])) : 0;
    if (shifts.size() < 2 || std::ranges::any_of(counts, [](size_t n) { return n > 0 && n < kFewest; }))
        return 0;
    size_t left = 0;
    each([&](size_t s, double steps, double ofTypes) {
        left += std::fabs(steps - shifts[s]) > kHalfStepAndRoom + ofTypes;
    });
    if (double(left) > kLeftShare * double(x.size()))
        return 0;
    return std::fabs(*std::ranges::max_element(shifts, {}, [](double shift) { return std::fabs(shift); }));
}

/// By element.
std::vector<size_t> scaleIndices(size_t size, const QuantParams& params, const WeightGrid& grid)
{
    std::vector<size_t> indices(size);
    grid.eachRun(size, [&](size_t scale, size_t begin, size_t n) {
        std::fill_n(indices.begin() + ptrdiff_t(begin), n, std::min(scale, params.scale.size() - 1));
    });
    return indices;
}

/// Which index of an axis each element has, in plain order.
class AxisIndex {
public:
    AxisIndex(const Shape& shape, size_t axis)
        : m_length(size_t(shape[axis]))
    {
        for (size_t i = axis + 1; i < shape.size(); ++i)
            m_inner *= size_t(shape[i]);
    }
    size_t length() const { return m_length; }
    size_t of(size_t element) const { return element / m_inner % m_length; }

private:
    size_t m_length, m_inner = 1;
};

/// The codes with these scales and zero points along this axis are the float model's.
bool fitsAlong(const AxisIndex& axis, std::span<const float> x, std::span<const float> y, const QuantParams& params,
    const std::vector<size_t>& indices, double room)
{
    size_t left = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const size_t scale = axis.of(i);
        const double own = params.scale[indices[i]], other = params.scale[scale];
        const double there = (y[i] / own + params.zero(indices[i]) - params.zero(scale)) * other;
        left += std::fabs(there - x[i])
            > kHalfStepAndRoom * stepAround(params, other, there) + room * (std::fabs(double(x[i])) + std::fabs(there));
    }
    return double(left) <= kLeftShare * double(x.size());
}

/// Where there is a scale for each index of one axis, another axis of that length along which they fit.
std::optional<size_t> fittingAxis(std::span<const float> x, std::span<const float> y, const Shape& shape,
    const QuantParams& params, const std::vector<size_t>& indices, double room)
{
    const size_t n = params.scale.size();
    if (n < 2 || elementCount(shape) != int64_t(x.size()) || std::ranges::find(params.scale, 0.f) != params.scale.end())
        return std::nullopt;
    std::optional<size_t> fitting;
    bool perChannel = false;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        const AxisIndex index(shape, axis);
        if (index.length() != n)
            continue;
        size_t own = 0;
        while (own < x.size() && index.of(own) == indices[own])
            ++own;
        if (own == x.size())
            perChannel = true;
        else if (!fitting && fitsAlong(index, x, y, params, indices, room))
            fitting = axis;
    }
    return perChannel ? fitting : std::nullopt;
}

/// Of the elements of one scale: by what factor they are the float model's, and how well that is known.
struct OwnFactor {
    size_t count = 0;
    double xx = 0, xy = 0;
    double xxss = 0; ///< of values and their steps
    double factor() const { return xx > 0 ? xy / xx : 1; }
    double error() const
    {
        constexpr double kSure = 4, kOfStep = 0.29; // standard deviations; that of rounding, in steps
        return xx > 0 ? kSure * kOfStep * std::sqrt(xxss) / xx : 0;
    }
};

/// Factors of some scales explain all elements; nothing where one has too few to tell.
std::optional<WeightChange> ownFactors(std::span<const float> x, std::span<const float> y, const QuantParams& params,
    const std::vector<size_t>& indices, double room)
{
    constexpr size_t kFewest = 16;
    std::vector<OwnFactor> found(params.scale.size());
    for (size_t i = 0; i < x.size(); ++i) {
        OwnFactor& f = found[indices[i]];
        ++f.count;
        f.xx += double(x[i]) * x[i];
        f.xy += double(x[i]) * y[i];
        f.xxss += std::pow(double(x[i]) * stepAround(params, params.scale[indices[i]], y[i]), 2);
    }
    if (found.size() < 2
        || std::ranges::any_of(found, [](const OwnFactor& f) { return f.count > 0 && f.count < kFewest; }))
        return std::nullopt;
    WeightChange change { WeightChange::Kind::Factors, 1, 0 };
    for (size_t s = 0; s < found.size(); ++s) {
        const double off = std::fabs(found[s].factor() - 1);
        change.part += off > std::max(kLeastFactor, found[s].error()) ? 1 / double(found.size()) : 0;
        if (off > std::fabs(change.value - 1))
            change.value = found[s].factor();
    }
    size_t left = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const OwnFactor& f = found[indices[i]];
        const double scale = params.scale[indices[i]];
        left += std::fabs(y[i] - f.factor() * x[i]) > kHalfStepAndRoom * stepAround(params, scale, y[i])
                + (f.error() + room) * std::fabs(double(x[i])) + room * std::fabs(double(y[i]));
    }
    const bool explains = change.part > 0 && double(left) <= kLeftShare * double(x.size());
    return explains ? std::optional(change) : std::nullopt;
}

/// Of the elements that are off, how many have which code: those of the float model below zero, and above.
using CodesOfOff = std::array<std::map<double, size_t>, 2>;

/// The code at which most elements were cut; where they were on both sides, as far from zero on each, that of the side
/// with more. Nothing where it does not explain all but a few.
std::optional<WeightChange> cutBy(const CodesOfOff& codes, size_t off, double zero, auto few)
{
    using Side = std::pair<double, size_t>;
    std::array<Side, 2> ends {};
    for (size_t side = 0; side < codes.size(); ++side)
        for (const auto& [code, count] : codes[side])
            if (count > ends[side].second)
                ends[side] = { code, count };
    const auto& [below, above] = ends;
    const bool both = std::fabs(below.first + above.first - 2 * zero) <= 1; // -128 and 127
    const Side& most = above.second >= below.second ? above : below;
    if (most.second == 0 || !few(off - most.second - (both ? std::min(above.second, below.second) : 0)))
        return std::nullopt;
    return WeightChange { WeightChange::Kind::Cut, most.first };
}

} // namespace

bool hasSteps(const QuantParams& params) { return isInteger(params.dtype) || dtypeBits(params.dtype) <= 8; }

std::optional<WeightChange> weightChange(std::span<const float> x, std::span<const float> y, const QuantParams& params,
    const WeightGrid& grid, double room, const Shape& shape)
{
    if (params.scale.empty() || !hasSteps(params) || x.empty())
        return std::nullopt;
    const bool even = isInteger(params.dtype); // else codes are no places on a line
    const auto most = [&](double a, double b, double scale) {
        return kHalfStepAndRoom * stepAround(params, scale, b) + room * (std::fabs(a) + std::fabs(b));
    };
    const auto few = [&](size_t left) { return double(left) <= kLeftShare * double(x.size()); };
    double xx = 0, xy = 0, steps = 0;
    CodesOfOff codesOfOff; // of elements further away than rounding goes, towards zero
    size_t off = 0;
    eachElement(x, y, params, grid, [&](double a, double b, double scale, double zero) {
        xx += a * a;
        xy += a * b;
        steps += scale != 0 ? (b - a) / scale : 0; // scales may lie below zero
        if (std::fabs(b - a) <= most(a, b, scale))
            return;
        ++off;
        if (even && a * b >= 0 && std::fabs(a) > std::fabs(b))
            ++codesOfOff[a > 0][std::nearbyint(b / scale + zero)];
    });
    if (few(off) || xx <= 0)
        return std::nullopt;
    const CodeValues codes = params.values();
    const auto unexplained = [&](auto&& expected) {
        size_t left = 0;
        eachElement(x, y, params, grid, [&](double a, double b, double scale, double zero) {
            const double low = scale * (codes.low - zero), high = scale * (codes.high - zero);
            const bool within = low <= high; // a scale below zero turns the ends round
            const double there = std::clamp(expected(a, scale), within ? low : high, within ? high : low);
            left += std::fabs(b - there) > most(a, b, scale);
        });
        return left;
    };
    const double factor = xy / xx, shift = std::nearbyint(steps / double(x.size()));
    if (std::fabs(factor - 1) > kLeastFactor && few(unexplained([&](double a, double) { return factor * a; })))
        return WeightChange { WeightChange::Kind::Factor, factor };
    if (even && std::fabs(shift) > kLeastShift && few(unexplained([&](double a, double s) { return a + shift * s; })))
        return WeightChange { WeightChange::Kind::Shift, shift };
    if (const double largest = even ? largestShift(x, y, params, grid, room) : 0; largest > kLeastShift)
        return WeightChange { WeightChange::Kind::Shifts, largest };
    const std::vector<size_t> indices = scaleIndices(x.size(), params, grid);
    if (const auto axis = fittingAxis(x, y, shape, params, indices, room))
        return WeightChange { WeightChange::Kind::OtherAxis, double(*axis) };
    if (const auto cut = cutBy(codesOfOff, off, params.zero(0), few))
        return cut;
    return ownFactors(x, y, params, indices, room);
}

namespace {

constexpr double kMostOfRow = 0.5; ///< of its elements are off, in a row that is another one
constexpr double kFewRows = 0.1; ///< of all, if not a single one, or two that were exchanged
constexpr size_t kExchanged = 2, kFewestOfTwo = 8; ///< where there are so many rows
constexpr size_t kShortestRow = 4; ///< elements that tell anything

/// Of one axis, by how many elements are off at each of its indices.
std::optional<OtherRows> rowsOf(size_t axis, const std::vector<size_t>& off, size_t length)
{
    OtherRows found { axis, {} };
    size_t others = 0;
    for (size_t i = 0; i < off.size(); ++i)
        if (double(off[i]) > kMostOfRow * double(length))
            found.rows.push_back(int64_t(i));
        else
            others += off[i];
    const bool few = off.size() >= kShortestRow && !found.rows.empty()
        && double(found.rows.size())
            <= std::max(double(off.size() < kFewestOfTwo ? 1 : kExchanged), kFewRows * double(off.size()));
    const bool alone = double(others) <= kLeftShare * double(length) * double(off.size());
    return few && alone && length >= kShortestRow ? std::optional(std::move(found)) : std::nullopt;
}

} // namespace

std::optional<OtherRows> otherRows(std::span<const float> x, std::span<const float> y, const Shape& shape,
    const QuantParams& params, const WeightGrid& grid, double room)
{
    if (shape.size() < 2 || params.scale.empty() || !hasSteps(params) || x.empty())
        return std::nullopt;
    const auto rows = size_t(shape[0]), columns = size_t(shape[1]);
    if (size_t(elementCount(shape).value_or(0)) != x.size()) // a part of it
        return std::nullopt;
    const size_t inner = x.size() / (rows * columns);
    std::vector<size_t> byRow(rows), byColumn(columns);
    const bool balanced = leavesLowestOut(y, params, grid);
    grid.eachRun(x.size(), [&](size_t scale, size_t begin, size_t n) {
        const double of = params.scale[std::min(scale, params.scale.size() - 1)];
        const GridEnds ends = gridEnds(params, std::min(scale, params.scale.size() - 1), balanced);
        for (size_t i = begin; i < begin + n; ++i) {
            // One beyond the ends stands there, unless it is another one, too.
            if (isElsewhere(x[i], y[i], stepAround(params, of, y[i]), ends, room)) {
                ++byRow[i / (columns * inner)];
                ++byColumn[i / inner % columns];
            }
        }
    });
    auto found = rowsOf(0, byRow, columns * inner);
    return found ? found : rowsOf(1, byColumn, rows * inner);
}

} // namespace qs
