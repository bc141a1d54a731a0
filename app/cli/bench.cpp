// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/node_times.h"

#include "core/base/work/memory.h"
#include "core/base/work/stopwatch.h"
#include "core/engine/run/sample_loop.h"
#include "core/kernels/statistics/pair_sums.h"
#include "core/onnx/import.h"
#include "core/project/files/used_files.h"
#include "core/project/snapshot/samples.h"
#include "core/stats/histogram.h"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace qs::cli {

namespace {

struct BenchCommand {
    std::string model, arithmetic = "simulated";
    int64_t warmup = 3, runs = 20;
    bool allTensors = false, statistics = false, perNode = false;
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

/// A model and its data, ready to run.
struct OpenedBench {
    std::shared_ptr<const DataSource> data;
    CarriedState state;
    std::shared_ptr<const Schedule> schedule;
    std::vector<std::string> warnings;
    double loadMs = 0, planMs = 0;
    OpenedFiles modelFiles;
};

/// One plan, run again and again on all threads.
class Bench {
public:
    /// `times`: of the runs that count; null: no clock around nodes.
    Bench(const BenchCommand& command, OpenedBench& opened, NodeTimes* times)
        : m_command(command)
        , m_opened(opened)
        , m_times(times)
    {
        if (command.statistics)
            m_statistics.resize(opened.schedule->plan().graph().values().size());
    }

    /// Run number `index` over its sample (samples are used in turn).
    Status run(size_t index, const SampleWorker& worker, const CancelToken& cancel)
    {
        QS_TRY(const Feed feed, m_opened.data->feed(index % m_opened.data->feeds()));
        const bool counted = index >= size_t(m_command.warmup);
        const Stopwatch watch;
        Execution execution = worker.execution(m_opened.schedule);
        QS_CHECK(execution.bind(m_opened.state.inputs(feed.inputs)));
        if (!m_statistics.empty())
            QS_CHECK(observed(execution, counted, cancel));
        else
            QS_CHECK(m_times && counted ? m_times->runAll(execution, cancel) : execution.runAll(cancel));
        const double ms = watch.ms();
        m_opened.state.keep(execution);
        if (index == 0)
            m_firstMs = ms;
        if (counted)
            m_ms.push_back(ms);
        return {};
    }

    double firstMs() const { return m_firstMs; }
    std::vector<double> countedMs() && { return std::move(m_ms); }

private:
    Status observed(Execution& execution, bool counted, const CancelToken& cancel)
    {
        std::vector<double> ms;
        const Graph& graph = m_opened.schedule->plan().graph();
        auto take = [&](ValueId id) {
            if (!id.valid() || !execution.has(id))
                return;
            m_statistics[id.index()].add(execution.get(id));
            if (!m_opened.state.carries(id))
                execution.release(id);
        };
        std::ranges::for_each(graph.inputs(), take);
        for (const Schedule::Task& task : m_opened.schedule->tasks()) {
            if (cancel.cancelled())
                return cancelled();
            const Stopwatch watch;
            QS_CHECK(execution.step(&cancel));
            std::ranges::for_each(task.outputs, take);
            ms.push_back(watch.ms());
        }
        if (m_times && counted)
            m_times->add(ms);
        return {};
    }

