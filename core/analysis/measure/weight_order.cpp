// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/weight_order.h"

#include "core/match/stored_operand.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace qs {

namespace {

constexpr double kMovedShare = 0.001; ///< of the elements, which need not fit
constexpr double kLittleInCommon = 0.1; ///< noise over signal, 10 dB
constexpr double kClearlyBetter = 0.25; ///< noise over noise, 6 dB
constexpr size_t kSampledOfLine = 32, kShortestLine = 8; ///< elements
constexpr size_t kMostMisses = 1; ///< of the sampled ones
constexpr size_t kAsked = 16; ///< lines, for what they have in common
constexpr size_t kMostTrials = size_t(1) << 26; ///< of two lines, most of which take two elements

struct Powers {
    double signal = 0, noise = 0;
};

Powers powersOf(std::span<const float> x, std::span<const float> y)
{
    Powers p;
    for (size_t i = 0; i < x.size(); ++i) {
        p.signal += double(x[i]) * x[i];
        p.noise += (double(y[i]) - x[i]) * (double(y[i]) - x[i]);
    }
    return p;
}

/// Rows or columns of a weight, its first two axes.
struct Lines {
    size_t count, length, inner, columns;
    bool rows;

    Lines(const Shape& shape, size_t size, size_t axis)
        : count(size_t(shape[axis]))
        , length(size / count)
        , inner(size / size_t(shape[0] * shape[1]))
        , columns(size_t(shape[1]))
        , rows(axis == 0)
    {
    }
    size_t place(size_t line, size_t j) const
    {
        return rows ? line * length + j : j / inner * columns * inner + line * inner + j % inner;
    }
    size_t lineOf(size_t i) const { return rows ? i / length : i / inner % columns; }
    size_t within(size_t i) const { return rows ? i % length : i / (columns * inner) * inner + i % inner; }
};

/// Which line of the float weight a stored one has, by some of its elements.
class LineSearch {
public:
    LineSearch(std::span<const float> x, std::span<const float> y, const Lines& lines, const QuantParams& params,
        const WeightGrid& grid, double room, bool balanced)
        : m_lines(lines)
        , m_each(std::min(lines.length, kSampledOfLine))
        , m_stride(lines.length / m_each)
        , m_x(lines.count * m_each)
        , m_stored(lines.count * m_each)
        , m_room(room)
    {
        grid.eachRun(x.size(), [&](size_t index, size_t begin, size_t n) {
            const size_t at = std::min(index, params.scale.size() - 1);
            const GridEnds ends = gridEnds(params, at, balanced);
            for (size_t i = begin; i < begin + n; ++i) {
                const size_t j = lines.within(i);
                if (j % m_stride != 0 || j / m_stride >= m_each)
                    continue;
                const size_t sample = lines.lineOf(i) * m_each + j / m_stride;
                m_x[sample] = x[i];
                m_stored[sample] = { y[i], float(stepAround(params, params.scale[at], y[i])), ends };
            }
        });
    }

    bool fits(size_t line, size_t candidate) const { return noiseOf(line, candidate).has_value(); }

    /// The line that is guessed or its own one where they fit, else the one that fits best: some may be nearly alike.
    /// Nothing where none does, or where the search takes too long.
    std::optional<size_t> find(size_t line, size_t guess)
    {
        return fits(line, guess) ? guess : fits(line, line) ? line : best(line);
    }

    std::optional<size_t> best(size_t line)
    {
        std::optional<size_t> found;
        double least = 0;
        for (size_t i = 0; i < m_lines.count && m_trials < kMostTrials; ++i, ++m_trials)
            if (const auto noise = noiseOf(line, i); noise && (!found || *noise < least)) {
                found = i;
                least = *noise;
            }
        return found;
    }

