// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <utility>

namespace qs {

/// Runs from when it is made.
class Stopwatch {
public:
    double ms() const { return between(m_start, Clock::now()); }
    /// Milliseconds since the last lap, or the start.
    double lap()
    {
        const auto now = Clock::now();
        return between(std::exchange(m_start, now), now);
    }

private:
    using Clock = std::chrono::steady_clock;
    static double between(Clock::time_point a, Clock::time_point b)
    {
        return std::chrono::duration<double, std::milli>(b - a).count();
    }

    Clock::time_point m_start = Clock::now();
};

} // namespace qs
