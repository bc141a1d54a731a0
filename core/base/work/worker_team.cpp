// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/work/worker_team.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace qs {

namespace {

constexpr int kSpins = 4000; ///< looks at the next loop before sleeping, some tens of microseconds

void pause()
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

} // namespace

struct WorkerTeam::State {
    std::atomic<uint32_t> loop { 0 }; ///< number of the current loop
    std::atomic<bool> ending { false };
    std::atomic<size_t> working { 0 }; ///< helpers that have not finished the current loop
    std::atomic<size_t> next { 0 };
    size_t count = 0;
    const std::function<void(size_t, size_t)>* work = nullptr;
    std::mutex failureMutex;
    std::exception_ptr failure;
    std::vector<std::thread> helpers;

    void takeShare(size_t worker)
    {
        try {
            for (size_t i = next++; i < count; i = next++)
                (*work)(i, worker);
        } catch (...) {
            const std::lock_guard lock(failureMutex);
            if (!failure)
                failure = std::current_exception();
            next = count;
        }
    }

    void help(size_t worker)
    {
        uint32_t seen = 0;
        for (;;) {
            for (int spin = 0; spin < kSpins && loop.load(std::memory_order_acquire) == seen; ++spin)
                pause();
            loop.wait(seen, std::memory_order_acquire);
            if (ending)
                return;
            ++seen; // the next loop cannot begin before this helper is done
            takeShare(worker);
            if (--working == 0)
                working.notify_one();
        }
    }

    void waitForHelpers()
    {
        for (int spin = 0; spin < kSpins && working.load(std::memory_order_acquire) != 0; ++spin)
            pause();
        for (size_t left = working; left != 0; left = working)
            working.wait(left, std::memory_order_acquire);
    }
};

WorkerTeam::WorkerTeam(size_t threads)
    : m_state(new State)
{
    try {
        for (size_t w = 1; w < threads; ++w)
            m_state->helpers.emplace_back([state = m_state.get(), w] { state->help(w); });
    } catch (const std::exception&) { // there are no more threads, or no memory for one: those there are do the work
    }
}

WorkerTeam::~WorkerTeam()
{
    m_state->ending = true;
    ++m_state->loop;
    m_state->loop.notify_all();
    for (std::thread& t : m_state->helpers)
        t.join();
}

size_t WorkerTeam::threads() const { return m_state->helpers.size() + 1; }

void WorkerTeam::run(size_t count, const std::function<void(size_t, size_t)>& work)
{
    State& s = *m_state;
    if (count <= 1 || s.helpers.empty()) {
        for (size_t i = 0; i < count; ++i)
            work(i, 0);
        return;
    }
    s.count = count;
    s.work = &work;
    s.next = 0;
    s.failure = nullptr;
    s.working = s.helpers.size();
    s.loop.fetch_add(1, std::memory_order_release);
    s.loop.notify_all();
    s.takeShare(0);
    s.waitForHelpers();
    if (s.failure)
        std::rethrow_exception(s.failure);
}

} // namespace qs
