// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/price/weight_prices.h"

#include "core/base/work/long_work.h"
#include "core/base/work/stopwatch.h"

#include <algorithm>

namespace qs {

namespace {

constexpr double kEnoughLoss = 1e-3; ///< of the loss at the fewest bits: nobody looks for less
constexpr size_t kStepBase = 1; ///< of the bases: the model as the search left it

class PriceRun {
public:
    PriceRun(const PriceInputs& inputs, const WorkContext& work)
        : m_inputs(inputs)
        , m_work(work)
        , m_options { KernelMode::Fast, inputs.profile,
            inputs.lowered ? inputs.lowered : std::make_shared<LoweringCache>() }
    {
    }

    Result<WeightPrices> run()
    {
        QS_CHECK(prepare());
        QS_CHECK(measureUnits());
        m_result.unitsMs = m_watch.ms();
        if (m_inputs.search)
            QS_CHECK(search());
        m_result.searchMs = m_watch.ms() - m_result.unitsMs;
        m_result.pareto = priceFront(std::move(m_tried), m_result.by);
        return std::move(m_result);
    }

private:
    using PlanPtr = std::shared_ptr<const Plan>;
    Result<PlanPtr> planOf(const GraphDraft& draft) const
    {
        QS_TRY(auto model, draft.build());
        return Plan::make(std::move(model), m_options);
    }

    size_t floats() const { return m_result.ladder.size() - 1; }
    double loss(const OutputScore& score) const { return lossOf(score, m_result.by); }

    Status prepare()
    {
        QS_TRY(m_units,
            PricedUnits::make(
                *m_inputs.prepared, m_inputs.recipe, m_inputs.blocks, m_inputs.only, m_work.threadCount()));
        m_result.ladder = m_units->ladder();
        m_result.samples = m_inputs.data->samples();
        for (const PricedUnit& unit : m_units->units())
            m_result.units.push_back(
                { unit, std::vector<uint64_t>(floats() + 1), std::vector<OutputScore>(floats() + 1) });
        QS_TRY(auto prepared, planOf(*m_inputs.prepared));
        PlanPtr fewest;
        for (size_t store = 0; store <= floats(); ++store) { // each weight once in each type, before workers need them
            m_result.references.push_back({ m_units->allAt(store), 0, {}, true });
            QS_TRY(const GraphDraft draft, m_units->model(m_units->allAt(store)));
            m_result.references[store].bytes = constantBytes(draft);
            if (store > 0)
                continue;
            QS_CHECK(checkBytes(draft));
            QS_TRY(fewest, planOf(draft));
        }
        VariantRuns::Options options = m_inputs.runs;
        options.divergences = true;
        QS_TRY(m_runs,
            VariantRuns::make(Plan::make(m_inputs.model, m_options), { std::move(prepared), std::move(fewest) },
                m_inputs.data, options, m_work));
        return checkLoss();
    }

    /// A budget of bytes that nothing fits is told before anything runs.
    Status checkBytes(const GraphDraft& fewest) const
    {
        const auto isLeft = [&](const PricedUnit& unit) { return fewest.constant(unit.weight) != nullptr; };
        if (!m_inputs.budget.maxBytes || std::ranges::any_of(m_units->units(), isLeft))
            return {};
        WeightPrices least;
        least.pareto = m_result.references;
        return chosenPoint(least, m_inputs.budget).ok() ? Status() : chosenPoint(least, m_inputs.budget).issue();
    }

    Status checkLoss() const
    {
        if (m_inputs.budget.maxKl && !m_runs->guessesTokens())
            return badInput("no output of the model guesses tokens, so there is no KL to be held to",
                m_inputs.model->path, "give a limit of the SQNR or of the bytes");
        if (m_inputs.budget.minSqnrDb && m_runs->guessesTokens())
            return badInput("an output of the model guesses tokens, which is judged by KL and not by SQNR",
                m_inputs.model->path, "give a limit of the KL or of the bytes");
        return {};
    }

