// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/sensitivity/variant_runs.h"

#include "core/analysis/tasks/scores.h"
#include "core/engine/lowered/content_key.h"
#include "core/graph/handed_on.h"
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
    into.outputs.resize(std::max(into.outputs.size(), from.outputs.size()));
    for (size_t o = 0; o < from.outputs.size(); ++o) {
        into.outputs[o].signal += from.outputs[o].signal;
        into.outputs[o].noise += from.outputs[o].noise;
        into.outputs[o].handedOn = from.outputs[o].handedOn;
        into.outputs[o].agreed.merge(from.outputs[o].agreed);
    }
    into.labels += from.labels;
    into.right += from.right;
    into.classes += from.classes;
    into.agreeing += from.agreeing;
    into.positions += from.positions;
    into.divergence += from.divergence;
}

Number share(size_t part, size_t whole) { return whole == 0 ? Number() : Number(double(part) / double(whole)); }

} // namespace

Number OutputScore::Sums::sqnrDb() const
{
    if (noise == 0 || signal == 0)
        return std::nullopt;
    return 10 * std::log10(signal / noise);
}

Number OutputScore::sqnrDb() const { return Sums { signal, noise }.sqnrDb(); }

Number OutputScore::worstSqnrDb() const
{
    Number worst;
    const bool results = std::ranges::any_of(outputs, [](const Sums& sums) { return !sums.handedOn; });
    for (const Sums& sums : outputs)
        if (const Number db = sums.sqnrDb(); db && (!worst || *db < *worst) && (!results || !sums.handedOn))
            worst = db;
    return worst;
}

Number OutputScore::accuracy() const { return share(right, labels); }
Number OutputScore::agreement() const { return share(agreeing, classes); }

size_t OutputScore::leastAgreeing() const
{
    size_t least = SIZE_MAX;
    for (size_t o = 0; o < outputs.size(); ++o)
        if (const Number share = outputs[o].agreed.share();
            share && (least == SIZE_MAX || *share < *outputs[least].agreed.share()))
            least = o;
    return least;
}

Number OutputScore::taskAgreement() const
{
    const size_t least = leastAgreeing();
    return least == SIZE_MAX ? Number() : outputs[least].agreed.share();
}

Number OutputScore::klMean() const { return positions == 0 ? Number() : Number(divergence / double(positions)); }

Result<VariantRuns> VariantRuns::make(std::shared_ptr<const Plan> reference, Plans bases,
    std::shared_ptr<const DataSource> data, const Options& options, const WorkContext& work)
{
    const size_t feeds = data->feeds(), threads = work.threadCount();
    if (feeds == 0)
        return badInput("there are no samples to run", {}, "give at least one sample");
    QS_CHECK(CarriedState::make(reference, options.carry, data->initialStates()));
    std::vector<std::shared_ptr<const Schedule>> schedules;
    uint64_t cached = 0;
    for (const auto& base : bases) {
        QS_TRY(auto schedule, outputsOf(base));
        cached += schedule->estimatedKeptBytes(CacheUse::FindAndKeepCodes);
        schedules.push_back(std::move(schedule));
    }
    Options fitting = options;
    fitting.cacheBytes = std::min(options.cacheBytes, work.memoryBytes() / 2);
    WorkContext beside = work;
    beside.memoryLimit = work.memoryBytes() - fitting.cacheBytes;
    QS_TRY(SampleLoop loop, SampleLoop::make(schedules, threads, beside));
    VariantRuns runs(std::move(fitting), work, std::move(loop));
    runs.m_reference = std::move(reference);
    runs.m_tasks = outputTasks(*runs.m_reference, runs.m_reference->graph().outputs(), options.tasks);
    runs.m_counted.resize(runs.m_tasks.size());
    for (size_t o = 0; o < runs.m_tasks.size() && options.agreement; ++o) {
        runs.m_counted[o] = runs.m_counted[o] || isCounted(runs.m_tasks[o]);
        for (const size_t part : runs.m_tasks[o].parts)
            runs.m_counted[part] = true;
    }
    const auto guesses = [](const OutputTask& task) { return task.tokens.has_value(); };
    if (const auto found = std::ranges::find_if(runs.m_tasks, guesses);
        options.divergences && found != runs.m_tasks.end())
        runs.m_guesses = size_t(found - runs.m_tasks.begin());
    runs.m_bases = std::move(bases);
    runs.m_data = std::move(data);
    // State is carried through all samples, so they belong to one turn.
    runs.m_turnFeeds = feeds;
    if (options.carry.empty() && cached > 0)
        runs.m_turnFeeds = std::clamp<uint64_t>(runs.m_options.cacheBytes / cached, std::min(threads, feeds), feeds);
    return runs;
}

/// Samples of the turn that run at once.
size_t VariantRuns::atOnce() const
{
    return m_options.carry.empty() ? allOrOneAtOnce(m_turn.samples.size(), m_loop.workers()) : 1;
}

