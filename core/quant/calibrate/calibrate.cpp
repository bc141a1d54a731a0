// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/calibrate.h"

#include "core/base/work/long_work.h"
#include "core/kernels/statistics/edge_bins.h"
#include "core/quant/calibrate/activation_pass.h"
#include "core/quant/calibrate/calibrators.h"
#include "core/quant/calibrate/percentile_tails.h"
#include "core/quant/calibrate/value_relations.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <set>

namespace qs {

namespace {

/// The elements as floats; float16 goes through a table.
std::span<const float> floatsOf(const Tensor& tensor, std::vector<float>& scratch)
{
    if (tensor.dtype() == DType::Float32)
        return tensor.data<float>();
    static const std::vector<float> table = [] {
        std::vector<float> values(65536);
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = float16ToFloat(static_cast<uint16_t>(i));
        return values;
    }();
    scratch.clear();
    for (const uint16_t bits : tensor.data<uint16_t>())
        scratch.push_back(table[bits]);
    return scratch;
}

void addTo(Histogram& histogram, std::span<const float> x, const ValueRange& range)
{
    if (std::isfinite(range.low) && std::isfinite(range.high))
        histogram.add(x, range.low, range.high);
    else
        histogram.add(x);
}

/// Both passes over the model, and what they find.
class Collector {
public:
    Collector(const CalibrationRun& run, ActivationPass& pass, CalibrationData& data)
        : m_run(run)
        , m_pass(pass)
        , m_data(data)
        , m_locks(data.tensors.size())
        , m_workers(pass.workers())
        , m_kept(data.feeds)
        , m_keepBytes(std::min(run.keepBytes, pass.spareBytes() / 2))
    {
        findRectified();
        m_tails.resize(data.tensors.size());
    }
    Status collect();
    /// Only the counts: the data's extremes are known.
    Status countAll();

private:
    struct Worker {
        std::vector<float> floats;
        std::vector<uint32_t> tables;
        std::vector<uint64_t> counts;
    };
    struct Kept {
        size_t watched;
        Tensor value;
    };
    /// Bins of one tensor's histogram, ready to count.
    struct Counter {
        ChunkedBins bins;
        std::vector<EdgeBins> sets;
        std::vector<uint64_t>* counts;
    };
    struct Source {
        size_t watched;
        Rectified relation;
    };
    void findRectified();
    ValueRange rangeOf(size_t watched, std::span<const float> x, size_t feed) const;
    Status look(size_t watched, const Tensor& value, size_t feed, size_t worker);
    Status lookAtConstants();
    void addToTails(size_t watched, std::span<const float> x);
    bool cutTails();
    void keep(size_t watched, const Tensor& value, size_t feed);
    void prepareCounters();
    void count(size_t watched, const Tensor& value, size_t feed, size_t worker, uint64_t times = 1);
    void countConstants();
    Status countKept();
    size_t chunkOf(size_t feed) const { return m_data.collected.stride ? feed / m_data.collected.stride : 0; }