    /// How many lines further, round the end, most of some lines have theirs from.
    size_t commonShift()
    {
        std::map<size_t, size_t> votes;
        const size_t step = std::max<size_t>(m_lines.count / kAsked, 1);
        for (size_t line = 0; line < m_lines.count; line += step)
            if (const auto found = best(line))
                ++votes[(*found + m_lines.count - line) % m_lines.count];
        const auto most = std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
        return most == votes.end() ? 0 : most->first;
    }

private:
    /// Squared error of the sampled elements, where they are those of the candidate.
    std::optional<double> noiseOf(size_t line, size_t candidate) const
    {
        size_t misses = 0;
        double noise = 0;
        for (size_t k = 0; k < m_each && misses <= kMostMisses; ++k) {
            const Sample& s = m_stored[line * m_each + k];
            const double x = m_x[candidate * m_each + k];
            misses += isElsewhere(x, s.y, s.step, s.ends, m_room);
            noise += (s.y - x) * (s.y - x);
        }
        return misses <= kMostMisses ? std::optional(noise) : std::nullopt;
    }

    struct Sample {
        float y = 0, step = 0;
        GridEnds ends {};
    };
    const Lines m_lines;
    size_t m_each, m_stride;
    std::vector<float> m_x; ///< by line
    std::vector<Sample> m_stored;
    double m_room;
    size_t m_trials = 0;
};

} // namespace

RoundedWeight::RoundedWeight(
    std::span<const float> y, const Shape& shape, const QuantParams& params, const WeightGrid& grid, double room)
    : m_y(y)
    , m_shape(shape)
    , m_params(params)
    , m_grid(grid)
    , m_room(room)
    , m_balanced(leavesLowestOut(y, params, grid))
{
}

bool RoundedWeight::isWhole(std::span<const float> x) const
{
    return x.size() == m_y.size() && !x.empty() && size_t(elementCount(m_shape).value_or(0)) == x.size()
        && !m_params.scale.empty();
}

bool RoundedWeight::holds(std::span<const float> x) const
{
    if (!isWhole(x))
        return false;
    const double most = kMovedShare * double(x.size());
    size_t left = 0;
    m_grid.eachRun(x.size(), [&](size_t index, size_t begin, size_t n) {
        const size_t at = std::min(index, m_params.scale.size() - 1);
        const GridEnds ends = gridEnds(m_params, at, m_balanced);
        for (size_t i = begin; i < begin + n && double(left) <= most; ++i)
            left += isElsewhere(x[i], m_y[i], stepAround(m_params, m_params.scale[at], m_y[i]), ends, m_room);
    });
    return double(left) <= most;
}

bool RoundedWeight::holds(std::span<const float> x, std::span<const float> instead) const
{
    if (!isWhole(x))
        return false;
    const Powers own = powersOf(x, instead), here = powersOf(x, m_y);
    const bool close = here.noise <= kLittleInCommon * here.signal && here.noise <= kClearlyBetter * own.noise;
    return close || holds(x);
}

std::optional<WeightOrder> RoundedWeight::orderOf(std::span<const float> x) const
{
    if (!isWhole(x) || m_shape.size() < 2)
        return std::nullopt;
    if (const Powers p = powersOf(x, m_y); p.noise < kLittleInCommon * p.signal)
        return std::nullopt;
    if (auto found = transposed(x))
        return found;
    auto rows = otherLines(x, 0);
    return rows ? rows : otherLines(x, 1);
}

/// Where it was rounded once more after that, too.
std::optional<WeightOrder> RoundedWeight::transposed(std::span<const float> x) const
{
    if (m_shape.back() != m_shape[m_shape.size() - 2] || m_shape.back() < 2)
        return std::nullopt;
    std::vector<float> exchanged(x.size());
    for (size_t i = 0; i < x.size(); ++i)
        exchanged[i] = x[exchangedPlace(m_shape, i)];
    const Powers own = powersOf(x, m_y), there = powersOf(exchanged, m_y);
    if (there.noise > kLittleInCommon * there.signal || there.noise > kClearlyBetter * own.noise)
        return std::nullopt;
    const double sqnr = 10 * std::log10(there.signal / std::max(there.noise, 1e-300));
    return WeightOrder { WeightOrder::Kind::Transposed, sqnr };
}

