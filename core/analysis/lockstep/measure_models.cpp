// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/measure_models.h"

#include "core/analysis/agreement/reads_ahead.h"
#include "core/analysis/lockstep/lockstep.h"
#include "core/analysis/lockstep/proof_samples.h"
#include "core/analysis/lockstep/remembered_feeds.h"
#include "core/analysis/measure/pair_memory.h"
#include "core/base/work/long_work.h"
#include "core/data/feed_range.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

namespace qs {

namespace {

constexpr std::chrono::steady_clock::duration kPartialEvery = std::chrono::milliseconds(500);
constexpr int kPartialRest = 20; ///< times what telling the numbers so far took, before they are told again

/// A run over the samples of a shard.
class Measurement {
public:
    Measurement(const ComparePair& pair, const DataSource& data, const CompareOptions& options, const WorkContext& work)
        : m_pair(pair)
        , m_data(data)
        , m_options(options)
        , m_work(work)
        , m_feeds(FeedRange::part(data.feeds(), options.shard.index, options.shard.count))
    {
    }

    Result<std::shared_ptr<Measured>> run(const MeasuredFn& partial)
    {
        describe();
        QS_CHECK(checkMemory());
        m_measured.reserve(m_shared.outputs.size(), m_options.nodeAlone, m_pair.writtenPlan != nullptr);
        m_measured.inputs = InputStatistics::of(*m_pair.floatPlan, m_options.carry, m_measured.samples);
        recall();
        QS_CHECK(findReadsAhead());
        QS_CHECK(Lockstep::prepare(m_shared, m_options));
        QS_CHECK(runFeeds(partial));
        QS_CHECK(prove());
        if (m_remembered) {
            m_remembered->keep();
            if (!m_inputsKnown)
                m_options.pairs->keepInputs(std::make_shared<const InputStatistics>(m_measured.inputs));
        }
        return m_result;
    }

private:
    void describe()
    {
        const size_t batch = m_data.feeds() > 0 ? m_data.samples() / m_data.feeds() : 1;
        m_measured.pairs = planPairs(m_pair);
        m_measured.firstSample = m_feeds.first * batch;
        m_measured.samples = m_feeds.count * batch;
        m_measured.allSamples = m_data.samples();
        m_shared.pair = &m_pair;
        m_shared.initialStates = m_data.initialStates();
        m_shared.outputs = pairOutputs(m_pair);
        m_shared.nodeAlone = m_options.nodeAlone;
        m_shared.histograms = m_options.histograms;
        m_shared.measured = &m_measured;
        if (m_options.activations && m_options.carry.empty()) {
            m_shared.activations = m_options.activations.get();
            m_shared.activations->beginPass();
        }
    }

    /// Most bytes of the histograms of pairs: cells are as wide as what they count asks for.
    uint64_t histogramBytes() const
    {
        constexpr uint64_t kEach = 4 * uint64_t(Histogram::kMaxBins); // x, y, the error, and before rounding
        uint64_t bytes = 0;
        for (const PairPlan& p : m_measured.pairs) {
            if (!m_options.histograms && !p.needsHistograms())
                continue;
            const auto& dims = m_pair.floatPlan->facts().of(p.pair.floatValue).dims;
            const auto shape = dims ? toShape(*dims) : std::nullopt;
            const int64_t elements = shape ? elementCount(*shape).value_or(INT64_MAX) : 1;
            const bool few = elements <= int64_t(UINT16_MAX) / int64_t(std::max<size_t>(m_measured.samples, 1));
            bytes += kEach * (few ? sizeof(uint16_t) : sizeof(uint32_t));
        }
        return bytes;
    }

    Status checkMemory()
    {
        const size_t pairs = m_measured.pairs.size(), samples = m_measured.samples;
        const size_t cells = pairs * samples * (m_options.nodeAlone ? 2 : 1);
        const uint64_t bytes = (cells + 2 * m_shared.outputs.size() * samples) * sizeof(PairSums) + histogramBytes();
        if (bytes < m_work.memoryBytes()) {
            m_work.memoryLimit = m_work.memoryBytes() - bytes; // what is left for the run
            return {};
        }
        return badInput("keeping the sums and histograms of " + std::to_string(pairs) + " tensors over "
                + std::to_string(samples) + " samples needs " + std::to_string(bytes)
                + " bytes, more than the memory limit",
            {}, "use --limit or a larger --memory-limit");
    }

    /// What earlier runs over the same samples measured.
    void recall()
    {
        if (m_options.pairs && m_options.carry.empty() && m_options.shard.whole() && !m_options.nodeAlone
            && !m_pair.writtenPlan)
            m_remembered.emplace(*m_options.pairs, m_pair, m_shared.outputs, m_options.histograms, m_measured);
        m_shared.keepFew = std::ranges::find(m_measured.knownPairs, true) != m_measured.knownPairs.end();
        if (const auto known = m_remembered ? m_options.pairs->inputs() : nullptr) {
            m_measured.inputs = *known;
            m_inputsKnown = true;
        }
    }

