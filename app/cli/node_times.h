// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/run/execution.h"

#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace qs::cli {

/// Time spent in each node over all runs; several workers add theirs.
class NodeTimes {
public:
    enum class Keep {
        Sums,
        EachRun, ///< medians are wanted
    };
    explicit NodeTimes(std::shared_ptr<const Schedule> schedule, Keep keep = Keep::Sums);
    /// Like Execution::runAll, with a clock around each step.
    Status runAll(Execution& execution, const CancelToken& cancel);
    /// One run, in milliseconds by position in the schedule.
    void add(const std::vector<double>& ms);
    /// One line a node that was executed, slowest first; the time is the mean of a run.
    std::string table() const;
    nlohmann::ordered_json json() const; ///< in the order of execution
    nlohmann::ordered_json medianJson() const; ///< the same with medians; needs Keep::EachRun

private:
    std::shared_ptr<const Schedule> m_schedule;
    std::mutex m_mutex;
    std::vector<double> m_ms; ///< by position in the schedule
    Keep m_keep;
    std::vector<std::vector<float>> m_each; ///< by position: each run
    size_t m_runs = 0;
};

} // namespace qs::cli
