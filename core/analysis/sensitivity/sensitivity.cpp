// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/sensitivity/sensitivity.h"

#include "core/analysis/sensitivity/exclusion_front.h"
#include "core/analysis/sensitivity/exclusion_search.h"
#include "core/analysis/sensitivity/unit_blocks.h"
#include "core/base/name_pattern.h"
#include "core/base/work/long_work.h"
#include "core/base/work/stopwatch.h"

#include <algorithm>
#include <numeric>

namespace qs {

namespace {

using Indices = std::vector<size_t>;

constexpr size_t kRankingParts = 8, kLeastPart = 4; ///< that a ranking is told in; units of one

/// Sizes of the exclusions that are tried: all of the first few, then fewer and fewer.
std::vector<size_t> triedSizes(size_t units)
{
    std::vector<size_t> sizes;
    for (size_t n = 1; n < units; n = n < 4 ? n + 1 : n + n / 2)
        sizes.push_back(n);
    if (units > 0)
        sizes.push_back(units);
    return sizes;
}

/// Types and sizes of the graph inputs in a feed.
OuterFacts sizesOf(const SensitivityInputs& inputs, const Feed& feed)
{
    OuterFacts sizes;
    const Graph& graph = inputs.model->graph;
    size_t next = 0;
    for (const ValueId id : graph.inputs()) {
        const std::string& name = graph.value(id).name;
        if (isCarried(inputs.runs.carry, name) || graph.value(id).initializer || next >= feed.inputs.size())
            continue;
        const Tensor& t = feed.inputs[next++];
        if (t.valid())
            sizes.emplace(name, Fact { t.dtype(), toDims(t.shape()), {} });
    }
    return sizes;
}

/// Those that match a pattern; without patterns all.
Result<Indices> chosenUnits(const std::vector<QuantizedUnit>& units, const std::vector<std::string>& patterns)
{
    std::vector<std::string> names;
    for (const QuantizedUnit& unit : units)
        names.push_back(unit.name);
    Indices chosen(names.size());
    std::iota(chosen.begin(), chosen.end(), size_t(0));
    if (patterns.empty())
        return chosen;
    std::vector<bool> found(names.size(), false);
    for (const std::string& pattern : splitPatterns(patterns, names)) {
        QS_TRY(const auto indices, matchNames(pattern, names));
        for (const size_t i : indices)
            found[i] = true;
    }
    std::erase_if(chosen, [&](size_t i) { return !found[i]; });
    return chosen;
}

class SensitivityRun {
public:
    SensitivityRun(const SensitivityInputs& inputs, const WorkContext& work)
        : m_inputs(inputs)
        , m_work(work)
        , m_options { KernelMode::Fast, inputs.profile,
            inputs.lowered ? inputs.lowered : std::make_shared<LoweringCache>() }
    {
    }

    Result<Sensitivity> run()
    {
        Stopwatch watch;
        QS_CHECK(prepare());
        QS_CHECK(measureUnits());
        m_result.unitsMs = watch.lap();
        rank();
        if (m_inputs.exclusions)
            QS_CHECK(exclude());
        else
            keepSingleExclusions();
        Indices ranking;
        for (const size_t row : m_bySaving)
            ranking.push_back(m_chosen[row]);
        m_tried.insert(m_tried.begin(), { {}, m_result.quantized });
        m_result.pareto = exclusionFront(std::move(m_tried), *m_units, ranking);
        sortUnits();
        m_result.exclusionsMs = watch.lap();
        return std::move(m_result);
    }

private:
    std::shared_ptr<const Plan> planOf(std::shared_ptr<const Model> model) const
    {
        return Plan::make(std::move(model), m_options);
    }
    Result<std::shared_ptr<const Plan>> planOf(const Result<GraphDraft>& draft) const
    {
        if (!draft.ok())
            return draft.issue();
        QS_TRY(const auto model, draft->build());
        return planOf(model);
    }

    Status prepare()
    {
        QS_TRY(const Feed first, m_inputs.data->feed(0));
        QS_TRY(m_units, QuantizedUnits::make(m_inputs, sizesOf(m_inputs, first)));
        QS_TRY(m_chosen, chosenUnits(m_units->units(), m_inputs.only));
        QS_TRY(auto prepared, planOf(Result<GraphDraft>(*m_inputs.prepared)));
        QS_TRY(m_all, planOf(m_units->without({})));
        QS_TRY(m_runs,
            VariantRuns::make(
                planOf(m_inputs.model), { std::move(prepared), m_all }, m_inputs.data, m_inputs.runs, m_work));
        m_result.by = m_inputs.by;
        m_result.samples = m_inputs.data->samples();
        return {};
    }

    /// All at once, or some after each other where somebody waits for the first ones.
    Status measureUnits()
    {
        m_result.asked = m_chosen.size();
        const size_t some
            = m_inputs.partial ? std::max(kLeastPart, (m_chosen.size() + kRankingParts - 1) / kRankingParts) : SIZE_MAX;
        do {
            const size_t first = m_result.units.size();
            QS_CHECK(measureUnits(first, std::min(some, m_chosen.size() - first)));
            if (m_inputs.partial)
                tellPart();
        } while (m_result.units.size() < m_chosen.size());
        return {};
    }

    void tellPart()
    {
        Sensitivity part = m_result;
        std::ranges::stable_sort(part.units, [](const UnitSensitivity& a, const UnitSensitivity& b) {
            return std::pair(a.without.noise, -a.alone.noise) < std::pair(b.without.noise, -b.alone.noise);
        });
        m_inputs.partial(part);
    }

