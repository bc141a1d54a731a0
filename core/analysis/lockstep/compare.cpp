// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/compare.h"

#include "core/analysis/lockstep/lockstep.h"
#include "core/analysis/lockstep/pair_memory.h"
#include "core/analysis/lockstep/remembered_feeds.h"
#include "core/analysis/proof/network_proof.h"
#include "core/base/work/long_work.h"
#include "core/base/work/parallel.h"
#include "core/engine/run/memory_budget.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace qs {

namespace {

Status checkMemory(const Measured& m, size_t outputs, const CompareOptions& options)
{
    const size_t cells = m.pairs.size() * m.samples;
    const uint64_t bytes = (cells * (options.nodeAlone ? 2 : 1) + 2 * outputs * m.samples) * sizeof(PairSums);
    if (options.memoryLimit && bytes > options.memoryLimit)
        return badInput("keeping the sums of " + std::to_string(m.pairs.size()) + " tensors over "
                + std::to_string(m.samples) + " samples needs " + std::to_string(bytes)
                + " bytes, more than the memory limit",
            {}, "use --limit or a larger --memory-limit");
    return {};
}

} // namespace

void Measured::reserve(size_t outputCount, bool nodeAlone, bool written)
{
    const size_t cells = pairs.size() * samples, outputs = outputCount * samples;
    sums.resize(cells);
    scaleSquares.resize(cells);
    nodeSums.resize(nodeAlone ? cells : 0);
    outputSums.resize(outputs);
    writtenSums.resize(written ? outputs : 0);
    floatClass.assign(outputs, -1);
    quantClass.assign(outputs, -1);
    floatMargin.assign(outputs, 0);
    quantMargin.assign(outputs, 0);
    top5.assign(outputs, 0);
    done.assign(samples, 0);
    for (size_t i = 0; i < pairs.size(); ++i)
        shared.push_back(std::make_unique<PairShared>());
    knownPairs.assign(pairs.size(), false);
    knownFloats.assign(pairs.size(), false);
    knownOutputs.assign(outputCount, false);
}

Comparison summarize(const ComparePair& pair, ArithmeticProfile profile, Measured& measured,
    const std::vector<int64_t>& labels, std::vector<WeightRow> weights)
{
    Comparison c;
    c.profile = profile;
    c.weights = std::move(weights);
    c.samples = static_cast<size_t>(std::accumulate(measured.done.begin(), measured.done.end(), size_t(0)));
    c.firstSample = measured.firstSample;
    c.partial = c.samples < measured.allSamples;
    fillActivations(pair, measured, c);
    fillImplementation(pair, measured, c);
    fillOutputs(pair, measured, labels, c);
    fillSamples(pair, measured, c);
    fillFindings(pair, measured, c);
    return c;
}

