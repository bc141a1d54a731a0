// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/compare.h"

#include "core/analysis/lockstep.h"
#include "core/base/parallel.h"
#include "core/engine/memory_budget.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace qs {

namespace {

/// Result of the samples that are done.
Comparison summarize(const ComparePair& pair, const CompareOptions& options, Measured& measured, const DataSource& data,
    const Comparison& weights)
{
    Comparison c;
    c.profile = options.profile;
    c.weights = weights.weights;
    c.samples = static_cast<size_t>(std::accumulate(measured.done.begin(), measured.done.end(), size_t(0)));
    c.partial = c.samples < measured.samples;
    fillActivations(pair, measured, c);
    fillImplementation(pair, measured, c);
    fillOutputs(pair, measured, data, c);
    fillFindings(pair, c);
    return c;
}

Status reserve(Measured& m, const Lockstep::Shared& shared, const CompareOptions& options)
{
    const size_t cells = m.pairs.size() * m.samples;
    const size_t outputs = shared.outputs.size() * m.samples;
    const uint64_t bytes = (cells * (options.nodeAlone ? 2 : 1) + 2 * outputs) * sizeof(PairSums);
    if (options.memoryLimit && bytes > options.memoryLimit)
        return badInput("keeping the sums of " + std::to_string(m.pairs.size()) + " tensors over "
                + std::to_string(m.samples) + " samples needs " + std::to_string(bytes)
                + " bytes, more than the memory limit",
            {}, "use --limit or a larger --memory-limit");
    m.sums.resize(cells);
    m.scaleSquares.resize(cells);
    if (options.nodeAlone)
        m.nodeSums.resize(cells);
    m.outputSums.resize(outputs);
    if (shared.pair->writtenPlan)
        m.writtenSums.resize(outputs);
    m.floatClass.assign(outputs, -1);
    m.quantClass.assign(outputs, -1);
    m.top5.assign(outputs, 0);
    m.done.assign(m.samples, 0);
    for (size_t i = 0; i < m.pairs.size(); ++i)
        m.shared.push_back(std::make_unique<PairShared>());
    return {};
}

} // namespace

Result<Comparison> compareModels(const ComparePair& pair, const DataSource& data, const CompareOptions& options,
    const ProgressFn& progress, const CancelToken& cancel, const std::function<void(Comparison)>& partial)
{
    Measured measured;
    measured.pairs = planPairs(pair);
    measured.samples = data.samples();
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
    QS_CHECK(Lockstep::prepare(shared, options));
    // State is carried from sample to sample, so these run in order on one worker.
    const size_t threads
        = options.carry.empty() ? std::max<size_t>(std::min(options.threads, data.feeds()), 1) : size_t(1);
    shared.teamThreads = std::max<size_t>(options.threads / threads, 1);
    if (options.memoryLimit) {
        std::vector<std::shared_ptr<const Schedule>> beside { shared.floatSchedule, shared.quantSchedule };
        if (shared.stageSchedule)
            beside.insert(beside.end(), { shared.stageSchedule, shared.writtenSchedule });
        QS_TRY(shared.poolBytes, memoryPerWorker(beside, options.memoryLimit, threads));
    }
    QS_CHECK(reserve(measured, shared, options));
    Comparison weights;
    fillWeights(pair, options.histograms, threads, weights);
    std::vector<std::unique_ptr<Lockstep>> workers(threads);
    std::mutex mutex;
    size_t finished = 0;
    auto lastPartial = std::chrono::steady_clock::now();
    const auto one = [&](size_t index, size_t worker) -> Status {
        if (!workers[worker])
            workers[worker] = std::make_unique<Lockstep>(shared);
        QS_TRY(const Feed feed, data.feed(index));
        QS_CHECK(workers[worker]->run(feed, cancel));
        const std::lock_guard lock(mutex);
        ++finished;
        std::fill_n(measured.done.begin() + static_cast<std::ptrdiff_t>(feed.firstSample), feed.samples, uint8_t(1));
        if (progress)
            progress("run", finished, data.feeds());
        const auto now = std::chrono::steady_clock::now();
        if (partial && finished < data.feeds() && now - lastPartial > std::chrono::milliseconds(500)) {
            partial(summarize(pair, options, measured, data, weights));
            lastPartial = std::chrono::steady_clock::now();
        }
        return {};
    };
    QS_CHECK(parallelTry(data.feeds(), threads, cancel, one));
    return summarize(pair, options, measured, data, weights);
}

} // namespace qs
