// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/sensitivity/exclusion_search.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace qs {

namespace {

using UnitSet = std::vector<size_t>; ///< ascending

constexpr size_t kMostSteps = 12;
constexpr size_t kTriedAtOnce = 4; ///< moves that are measured again in a step
constexpr double kEnough = 1e-3; ///< of the noise: nobody looks for less

UnitSet together(const UnitSet& a, const UnitSet& b)
{
    UnitSet all;
    std::ranges::set_union(a, b, std::back_inserter(all));
    return all;
}

class Search {
public:
    Search(const OutputScore& quantized, std::vector<ExclusionMove> moves, const ExclusionCosts& costs)
        : m_costs(costs)
        , m_moves(std::move(moves))
        , m_noise(quantized.noise)
    {
        for (const ExclusionMove& move : m_moves)
            m_gains.push_back(quantized.noise - move.without.noise);
    }

    Result<std::vector<MeasuredExclusion>> run()
    {
        const double enough = kEnough * m_noise;
        for (size_t step = 0; step < kMostSteps && m_noise > enough; ++step) {
            QS_TRY(const bool tried, takeBest());
            if (!tried)
                break;
        }
        return std::move(m_taken);
    }

private:
    /// Of what the move would add to the choice; 0 where it adds nothing.
    double costOf(size_t move) const
    {
        UnitSet added;
        std::ranges::set_difference(m_moves[move].units, m_chosen, std::back_inserter(added));
        return std::accumulate(
            added.begin(), added.end(), 0.0, [&](double sum, size_t unit) { return sum + m_costs.units[unit]; });
    }

    /// The moves that promise most, by what is known of them.
    std::vector<size_t> promising() const
    {
        std::vector<std::pair<double, size_t>> values;
        for (size_t m = 0; m < m_moves.size(); ++m)
            if (const double cost = costOf(m); cost > 0 && m_gains[m] > 0)
                values.emplace_back(m_gains[m] / cost, m);
        std::ranges::stable_sort(values, std::greater<>(), &std::pair<double, size_t>::first);
        std::vector<size_t> best;
        for (size_t i = 0; i < std::min(kTriedAtOnce, values.size()); ++i)
            best.push_back(values[i].second);
        return best;
    }

    /// False when nothing is left that promises anything.
    Result<bool> takeBest()
    {
        const std::vector<size_t> tried = promising();
        std::vector<UnitSet> choices;
        for (const size_t move : tried)
            choices.push_back(together(m_chosen, m_moves[move].units));
        if (choices.empty())
            return false;
        QS_TRY(const auto scores, m_costs.measure(choices));
        std::optional<size_t> best;
        double bestValue = 0;
        for (size_t i = 0; i < tried.size(); ++i) {
            m_gains[tried[i]] = m_noise - scores[i].noise;
            if (const double value = m_gains[tried[i]] / costOf(tried[i]); value > bestValue) {
                best = i;
                bestValue = value;
            }
        }
        if (!best)
            return true;
        m_chosen = choices[*best];
        m_noise = scores[*best].noise;
        m_taken.push_back({ m_chosen, scores[*best] });
        return true;
    }

    const ExclusionCosts& m_costs;
    std::vector<ExclusionMove> m_moves;
    std::vector<double> m_gains; ///< by move, as it was measured last
    UnitSet m_chosen;
    double m_noise;
    std::vector<MeasuredExclusion> m_taken;
};

} // namespace

Result<std::vector<MeasuredExclusion>> searchExclusions(
    const OutputScore& quantized, std::vector<ExclusionMove> moves, const ExclusionCosts& costs)
{
    return Search(quantized, std::move(moves), costs).run();
}

} // namespace qs
