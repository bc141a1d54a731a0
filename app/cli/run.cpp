// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/node_times.h"

#include "core/analysis/rows/fill_rows.h"
#include "core/base/name_pattern.h"
#include "core/base/work/parallel.h"
#include "core/data/arrays/npz_writer.h"
#include "core/data/open_data.h"
#include "core/engine/run/carry.h"
#include "core/engine/run/execution.h"
#include "core/engine/run/memory_budget.h"
#include "core/project/memory.h"
#include "core/project/snapshot/loaded_model.h"
#include "core/project/snapshot/samples.h"
#include "core/report/text/saturation.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

namespace qs::cli {

namespace {

struct RunCommand {
    std::string model, out, arithmetic = "simulated";
    bool allTensors = false, perNode = false;
    std::vector<std::string> tensors;
    DataOptions data;
};

/// Values to write, by name, in graph order. All of them means those that exist: a fused integer unit has none inside.
Result<std::vector<ValueId>> wantedValues(const RunCommand& o, const Plan& plan, std::vector<std::string>& warnings)
{
    const Graph& graph = plan.graph();
    std::vector<ValueId> all;
    for (ValueId in : graph.inputs())
        all.push_back(in);
    for (const Node& node : graph.nodes())
        for (ValueId out : node.outputs)
            if (out.valid() && !plan.hidden(out))
                all.push_back(out);
    std::vector<ValueId> wanted;
    if (o.allTensors) {
        wanted = all;
    } else if (!o.tensors.empty()) {
        std::vector<std::string> names;
        for (const Value& v : graph.values())
            names.push_back(v.name);
        std::set<size_t> chosen;
        for (const std::string& pattern : splitPatterns(o.tensors, names)) {
            auto found = matchNames(pattern, names);
            if (!found.ok()) {
                Issue issue = std::move(found).issue();
                issue.file = o.model;
                return issue;
            }
            // A pattern means what exists; a single name is asked for and refused later.
            if (found->size() > 1)
                std::erase_if(*found, [&](size_t index) { return plan.hidden(ValueId(index)); });
            chosen.insert(found->begin(), found->end());
        }
        for (size_t index : chosen)
            wanted.emplace_back(index);
    } else {
        wanted.assign(graph.outputs().begin(), graph.outputs().end());
    }
    std::erase_if(wanted, [&](ValueId id) {
        const std::string container = plan.container(id);
        if (!container.empty())
            warnings.push_back("tensor '" + graph.value(id).name + "' is a " + container + " and is left out");
        return !container.empty();
    });
    return wanted;
}

/// Runs every feed; `take` gets the wanted tensors of each, from worker threads.
class Runner {
public:
    Runner(const LoadedModel& model, const DataSource& data, std::shared_ptr<const Schedule> schedule, Context& context,
        NodeTimes* times)
        : m_model(model)
        , m_data(data)
        , m_schedule(std::move(schedule))
        , m_context(context)
        , m_times(times)
    {
    }

    /// Feeds go to `workers` at a time; a single worker shares its operators among `threads`.
    Status run(size_t workers, size_t threads, uint64_t poolBytes,
        const std::vector<std::pair<std::string, std::string>>& carry,
        const std::function<Status(const Feed&, const Execution&)>& take)
    {
        QS_TRY(auto links, findCarry(*m_model.plan, carry));
        m_state.emplace(m_model.plan, std::move(links));
        if (workers == 1 && threads > 1)
            m_team.emplace(threads);
        std::vector<std::unique_ptr<BufferPool>> pools(workers);
        for (auto& pool : pools)
            pool = std::make_unique<BufferPool>(poolBytes);
        const ProgressFn progress = progressBar(m_context.common);
        std::mutex mutex;
        size_t done = 0;
        return parallelTry(m_data.feeds(), workers, m_context.cancel, [&](size_t index, size_t worker) -> Status {
            QS_CHECK(one(index, *pools[worker], take));
            const std::lock_guard lock(mutex);
            if (progress)
                progress("run", ++done, m_data.feeds());
            return {};
        });
    }

private:
    Status one(size_t index, BufferPool& pool, const std::function<Status(const Feed&, const Execution&)>& take)
    {
        QS_TRY(const Feed feed, m_data.feed(index));
        Execution execution(m_schedule, pool);
        execution.useTeam(m_team ? &*m_team : nullptr);
        QS_CHECK(execution.bind(m_state->inputs(feed.inputs)));
        QS_CHECK(m_times ? m_times->runAll(execution, m_context.cancel) : execution.runAll(m_context.cancel));
        m_state->keep(execution);
        return take(feed, execution);
    }

