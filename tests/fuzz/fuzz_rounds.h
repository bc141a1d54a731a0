// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/cancel.h"

#include <QString>
#include <QtGlobal>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

/// What long series of random trials share.
namespace qs::test {

/// A number of the environment.
inline unsigned setting(const char* name, unsigned fallback)
{
    bool ok = false;
    const unsigned value = qEnvironmentVariable(name).toUInt(&ok);
    return ok ? value : fallback;
}

/// Cancels a round that takes long (a loop may go on for ever), and ends the program with the round's name when that
/// does not help.
class Watchdog {
public:
    Watchdog(std::chrono::seconds patience, std::chrono::seconds limit)
        : m_patience(patience)
        , m_limit(limit)
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
        ++m_count;
        m_changed.notify_all();
        return m_cancel;
    }

private:
    void watch()
    {
        std::unique_lock lock(m_mutex);
        while (!m_ended) {
            const size_t count = m_count;
            const auto over = [&] { return m_ended || m_count != count; };
            if (count == 0)
                m_changed.wait(lock, over);
            if (m_changed.wait_for(lock, m_patience, over))
                continue;
            m_cancel.cancel();
            if (m_changed.wait_for(lock, m_limit, over))
                continue;
            std::fprintf(stderr, "hangs: %s\n", m_round.c_str());
            std::abort();
        }
    }
    std::chrono::seconds m_patience, m_limit;
    CancelToken m_cancel;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::string m_round;
    size_t m_count = 0;
    bool m_ended = false;
    std::thread m_thread;
};

} // namespace qs::test