    /// First all units at each entry of the ladder, then each alone in each type, at last none: nothing is in codes,
    /// not even the recipe's weights that are no units.
    Status measureUnits()
    {
        const size_t all = m_result.references.size(), types = floats(), units = m_result.units.size();
        const auto plan = [&](size_t variant) -> Result<PlanPtr> {
            if (variant < all)
                return planAt(m_result.references[variant]);
            if (variant == all + units * types)
                return planOf(m_units->prepared());
            const size_t unit = (variant - all) / types, store = (variant - all) % types;
            QS_TRY(const GraphDraft alone, m_units->alone(unit, store));
            const StoredBytes stored = storedBytes(m_units->prepared(), alone);
            m_result.units[unit].bytes[store] = stored.codes;
            if (store == 0)
                m_result.units[unit].bytes[floats()] = stored.floats;
            return planOf(alone);
        };
        QS_TRY(const auto scores, m_runs->measure(all + units * types + 1, plan, "prices"));
        for (size_t store = 0; store < all; ++store)
            m_result.references[store].score = scores[store];
        for (size_t v = all; v < all + units * types; ++v)
            m_result.units[(v - all) / types].alone[(v - all) % types] = scores[v];
        for (UnitPrice& unit : m_result.units)
            unit.alone[floats()] = scores.back();
        const bool guesses = m_result.references[floats()].score.positions > 0;
        m_result.by = guesses ? PriceLoss::Divergence : PriceLoss::Noise;
        m_tried = m_result.references;
        return {};
    }

    Result<PlanPtr> planAt(PricePoint& point) const
    {
        QS_TRY(const GraphDraft draft, m_units->model(point.choice));
        point.bytes = constantBytes(draft);
        return planOf(draft);
    }

    Result<std::vector<double>> measure(const std::vector<StoreChoice>& choices)
    {
        std::vector<PricePoint> points;
        for (const StoreChoice& choice : choices)
            points.push_back({ choice, 0, {} });
        const auto plan = [&](size_t variant) { return planAt(points[variant]); };
        const VariantRuns::Share share { m_result.steps * kTriedInStep, mostSteps() * kTriedInStep };
        QS_TRY(const auto scores, m_runs->measure(choices.size(), plan, "steps", share));
        std::vector<double> losses;
        for (size_t c = 0; c < choices.size(); ++c) {
            points[c].score = scores[c];
            losses.push_back(loss(scores[c]));
        }
        std::ranges::move(points, std::back_inserter(m_tried));
        return losses;
    }

    void markStep(const StoreChoice& choice)
    {
        for (PricePoint& point : m_tried)
            point.step = point.step || point.choice == choice;
    }

    size_t mostSteps() const { return std::min(m_inputs.steps, m_result.units.size() * floats()); }

    Status rebase(const StoreChoice& choice)
    {
        ++m_result.steps;
        markStep(choice);
        QS_TRY(const GraphDraft draft, m_units->model(choice));
        QS_TRY(auto plan, planOf(draft));
        return m_runs->rebase(kStepBase, std::move(plan));
    }

    /// All at what takes the fewest bytes: a weight that stays in the file for somebody else costs nothing as a float.
    StoreChoice cheapest() const
    {
        StoreChoice choice;
        for (const UnitPrice& unit : m_result.units)
            choice.push_back(size_t(std::ranges::min_element(unit.bytes) - unit.bytes.begin()));
        return choice;
    }

    Status search()
    {
        PriceSearch search;
        search.start = cheapest();
        QS_TRY(const auto start, measure({ search.start }));
        search.loss = start.front();
        markStep(search.start);
        for (const UnitPrice& unit : m_result.units) {
            search.bytes.emplace_back(unit.bytes.begin(), unit.bytes.end());
            search.alone.emplace_back();
            for (const OutputScore& alone : unit.alone)
                search.alone.back().push_back(loss(alone));
        }
        search.enough = kEnoughLoss * search.loss;
        if (m_inputs.budget.maxKl)
            search.enough = std::min(search.enough, *m_inputs.budget.maxKl);
        search.steps = m_inputs.steps;
        search.measure = [this](const std::vector<StoreChoice>& choices) { return measure(choices); };
        search.taken = [this](const StoreChoice& choice) { return rebase(choice); };
        search.timeIsUp = [this] { return m_watch.ms() > 1000 * m_inputs.seconds; };
        QS_TRY(const PriceSearchEnd end, searchPrices(search));
        m_result.stop = end.stop;
        return {};
    }

    const PriceInputs& m_inputs;
    const WorkContext& m_work;
    Stopwatch m_watch;
    PlanOptions m_options;
    std::optional<PricedUnits> m_units;
    std::optional<VariantRuns> m_runs;
    WeightPrices m_result;
    std::vector<PricePoint> m_tried;
};

} // namespace

Result<WeightPrices> measureWeightPrices(const PriceInputs& inputs, const WorkContext& work)
{
    beginLongWork("sensitivity");
    return PriceRun(inputs, work).run();
}

} // namespace qs
