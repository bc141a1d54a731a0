// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/node_times.h"

#include "core/data/open_data.h"
#include "core/engine/run/carry.h"
#include "core/engine/run/execution.h"
#include "core/engine/run/memory_budget.h"
#include "core/kernels/statistics/pair_sums.h"
#include "core/onnx/import.h"
#include "core/project/memory.h"
#include "core/project/snapshot/samples.h"
#include "core/stats/histogram.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace qs::cli {

namespace {

using Clock = std::chrono::steady_clock;

double msSince(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct BenchCommand {
    std::string model, arithmetic = "simulated";
    int64_t warmup = 3, runs = 20;
    bool allTensors = false, perNode = false;
    DataOptions data;
};

/// What a comparison computes for each tensor: sums and a histogram; the tensor itself is dropped.
struct TensorStatistics {
    PairSums sums;
    Histogram histogram;

    void add(const Tensor& t)
    {
        if (t.dtype() != DType::Float32)
            return;
        const auto values = t.data<float>();
        addPairSums(sums, values.data(), values.data(), nullptr, values.size(), nullptr, {});
        histogram.add(values);
    }
};

/// One plan, run again and again on one thread team.
class Bench {
public:
    Bench(std::shared_ptr<const Schedule> schedule, const DataSource& data, CarriedState state, bool observe,
        NodeTimes* times, uint64_t poolBytes, size_t threads)
        : m_schedule(std::move(schedule))
        , m_state(std::move(state))
        , m_data(data)
        , m_times(times)
        , m_pool(poolBytes)
        , m_team(threads)
    {
        if (observe)
            m_statistics.resize(m_schedule->plan().graph().values().size());
    }

    /// Milliseconds of one run over sample number `index` (samples are used in turn).
    Result<double> run(size_t index, bool counted, const CancelToken& cancel)
    {
        QS_TRY(const Feed feed, m_data.feed(index % m_data.feeds()));
        const auto start = Clock::now();
        Execution execution(m_schedule, m_pool);
        execution.useTeam(&m_team);
        QS_CHECK(execution.bind(m_state.inputs(feed.inputs)));
        if (!m_statistics.empty())
            QS_CHECK(observed(execution, counted, cancel));
        else
            QS_CHECK(m_times && counted ? m_times->runAll(execution, cancel) : execution.runAll(cancel));
        const double ms = msSince(start);
        m_state.keep(execution);
        return ms;
    }

private:
    Status observed(Execution& execution, bool counted, const CancelToken& cancel)
    {
        std::vector<double> ms;
        const Graph& graph = m_schedule->plan().graph();
        auto take = [&](ValueId id) {
            if (!id.valid() || !execution.has(id))
                return;
            m_statistics[id.index()].add(execution.get(id));
            if (!m_state.carries(id))
                execution.release(id);
        };
        std::ranges::for_each(graph.inputs(), take);
        for (const Schedule::Task& task : m_schedule->tasks()) {
            if (cancel.cancelled())
                return cancelled();
            const auto start = Clock::now();
            QS_CHECK(execution.step(&cancel));
            std::ranges::for_each(task.outputs, take);
            ms.push_back(msSince(start));
        }
        if (m_times && counted)
            m_times->add(ms);
        return {};
    }

    std::shared_ptr<const Schedule> m_schedule;
    CarriedState m_state;
    const DataSource& m_data;
    NodeTimes* m_times; ///< null: no clock
    BufferPool m_pool;
    WorkerTeam m_team;
    std::vector<TensorStatistics> m_statistics; ///< by value; empty when nobody looks
};

/// Graph outputs, or every tensor that is made from data.
std::vector<ValueId> demanded(const Plan& plan, bool allTensors)
{
    const Graph& graph = plan.graph();
    std::vector<ValueId> wanted(graph.outputs().begin(), graph.outputs().end());
    if (allTensors) {
        wanted.clear();
        for (size_t i = 0; i < graph.values().size(); ++i) {
            const ValueId id(i);
            const Value& value = graph.value(id);
            const bool computed = value.producer.valid() && !plan.constant(id);
            const bool input = std::ranges::find(graph.inputs(), id) != graph.inputs().end();
            if ((computed || input) && plan.container(id).empty() && !plan.hidden(id) && !plan.blocked(id))
                wanted.push_back(id);
        }
    }
    return wanted;
}

struct Timing {
    double medianMs = 0, minMs = 0, maxMs = 0;
};

Timing timingOf(std::vector<double> ms)
{
    std::ranges::sort(ms);
    const size_t n = ms.size();
    return { (ms[(n - 1) / 2] + ms[n / 2]) / 2, ms.front(), ms.back() };
}

Result<int> bench(const BenchCommand& o, Context& context)
{
    QS_TRY(const ArithmeticProfile profile, arithmeticProfile(o.arithmetic));
    if (o.warmup < 0 || o.warmup > 1'000'000)
        return badUse("--warmup must be between 0 and 1000000", "leave it out for 3");
    if (o.runs < 1 || o.runs > 1'000'000)
        return badUse("--runs must be between 1 and 1000000", "leave it out for 20");
    DataOptions dataOptions = o.data;
    if (dataOptions.data.empty())
        dataOptions.data = "random:1";
    QS_TRY(const DataRequest request, dataRequest(dataOptions, context.common));
    QS_TRY(const size_t threads, threadCount(context.common));
    QS_TRY(const uint64_t limit, memoryLimit(context.common));
    QS_CHECK(checkWritable({ context.common.json }, { o.model, o.data.data, o.data.preprocess }));

    auto start = Clock::now();
    QS_TRY(const auto model, importModel(o.model));
    const double loadMs = msSince(start);
    start = Clock::now();
    const auto plan = Plan::make(model, { KernelMode::Fast, profile });
    QS_TRY(const auto carry, carryPairs(context.common));
    QS_TRY(auto links, findCarry(*plan, carry));
    std::vector<ValueId> wanted = demanded(*plan, o.allTensors);
    for (const CarryLink& link : links)
        if (std::ranges::find(wanted, link.output) == wanted.end())
            wanted.push_back(link.output);
    QS_TRY(const auto schedule, Schedule::make(plan, { std::move(wanted), {} }));
    const double planMs = msSince(start);

    QS_TRY(const auto data, openData(request, dataInputs(model->graph, carry)));
    std::vector<std::string> warnings = model->warnings;
    warnings.insert(warnings.end(), data->warnings().begin(), data->warnings().end());
    printWarnings(warnings, context.common);
    QS_TRY(const uint64_t poolBytes, memoryPerWorker(std::span(&schedule, 1), memoryLimitOrDefault(limit), 1));

    const bool clockNodes = o.perNode || !context.common.json.empty();
    std::optional<NodeTimes> times;
    if (clockNodes)
        times.emplace(schedule, NodeTimes::Keep::EachRun);
    Bench runner(
        schedule, *data, { plan, std::move(links) }, o.allTensors, times ? &*times : nullptr, poolBytes, threads);
    const ProgressFn progress = progressBar(context.common);
    std::vector<double> ms;
    double firstMs = 0;
    for (int64_t i = 0; i < o.warmup + o.runs; ++i) {
        QS_TRY(const double took, runner.run(size_t(i), i >= o.warmup, context.cancel));
        if (i == 0)
            firstMs = took;
        if (i >= o.warmup)
            ms.push_back(took);
        if (progress)
            progress("run", size_t(i + 1), size_t(o.warmup + o.runs));
    }
    clearProgress(context.common);
    const Timing t = timingOf(std::move(ms));
    if (!context.common.json.empty()) {
        nlohmann::ordered_json json = { { "schema_version", 1 }, { "path", o.model }, { "arithmetic", o.arithmetic },
            { "all_tensors", o.allTensors }, { "warmup", o.warmup }, { "runs", o.runs }, { "median_ms", t.medianMs },
            { "min_ms", t.minMs }, { "max_ms", t.maxMs }, { "threads", threads }, { "load_ms", loadMs },
            { "plan_ms", planMs }, { "first_run_ms", firstMs }, { "nodes", times->medianJson() } };
        QS_CHECK(writeOutput(
            context.common.json, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"));
    }
    if (context.common.json == "-")
        return int(kDone);
    std::cout << fmt::format("median {:.4f} ms, min {:.4f} ms, max {:.4f} ms ({} runs on {} thread{}; load {:.1f} ms, "
                             "plan {:.1f} ms, first run {:.1f} ms)\n",
        t.medianMs, t.minMs, t.maxMs, o.runs, threads, threads == 1 ? "" : "s", loadMs, planMs, firstMs);
    if (o.perNode)
        std::cout << times->table();
    return int(kDone);
}

} // namespace

Command addBench(CLI::App& app, Context& context)
{
    auto o = std::make_shared<BenchCommand>();
    app.add_option("MODEL", o->model, "ONNX file")->required();
    addDataOptions(app, o->data, DataNeed::Optional);
    addCommonOptions(app, context.common);
    app.add_option("--arithmetic", o->arithmetic, kArithmeticHelp);
    app.add_option("--warmup", o->warmup, "runs before the clock counts (default 3)");
    app.add_option("--runs", o->runs, "runs that count (default 20)");
    app.add_flag("--all-tensors", o->allTensors, "compute the statistics of every tensor, as a comparison does");
    app.add_flag("--per-node", o->perNode, "also print the time that each node takes");
    return [o](Context& c) { return bench(*o, c); };
}

} // namespace qs::cli
