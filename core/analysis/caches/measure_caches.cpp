// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/caches/measure_caches.h"

#include "core/analysis/caches/cache_sums.h"
#include "core/analysis/decode/decoder_inputs.h"
#include "core/analysis/pairs/fed_model.h"
#include "core/engine/run/sample_loop.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

Result<CachePlaces> placesIn(const Plan& plan, const CarryNames& carry)
{
    QS_TRY(const auto caches, cachesOf(plan, carry));
    QS_TRY(CachePlaces found, cachePlaces(plan, caches));
    if (!found.places.empty())
        return found;
    std::string what = "has no caches of keys and values that go in and come out, such as past_key_values.0.key and "
                       "present.0.key";
    if (!found.leftOut.empty())
        what += "; '" + found.leftOut[0].name + "' is left out: " + found.leftOut[0].reason;
    return badInput(
        std::move(what), plan.model().path, "give a decoder that was exported with them, or --carry OUTPUT=INPUT");
}

/// Which padding the prompts have, where an output guesses the next token.
std::optional<PromptInputs> promptsOf(const Plan& plan)
{
    for (const ValueId output : plan.graph().outputs())
        if (const auto found = promptInputs(plan, output))
            return found;
    return std::nullopt;
}

/// The model and its prompts, run again for each pass. Sums are added in the prompts' order.
class CacheRun {
public:
    using Take = std::function<Status(size_t place, const CacheRows& rows)>;

    static Result<CacheRun> make(const std::shared_ptr<const Plan>& plan, const DataSource& data,
        std::vector<CachePlace> places, size_t passes, const WorkContext& work)
    {
        Demand demand;
        for (const CachePlace& place : places)
            if (std::ranges::find(demand.values, place.value) == demand.values.end())
                demand.values.push_back(place.value);
        QS_TRY(auto schedule, Schedule::make(plan, std::move(demand)));
        QS_TRY(SampleLoop loop, SampleLoop::make(std::span(&schedule, 1), 1, work));
        return CacheRun(plan, data, std::move(places), std::move(schedule), std::move(loop), passes, work);
    }
    const std::vector<CachePlace>& places() const { return m_places; }

    Status pass(const Take& take)
    {
        const size_t feeds = m_data.feeds();
        QS_CHECK(m_loop.run({ feeds, "caches", m_pass * feeds, m_passes * feeds, 1 },
            [&](size_t index, const SampleWorker& worker) { return feed(index, worker, take); }));
        ++m_pass;
        return {};
    }

private:
    CacheRun(const std::shared_ptr<const Plan>& plan, const DataSource& data, std::vector<CachePlace> places,
        std::shared_ptr<const Schedule> schedule, SampleLoop loop, size_t passes, const WorkContext& work)
        : m_state(plan)
        , m_model(m_state, m_state)
        , m_data(data)
        , m_places(std::move(places))
        , m_schedule(std::move(schedule))
        , m_prompt(promptsOf(*plan))
        , m_loop(std::move(loop))
        , m_passes(passes)
        , m_cancel(work.cancel)
    {
    }

    Status feed(size_t index, const SampleWorker& worker, const Take& take)
    {
        QS_TRY(const Feed feed, m_data.feed(index));
        const std::vector<Tensor> inputs = m_model.inputs(feed.inputs);
        Execution run = worker.execution(m_schedule);
        QS_CHECK(run.bind(inputs));
        QS_CHECK(run.runAll(m_cancel));
        const Tensor mask = m_prompt && m_prompt->mask ? inputs[*m_prompt->mask] : Tensor();
        for (size_t p = 0; p < m_places.size(); ++p) {
            auto rows = CacheRows::of(m_places[p], toPlain(run.get(m_places[p].value)), mask);
            if (!rows) {
                Issue issue = rows.issue();
                issue.file = m_schedule->plan().model().path;
                return issue;
            }
            QS_CHECK(take(p, *rows));
        }
        return {};
    }

    CarriedState m_state;
    FedModel m_model;
    const DataSource& m_data;
    std::vector<CachePlace> m_places;
    std::shared_ptr<const Schedule> m_schedule;
    std::optional<PromptInputs> m_prompt;
    SampleLoop m_loop;
    size_t m_pass = 0, m_passes;
    CancelToken m_cancel;
};

