// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/ladder.h"

#include "core/analysis/lab/rungs.h"
#include "core/analysis/pairs/fed_model.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/analysis/tasks/scores.h"
#include "core/engine/run/sample_loop.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kSameFloats = 1e-5; ///< relative: two float implementations of one model
constexpr double kUsefulDb = 20; ///< what quantization may cost: 1 % of noise
constexpr double kSameCodesDb = 40; ///< two integer implementations, where no step is known
constexpr double kFewBeyond = 0.01; ///< of the elements may be further than one step
constexpr double kSameAccuracy = 0.01; ///< what may be lost: one percentage point
constexpr double kRoundedShare = 1e-9; ///< 0.97 - 0.96 is not quite 0.01

/// Whether the largest element is that of the label.
struct Right {
    bool before = false, after = false;
};

/// Sums by sample.
struct RungSums {
    std::vector<PairSums> sums;
    std::vector<std::optional<Right>> right; ///< with labels, of the first output
    std::vector<uint64_t> beyond;
    std::vector<ScoreSums> scores;
};

/// Where accuracy is known it says more than an SQNR, and it has to hold beside the steps of codes.
void judgeAccuracy(LadderRow& row)
{
    if (!row.accuracyAfter || row.step == LadderStep::Float)
        return;
    const bool holds = *row.accuracyBefore - *row.accuracyAfter <= kSameAccuracy + kRoundedShare;
    const bool alone = row.step == LadderStep::Simulated;
    row.rule = alone ? "accuracy within 1 point" : row.rule + ", accuracy within 1 point";
    row.agrees = holds && (alone || row.agrees);
}

void judge(LadderRow& row)
{
    const auto atLeast
        = [&](double db) { return row.similarity.exact || row.similarity.sqnrDb.value_or(-HUGE_VAL) >= db; };
    if (row.step == LadderStep::Float) {
        row.rule = "relative error up to 1e-5";
        row.agrees = row.relative.value_or(HUGE_VAL) <= kSameFloats;
    } else if (row.step == LadderStep::Simulated) {
        row.rule = "at least 20 dB";
        row.agrees = atLeast(kUsefulDb);
    } else if (row.beyondStep) {
        row.rule = "at most 1 % of the elements further than one step";
        row.agrees = *row.beyondStep <= kFewBeyond;
    } else {
        row.rule = "at least 40 dB";
        row.agrees = atLeast(kSameCodesDb);
    }
    judgeAccuracy(row);
    row.agrees = row.agrees && row.similarity.nonFinite == 0;
}

void addAccuracy(const std::vector<std::optional<Right>>& samples, LadderRow& row)
{
    double labels = 0, before = 0, after = 0;
    for (const auto& right : samples)
        if (right) {
            ++labels;
            before += right->before;
            after += right->after;
        }
    if (labels == 0)
        return;
    row.accuracyBefore = before / labels;
    row.accuracyAfter = after / labels;
}

bool largestAt(const float* v, size_t n, int64_t label) { return argmax(v, n) == label; }

LadderRow rowOf(const Rung& rung, const RungSums& by)
{
    PairSums all;
    uint64_t beyond = 0;
    ScoreSums scores;
    for (size_t s = 0; s < by.sums.size(); ++s) {
        all.merge(by.sums[s]);
        beyond += by.beyond[s];
        scores.merge(by.scores[s]);
    }
    LadderRow row;
    row.step = rung.step;
    row.name = rung.name;
    row.similarity = similarityOf(all);
    if (all.xx > 0 || all.ee == 0)
        row.relative = all.ee == 0 ? 0 : std::sqrt(all.ee / all.xx);
    const bool steps = rung.params && (rung.step == LadderStep::Integer || rung.step == LadderStep::Device);
    if (steps && all.count > 0)
        row.beyondStep = double(beyond) / double(all.count);
    if (scores.positions > 0)
        row.top1Agreement = scores.agreeing / scores.positions;
    addAccuracy(by.right, row);
    judge(row);
    return row;
}

class Climber {
public:
    Climber(const LadderRequest& request, const WorkContext& work)
        : m_r(request)
        , m_work(work)
        , m_rungs(rungsOf(request, m_ladder.unknown))
    {
    }

    Result<Ladder> run()
    {
        m_sums.resize(m_rungs.size());
        QS_CHECK(schedule());
        const size_t samples = m_r.data->samples();
        for (RungSums& s : m_sums) {
            s.sums.resize(samples);
            s.beyond.resize(samples);
            s.scores.assign(samples, {});
            s.right.resize(samples);
        }
        const size_t feeds = m_r.data->feeds();
        const std::shared_ptr<const Schedule> beside[] { m_float, m_simulated, m_integer };
        QS_TRY(SampleLoop loop, SampleLoop::make(beside, asManyAtOnce(feeds, m_work.threadCount()), m_work));
        QS_CHECK(loop.run(
            { feeds, "ladder" }, [this](size_t index, const SampleWorker& worker) { return feed(index, worker); }));
        return finish();
    }

private:
    Status schedule()
    {
        Demand f, q, integer;
        for (const Rung& rung : m_rungs)
            for (const auto& [side, id] : { std::pair(rung.from, rung.x), std::pair(rung.to, rung.y) })
                if (side == LadderSide::Float)
                    f.values.push_back(id);
                else if (side == LadderSide::Simulated)
                    q.values.push_back(id);
                else if (side == LadderSide::Integer)
                    integer.values.push_back(id);
        QS_TRY(m_float, Schedule::make(m_r.pair.floatPlan, std::move(f)));
        QS_TRY(m_simulated, Schedule::make(m_r.pair.quantPlan, std::move(q)));
        QS_TRY(m_integer, Schedule::make(m_r.integerPlan, std::move(integer)));
        return {};
    }