std::optional<WeightOrder> RoundedWeight::otherLines(std::span<const float> x, size_t axis) const
{
    const Lines lines(m_shape, x.size(), axis);
    if (lines.count < 2 || lines.length < kShortestLine)
        return std::nullopt;
    LineSearch search(x, m_y, lines, m_params, m_grid, m_room, m_balanced);
    WeightOrder order { WeightOrder::Kind::Lines, 0, axis };
    size_t next = search.commonShift();
    for (size_t line = 0; line < lines.count; ++line) {
        const auto found = search.find(line, next);
        if (!found)
            return std::nullopt;
        order.from.push_back(int64_t(*found));
        next = (*found + 1) % lines.count;
    }
    std::vector<float> moved(x.size());
    for (size_t line = 0; line < lines.count; ++line)
        for (size_t j = 0; j < lines.length; ++j)
            moved[lines.place(line, j)] = x[lines.place(size_t(order.from[line]), j)];
    return holds(moved) ? std::optional(std::move(order)) : std::nullopt;
}

std::vector<std::optional<int64_t>> RoundedWeight::linesOf(
    std::span<const float> x, size_t axis, std::span<const int64_t> wanted) const
{
    std::vector<std::optional<int64_t>> from(wanted.size());
    if (!isWhole(x))
        return from;
    const Lines lines(m_shape, x.size(), axis);
    if (lines.length < kShortestLine)
        return from;
    LineSearch search(x, m_y, lines, m_params, m_grid, m_room, m_balanced);
    for (size_t i = 0; i < wanted.size(); ++i) {
        const auto line = size_t(wanted[i]);
        const auto other = std::ranges::find_if(
            wanted, [&](int64_t w) { return size_t(w) != line && search.fits(line, size_t(w)); }); // exchanged ones
        const auto found = other != wanted.end() ? std::optional(size_t(*other)) : search.best(line);
        if (found && *found != line)
            from[i] = int64_t(*found);
    }
    return from;
}

std::optional<Tensor> withExchangedHalves(const Tensor& codes, const QuantParams& params)
{
    const size_t bits = dtypeBits(codes.dtype());
    if (dtypeBits(params.dtype) != 4 || (bits != 4 && bits != 8) || codes.rank() == 0 || codes.shape().back() % 2 != 0)
        return std::nullopt;
    const auto from = codes.bytes();
    Tensor turned = Tensor::allocate(codes.dtype(), codes.shape());
    std::byte* const to = turned.fill<std::byte>().data();
    for (size_t i = 0; i < from.size(); ++i)
        to[i] = bits == 4 ? from[i] << 4 | from[i] >> 4 : from[i ^ 1]; // packed, or one code a byte
    return turned;
}

namespace {

DType otherSign(DType type)
{
    constexpr std::array<std::pair<DType, DType>, 3> kTypes { { { DType::Int2, DType::UInt2 },
        { DType::Int4, DType::UInt4 }, { DType::Int8, DType::UInt8 } } };
    for (const auto& [a, b] : kTypes)
        if (type == a || type == b)
            return type == a ? b : a;
    return DType::Undefined;
}

} // namespace

std::optional<ReadCodes> withOtherSign(const Tensor& codes, const QuantParams& params)
{
    const DType type = otherSign(params.dtype);
    if (type == DType::Undefined || params.kept)
        return std::nullopt;
    const int32_t all = int32_t(1) << dtypeBits(type), half = all / 2;
    const auto read = [&](int32_t code) {
        return isSigned(type) ? (code >= half ? code - all : code) : (code < 0 ? code + all : code);
    };
    std::vector<int32_t> values;
    for (const int64_t code : toInts(codes))
        values.push_back(read(int32_t(code)));
    ReadCodes other { codeTensor(type, codes.shape(), values), params };
    other.params.dtype = type;
    std::ranges::transform(params.zeroPoint, other.params.zeroPoint.begin(), read);
    return other;
}

std::optional<ReadCodes> withOtherUpperBit(const Tensor& codes, const QuantParams& params)
{
    if (otherSign(params.dtype) == DType::Undefined || params.kept)
        return std::nullopt;
    const int32_t half = int32_t(1) << (dtypeBits(params.dtype) - 1), middle = isSigned(params.dtype) ? 0 : half;
    std::vector<int32_t> values;
    for (const int64_t code : toInts(codes))
        values.push_back(int32_t(code) + (code < middle ? half : -half));
    return ReadCodes { codeTensor(params.dtype, codes.shape(), values), params };
}

} // namespace qs