Result<std::vector<FoundScales>> leastErrorScales(CacheRun& run, const std::vector<std::vector<float>>& largest)
{
    std::vector<ThresholdSearch> searches(largest.begin(), largest.end());
    QS_CHECK(run.pass([&](size_t place, const CacheRows& rows) -> Status {
        searches[place].add(rows);
        return {};
    }));
    std::vector<FoundScales> found;
    for (const ThresholdSearch& search : searches)
        found.push_back(search.best());
    return found;
}

} // namespace

bool hasCaches(const Plan& plan, const CarryNames& carry)
{
    const auto found = placesIn(plan, carry);
    return found.ok();
}

Result<CacheReport> measureCaches(const std::shared_ptr<const Plan>& plan, const DataSource& data,
    const CacheOptions& options, const WorkContext& work)
{
    QS_TRY(CachePlaces found, placesIn(*plan, options.carry));
    const bool search = options.choice == ScaleChoice::LeastError;
    QS_TRY(CacheRun run, CacheRun::make(plan, data, std::move(found.places), search ? 3 : 2, work));
    std::vector<CacheExtents> extents(run.places().size());
    QS_CHECK(run.pass([&](size_t p, const CacheRows& rows) { return extents[p].add(rows, run.places()[p]); }));
    std::vector<std::vector<float>> largest;
    for (size_t p = 0; p < extents.size(); ++p)
        largest.push_back(extents[p].largest(options.anyPosition && run.places()[p].kind == CacheKind::Key));
    std::vector<FoundScales> scales;
    if (search) {
        QS_TRY(scales, leastErrorScales(run, largest));
    } else {
        std::ranges::transform(largest, std::back_inserter(scales), scalesOf);
    }
    std::vector<CodingSums> sums;
    for (size_t p = 0; p < extents.size(); ++p)
        sums.emplace_back(std::move(scales[p]), extents[p].heads());
    QS_CHECK(run.pass([&](size_t p, const CacheRows& rows) -> Status {
        sums[p].add(rows);
        return {};
    }));
    CacheReport report { data.samples(), options.choice, options.anyPosition, {}, std::move(found.leftOut) };
    for (size_t p = 0; p < extents.size(); ++p) {
        const CachePlace& place = run.places()[p];
        CacheRow row;
        row.layer = place.layer, row.kind = place.kind, row.name = place.name;
        row.rotary = place.rotary.has_value() || place.kind == CacheKind::KeyBeforeRotary;
        extents[p].fill(row);
        sums[p].fill(row);
        report.rows.push_back(std::move(row));
    }
    return report;
}

Result<CacheMap> cacheMap(const std::shared_ptr<const Plan>& plan, const DataSource& data, const CacheOptions& options,
    size_t row, std::optional<size_t> head, const WorkContext& work)
{
    QS_TRY(CachePlaces found, placesIn(*plan, options.carry));
    if (row >= found.places.size())
        return badInput("has no such layer of keys or values", plan->model().path, "give a layer that `caches` lists");
    QS_TRY(CacheRun run, CacheRun::make(plan, data, { found.places[row] }, 1, work));
    std::vector<std::vector<float>> columns; // by position
    size_t channels = 0, heads = 0;
    constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
    QS_CHECK(run.pass([&](size_t, const CacheRows& rows) -> Status {
        heads = std::max(heads, rows.heads());
        channels = std::max(channels, rows.channels() * (head ? 1 : rows.heads()));
        columns.resize(std::max(columns.size(), rows.positions()), std::vector<float>(channels, kNone));
        rows.each([&](size_t, size_t h, size_t position, std::span<const float> values) {
            float* const to = columns[position].data() + (head ? 0 : h * values.size());
            for (size_t d = 0; d < values.size() && (!head || h == *head); ++d)
                if (std::isfinite(values[d]))
                    to[d] = std::fmax(to[d], std::abs(values[d]));
        });
        return {};
    }));
    if (head && *head >= heads)
        return badInput("has " + std::to_string(heads) + " heads in '" + found.places[row].name + "', not a head "
                + std::to_string(*head),
            plan->model().path, "count them from 0");
    CacheMap map { channels, columns.size(), std::vector<float>(channels * columns.size(), kNone) };
    for (size_t p = 0; p < columns.size(); ++p)
        for (size_t d = 0; d < channels; ++d)
            map.largest[d * columns.size() + p] = columns[p][d];
    return map;
}

} // namespace qs