    const BenchCommand& m_command;
    OpenedBench& m_opened;
    NodeTimes* m_times;
    double m_firstMs = 0;
    std::vector<double> m_ms; ///< of the runs that count
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

Status checkRuns(const BenchCommand& o)
{
    if (o.warmup < 0 || o.warmup > 1'000'000)
        return badUse("--warmup must be between 0 and 1000000", "leave it out for 3");
    if (o.allTensors && o.statistics)
        return badUse("--all-tensors keeps what --statistics drops", "give one of them");
    if (o.runs < 1 || o.runs > 1'000'000)
        return badUse("--runs must be between 1 and 1000000", "leave it out for 20");
    return {};
}

Result<OpenedBench> openBench(const BenchCommand& o, const CommonOptions& common)
{
    QS_TRY(const ArithmeticProfile profile, arithmeticProfile(o.arithmetic));
    QS_CHECK(checkRuns(o));
    DataOptions dataOptions = o.data;
    if (!dataOptions.given())
        dataOptions.data = "random:1";
    QS_TRY(const DataRequest request, dataRequest(dataOptions, common));
    FileRoles files;
    addFilesOf(files, common);
    addFilesOf(files, o.data);
    files.reads(o.model, "the model");
    QS_CHECK(checkFiles(files));
    Stopwatch watch;
    QS_TRY(uint64_t limit, memoryLimit(common));
    limit = memoryLimitOrDefault(limit);
    QS_TRY(const auto model, importModel(o.model, limit));
    const double loadMs = watch.lap();
    addFilesOf(files, *model, "the model");
    QS_CHECK(files.check());
    const auto plan = Plan::make(model, { .profile = profile, .memoryLimit = limit });
    QS_TRY(const CarryNames carry, carryPairs(common));
    QS_CHECK(CarriedState::make(plan, carry)); // names first
    QS_TRY(auto data, openDataFor(model->graph, request, carry));
    QS_TRY(CarriedState state, CarriedState::make(plan, carry, data->initialStates()));
    std::vector<ValueId> wanted = demanded(*plan, o.allTensors || o.statistics);
    for (const ValueId output : state.outputs())
        if (std::ranges::find(wanted, output) == wanted.end())
            wanted.push_back(output);
    QS_TRY(auto schedule, Schedule::make(plan, { std::move(wanted), {} }));
    const double planMs = watch.lap();
    std::vector<std::string> warnings = model->warnings;
    warnings.insert(warnings.end(), data->warnings().begin(), data->warnings().end());
    return OpenedBench { std::move(data), std::move(state), std::move(schedule), std::move(warnings), loadMs, planMs,
        filesOf(*model) };
}

Result<int> bench(const BenchCommand& o, Context& context)
{
    const CommonOptions& common = context.common;
    QS_TRY(const WorkContext work, workContext(context));
    QS_TRY(OpenedBench opened, openBench(o, common));
    printWarnings(opened.warnings, common);
    QS_TRY(SampleLoop loop, SampleLoop::make(std::span(&opened.schedule, 1), 1, work));
    std::optional<NodeTimes> times;
    if (o.perNode || !common.json.empty())
        times.emplace(opened.schedule, NodeTimes::Keep::EachRun);
    Bench runner(o, opened, times ? &*times : nullptr);
    QS_CHECK(loop.run({ size_t(o.warmup + o.runs), "run" },
        [&](size_t index, const SampleWorker& worker) { return runner.run(index, worker, work.cancel); }));
    QS_CHECK(unchanged(opened.modelFiles));
    clearProgress(common);
    const double firstMs = runner.firstMs();
    const Timing t = timingOf(std::move(runner).countedMs());
    const size_t threads = work.threadCount();
    if (!common.json.empty()) {
        nlohmann::ordered_json json = { { "schema_version", 1 }, { "path", o.model }, { "arithmetic", o.arithmetic },
            { "all_tensors", o.allTensors }, { "statistics", o.statistics }, { "warmup", o.warmup }, { "runs", o.runs },
            { "median_ms", t.medianMs }, { "min_ms", t.minMs }, { "max_ms", t.maxMs }, { "threads", threads },
            { "load_ms", opened.loadMs }, { "plan_ms", opened.planMs }, { "first_run_ms", firstMs },
            { "nodes", times->medianJson() } };
        QS_CHECK(writeOutput(
            common.json, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"));
    }
    if (common.json == "-")
        return int(kDone);
    std::cout << fmt::format("median {:.4f} ms, min {:.4f} ms, max {:.4f} ms ({} runs on {} thread{}; load {:.1f} ms, "
                             "plan {:.1f} ms, first run {:.1f} ms)\n",
        t.medianMs, t.minMs, t.maxMs, o.runs, threads, threads == 1 ? "" : "s", opened.loadMs, opened.planMs, firstMs);
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
    addArithmetic(app, o->arithmetic);
    app.add_option("--warmup", o->warmup, "runs before the clock counts (default 3)");
    app.add_option("--runs", o->runs, "runs that count (default 20)");
    app.add_flag("--all-tensors", o->allTensors, "keep every tensor to the end of the run, as run --all-tensors does");
    app.add_flag("--statistics", o->statistics,
        "compute the statistics of every tensor and drop it then, as a comparison does; instead of --all-tensors");
    app.add_flag("--per-node", o->perNode, "also print the time that each node takes");
    return [o](Context& c) { return bench(*o, c); };
}

} // namespace qs::cli