    const LoadedModel& m_model;
    const DataSource& m_data;
    std::shared_ptr<const Schedule> m_schedule;
    Context& m_context;
    NodeTimes* m_times; ///< null: no clock
    std::optional<WorkerTeam> m_team;
    std::optional<CarriedState> m_state;
};

/// One line an output: its class or its first elements.
std::string describe(const std::string& name, const Tensor& t)
{
    const auto values = toDoubles(t);
    std::string text = fmt::format("{}  {} {}", name, dtypeName(t.dtype()), shapeText(t.shape()));
    if (values.size() > 1) {
        const auto best = std::ranges::max_element(values) - values.begin();
        text += fmt::format("  largest at {}: {:.6g}", best, values[size_t(best)]);
    } else if (values.size() == 1) {
        text += fmt::format("  {:.6g}", values[0]);
    }
    return text;
}

Result<int> run(const RunCommand& o, Context& context)
{
    QS_TRY(const ArithmeticProfile profile, arithmeticProfile(o.arithmetic));
    QS_TRY(const DataRequest request, dataRequest(o.data, context.common));
    QS_TRY(const size_t threads, threadCount(context.common));
    QS_TRY(const uint64_t limit, memoryLimit(context.common));
    QS_TRY(const auto carry, carryPairs(context.common));
    QS_CHECK(checkWritable({ o.out, context.common.json }, { o.model, o.data.data, o.data.preprocess }));
    QS_TRY(const LoadedModel model, loadModel(o.model, { KernelMode::Fast, profile }));
    std::vector<std::string> warnings = model.model->warnings;
    QS_TRY(const auto wanted, wantedValues(o, *model.plan, warnings));
    QS_CHECK(findCarry(*model.plan, carry));
    QS_TRY(const auto data, openData(request, dataInputs(model.graph(), carry)));
    warnings.insert(warnings.end(), data->warnings().begin(), data->warnings().end());
    Demand demand { wanted, {} };
    for (const auto& [out, in] : carry)
        if (const ValueId id = model.graph().findValue(out); id.valid())
            demand.values.push_back(id);
    QS_TRY(const auto schedule, Schedule::make(model.plan, demand));
    const size_t workers = carry.empty() ? std::max<size_t>(std::min(threads, data->feeds()), 1) : size_t(1);
    QS_TRY(const uint64_t poolBytes, memoryPerWorker(std::span(&schedule, 1), memoryLimitOrDefault(limit), workers));
    printWarnings(warnings, context.common);

    std::vector<std::string> names;
    for (ValueId id : wanted)
        names.push_back(model.graph().value(id).name);
    std::optional<NpzWriter> writer;
    if (!o.out.empty()) {
        QS_TRY(NpzWriter created, NpzWriter::create(o.out, names, data->feeds()));
        writer.emplace(std::move(created));
    }
    std::mutex mutex;
    std::vector<std::pair<size_t, std::string>> lines;
    std::map<NodeId, PairCounts> pairCounts;
    std::optional<NodeTimes> times;
    if (o.perNode)
        times.emplace(schedule);
    Runner runner(model, *data, schedule, context, times ? &*times : nullptr);
    QS_CHECK(
        runner.run(workers, threads, poolBytes, carry, [&](const Feed& feed, const Execution& execution) -> Status {
            if (profile == ArithmeticProfile::IntegerAvx2) {
                const std::lock_guard lock(mutex);
                addPairCounts(pairCounts, execution.pairCounts());
            }
            for (size_t i = 0; i < wanted.size(); ++i)
                if (const DType type = execution.get(wanted[i]).dtype(); isContainer(type)) {
                    Issue issue = badInput("turns out to be a " + std::string(dtypeName(type)) + ", not a tensor",
                        o.model, "leave it out with --tensors");
                    issue.tensor = names[i];
                    return issue;
                }
            if (writer) {
                std::vector<Tensor> tensors;
                for (ValueId id : wanted)
                    tensors.push_back(execution.get(id));
                return writer->add(feed.firstSample / std::max<size_t>(feed.samples, 1), tensors);
            }
            std::string text;
            for (size_t i = 0; i < wanted.size(); ++i)
                if (execution.get(wanted[i]).dtype() != DType::String)
                    text += fmt::format(
                        "{}: {}\n", data->sampleName(feed.firstSample), describe(names[i], execution.get(wanted[i])));
            const std::lock_guard lock(mutex);
            lines.emplace_back(feed.firstSample, std::move(text));
            return {};
        }));
    if (writer)
        QS_CHECK(writer->finish());
    clearProgress(context.common);
    if (!context.common.json.empty()) {
        nlohmann::ordered_json json = { { "schema_version", 1 }, { "path", o.model }, { "samples", data->samples() },
            { "arithmetic", o.arithmetic }, { "tensors", names },
            { "out", o.out.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(o.out) } };
        if (times)
            json["nodes"] = times->json();
        if (profile == ArithmeticProfile::IntegerAvx2)
            json["saturation"] = saturationJson(saturationRows(*model.plan, pairCounts));
        QS_CHECK(writeOutput(
            context.common.json, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"));
    }
    if (context.common.json == "-")
        return int(kDone);
    std::ranges::sort(lines);
    for (const auto& [sample, text] : lines)
        std::cout << text;
    if (writer && !context.common.quiet)
        std::cout << fmt::format("{}: {} tensors of {} samples\n", o.out, names.size(), data->samples());
    if (times)
        std::cout << times->table();
    if (profile == ArithmeticProfile::IntegerAvx2 && !context.common.quiet)
        std::cout << saturationText(saturationRows(*model.plan, pairCounts), context.common.verbose);
    return int(kDone);
}

} // namespace

Command addRun(CLI::App& app, Context& context)
{
    auto o = std::make_shared<RunCommand>();
    app.add_option("MODEL", o->model, "ONNX file")->required();
    addDataOptions(app, o->data);
    addCommonOptions(app, context.common);
    app.add_option("--out", o->out, "npz file: one array a tensor, with a leading sample axis");
    auto* all = app.add_flag("--all-tensors", o->allTensors, "graph inputs and every output of every node");
    app.add_option("--tensors", o->tensors, "names, globs or re:REGEX, comma-separated; may be repeated")
        ->allow_extra_args(false)
        ->excludes(all);
    app.add_option("--arithmetic", o->arithmetic, kArithmeticHelp);
    app.add_flag("--per-node", o->perNode, "also print the time that each node takes");
    return [o](Context& c) { return run(*o, c); };
}

} // namespace qs::cli