    Status feed(size_t index, const SampleWorker& worker)
    {
        QS_TRY(const Feed feed, m_r.data->feed(index));
        Execution f = worker.execution(m_float), q = worker.execution(m_simulated),
                  integer = worker.execution(m_integer);
        const CarriedState reference(m_r.pair.floatPlan);
        for (auto [execution, plan] : { std::pair(&f, &m_r.pair.floatPlan), std::pair(&q, &m_r.pair.quantPlan),
                 std::pair(&integer, &m_r.integerPlan) }) {
            QS_CHECK(execution->bind(FedModel(CarriedState(*plan), reference).inputs(feed.inputs)));
            QS_CHECK(execution->runAll(m_work.cancel));
        }
        for (size_t i = 0; i < m_rungs.size(); ++i) {
            const Rung& rung = m_rungs[i];
            std::vector<Tensor> sides;
            for (const auto& [side, id] : { std::pair(rung.from, rung.x), std::pair(rung.to, rung.y) }) {
                if (side == LadderSide::Framework || side == LadderSide::Device) {
                    const SavedValues& saved = side == LadderSide::Framework ? *m_r.framework : *m_r.device;
                    QS_TRY(Tensor read, saved.read(rung.saved, feed.firstSample, feed.samples));
                    sides.push_back(std::move(read));
                } else {
                    sides.push_back((side == LadderSide::Float ? f
                            : side == LadderSide::Simulated    ? q
                                                               : integer)
                                        .get(id));
                }
            }
            if (sides[0].count() != sides[1].count())
                return sizesDiffer(rung, sides[0], sides[1]);
            measure(i, sides[0], sides[1], feed);
        }
        return {};
    }

    Issue sizesDiffer(const Rung& rung, const Tensor& x, const Tensor& y) const
    {
        const SavedValues* saved = rung.step == LadderStep::Float ? m_r.framework : m_r.device;
        const bool first = rung.step == LadderStep::Float;
        Issue issue = badInput("holds " + std::to_string((first ? x : y).count())
                + " elements a sample, the model makes " + std::to_string((first ? y : x).count()),
            saved ? saved->path() : m_r.pair.quantPlan->model().path, "save the value for the same samples and sizes");
        issue.tensor = rung.name;
        return issue;
    }

    void measure(size_t index, const Tensor& xt, const Tensor& yt, const Feed& feed)
    {
        const Rung& rung = m_rungs[index];
        std::vector<float> first, second;
        Tensor keepX, keepY;
        // Codes are compared as the reals that they stand for, whoever wrote them.
        const float* x = asFloats(xt, Layout::Plain, isInteger(xt.dtype()) ? rung.params : nullptr, first, keepX);
        const float* y = asFloats(yt, Layout::Plain, isInteger(yt.dtype()) ? rung.params : nullptr, second, keepY);
        const auto count = size_t(xt.count());
        const size_t slices = feed.slicesOf(count), slice = count / slices;
        const auto rows = !rung.output ? std::nullopt : scoreRows(xt.shape(), feed.samples);
        const bool judged = isFirstOutput(rung) && slice > 1 && slices == feed.samples;
        const double step = rung.params ? 1.01 * double(rung.params->scale[0]) : 0;
        for (size_t s = 0; s < slices; ++s) {
            const float *a = x + s * slice, *b = y + s * slice;
            RungSums& sums = m_sums[index];
            const size_t sample = feed.firstSample + s;
            if (const auto label = judged ? m_r.data->label(sample) : std::nullopt)
                sums.right[sample] = Right { largestAt(a, slice, *label), largestAt(b, slice, *label) };
            addPairSums(sums.sums[feed.firstSample + s], a, b, nullptr, slice, nullptr, {});
            for (size_t i = 0; i < slice && step > 0; ++i)
                sums.beyond[feed.firstSample + s] += !(std::fabs(double(b[i]) - a[i]) <= step);
            if (rows && slices == feed.samples)
                sums.scores[feed.firstSample + s] = scoreSums(a, b, *rows, ScoreKind::Ranked);
        }
    }

    /// The one that classes are read from.
    bool isFirstOutput(const Rung& rung) const
    {
        const Plan& plan = rung.step == LadderStep::Float || rung.step == LadderStep::Simulated ? *m_r.pair.floatPlan
                                                                                                : *m_r.pair.quantPlan;
        return rung.output && !plan.graph().outputs().empty() && plan.graph().outputs()[0] == rung.x;
    }

    Ladder finish()
    {
        for (size_t i = 0; i < m_rungs.size(); ++i)
            m_ladder.rows.push_back(rowOf(m_rungs[i], m_sums[i]));
        const auto apart = std::ranges::find(m_ladder.rows, false, &LadderRow::agrees);
        if (apart != m_ladder.rows.end())
            m_ladder.firstApart = size_t(apart - m_ladder.rows.begin());
        return std::move(m_ladder);
    }

    const LadderRequest& m_r;
    const WorkContext& m_work;
    Ladder m_ladder;
    const std::vector<Rung> m_rungs;
    std::vector<RungSums> m_sums;
    std::shared_ptr<const Schedule> m_float, m_simulated, m_integer;
};

} // namespace

std::string_view ladderStepName(LadderStep step)
{
    switch (step) {
    case LadderStep::Float:
        return "framework -> float";
    case LadderStep::Simulated:
        return "float -> simulated";
    case LadderStep::Integer:
        return "simulated -> integer";
    case LadderStep::Device:
        return "integer -> device";
    }
    return {};
}

Result<Ladder> climbLadder(const LadderRequest& request, const WorkContext& work)
{
    return Climber(request, work).run();
}

} // namespace qs
