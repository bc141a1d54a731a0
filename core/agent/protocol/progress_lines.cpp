// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/protocol/progress_lines.h"

#include "core/base/text/one_line.h"
#include "core/base/work/stopwatch.h"

#include <memory>
#include <mutex>

namespace qs {

namespace {

constexpr double kLeastMs = 100; ///< between two lines

struct Told {
    std::mutex mutex;
    Stopwatch watch;
    double lastMs = -kLeastMs;
    std::string phase;
    size_t before = 0; ///< units of the phases before
    size_t last = 0; ///< that was told
};

} // namespace

ProgressFn progressLines(
    const AgentJson& token, const CancelToken& cancel, std::function<void(const std::string& line)> write)
{
    if (!token.is_string() && !token.is_number_integer())
        return {};
    return [token, cancel, write = std::move(write), told = std::make_shared<Told>()](
               std::string_view phase, size_t done, size_t total) {
        const std::lock_guard lock(told->mutex);
        if (told->phase != phase) {
            told->phase = phase;
            told->before = told->last + 1;
        }
        const size_t now = told->before + done;
        const double ms = told->watch.ms();
        if (now <= told->last || ms - told->lastMs < kLeastMs || cancel.cancelled())
            return;
        told->last = now;
        told->lastMs = ms;
        AgentJson params { { "progressToken", token }, { "progress", now } };
        if (total > 0)
            params["total"] = told->before + total;
        params["message"] = oneLine(phase, 80)
            + (total > 0 ? " " + std::to_string(done) + " of " + std::to_string(total) : std::string());
        write(notificationLine("notifications/progress", std::move(params)));
    };
}

} // namespace qs
