// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/measure_models.h"

#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/lockstep/lockstep.h"
#include "core/analysis/lockstep/remembered_feeds.h"
#include "core/analysis/measure/pair_memory.h"
#include "core/base/work/long_work.h"
#include "core/base/work/parallel.h"
#include "core/engine/run/memory_budget.h"

#include <algorithm>
#include <chrono>

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

} // namespace qs
