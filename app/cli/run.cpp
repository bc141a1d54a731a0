// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/node_times.h"

#include "core/analysis/rows/fill_rows.h"
#include "core/base/name_pattern.h"
#include "core/base/work/memory.h"
#include "core/data/arrays/npz_writer.h"
#include "core/engine/run/sample_loop.h"
#include "core/onnx/import.h"
#include "core/project/files/used_files.h"
#include "core/project/snapshot/samples.h"
#include "core/quant/model/load_warnings.h"
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

/// A model and its data, ready to run, and what is wanted of it.
struct OpenedRun {
    std::shared_ptr<const Plan> plan;
    ArithmeticProfile profile;
    std::shared_ptr<const DataSource> data;
    std::vector<ValueId> wanted;
    std::vector<std::string> names; ///< of these
    CarriedState state;
    std::shared_ptr<const Schedule> schedule;
    std::vector<std::string> warnings;
};

Result<OpenedRun> openRun(const RunCommand& o, const CommonOptions& common)
{
    QS_TRY(const ArithmeticProfile profile, arithmeticProfile(o.arithmetic));
    QS_TRY(const DataRequest request, dataRequest(o.data, common));
    QS_TRY(const CarryNames carry, carryPairs(common));
    QS_TRY(const uint64_t limit, memoryLimit(common));
    FileRoles files;
    addFilesOf(files, common);
    addFilesOf(files, o.data);
    files.reads(o.model, "the model");
    files.writes(o.out, "the file of arrays");
    QS_CHECK(checkFiles(files));
    QS_TRY(const auto model, importModel(o.model, memoryLimitOrDefault(limit)));
    const auto plan = Plan::make(model, { .profile = profile, .memoryLimit = memoryLimitOrDefault(limit) });
    addFilesOf(files, *model, "the model");
    QS_CHECK(files.check());
    std::vector<std::string> warnings = model->warnings;
    std::ranges::move(loadWarnings(model), std::back_inserter(warnings));
    QS_TRY(auto wanted, wantedValues(o, *plan, warnings));
    const Graph& graph = plan->graph();
    QS_CHECK(CarriedState::make(plan, carry)); // names first
    QS_TRY(auto data, openDataFor(graph, request, carry));
    QS_TRY(CarriedState state, CarriedState::make(plan, carry, data->initialStates()));
    warnings.insert(warnings.end(), data->warnings().begin(), data->warnings().end());
    Demand demand { wanted, {} };
    const auto carried = state.outputs();
    demand.values.insert(demand.values.end(), carried.begin(), carried.end());
    QS_TRY(auto schedule, Schedule::make(plan, std::move(demand)));
    std::vector<std::string> names;
    for (const ValueId id : wanted)
        names.push_back(graph.value(id).name);
    return OpenedRun { plan, profile, std::move(data), std::move(wanted), std::move(names), std::move(state),
        std::move(schedule), std::move(warnings) };
}

/// What comes of the samples: arrays in a file, else lines of text. Several workers hand theirs over.
class RunOutput {
public:
    RunOutput(const RunCommand& command, const OpenedRun& run)
        : m_command(command)
        , m_run(run)
    {
    }

    Status begin()
    {
        if (m_command.out.empty())
            return {};
        QS_TRY(NpzWriter created, NpzWriter::create(m_command.out, m_run.names, m_run.data->feeds()));
        m_writer.emplace(std::move(created));
        return {};
    }

    Status take(const Feed& feed, const Execution& execution)
    {
        if (countsSaturation()) {
            const std::lock_guard lock(m_mutex);
            addPairCounts(m_pairCounts, execution.pairCounts());
        }
        for (size_t i = 0; i < m_run.wanted.size(); ++i)
            if (const DType type = execution.get(m_run.wanted[i]).dtype(); isContainer(type)) {
                Issue issue = badInput("turns out to be a " + std::string(dtypeName(type)) + ", not a tensor",
                    m_command.model, "leave it out with --tensors");
                issue.tensor = m_run.names[i];
                return issue;
            }
        return m_writer ? write(feed, execution) : describeAll(feed, execution);
    }

    Status finish()
    {
        std::ranges::sort(m_lines);
        return m_writer ? m_writer->finish() : Status();
    }