    const CalibrationRun& m_run;
    ActivationPass& m_pass;
    CalibrationData& m_data;
    std::vector<std::mutex> m_locks; ///< by tensor
    std::vector<Worker> m_workers;
    std::vector<std::vector<Counter>> m_counters; ///< by tensor
    std::vector<std::vector<Kept>> m_kept; ///< by run
    std::vector<std::optional<Source>> m_sources; ///< by tensor, where its range follows from that of another one
    std::vector<std::optional<PercentileTails>> m_tails; ///< by tensor, where a cut is asked for
    const uint64_t m_keepBytes;
    std::atomic<uint64_t> m_keptBytes { 0 };
};

void Collector::findRectified()
{
    const Plan& plan = *m_run.plan;
    std::map<ValueId, size_t> watched;
    for (size_t i = 0; i < m_data.tensors.size(); ++i)
        watched.emplace(plan.graph().findValue(m_data.tensors[i].name), i);
    m_sources.resize(m_data.tensors.size());
    for (const auto& [id, i] : watched)
        if (const auto relation = rectified(plan, id); relation && !plan.constant(relation->source))
            if (const auto source = watched.find(relation->source); source != watched.end())
                m_sources[i] = Source { source->second, *relation };
}

/// Without a look at the values where these follow from others that were seen before in the same run; large ones are
/// looked at for their gap.
ValueRange Collector::rangeOf(size_t watched, std::span<const float> x, size_t feed) const
{
    if (const auto& source = m_sources[watched]) {
        const ValueRange& range = m_data.tensors[source->watched].feeds[feed];
        if (range.magnitude() < kGapLimit)
            return source->relation.rangeOf(range);
    }
    return valueRange(x);
}

Status Collector::look(size_t watched, const Tensor& value, size_t feed, size_t worker)
{
    TensorStatistics& tensor = m_data.tensors[watched];
    const std::span<const float> x = floatsOf(value, m_workers[worker].floats);
    const ValueRange range = rangeOf(watched, x, feed);
    if (range.nan)
        return Issue { IssueKind::BadInput, "holds NaN (not a number) in sample " + std::to_string(feed),
            m_run.plan->model().path, {}, tensor.name, "calibrate with samples that give numbers" };
    tensor.feeds[feed] = range;
    const float most = range.magnitude();
    const MagnitudeGap gap = most < kGapLimit ? MagnitudeGap { most } : magnitudeGap(x, kGapLimit);
    Histogram powers;
    if (m_data.collected.powers)
        addTo(powers, x, range);
    const std::lock_guard lock(m_locks[watched]);
    addToTails(watched, x);
    tensor.gap.below = std::max(tensor.gap.below, gap.below);
    tensor.gap.above = std::min(tensor.gap.above, gap.above);
    tensor.powers.merge(powers);
    return {};
}

void Collector::addToTails(size_t watched, std::span<const float> x)
{
    if (!m_data.collected.cut || x.empty())
        return;
    std::optional<PercentileTails>& tails = m_tails[watched];
    if (!tails)
        tails.emplace(*m_data.collected.cut, static_cast<double>(x.size()) * static_cast<double>(m_data.feeds));
    if (!tails->tooLong())
        tails->add(x);
}

/// False where a histogram must be counted. Tensors without bins have no cut and need none.
bool Collector::cutTails()
{
    const PercentileCut& cut = *m_data.collected.cut;
    for (size_t i = 0; i < m_data.tensors.size(); ++i) {
        TensorStatistics& tensor = m_data.tensors[i];
        const ChunkedBins bins = m_data.bins(tensor, { cut.magnitudes, cut.bins });
        if (!bins.valid())
            continue;
        if (!m_tails[i] || !(tensor.cut = m_tails[i]->interval(bins.edges())))
            return false;
    }
    return true;
}

/// They are the same in every run.
Status Collector::lookAtConstants()
{
    const FeedRange feeds = m_run.feeds();
    if (feeds.count == 0)
        return {};
    for (size_t i = 0; i < m_data.tensors.size(); ++i) {
        const Tensor* constant = m_pass.constant(i);
        if (!constant)
            continue;
        QS_CHECK(look(i, *constant, feeds.first, 0));
        TensorStatistics& tensor = m_data.tensors[i];
        const auto begin = tensor.feeds.begin() + std::ptrdiff_t(feeds.first);
        std::fill_n(begin, feeds.count, *begin);
        if (feeds.first > 0) // counted once, with the first run
            tensor.powers = {};
    }
    return {};
}

/// Nothing from the first value on that would not fit over all runs.
void Collector::keep(size_t watched, const Tensor& value, size_t feed)
{
    const uint64_t bytes = value.byteCount();
    const uint64_t counted = bytes > m_keepBytes / m_data.feeds ? m_keepBytes + 1 : bytes;
    if (m_keptBytes.load() <= m_keepBytes && m_keptBytes.fetch_add(counted) + counted <= m_keepBytes)
        m_kept[feed].push_back({ watched, value });
}

void Collector::prepareCounters()
{
    m_counters.resize(m_data.tensors.size());
    for (size_t i = 0; i < m_data.tensors.size(); ++i)
        for (const HistogramKind kind : m_data.collected.histograms) {
            Counter counter { m_data.bins(m_data.tensors[i], kind), {}, nullptr };
            if (!counter.bins.valid())
                continue;
            for (const std::vector<float>& edges : counter.bins.edgeSets)
                counter.sets.emplace_back(edges, kind.magnitudes);
            counter.counts = &m_data.tensors[i].counts[kind];
            counter.counts->assign(counter.bins.bins(), 0);
            m_counters[i].push_back(std::move(counter));
        }
}

void Collector::count(size_t watched, const Tensor& value, size_t feed, size_t workerIndex, uint64_t times)
{
    Worker& worker = m_workers[workerIndex];
    const std::span<const float> x = floatsOf(value, worker.floats);
    for (const Counter& counter : m_counters[watched]) {
        const ChunkedBins::Chunk chunk = counter.bins.chunks[chunkOf(feed)];
        const EdgeBins& bins = counter.sets[chunk.edges];
        worker.counts.assign(bins.bins(), 0);
        bins.count(x, worker.counts, worker.tables);
        const std::lock_guard lock(m_locks[watched]);
        for (size_t b = 0; b < worker.counts.size(); ++b)
            (*counter.counts)[chunk.offset + b] += times * worker.counts[b];
    }
}

void Collector::countConstants()
{
    const FeedRange feeds = m_run.feeds();
    const size_t perChunk = m_data.collected.stride ? m_data.collected.stride : m_data.feeds;
    for (size_t i = 0; i < m_data.tensors.size(); ++i)
        if (const Tensor* constant = m_pass.constant(i))
            for (size_t chunk = 0; chunk < m_data.chunks(); ++chunk) {
                const size_t begin = std::max(chunk * perChunk, feeds.first);
                const size_t end = std::min((chunk + 1) * perChunk, feeds.end());
                if (begin < end)
                    count(i, *constant, begin, 0, end - begin);
            }
}

Status Collector::countAll()
{
    prepareCounters();
    countConstants();
    return m_pass.run("histograms", [this](size_t watched, const Tensor& value, size_t feed, size_t worker) {
        count(watched, value, feed, worker);
        return Status();
    });
}

Status Collector::countKept()
{
    prepareCounters();
    countConstants();
    for (size_t feed = 0; feed < m_kept.size(); ++feed) {
        if (m_run.work.cancel.cancelled())
            return cancelled();
        for (const Kept& kept : m_kept[feed])
            count(kept.watched, kept.value, feed, 0);
        m_kept[feed].clear();
    }
    return {};
}

Status Collector::collect()
{
    CollectOptions& collected = m_data.collected;
    const bool again = !collected.histograms.empty() || collected.cut;
    QS_CHECK(lookAtConstants());
    const auto see = [&](size_t watched, const Tensor& value, size_t feed, size_t worker) {
        if (again)
            keep(watched, value, feed);
        return look(watched, value, feed, worker);
    };
    QS_CHECK(m_pass.run("ranges", see));
    if (collected.cut && !cutTails()) {
        collected.histograms.push_back({ collected.cut->magnitudes, collected.cut->bins });
        collected.cut.reset();
        for (TensorStatistics& tensor : m_data.tensors)
            tensor.cut.reset();
    }
    if (collected.histograms.empty())
        return {};
    if (m_keptBytes <= m_keepBytes)
        return countKept();
    m_kept.clear();
    return countAll();
}

/// Takes doubles out of the run, and tensors that hold the elements of another one: their names, and those of the
/// other.
std::map<std::string, std::string> takeMoved(CalibrationRun& run)
{
    const Graph& graph = run.plan->graph();
    const std::set<std::string> all(run.tensors.begin(), run.tensors.end());
    std::set<std::string> taken;
    std::map<std::string, std::string> sources;
    std::erase_if(run.tensors, [&](const std::string& name) {
        if (!taken.insert(name).second)
            return true;
        const ValueId id = graph.findValue(name);
        if (!id.valid() || run.plan->constant(id) || run.plan->blocked(id))
            return false;
        std::string source;
        for (ValueId from = sameElements(*run.plan, id); from.valid() && !run.plan->constant(from);
             from = sameElements(*run.plan, from))
            if (all.contains(graph.value(from).name))
                source = graph.value(from).name;
        if (!source.empty())
            sources.emplace(name, source);
        return !source.empty();
    });
    return sources;
}

void addMoved(CalibrationData& data, const std::map<std::string, std::string>& sources)
{
    const size_t measured = data.tensors.size();
    for (const auto& [name, source] : sources) {
        const auto end = data.tensors.begin() + std::ptrdiff_t(measured);
        TensorStatistics copy = *std::find_if(
            data.tensors.begin(), end, [&source = source](const auto& tensor) { return tensor.name == source; });
        copy.name = name;
        data.tensors.push_back(std::move(copy));
    }
}

/// Most bytes of what is gathered: of each tensor extremes of every run, its ends, and counts and edges of its bins.
uint64_t statisticsBytes(size_t tensors, size_t feeds, const CollectOptions& options)
{
    constexpr uint64_t kBinBytes = sizeof(uint64_t) + 2 * sizeof(float); // a count, and the edge twice
    uint64_t each = sizeof(TensorStatistics) + feeds * sizeof(ValueRange);
    if (options.powers)
        each += Histogram::kMaxBins * sizeof(uint64_t);
    for (const HistogramKind& kind : options.histograms)
        each += kind.bins * kBinBytes;
    if (options.cut)
        each += options.cut->bins * kBinBytes;
    return tensors * each;
}

/// Takes what is gathered out of the memory limit.
Status setMemoryApart(CalibrationRun& run, const CollectOptions& options)
{
    const uint64_t statistics = statisticsBytes(run.tensors.size(), run.data->feeds(), options);
    if (statistics >= run.work.memoryBytes())
        return badInput("statistics of " + std::to_string(run.tensors.size()) + " tensors need about "
                + std::to_string(statistics) + " bytes, more than the memory limit of "
                + std::to_string(run.work.memoryBytes()),
            run.plan->model().path, "use a larger --memory-limit");
    run.work.memoryLimit = run.work.memoryBytes() - statistics;
    return {};
}

bool startsWith(const CalibrationData& data, const std::vector<std::string>& names)
{
    return data.tensors.size() >= names.size()
        && std::equal(names.begin(), names.end(), data.tensors.begin(),
            [](const std::string& name, const TensorStatistics& tensor) { return tensor.name == name; });
}

} // namespace

Result<CalibrationData> collectCalibration(const CalibrationRun& given, const CollectOptions& options)
{
    beginLongWork("calibrate");
    CalibrationRun run = given;
    const std::map<std::string, std::string> sources = takeMoved(run);
    QS_CHECK(setMemoryApart(run, options));
    QS_TRY(ActivationPass pass, ActivationPass::make(run));
    CalibrationData data;
    data.collected = options;
    data.feeds = run.data->feeds();
    if (options.stride && data.feeds % options.stride)
        return badUse("the stride of " + std::to_string(options.stride) + " samples does not divide the "
                + std::to_string(data.feeds) + " samples",
            "use a stride that divides their number");
    for (const std::string& name : run.tensors) {
        TensorStatistics tensor;
        tensor.name = name;
        tensor.dtype = run.plan->facts().of(run.plan->graph().findValue(name)).dtype;
        tensor.feeds.resize(data.feeds);
        data.tensors.push_back(std::move(tensor));
    }
    QS_CHECK(Collector(run, pass, data).collect());
    addMoved(data, sources);
    return data;
}

Result<CalibrationData> countCalibration(
    const CalibrationRun& given, const CollectOptions& options, const CalibrationData& extremes)
{
    beginLongWork("calibrate");
    CalibrationRun run = given;
    const std::map<std::string, std::string> sources = takeMoved(run);
    QS_CHECK(setMemoryApart(run, options));
    QS_TRY(ActivationPass pass, ActivationPass::make(run));
    if (extremes.feeds != run.data->feeds() || !startsWith(extremes, run.tensors))
        return badInput("the extremes are of other tensors or samples than this calibration", run.plan->model().path,
            "calibrate all shards with the same recipe and data");
    CalibrationData data = extremes;
    data.collected = options;
    data.tensors.resize(run.tensors.size());
    QS_CHECK(Collector(run, pass, data).countAll());
    addMoved(data, sources);
    return data;
}

Result<Ranges> calibrate(const CalibrationRun& run, const CalibratorOptions& options)
{
    QS_TRY(const CalibrationData data, collectCalibration(run, neededBy(options)));
    return rangesFor(data, options);
}

} // namespace qs
