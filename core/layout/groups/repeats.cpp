// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/groups/repeats.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <queue>
#include <tuple>

namespace qs {

namespace {

constexpr size_t kTriedStarts = 8;

/// Boxes from `first` to before `end` whose labels repeat after `period`.
struct Stretch {
    uint32_t first = 0, end = 0, period = 0;
    uint32_t length() const { return end - first; }
    bool longEnough() const { return length() >= std::max(2 * period, kLeastRunBoxes); }
    /// Many boxes in whole blocks, and rather many small blocks than few large ones.
    double worth() const
    {
        const uint32_t count = length() / period;
        return double(count * period) * std::pow(std::log2(double(count)), 2);
    }
    /// Of two, the greater one is tried first.
    bool operator<(const Stretch& other) const
    {
        return std::tuple(worth(), -int64_t(period), -int64_t(first))
            < std::tuple(other.worth(), -int64_t(other.period), -int64_t(other.first));
    }
};

/// Block `b` of the run equals the block behind it.
bool equalsNext(const BoxRow& row, const BlockRun& run, uint32_t b)
{
    const uint32_t start = run.first + b * run.period, next = start + run.period;
    for (uint32_t i = start; i < next; ++i) {
        const std::vector<uint32_t>&x = row.inputs[i], &y = row.inputs[i + run.period];
        if (row.labels[i] != row.labels[i + run.period] || x.size() != y.size())
            return false;
        for (size_t slot = 0; slot < x.size(); ++slot) {
            const bool shifted = y[slot] == x[slot] + run.period;
            const bool inside = x[slot] >= start, insideToo = y[slot] >= next;
            const bool outsideAlike = shifted || x[slot] == y[slot] || x[slot] < run.first;
            if (inside != insideToo || (inside ? !shifted : !outsideAlike))
                return false;
        }
    }
    return true;
}

class RunFinder {
public:
    explicit RunFinder(const BoxRow& row)
        : m_row(row)
        , m_taken(row.labels.size())
        , m_passing(passing())
    {
    }

    std::vector<BlockRun> run()
    {
        findStretches();
        while (!m_stretches.empty()) {
            const Stretch stretch = m_stretches.top();
            m_stretches.pop();
            if (const Stretch part = largestFree(stretch); part.length() < stretch.length())
                push(part);
            else if (const auto found = bestRun(stretch))
                take(*found, stretch);
        }
        std::ranges::sort(m_runs, {}, &BlockRun::first);
        return std::move(m_runs);
    }

private:
    /// By box: how many values are made before it and read from it on.
    std::vector<int64_t> passing() const
    {
        const size_t n = m_row.labels.size();
        std::vector<uint32_t> lastReader(n);
        for (uint32_t i = 0; i < n; ++i)
            for (const uint32_t from : m_row.inputs[i])
                lastReader[from] = std::max(lastReader[from], i);
        std::vector<int64_t> change(n + 2), result(n + 1);
        for (uint32_t i = 0; i < n; ++i) {
            if (lastReader[i] <= i)
                continue;
            ++change[i + 1];
            --change[lastReader[i] + 1];
        }
        int64_t now = 0;
        for (size_t i = 0; i <= n; ++i)
            result[i] = now += change[i];
        return result;
    }

    void push(const Stretch& stretch)
    {
        if (stretch.longEnough())
            m_stretches.push(stretch);
    }

    void findStretches()
    {
        const auto n = static_cast<uint32_t>(m_row.labels.size());
        for (uint32_t period = 1; period <= std::min(n / 2, kLongestPeriod); ++period) {
            uint32_t first = 0;
            for (uint32_t i = 0; i + period <= n; ++i) {
                if (i + period < n && m_row.labels[i] == m_row.labels[i + period])
                    continue;
                if (i - first >= period)
                    push({ first, i + period, period });
                first = i + 1;
            }
        }
    }

    Stretch largestFree(const Stretch& stretch) const
    {
        Stretch best { stretch.first, stretch.first, stretch.period };
        uint32_t first = stretch.first;
        for (uint32_t i = stretch.first; i <= stretch.end; ++i) {
            if (i < stretch.end && !m_taken[i])
                continue;
            if (i - first > best.length())
                best = { first, i, stretch.period };
            first = i + 1;
        }
        return best;
    }

    /// What speaks against a run that begins there: mean scopes and values that its borders cut; less is better.
    std::pair<double, double> cost(const BlockRun& run) const
    {
        double scopes = 0, values = 0;
        for (uint32_t b = 1; b < run.count; ++b) {
            const uint32_t border = run.first + b * run.period;
            scopes += m_row.scopeDepth.empty() ? 0 : double(m_row.scopeDepth[border]);
            values += double(m_passing[border]);
        }
        return { scopes / double(run.count - 1), values / double(run.count - 1) };
    }

    std::optional<BlockRun> bestRun(const Stretch& stretch) const
    {
        std::vector<std::tuple<std::pair<double, double>, int64_t, uint32_t>> starts;
        for (uint32_t s = stretch.first; s < stretch.first + stretch.period; ++s) {
            const BlockRun run { s, stretch.period, (stretch.end - s) / stretch.period };
            if (run.count >= 2)
                starts.emplace_back(cost(run), -int64_t(run.count), s);
        }
        const size_t tried = std::min(kTriedStarts, starts.size());
        std::partial_sort(starts.begin(), starts.begin() + static_cast<ptrdiff_t>(tried), starts.end());
        std::optional<BlockRun> best;
        for (size_t t = 0; t < tried; ++t) {
            const BlockRun whole { std::get<2>(starts[t]), stretch.period,
                static_cast<uint32_t>(-std::get<1>(starts[t])) };
            const auto found = longestEqual(whole);
            if (found && (!best || found->count > best->count))
                best = found;
            if (best && best->count == whole.count)
                break;
        }
        return best;
    }

    /// Most blocks of the run that follow each other and are equal.
    std::optional<BlockRun> longestEqual(const BlockRun& run) const
    {
        std::optional<BlockRun> best;
        for (uint32_t b = 0; b + 1 < run.count;) {
            BlockRun found { run.first + b * run.period, run.period, 1 };
            while (b + 1 < run.count && equalsNext(m_row, found, found.count - 1)) {
                ++found.count;
                ++b;
            }
            if (found.count >= 2 && found.count * found.period >= kLeastRunBoxes
                && (!best || found.count > best->count))
                best = found;
            ++b;
        }
        return best;
    }

    void take(const BlockRun& found, const Stretch& from)
    {
        m_runs.push_back(found);
        std::fill(m_taken.begin() + found.first, m_taken.begin() + found.end(), true);
        push({ from.first, found.first, from.period });
        push({ found.end(), from.end, from.period });
    }

    const BoxRow& m_row;
    std::vector<bool> m_taken;
    std::vector<int64_t> m_passing;
    std::priority_queue<Stretch> m_stretches;
    std::vector<BlockRun> m_runs;
};

} // namespace

std::vector<BlockRun> findRuns(const BoxRow& row) { return RunFinder(row).run(); }

bool blocksAreEqual(const BoxRow& row, const BlockRun& run)
{
    for (uint32_t b = 0; b + 1 < run.count; ++b)
        if (!equalsNext(row, run, b))
            return false;
    return true;
}

} // namespace qs
