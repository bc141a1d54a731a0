// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/scores.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

constexpr double kLeast = 1e-12;

bool amongFive(const float* v, size_t n, int64_t index)
{
    if (index < 0 || argmax(v, n) < 0)
        return false;
    size_t better = 0;
    for (size_t i = 0; i < n; ++i)
        better += v[i] > v[size_t(index)];
    return better < 5;
}

/// Logarithms of a row's probabilities, one at a time.
class LogProbability {
public:
    LogProbability(const float* v, size_t n, ScoreKind kind)
        : m_v(v)
        , m_kind(kind)
    {
        if (kind == ScoreKind::Probabilities)
            return;
        const double largest = *std::max_element(v, v + n);
        double sum = 0;
        for (size_t i = 0; i < n; ++i)
            sum += std::exp(double(v[i]) - largest);
        m_offset = largest + std::log(sum);
    }
    double operator[](size_t i) const
    {
        return m_kind == ScoreKind::Probabilities ? std::log(std::max<double>(m_v[i], kLeast))
                                                  : double(m_v[i]) - m_offset;
    }

private:
    const float* m_v;
    ScoreKind m_kind;
    double m_offset = 0;
};

/// `next`: the token that follows; nothing where the prompt ends.
TokenScores tokenScores(const float* x, const float* y, size_t n, ScoreKind kind, std::optional<int64_t> next)
{
    const auto finite = [](float v) { return std::isfinite(v); };
    if (!std::all_of(x, x + n, finite) || !std::all_of(y, y + n, finite))
        return {};
    const LogProbability p(x, n, kind), q(y, n, kind);
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
        const double share = kind == ScoreKind::Probabilities ? double(x[i]) : std::exp(p[i]);
        if (share > 0)
            sum += share * (p[i] - q[i]);
    }
    TokenScores scores;
    scores.divergence = std::max(sum, 0.0); // rounding of sums alone goes below
    if (next) {
        scores.floatLoss = -p[size_t(*next)];
        scores.quantLoss = -q[size_t(*next)];
    }
    return scores;
}

} // namespace

double marginOf(const float* v, size_t n, int64_t index)
{
    if (index < 0)
        return NAN;
    float other = -std::numeric_limits<float>::infinity();
    for (size_t i = 0; i < n; ++i) {
        if (std::isnan(v[i]))
            return NAN;
        if (i != size_t(index))
            other = std::max(other, v[i]);
    }
    return double(v[index]) - other;
}

std::optional<ScoreRows> scoreRows(const Shape& shape, size_t samples)
{
    if (shape.empty() || samples == 0)
        return std::nullopt;
    // The first axis counts samples, else it is one of the sample's own.
    const bool batched = shape.size() > 1 && shape[0] == int64_t(samples);
    Shape wide;
    for (size_t i = batched ? 1 : 0; i < shape.size(); ++i)
        if (shape[i] != 1)
            wide.push_back(shape[i]);
    if (wide.empty() || wide.size() > 2 || (wide.size() == 2 && shape.size() > 3))
        return std::nullopt;
    const size_t positions = wide.size() == 2 ? size_t(wide[0]) : 1;
    const size_t parts = batched ? 1 : samples; // a first axis of several samples' positions
    if (positions == 0 || positions % parts != 0 || (positions == 1 && parts > 1) || wide.back() < 2)
        return std::nullopt;
    return ScoreRows { positions / parts, size_t(wide.back()) };
}

std::optional<ScoreRows> scoreRows(const Dims& dims)
{
    constexpr int64_t kSome = 2;
    if (dims.empty())
        return std::nullopt;
    Shape shape { 1 };
    for (size_t i = dims.size() > 1 ? 1 : 0; i < dims.size(); ++i)
        shape.push_back(dims[i].known() ? dims[i].value : kSome);
    return scoreRows(shape, 1);
}

std::optional<ScoreRows> chosenRows(const Shape& shape, size_t samples)
{
    const int64_t count = elementCount(shape).value_or(0);
    if (shape.empty() || samples == 0 || count <= 0 || count % int64_t(samples) != 0)
        return std::nullopt;
    const int64_t named = count / int64_t(samples);
    const bool row = shape.size() > 1 && shape.back() == named;
    return row || named == 1 ? std::optional(ScoreRows { 1, size_t(named) }) : std::nullopt;
}

void ScoreSums::merge(const ScoreSums& other)
{
    positions += other.positions;
    agreeing += other.agreeing;
    amongFive += other.amongFive;
    distributions += other.distributions;
    divergence += other.divergence;
    largestDivergence = std::max(largestDivergence, other.largestDivergence);
    commonStart += other.commonStart;
}

ScoreSums chosenSums(const float* x, const float* y, const ScoreRows& rows)
{
    constexpr size_t kBest = 5;
    ScoreSums sums;
    sums.positions = 1;
    sums.agreeing = sums.commonStart = x[0] == y[0];
    sums.amongFive = std::find(y, y + std::min(rows.classes, kBest), x[0]) != y + std::min(rows.classes, kBest);
    return sums;
}

ScoreSums scoreSums(const float* x, const float* y, const ScoreRows& rows, ScoreKind kind, const PositionScores& more)
{
    ScoreSums sums;
    if (kind == ScoreKind::None)
        return sums;
    for (size_t i = 0; i < rows.positions; ++i, x += rows.classes, y += rows.classes) {
        if (more.tokens)
            more.tokens->emplace_back();
        if (more.prompt && more.prompt->counts[i] == 0)
            continue;
        const int64_t best = argmax(x, rows.classes);
        const bool agrees = best >= 0 && best == argmax(y, rows.classes);
        sums.commonStart += agrees && sums.agreeing == sums.positions;
        ++sums.positions;
        if (more.byPosition)
            more.byPosition->add(i, 1, agrees);
        sums.agreeing += agrees;
        sums.amongFive += amongFive(y, rows.classes, best);
        if (kind == ScoreKind::Ranked)
            continue;
        const bool hasNext = more.prompt && more.prompt->hasNext(i);
        TokenScores scores
            = tokenScores(x, y, rows.classes, kind, hasNext ? std::optional(more.prompt->ids[i + 1]) : std::nullopt);
        scores.flipped = agrees ? 0 : 1;
        if (more.tokens)
            more.tokens->back() = scores;
        if (std::isnan(scores.divergence))
            continue;
        ++sums.distributions;
        sums.divergence += scores.divergence;
        sums.largestDivergence = std::max(sums.largestDivergence, scores.divergence);
    }
    return sums;
}

} // namespace qs