Result<std::shared_ptr<Measured>> measureModels(const ComparePair& pair, const DataSource& data,
    const CompareOptions& options, const ProgressFn& progress, const CancelToken& cancel, const MeasuredFn& partial)
{
    beginLongWork("run");
    const auto result = std::make_shared<Measured>();
    Measured& measured = *result;
    const size_t firstFeed = data.feeds() * (options.shard.index - 1) / options.shard.count;
    const size_t feeds = data.feeds() * options.shard.index / options.shard.count - firstFeed;
    const size_t batch = data.feeds() > 0 ? data.samples() / data.feeds() : 1;
    measured.pairs = planPairs(pair);
    measured.firstSample = firstFeed * batch;
    measured.samples = feeds * batch;
    measured.allSamples = data.samples();
    Lockstep::Shared shared;
    shared.pair = &pair;
    shared.outputs = pairOutputs(pair);
    shared.nodeAlone = options.nodeAlone;
    shared.histograms = options.histograms;
    shared.measured = &measured;
    if (options.activations && options.carry.empty()) {
        shared.activations = options.activations.get();
        shared.activations->beginPass();
    }
    QS_CHECK(checkMemory(measured, shared.outputs.size(), options));
    measured.reserve(shared.outputs.size(), options.nodeAlone, pair.writtenPlan != nullptr);
    measured.inputs = InputStatistics::of(*pair.floatPlan, options.carry, measured.samples);
    std::optional<RememberedPairs> remembered;
    if (options.pairs && options.carry.empty() && options.shard.whole() && !options.nodeAlone && !pair.writtenPlan)
        remembered.emplace(*options.pairs, pair, shared.outputs, options.histograms, measured);
    shared.keepFew = std::ranges::find(measured.knownPairs, true) != measured.knownPairs.end();
    QS_CHECK(Lockstep::prepare(shared, options));
    // State is carried from sample to sample, so these run in order on one worker.
    const size_t threads = options.carry.empty() ? std::max<size_t>(std::min(options.threads, feeds), 1) : size_t(1);
    shared.teamThreads = std::max<size_t>(options.threads / threads, 1);
    if (options.memoryLimit) {
        std::vector<std::shared_ptr<const Schedule>> beside { shared.floatSchedule, shared.quantSchedule };
        if (shared.stageSchedule)
            beside.insert(beside.end(), { shared.stageSchedule, shared.writtenSchedule });
        QS_TRY(shared.poolBytes, memoryPerWorker(beside, options.memoryLimit, threads));
    }
    const size_t inputs = pair.floatPlan->graph().inputs().size();
    const auto knownInputs = remembered ? options.pairs->inputs() : nullptr;
    if (knownInputs)
        measured.inputs = *knownInputs;
    std::vector<std::unique_ptr<Lockstep>> workers(threads);
    std::mutex mutex;
    size_t finished = 0;
    auto lastPartial = std::chrono::steady_clock::now();
    const auto one = [&](size_t index, size_t worker) -> Status {
        if (!workers[worker])
            workers[worker] = std::make_unique<Lockstep>(shared);
        QS_TRY(Feed feed, rememberedFeed(data, firstFeed + index, inputs, shared.activations));
        feed.firstSample -= measured.firstSample;
        if (!knownInputs)
            measured.inputs.add(feed);
        QS_CHECK(workers[worker]->run(feed, cancel));
        const std::lock_guard lock(mutex);
        ++finished;
        std::fill_n(measured.done.begin() + static_cast<std::ptrdiff_t>(feed.firstSample), feed.samples, uint8_t(1));
        if (progress)
            progress("run", finished, feeds);
        const auto now = std::chrono::steady_clock::now();
        if (partial && finished < feeds && now - lastPartial > std::chrono::milliseconds(500)) {
            partial(measured);
            lastPartial = std::chrono::steady_clock::now();
        }
        return {};
    };
    if (remembered && remembered->complete() && knownInputs)
        std::ranges::fill(measured.done, uint8_t(1));
    else
        QS_CHECK(parallelTry(feeds, threads, cancel, one));
    if (options.prove && firstFeed == 0 && feeds > 0 && options.carry.empty()) {
        QS_TRY(const Feed first, rememberedFeed(data, 0, inputs, shared.activations));
        measured.proof = proveNetwork(pair, first.inputs, options.memoryLimit, cancel);
    }
    if (remembered) {
        remembered->keep();
        if (!knownInputs)
            options.pairs->keepInputs(std::make_shared<const InputStatistics>(measured.inputs));
    }
    return result;
}

Result<Comparison> compareModels(const ComparePair& pair, const DataSource& data, const CompareOptions& options,
    const ProgressFn& progress, const CancelToken& cancel, const std::function<void(Comparison)>& partial)
{
    const std::vector<WeightRow> weights
        = compareWeights(pair, options.histograms, options.threads, options.pairs.get());
    if (cancel.cancelled()) // rows are missing
        return cancelled();
    MeasuredFn soFar;
    if (partial)
        soFar = [&](Measured& m) { partial(summarize(pair, options.profile, m, data.labels(), weights)); };
    QS_TRY(const auto measured, measureModels(pair, data, options, progress, cancel, soFar));
    return summarize(pair, options.profile, *measured, data.labels(), weights);
}

} // namespace qs