    /// Variant 0 has all units, then alone and without by turns, of `count` units from `first` on.
    Status measureUnits(size_t first, size_t count)
    {
        const auto& units = m_units->units();
        const auto plan = [&](size_t variant) -> Result<std::shared_ptr<const Plan>> {
            if (variant == 0)
                return m_all;
            const Indices one { m_chosen[first + (variant - 1) / 2] };
            return planOf(variant % 2 ? m_units->only(one) : m_units->without(one));
        };
        const VariantRuns::Share share { 2 * first, 1 + 2 * m_chosen.size() };
        QS_TRY(const auto scores, m_runs->measure(1 + 2 * count, plan, "sensitivity", share));
        m_result.quantized = scores[0];
        const int64_t unitMacs = m_units->unitMacs();
        for (size_t c = 0; c < count; ++c) {
            const QuantizedUnit& unit = units[m_chosen[first + c]];
            UnitSensitivity row { unit.name, unit.opType, scores[1 + 2 * c], scores[2 + 2 * c], {} };
            if (m_units->macsKnown())
                row.macShare = unitMacs > 0 ? double(unit.macs) / double(unitMacs) : 0;
            m_result.units.push_back(std::move(row));
        }
        return {};
    }

    /// By what leaving it out saves; among equals by the noise that it makes alone.
    void rank()
    {
        const auto order = [&](const auto& before) {
            Indices indices(m_result.units.size());
            std::iota(indices.begin(), indices.end(), size_t(0));
            std::ranges::stable_sort(indices, before);
            return indices;
        };
        const auto& units = m_result.units;
        m_bySaving = order([&](size_t a, size_t b) {
            return std::pair(units[a].without.noise, -units[a].alone.noise)
                < std::pair(units[b].without.noise, -units[b].alone.noise);
        });
        m_byNoise = order([&](size_t a, size_t b) { return units[a].alone.noise > units[b].alone.noise; });
    }

    using Choices = std::vector<Indices>; ///< units, ascending

    Result<std::vector<OutputScore>> measureWithout(const Choices& choices)
    {
        const auto plan = [&](size_t variant) { return planOf(m_units->without(choices[variant])); };
        return m_runs->measure(choices.size(), plan, "exclusions");
    }

    /// Measures and keeps for the front.
    Status tryAll(const Choices& choices)
    {
        QS_TRY(const auto scores, measureWithout(choices));
        for (size_t c = 0; c < choices.size(); ++c)
            m_tried.push_back({ choices[c], scores[c] });
        return {};
    }

    /// Of each size the first ones of both orders.
    Choices firstOnes() const
    {
        Choices choices;
        for (const size_t n : triedSizes(m_result.units.size()))
            for (const Indices* order : { &m_bySaving, &m_byNoise }) {
                Indices units;
                for (size_t i = 0; i < n; ++i)
                    units.push_back(m_chosen[(*order)[i]]);
                std::ranges::sort(units);
                choices.push_back(std::move(units));
            }
        return choices;
    }

    /// Blocks are whole, so they are left alone where only some units are asked for.
    Choices blocks() const
    {
        Choices choices;
        if (m_chosen.size() == m_units->units().size())
            for (UnitBlock& block : unitBlocks(m_units->prepared(), m_inputs.by, m_units->units()))
                choices.push_back(std::move(block.units));
        return choices;
    }

    void keepSingleExclusions()
    {
        for (size_t row = 0; row < m_result.units.size(); ++row)
            m_tried.push_back({ { m_chosen[row] }, m_result.units[row].without });
    }

    Status exclude()
    {
        QS_CHECK(tryAll(firstOnes()));
        const size_t firstBlock = m_tried.size();
        QS_CHECK(tryAll(blocks()));
        std::vector<ExclusionMove> moves;
        for (size_t row = 0; row < m_result.units.size(); ++row)
            moves.push_back({ { m_chosen[row] }, m_result.units[row].without });
        for (size_t b = firstBlock; b < m_tried.size(); ++b)
            moves.push_back({ m_tried[b].units, m_tried[b].score });
        ExclusionCosts costs;
        const auto& units = m_units->units();
        for (const QuantizedUnit& unit : units) // what needs no work costs something, too
            costs.units.push_back(
                double(unit.macs) / double(std::max<int64_t>(m_units->unitMacs(), 1)) + 1 / double(units.size()));
        costs.measure = [this](const Choices& choices) { return measureWithout(choices); };
        QS_TRY(const auto searched, searchExclusions(m_result.quantized, std::move(moves), costs));
        m_tried.insert(m_tried.end(), searched.begin(), searched.end());
        return {};
    }

    void sortUnits()
    {
        std::vector<UnitSensitivity> ranked;
        for (const size_t u : m_bySaving)
            ranked.push_back(std::move(m_result.units[u]));
        m_result.units = std::move(ranked);
    }

    const SensitivityInputs& m_inputs;
    const WorkContext& m_work;
    PlanOptions m_options;
    std::optional<QuantizedUnits> m_units;
    std::optional<VariantRuns> m_runs;
    std::shared_ptr<const Plan> m_all;
    Sensitivity m_result;
    Indices m_chosen; ///< unit of each row
    Indices m_bySaving, m_byNoise; ///< rows
    std::vector<MeasuredExclusion> m_tried;
};

} // namespace

Result<Sensitivity> measureSensitivity(const SensitivityInputs& inputs, const WorkContext& work)
{
    beginLongWork("sensitivity");
    return SensitivityRun(inputs, work).run();
}

} // namespace qs
