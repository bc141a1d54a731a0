// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/node_times.h"

#include "core/report/text/text_table.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <numeric>

namespace qs::cli {

NodeTimes::NodeTimes(std::shared_ptr<const Schedule> schedule, Keep keep)
    : m_schedule(std::move(schedule))
    , m_ms(m_schedule->tasks().size(), 0.0)
    , m_keep(keep)
    , m_each(m_ms.size())
{
}

Status NodeTimes::runAll(Execution& execution, const CancelToken& cancel)
{
    using Clock = std::chrono::steady_clock;
    std::vector<double> ms;
    ms.reserve(m_ms.size());
    while (!execution.finished()) {
        if (cancel.cancelled())
            return cancelled();
        const auto start = Clock::now();
        QS_CHECK(execution.step(&cancel));
        ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    add(ms);
    return {};
}

void NodeTimes::add(const std::vector<double>& ms)
{
    const std::lock_guard lock(m_mutex);
    for (size_t i = 0; i < ms.size(); ++i) {
        m_ms[i] += ms[i];
        if (m_keep == Keep::EachRun)
            m_each[i].push_back(float(ms[i]));
    }
    ++m_runs;
}

std::string NodeTimes::table() const
{
    using Align = TextTable::Align;
    const Plan& plan = m_schedule->plan();
    std::vector<size_t> slowest(m_ms.size());
    std::iota(slowest.begin(), slowest.end(), size_t(0));
    std::ranges::stable_sort(slowest, [&](size_t a, size_t b) { return m_ms[a] > m_ms[b]; });
    const double total = std::accumulate(m_ms.begin(), m_ms.end(), 0.0);
    const double runs = double(std::max<size_t>(m_runs, 1));
    TextTable table({ { "node", Align::Left, 60 }, { "type", Align::Left }, { "ms", Align::Right },
        { "share", Align::Right }, { "kernel", Align::Left } });
    for (size_t i : slowest) {
        const Schedule::Task& task = m_schedule->tasks()[i];
        const Node& node = plan.graph().node(task.node);
        table.add({ printable(node.name), printable(node.opType), fmt::format("{:.4f}", m_ms[i] / runs),
            fmt::format("{:.1f} %", total > 0 ? 100 * m_ms[i] / total : 0.0), task.lowered->kernel });
    }
    return fmt::format(
               "Time by node, mean of {} run{}, {:.4f} ms in all\n", m_runs, m_runs == 1 ? "" : "s", total / runs)
        + table.text("  ");
}

nlohmann::ordered_json NodeTimes::json() const
{
    const Plan& plan = m_schedule->plan();
    auto list = nlohmann::ordered_json::array();
    for (size_t i = 0; i < m_ms.size(); ++i) {
        const Schedule::Task& task = m_schedule->tasks()[i];
        const Node& node = plan.graph().node(task.node);
        list.push_back({ { "name", node.name }, { "op_type", node.opType },
            { "mean_ms", m_ms[i] / double(std::max<size_t>(m_runs, 1)) }, { "kernel", task.lowered->kernel } });
    }
    return list;
}

nlohmann::ordered_json NodeTimes::medianJson() const
{
    const Plan& plan = m_schedule->plan();
    auto list = nlohmann::ordered_json::array();
    for (size_t i = 0; i < m_ms.size(); ++i) {
        const Schedule::Task& task = m_schedule->tasks()[i];
        const Node& node = plan.graph().node(task.node);
        std::vector<float> ms = m_each[i];
        const auto middle = ms.begin() + std::ptrdiff_t(ms.size() / 2);
        std::ranges::nth_element(ms, middle);
        list.push_back({ { "name", node.name }, { "op_type", node.opType },
            { "median_ms", ms.empty() ? 0.0 : double(*middle) }, { "kernel", task.lowered->kernel } });
    }
    return list;
}

} // namespace qs::cli