    std::string json(const NodeTimes* times) const
    {
        nlohmann::ordered_json json = { { "schema_version", 1 }, { "path", m_command.model },
            { "samples", m_run.data->samples() }, { "arithmetic", m_command.arithmetic }, { "tensors", m_run.names },
            { "out",
                m_command.out.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(m_command.out) } };
        if (times)
            json["nodes"] = times->json();
        if (countsSaturation())
            json["saturation"] = saturationJson(saturationRows(*m_run.plan, m_pairCounts));
        return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    }

    void print(const NodeTimes* times, const CommonOptions& common) const
    {
        for (const auto& [sample, text] : m_lines)
            std::cout << text;
        if (m_writer && !common.quiet)
            std::cout << fmt::format(
                "{}: {} tensors of {} samples\n", m_command.out, m_run.names.size(), m_run.data->samples());
        if (times)
            std::cout << times->table();
        if (countsSaturation() && !common.quiet)
            std::cout << saturationText(saturationRows(*m_run.plan, m_pairCounts), common.verbose);
    }

private:
    bool countsSaturation() const { return m_run.profile == ArithmeticProfile::IntegerAvx2; }

    Status write(const Feed& feed, const Execution& execution)
    {
        std::vector<Tensor> tensors;
        for (const ValueId id : m_run.wanted)
            tensors.push_back(execution.get(id));
        return m_writer->add(feed.firstSample / std::max<size_t>(feed.samples, 1), tensors);
    }

    Status describeAll(const Feed& feed, const Execution& execution)
    {
        std::string text;
        for (size_t i = 0; i < m_run.wanted.size(); ++i)
            if (const Tensor& value = execution.get(m_run.wanted[i]); value.dtype() != DType::String)
                text += fmt::format(
                    "{}: {}\n", m_run.data->sampleName(feed.firstSample), describe(m_run.names[i], value));
        const std::lock_guard lock(m_mutex);
        m_lines.emplace_back(feed.firstSample, std::move(text));
        return {};
    }

    const RunCommand& m_command;
    const OpenedRun& m_run;
    std::optional<NpzWriter> m_writer;
    std::mutex m_mutex; ///< for the following
    std::vector<std::pair<size_t, std::string>> m_lines; ///< by first sample
    std::map<NodeId, PairCounts> m_pairCounts;
};

Result<int> run(const RunCommand& o, Context& context)
{
    const CommonOptions& common = context.common;
    QS_TRY(const WorkContext work, workContext(context));
    QS_TRY(OpenedRun opened, openRun(o, common));
    const size_t feeds = opened.data->feeds();
    const size_t atOnce = opened.state.empty() ? asManyAtOnce(feeds, work.threadCount()) : 1;
    QS_TRY(SampleLoop loop, SampleLoop::make(std::span(&opened.schedule, 1), atOnce, work));
    printWarnings(opened.warnings, common);
    RunOutput output(o, opened);
    QS_CHECK(output.begin());
    std::optional<NodeTimes> times;
    if (o.perNode)
        times.emplace(opened.schedule);
    const auto one = [&](size_t index, const SampleWorker& worker) -> Status {
        QS_TRY(const Feed feed, opened.data->feed(index));
        Execution execution = worker.execution(opened.schedule);
        QS_CHECK(execution.bind(opened.state.inputs(feed.inputs)));
        QS_CHECK(times ? times->runAll(execution, work.cancel) : execution.runAll(work.cancel));
        opened.state.keep(execution);
        return output.take(feed, execution);
    };
    QS_CHECK(loop.run({ feeds, "run" }, one));
    QS_CHECK(unchanged(filesOf(opened.plan->model())));
    QS_CHECK(output.finish());
    clearProgress(common);
    const NodeTimes* const shown = times ? &*times : nullptr;
    if (!common.json.empty())
        QS_CHECK(writeOutput(common.json, output.json(shown)));
    if (common.json != "-")
        output.print(shown, common);
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
    addArithmetic(app, o->arithmetic);
    app.add_flag("--per-node", o->perNode, "also print the time that each node takes");
    return [o](Context& c) { return run(*o, c); };
}

} // namespace qs::cli
