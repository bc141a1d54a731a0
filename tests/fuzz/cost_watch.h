// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/cancel.h"
#include "tests/fuzz/run_meter.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// What a run may cost, held against many of them.
namespace qs::test {

/// Cancels a round that takes long (a loop may go on for ever), and ends the program with the round's name when that
/// does not help. Seconds are those of all threads, so that others on the machine do not count; who waits for ever
/// takes none, and is ended after twenty times as many by the clock.
class Watchdog {
public:
    Watchdog(std::chrono::seconds patience, std::chrono::seconds limit)
        : m_patience(double(patience.count()))
        , m_limit(double(limit.count()))
        , m_thread([this] { watch(); })
    {
    }
    ~Watchdog()
    {
        {
            const std::lock_guard lock(m_mutex);
            m_ended = true;
        }
        m_changed.notify_all();
        m_thread.join();
    }
    CancelToken begin(std::string round)
    {
        const std::lock_guard lock(m_mutex);
        m_round = std::move(round);
        m_cancel = CancelToken();
        m_seconds = processSeconds();
        m_start = std::chrono::steady_clock::now();
        return m_cancel;
    }

private:
    void watch()
    {
        std::unique_lock lock(m_mutex);
        while (!m_changed.wait_for(lock, std::chrono::milliseconds(200), [this] { return m_ended; })) {
            if (m_round.empty())
                continue;
            const double taken = processSeconds() - m_seconds;
            const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - m_start;
            if (taken > m_patience)
                m_cancel.cancel();
            if (taken < m_patience + m_limit && waited.count() < 20 * (m_patience + m_limit))
                continue;
            std::fprintf(stderr, "hangs: %s\n", m_round.c_str());
            std::abort();
        }
    }
    double m_patience, m_limit, m_seconds = 0;
    std::chrono::steady_clock::time_point m_start;
    CancelToken m_cancel;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::string m_round;
    bool m_ended = false;
    std::thread m_thread;
};

/// Holds runs against what they may cost, and keeps what was wrong with them.
class CostWatch {
public:
    CancelToken begin(const std::string& round)
    {
        m_round = round;
        const CancelToken cancel = m_watchdog.begin(round);
        m_meter = RunMeter();
        return cancel;
    }
    /// The next part of the same round.
    CancelToken next(const std::string& part, uint64_t fileBytes)
    {
        end(fileBytes);
        return begin(m_round.substr(0, m_round.find(": ")) + ": " + part);
    }
    /// `fileBytes`: of the files that the run was given.
    void end(uint64_t fileBytes)
    {
        const RunCost cost = m_meter.cost();
        if (cost.seconds > kMostSeconds)
            fault("took " + std::to_string(cost.seconds) + " s");
        if (cost.bytes > mostMemory(fileBytes))
            fault("took " + std::to_string(cost.bytes >> 20) + " MiB");
        if (cost.seconds > m_slowest.first)
            m_slowest = { cost.seconds, m_round };
        if (cost.bytes > m_largest.first)
            m_largest = { cost.bytes, m_round };
    }
    /// Is told at once, too: the next round may end the program.
    void fault(const std::string& what)
    {
        m_faults.push_back(m_round + ": " + what);
        std::fprintf(stderr, "fault: %s\n", m_faults.back().c_str());
    }
    const std::vector<std::string>& faults() const { return m_faults; }
    std::string takenFaults()
    {
        std::string text;
        for (const std::string& fault : std::exchange(m_faults, {}))
            text += fault + '\n';
        return text;
    }
    /// Since the last one.
    std::string takenSummary()
    {
        char text[100];
        std::snprintf(text, sizeof text, "the slowest took %.2f s, the largest %.0f MB", m_slowest.first,
            double(m_largest.first) / 1e6);
        const std::string where
            = " (" + std::exchange(m_slowest, {}).second + "; " + std::exchange(m_largest, {}).second + ")";
        return text + where;
    }

private:
    Watchdog m_watchdog { std::chrono::seconds(10), std::chrono::seconds(60) };
    RunMeter m_meter;
    std::string m_round;
    std::vector<std::string> m_faults;
    std::pair<double, std::string> m_slowest;
    std::pair<uint64_t, std::string> m_largest;
};

} // namespace qs::test
