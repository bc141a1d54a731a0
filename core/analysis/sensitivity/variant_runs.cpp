// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/sensitivity/variant_runs.h"

#include "core/analysis/measure/classes.h"
#include "core/base/work/parallel.h"
#include "core/engine/lowered/content_key.h"
#include "core/engine/run/memory_budget.h"
#include "core/kernels/statistics/pair_sums.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace qs {

namespace {

std::vector<float> floatsOf(const Tensor& t) { return isFloat(t.dtype()) ? toFloats(t) : std::vector<float>(); }

Result<std::shared_ptr<const Schedule>> outputsOf(const std::shared_ptr<const Plan>& plan)
{
    const auto outputs = plan->graph().outputs();
    return Schedule::make(plan, { { outputs.begin(), outputs.end() }, {} });
}

/// Of all outputs together; nothing where some of them has none.
std::optional<Hash128> outputsKey(const Plan& plan)
{
    KeyBuilder builder;
    for (const ValueId out : plan.graph().outputs()) {
        if (const Tensor* constant = plan.constant(out))
            builder.add(contentKey(*constant));
        else if (const Hash128* key = plan.key(out))
            builder.add(*key);
        else
            return std::nullopt;
    }
    return builder.key();
}

void merge(OutputScore& into, const OutputScore& from)
{
    into.signal += from.signal;
    into.noise += from.noise;
    into.labels += from.labels;
    into.right += from.right;
}

} // namespace

Number OutputScore::sqnrDb() const
{
    if (noise == 0 || signal == 0)
        return std::nullopt;
    return 10 * std::log10(signal / noise);
}

Number OutputScore::accuracy() const
{
    if (labels == 0)
        return std::nullopt;
    return double(right) / double(labels);
}

struct VariantRuns::Job {
    std::shared_ptr<const Schedule> schedule;
    BufferPool& pool;
    Turn& turn;
    CacheUse use;
    const CancelToken& cancel;
    WorkerTeam* team;
};

Result<VariantRuns> VariantRuns::make(
    std::shared_ptr<const Plan> reference, Plans bases, std::shared_ptr<const DataSource> data, const Options& options)
{
    if (data->feeds() == 0)
        return badInput("there are no samples to run", {}, "give at least one sample");
    VariantRuns runs;
    runs.m_reference = std::move(reference);
    runs.m_bases = std::move(bases);
    runs.m_data = std::move(data);
    runs.m_options = options;
    const size_t workers = std::max<size_t>(options.threads, 1);
    QS_CHECK(findCarry(*runs.m_reference, options.carry));
    std::vector<std::shared_ptr<const Schedule>> schedules;
    uint64_t cached = 0;
    for (const auto& base : runs.m_bases) {
        QS_TRY(auto schedule, outputsOf(base));
        cached += schedule->estimatedKeptBytes(CacheUse::FindAndKeepCodes);
        schedules.push_back(std::move(schedule));
    }
    uint64_t each = UINT64_MAX;
    if (options.memoryLimit) {
        const uint64_t kept = std::min(options.cacheBytes, options.memoryLimit / 2);
        QS_TRY(each, memoryPerWorker(schedules, options.memoryLimit - kept, workers));
        runs.m_options.cacheBytes = kept;
    }
    for (size_t i = 0; i < workers; ++i)
        runs.m_pools.push_back(std::make_unique<BufferPool>(each));
    // State is carried through all samples, so they belong to one turn.
    const size_t feeds = runs.m_data->feeds();
    runs.m_turnFeeds = feeds;
    if (options.carry.empty() && cached > 0)
        runs.m_turnFeeds = std::clamp<uint64_t>(runs.m_options.cacheBytes / cached, std::min(workers, feeds), feeds);
    return runs;
}

/// Reads the feeds, runs the reference and the base models on them, and fills the cache on the way.
Status VariantRuns::begin(Turn& turn, size_t first, size_t count, const CancelToken& cancel)
{
    turn = {};
    turn.first = first;
    turn.samples.resize(count);
    const bool carried = !m_options.carry.empty();
    if (!carried)
        turn.cache = std::make_unique<ActivationCache>(m_options.cacheBytes);
    QS_TRY(const auto links, findCarry(*m_reference, m_options.carry));
    QS_TRY(const auto schedule, outputsOf(m_reference));
    const auto outputs = m_reference->graph().outputs();
    CarriedState state(m_reference, links);
    const size_t workers = m_pools.size();
    // Few samples: the threads work on the nodes of one.
    const bool alone = count < workers || carried;
    std::optional<WorkerTeam> shared;
    if (alone)
        shared.emplace(m_pools.size());
    WorkerTeam* const team = shared ? &*shared : nullptr;
    const auto one = [&](size_t index, size_t worker) -> Status {
        Sample& sample = turn.samples[index];
        QS_TRY(sample.feed, m_data->feed(first + index));
        sample.key = sampleKey(sample.feed.inputs);
        CarriedState none(m_reference, {});
        Execution execution(schedule, *m_pools[worker]);
        execution.useTeam(team);
        QS_CHECK(execution.bind((carried ? state : none).inputs(sample.feed.inputs)));
        if (turn.cache)
            execution.useCache(*turn.cache, sample.key, CacheUse::FindAndKeepCodes);
        QS_CHECK(execution.runAll(cancel));
        if (carried)
            state.keep(execution);
        for (const ValueId out : outputs)
            sample.outputs.push_back(floatsOf(execution.get(out)));
        return {};
    };
    QS_CHECK(parallelTry(count, alone ? 1 : workers, cancel, one));
    for (const auto& base : m_bases) {
        QS_TRY(const auto baseSchedule, outputsOf(base));
        QS_TRY(const auto baseLinks, findCarry(*base, m_options.carry));
        CarriedState baseState(base, baseLinks);
        Parts parts(count);
        const auto fill = [&](size_t index, size_t worker) -> Status {
            CarriedState none(base, {});
            return runSample({ baseSchedule, *m_pools[worker], turn, CacheUse::FindAndKeepCodes, cancel, team }, index,
                carried ? baseState : none, parts[index]);
        };
        QS_CHECK(parallelTry(count, alone ? 1 : workers, cancel, fill));
        if (const auto key = outputsKey(*base); key && !carried)
            turn.known.emplace(*key, std::move(parts));
    }
    return {};
}