    Result<Feed> feed(size_t index) const
    {
        return rememberedFeed(m_data, index, m_pair.floatPlan->graph().inputs().size(), m_shared.activations);
    }

    /// Which outputs score tokens by what is behind them, too; the same in each run over these samples.
    Status findReadsAhead()
    {
        const auto known = m_options.pairs ? m_options.pairs->readsAhead() : std::nullopt;
        std::map<std::string, uint8_t> found = known.value_or(std::map<std::string, uint8_t>());
        QS_TRY(
            const CarriedState before, CarriedState::make(m_pair.floatPlan, m_options.carry, m_data.initialStates()));
        const auto read = [&](size_t index) { return feed(m_feeds.first + index); };
        for (size_t o = 0; o < m_shared.outputs.size(); ++o) {
            const OutputPair& out = m_shared.outputs[o];
            if (!found.contains(out.name)) {
                QS_TRY(const bool ahead, readsAhead(m_pair.floatPlan, out, before, m_feeds.count, read, m_work));
                found[out.name] = ahead;
            }
            m_measured.readsAhead[o] = found[out.name];
        }
        if (m_options.pairs)
            m_options.pairs->keepReadsAhead(std::move(found));
        return {};
    }

    Status runFeeds(const MeasuredFn& partial)
    {
        std::vector<std::shared_ptr<const Schedule>> beside { m_shared.floatSchedule, m_shared.quantSchedule };
        if (m_shared.stageSchedule)
            beside.insert(beside.end(), { m_shared.stageSchedule, m_shared.writtenSchedule });
        const size_t atOnce = m_options.carry.empty() ? asManyAtOnce(m_feeds.count, m_work.threadCount()) : 1;
        QS_TRY(SampleLoop loop, SampleLoop::make(beside, atOnce, m_work));
        if (m_remembered && m_remembered->complete() && m_inputsKnown) {
            std::ranges::fill(m_measured.done, uint8_t(1));
            return {};
        }
        m_shared.poolBytes = loop.bytesEach();
        std::vector<std::unique_ptr<Lockstep>> workers(loop.workers());
        m_lastPartial = std::chrono::steady_clock::now();
        return loop.run({ m_feeds.count, "run" }, [&](size_t index, const SampleWorker& worker) -> Status {
            auto& lockstep = workers[worker.index];
            if (!lockstep)
                lockstep = std::make_unique<Lockstep>(m_shared, worker);
            QS_TRY(Feed next, feed(m_feeds.first + index));
            next.firstSample -= m_measured.firstSample;
            if (!m_inputsKnown)
                m_measured.inputs.add(next);
            QS_CHECK(lockstep->run(next, m_work.cancel));
            finish(next, partial);
            return {};
        });
    }

    void finish(const Feed& feed, const MeasuredFn& partial)
    {
        const std::lock_guard lock(m_mutex);
        ++m_finished;
        std::fill_n(m_measured.done.begin() + static_cast<std::ptrdiff_t>(feed.firstSample), feed.samples, uint8_t(1));
        const auto now = std::chrono::steady_clock::now();
        if (partial && m_finished < m_feeds.count
            && now - m_lastPartial > std::max(kPartialEvery, kPartialRest * m_partialTook)) {
            partial(m_measured);
            m_lastPartial = std::chrono::steady_clock::now();
            m_partialTook = m_lastPartial - now;
        }
    }

    Status prove()
    {
        if (!m_options.prove || m_feeds.first > 0 || m_feeds.count == 0)
            return {};
        const auto read = [&](size_t index) { return feed(index); };
        QS_TRY(
            const CarriedState before, CarriedState::make(m_pair.floatPlan, m_options.carry, m_data.initialStates()));
        return proveMeasured(m_pair, before, m_feeds.count, read, m_measured, m_work);
    }

    const ComparePair& m_pair;
    const DataSource& m_data;
    const CompareOptions& m_options;
    WorkContext m_work;
    const FeedRange m_feeds; ///< of the shard
    const std::shared_ptr<Measured> m_result = std::make_shared<Measured>();
    Measured& m_measured = *m_result;
    Lockstep::Shared m_shared;
    std::optional<RememberedPairs> m_remembered;
    bool m_inputsKnown = false;
    std::mutex m_mutex; ///< for the following, and what is told so far
    size_t m_finished = 0;
    std::chrono::steady_clock::time_point m_lastPartial;
    std::chrono::steady_clock::duration m_partialTook {};
};

} // namespace

Result<std::shared_ptr<Measured>> measureModels(const ComparePair& pair, const DataSource& data,
    const CompareOptions& options, const WorkContext& work, const MeasuredFn& partial)
{
    beginLongWork("run");
    return Measurement(pair, data, options, work).run(partial);
}

} // namespace qs