/// Reads the feeds, runs the reference and the base models on them, and fills the cache on the way.
Status VariantRuns::begin(size_t first, size_t count)
{
    m_turn = {};
    m_turn.first = first;
    m_turn.samples.resize(count);
    if (m_options.carry.empty())
        m_turn.cache = std::make_unique<ActivationCache>(m_options.cacheBytes);
    QS_CHECK(runReference());
    for (const auto& base : m_bases)
        QS_CHECK(runBase(base));
    return {};
}

Status VariantRuns::runReference()
{
    QS_TRY(FedModel model, fed(m_reference));
    QS_TRY(const auto schedule, outputsOf(m_reference));
    const SampleLoop::Pass pass { .samples = m_turn.samples.size(), .atMost = atOnce() };
    return m_loop.run(pass, [&](size_t index, const SampleWorker& worker) -> Status {
        Sample& sample = m_turn.samples[index];
        QS_TRY(sample.feed, m_data->feed(m_turn.first + index));
        sample.key = sampleKey(sample.feed.inputs);
        QS_TRY(const Execution execution, execute({ schedule, worker, CacheUse::FindAndKeepCodes }, sample, model));
        for (const ValueId out : schedule->demand().values) {
            const Tensor& x = execution.get(out);
            sample.real.push_back(isFloat(x.dtype()));
            const bool kept = sample.real.back() || m_counted[sample.outputs.size()];
            sample.outputs.push_back({ kept ? toFloats(x) : std::vector<float>(), x.shape() });
        }
        return {};
    });
}

Status VariantRuns::runBase(const std::shared_ptr<const Plan>& base)
{
    QS_TRY(const auto schedule, outputsOf(base));
    QS_TRY(FedModel model, fed(base));
    Parts parts(m_turn.samples.size());
    const SampleLoop::Pass pass { .samples = parts.size(), .atMost = atOnce() };
    QS_CHECK(m_loop.run(pass, [&](size_t index, const SampleWorker& worker) -> Status {
        const Sample& sample = m_turn.samples[index];
        QS_TRY(const Execution execution, execute({ schedule, worker, CacheUse::FindAndKeepCodes }, sample, model));
        parts[index] = score(sample, execution, schedule->demand().values);
        return {};
    }));
    if (const auto key = outputsKey(*base); key && m_turn.cache)
        m_turn.known.emplace(*key, std::move(parts));
    return {};
}

Result<FedModel> VariantRuns::fed(const std::shared_ptr<const Plan>& plan) const
{
    QS_TRY(const CarriedState reference, CarriedState::make(m_reference, m_options.carry, m_data->initialStates()));
    QS_TRY(CarriedState state, CarriedState::make(plan, m_options.carry, m_data->initialStates()));
    return FedModel(std::move(state), reference);
}

Result<Execution> VariantRuns::execute(const Job& job, const Sample& sample, FedModel& model) const
{
    Execution execution = job.worker.execution(job.schedule);
    QS_CHECK(execution.bind(model.inputs(sample.feed.inputs)));
    if (m_turn.cache)
        execution.useCache(*m_turn.cache, sample.key, job.use);
    QS_CHECK(execution.runAll(m_work.cancel));
    model.keep(execution);
    return execution;
}

OutputScore VariantRuns::score(const Sample& sample, const Execution& execution, std::span<const ValueId> outputs) const
{
    OutputScore total;
    total.outputs.resize(sample.outputs.size());
    for (size_t o = 0; o < sample.outputs.size(); ++o) {
        const size_t place = m_options.outputs.empty() ? o : m_options.outputs[o];
        if (place >= outputs.size() || !sample.real[o])
            continue;
        const std::vector<float>& x = sample.outputs[o].values;
        const std::vector<float> y = floatsOf(execution.get(outputs[place]));
        if (x.size() != y.size())
            continue;
        PairSums sums;
        addPairSums(sums, x.data(), y.data(), nullptr, x.size(), nullptr, {});
        total.signal += sums.xx;
        total.noise += sums.ee;
        total.outputs[o] = { sums.xx, sums.ee, isHandedOn(m_reference->graph(), m_reference->graph().outputs()[o]) };
        if (o == m_guesses)
            addDivergence(total, sample, y, execution.get(outputs[place]).shape());
        if (o == 0)
            addClasses(total, sample, y, execution.get(outputs[place]).shape());
    }
    if (m_options.agreement)
        addAgreement(total, sample, execution, outputs);
    return total;
}