Status VariantRuns::runSample(const Job& job, size_t index, CarriedState& state, OutputScore& result) const
{
    const Sample& sample = job.turn.samples[index];
    Execution execution(job.schedule, job.pool);
    execution.useTeam(job.team);
    QS_CHECK(execution.bind(state.inputs(sample.feed.inputs)));
    if (job.turn.cache)
        execution.useCache(*job.turn.cache, sample.key, job.use);
    QS_CHECK(execution.runAll(job.cancel));
    state.keep(execution);
    result = score(sample, execution, job.schedule->demand().values);
    return {};
}

OutputScore VariantRuns::score(const Sample& sample, const Execution& execution, std::span<const ValueId> outputs) const
{
    OutputScore total;
    for (size_t o = 0; o < std::min(outputs.size(), sample.outputs.size()); ++o) {
        const std::vector<float>& x = sample.outputs[o];
        const std::vector<float> y = floatsOf(execution.get(outputs[o]));
        if (x.size() != y.size())
            continue;
        PairSums sums;
        addPairSums(sums, x.data(), y.data(), nullptr, x.size(), nullptr, {});
        total.signal += sums.xx;
        total.noise += sums.ee;
        const auto& labels = m_data->labels();
        const size_t samples = sample.feed.samples, slice = x.size() / samples;
        if (o > 0 || slice < 2 || x.size() % samples != 0)
            continue;
        for (size_t s = 0; s < samples && sample.feed.firstSample + s < labels.size(); ++s) {
            ++total.labels;
            total.right += argmax(y.data() + s * slice, slice) == labels[sample.feed.firstSample + s];
        }
    }
    return total;
}

Result<VariantRuns::Parts> VariantRuns::run(
    Turn& turn, std::shared_ptr<const Plan> plan, BufferPool& pool, const CancelToken& cancel)
{
    const auto key = turn.cache ? outputsKey(*plan) : std::nullopt;
    if (key) {
        const std::lock_guard lock(*m_mutex);
        if (const auto known = turn.known.find(*key); known != turn.known.end())
            return known->second;
    }
    QS_TRY(const auto schedule, outputsOf(plan));
    QS_TRY(const auto links, findCarry(*plan, m_options.carry));
    CarriedState state(plan, links);
    Parts parts(turn.samples.size());
    for (size_t s = 0; s < parts.size(); ++s)
        QS_CHECK(runSample({ schedule, pool, turn, CacheUse::Find, cancel, nullptr }, s, state, parts[s]));
    if (key) {
        const std::lock_guard lock(*m_mutex);
        turn.known.emplace(*key, parts);
    }
    return parts;
}

Result<std::vector<OutputScore>> VariantRuns::measure(
    size_t count, const MakePlan& plan, std::string_view phase, const ProgressFn& progress, const CancelToken& cancel)
{
    std::vector<OutputScore> scores(count);
    const size_t feeds = m_data->feeds();
    const size_t turns = (feeds + m_turnFeeds - 1) / m_turnFeeds;
    size_t done = 0;
    for (size_t t = 0; t < turns; ++t) {
        const size_t first = t * m_turnFeeds;
        if (m_turn.samples.empty() || m_turn.first != first)
            if (Status begun = begin(m_turn, first, std::min(m_turnFeeds, feeds - first), cancel); !begun.ok()) {
                m_turn = {};
                return std::move(begun).issue();
            }
        std::vector<Parts> parts(count);
        const auto one = [&](size_t variant, size_t worker) -> Status {
            QS_TRY(auto made, plan(variant));
            QS_TRY(parts[variant], run(m_turn, std::move(made), *m_pools[worker], cancel));
            const std::lock_guard lock(*m_mutex);
            if (progress)
                progress(phase, ++done, count * turns);
            return {};
        };
        QS_CHECK(parallelTry(count, m_pools.size(), cancel, one));
        for (size_t v = 0; v < count; ++v)
            for (const OutputScore& part : parts[v])
                merge(scores[v], part);
    }
    return scores;
}

} // namespace qs
