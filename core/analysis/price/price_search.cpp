// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/price/price_search.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace qs {

namespace {

struct Move {
    size_t unit, store;
    double gain; ///< of the loss, as it was measured last
};

class PriceSteps {
public:
    explicit PriceSteps(const PriceSearch& search)
        : m_search(search)
        , m_end { search.start, search.loss, 0, PriceStop::Done }
    {
        for (size_t u = 0; u < search.start.size(); ++u)
            addMoves(u);
    }

    Result<PriceSearchEnd> run()
    {
        while (m_end.loss > m_search.enough) {
            if (m_end.steps >= m_search.steps)
                return ended(PriceStop::Steps);
            if (m_search.timeIsUp && m_search.timeIsUp())
                return ended(PriceStop::Time);
            const std::vector<size_t> tried = promising();
            if (tried.empty())
                return ended(std::ranges::all_of(m_end.choice, [&](size_t c) { return c + 1 == stores(); })
                        ? PriceStop::Done
                        : PriceStop::NoGain);
            QS_CHECK(step(tried));
        }
        return std::move(m_end);
    }

private:
    size_t stores() const { return m_search.alone.empty() ? 0 : m_search.alone.front().size(); }

    PriceSearchEnd ended(PriceStop stop)
    {
        m_end.stop = stop;
        return std::move(m_end);
    }

    /// To all that the unit can be raised to, with the gain that its effects alone promise.
    void addMoves(size_t unit)
    {
        const auto& alone = m_search.alone[unit];
        const size_t now = m_end.choice[unit];
        for (size_t store = now + 1; store < alone.size(); ++store)
            m_moves.push_back({ unit, store, alone[now] - alone[store] });
    }

    /// Gain for each byte; what costs nothing comes first.
    double value(const Move& move) const
    {
        const auto& bytes = m_search.bytes[move.unit];
        const double cost = bytes[move.store] - bytes[m_end.choice[move.unit]];
        return cost > 0 ? move.gain / cost : std::numeric_limits<double>::infinity();
    }

    /// The moves that promise most, by what is known of them.
    std::vector<size_t> promising() const
    {
        std::vector<size_t> best;
        for (size_t m = 0; m < m_moves.size(); ++m)
            if (m_moves[m].gain > 0)
                best.push_back(m);
        std::ranges::stable_sort(best, [&](size_t a, size_t b) { return value(m_moves[a]) > value(m_moves[b]); });
        best.resize(std::min(best.size(), kTriedInStep));
        return best;
    }

    StoreChoice after(const Move& move) const
    {
        StoreChoice choice = m_end.choice;
        choice[move.unit] = move.store;
        return choice;
    }

    /// Measures these moves and makes the best one, if any gains something.
    Status step(const std::vector<size_t>& tried)
    {
        std::vector<StoreChoice> choices;
        for (const size_t m : tried)
            choices.push_back(after(m_moves[m]));
        QS_TRY(const auto losses, m_search.measure(choices));
        std::optional<size_t> best;
        for (size_t i = 0; i < tried.size(); ++i) {
            Move& move = m_moves[tried[i]];
            move.gain = m_end.loss - losses[i];
            if (move.gain > 0 && (!best || value(move) > value(m_moves[tried[*best]])))
                best = i;
        }
        if (!best)
            return {};
        m_end.choice = choices[*best];
        m_end.loss = losses[*best];
        ++m_end.steps;
        const size_t unit = m_moves[tried[*best]].unit;
        std::erase_if(m_moves, [&](const Move& move) { return move.unit == unit; });
        addMoves(unit);
        return m_search.taken ? m_search.taken(m_end.choice) : Status();
    }

    const PriceSearch& m_search;
    PriceSearchEnd m_end;
    std::vector<Move> m_moves;
};

} // namespace

std::string_view priceStopName(PriceStop stop)
{
    switch (stop) {
    case PriceStop::Done:
        return "done";
    case PriceStop::NoGain:
        return "no_gain";
    case PriceStop::Steps:
        return "steps";
    case PriceStop::Time:
        return "time";
    }
    return {};
}

Result<PriceSearchEnd> searchPrices(const PriceSearch& search) { return PriceSteps(search).run(); }

} // namespace qs
