// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

/// What one of many trials in one process costs.
namespace qs::test {

/// Seconds of all threads: others on the machine do not count.
inline double processSeconds()
{
    timespec now {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) / 1e9;
}

/// Largest memory since the last call, in bytes; 0 where the system does not tell.
inline uint64_t peakMemory()
{
    unsigned long long kilobytes = 0;
    if (std::FILE* status = std::fopen("/proc/self/status", "r")) {
        char line[256];
        while (std::fgets(line, sizeof line, status))
            if (std::sscanf(line, "VmHWM: %llu", &kilobytes) == 1)
                break;
        std::fclose(status);
    }
    if (std::FILE* refs = std::fopen("/proc/self/clear_refs", "w")) {
        std::fputc('5', refs);
        std::fclose(refs);
    }
    return uint64_t(kilobytes) << 10;
}

struct RunCost {
    double seconds = 0; ///< of all threads
    uint64_t bytes = 0; ///< how much the peak rose
};

class RunMeter {
public:
    RunMeter()
        : m_bytes(peakMemory())
        , m_seconds(processSeconds())
    {
    }
    RunCost cost() const
    {
        const double seconds = processSeconds() - m_seconds;
        const uint64_t peak = peakMemory();
        return { seconds, peak > m_bytes ? peak - m_bytes : 0 };
    }

private:
    uint64_t m_bytes;
    double m_seconds;
};

/// What a run may cost at most, by the bytes of the files that it was given.
constexpr double kMostSeconds = 10;
constexpr uint64_t mostMemory(uint64_t fileBytes) { return (uint64_t(1) << 30) + 3 * fileBytes; }

} // namespace qs::test