void VariantRuns::addAgreement(
    OutputScore& total, const Sample& sample, const Execution& execution, std::span<const ValueId> outputs) const
{
    std::vector<OutputValues> y(sample.outputs.size());
    for (size_t o = 0; o < y.size(); ++o) {
        const size_t place = m_options.outputs.empty() ? o : m_options.outputs[o];
        if (!m_counted[o] || place >= outputs.size())
            continue;
        const Tensor& made = execution.get(outputs[place]);
        if (isFloat(made.dtype()) == sample.real[o]) // else codes, which say nothing
            y[o] = { toFloats(made), made.shape() };
    }
    for (size_t o = 0; o < y.size(); ++o)
        total.outputs[o].agreed = agreementCounts(m_tasks, o, sample.outputs, y, sample.feed, m_options.tasks.boxes);
}

/// Of the first output, where it is for classes: its shape tells whether a sequence has several positions.
void VariantRuns::addClasses(
    OutputScore& total, const Sample& sample, const std::vector<float>& y, const Shape& shape) const
{
    const size_t samples = sample.feed.samples;
    const std::vector<float>& x = sample.outputs[0].values;
    const TaskKind kind = m_tasks[0].what.kind;
    const bool scored = (kind == TaskKind::Classes || kind == TaskKind::Sequence) && x.size() % samples == 0;
    const auto rows = scored ? scoreRows(shape, samples) : std::nullopt;
    if (!rows || rows->positions != 1)
        return;
    const size_t slice = x.size() / samples;
    for (size_t s = 0; s < samples; ++s) {
        const auto chosen = argmax(y.data() + s * slice, slice);
        ++total.classes;
        total.agreeing += chosen >= 0 && chosen == argmax(x.data() + s * slice, slice);
        const auto label = m_data->label(sample.feed.firstSample + s);
        if (!label)
            continue;
        ++total.labels;
        total.right += chosen == *label;
    }
}

void VariantRuns::addDivergence(
    OutputScore& total, const Sample& sample, const std::vector<float>& y, const Shape& shape) const
{
    const size_t samples = sample.feed.samples;
    const std::vector<float>& x = sample.outputs[m_guesses].values;
    const auto rows = scoreRows(shape, samples);
    if (!rows || x.size() % samples != 0)
        return;
    const auto prompts
        = promptTokens(*m_tasks[m_guesses].tokens, sample.feed.inputs, samples, rows->positions, rows->classes);
    const size_t slice = x.size() / samples;
    for (size_t s = 0; s < prompts.size(); ++s) {
        const ScoreSums sums = scoreSums(x.data() + s * slice, y.data() + s * slice, *rows, m_tasks[m_guesses].scores,
            { nullptr, &prompts[s], nullptr });
        total.positions += size_t(sums.distributions);
        total.divergence += sums.divergence;
    }
}

Result<VariantRuns::Parts> VariantRuns::run(std::shared_ptr<const Plan> plan, const SampleWorker& worker)
{
    const auto key = m_turn.cache ? outputsKey(*plan) : std::nullopt;
    if (key) {
        const std::lock_guard lock(*m_mutex);
        if (const auto known = m_turn.known.find(*key); known != m_turn.known.end())
            return known->second;
    }
    QS_TRY(const auto schedule, outputsOf(plan));
    QS_TRY(FedModel model, fed(plan));
    Parts parts;
    for (const Sample& sample : m_turn.samples) {
        QS_TRY(const Execution execution, execute({ schedule, worker, CacheUse::Find }, sample, model));
        parts.push_back(score(sample, execution, schedule->demand().values));
    }
    if (key) {
        const std::lock_guard lock(*m_mutex);
        m_turn.known.emplace(*key, parts);
    }
    return parts;
}

Status VariantRuns::rebase(size_t base, std::shared_ptr<const Plan> plan)
{
    m_bases[base] = std::move(plan);
    return m_turn.samples.empty() ? Status() : runBase(m_bases[base]);
}

Result<std::vector<OutputScore>> VariantRuns::measure(
    size_t count, const MakePlan& plan, std::string_view phase, const Share& share)
{
    std::vector<OutputScore> scores(count);
    const size_t feeds = m_data->feeds();
    const size_t turns = (feeds + m_turnFeeds - 1) / m_turnFeeds;
    for (size_t t = 0; t < turns; ++t) {
        const size_t first = t * m_turnFeeds;
        if (m_turn.samples.empty() || m_turn.first != first)
            if (Status begun = begin(first, std::min(m_turnFeeds, feeds - first)); !begun.ok()) {
                m_turn = {};
                return std::move(begun).issue();
            }
        std::vector<Parts> parts(count);
        const SampleLoop::Pass pass { .samples = count,
            .phase = phase,
            .done = turns * share.done + t * count,
            .total = turns * std::max(share.total, count) };
        QS_CHECK(m_loop.run(pass, [&](size_t variant, const SampleWorker& worker) -> Status {
            QS_TRY(auto made, plan(variant));
            QS_TRY(parts[variant], run(std::move(made), worker));
            return {};
        }));
        for (size_t v = 0; v < count; ++v)
            for (const OutputScore& part : parts[v])
                merge(scores[v], part);
    }
    return scores;
}

} // namespace qs
