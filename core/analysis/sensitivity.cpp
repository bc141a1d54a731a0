// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/sensitivity.h"

#include "core/analysis/sensitivity_units.h"
#include "core/base/stopwatch.h"

#include "core/base/name_pattern.h"

#include <algorithm>
#include <numeric>

namespace qs {

namespace {

using Indices = std::vector<size_t>;

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

class SensitivityRun {
public:
    SensitivityRun(const SensitivityInputs& inputs, const ProgressFn& progress, const CancelToken& cancel)
        : m_inputs(inputs)
        , m_progress(progress)
        , m_cancel(cancel)
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
        QS_CHECK(exclude());
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
        OuterFacts sizes;
        const auto inputs = m_inputs.model->graph.inputs();
        size_t next = 0;
        for (const ValueId id : inputs) {
            const std::string& name = m_inputs.model->graph.value(id).name;
            const bool carried
                = std::ranges::any_of(m_inputs.runs.carry, [&](const auto& link) { return link.second == name; });
            if (carried || m_inputs.model->graph.value(id).initializer || next >= first.inputs.size())
                continue;
            const Tensor& t = first.inputs[next++];
            if (t.valid())
                sizes.emplace(name, Fact { t.dtype(), toDims(t.shape()), {} });
        }
        QS_TRY(m_units, QuantizedUnits::make(m_inputs, sizes));
        QS_CHECK(choose());
        QS_TRY(auto prepared, planOf(Result<GraphDraft>(*m_inputs.prepared)));
        QS_TRY(m_all, planOf(m_units->without({})));
        VariantRuns::Options options = m_inputs.runs;
        QS_TRY(
            m_runs, VariantRuns::make(planOf(m_inputs.model), { std::move(prepared), m_all }, m_inputs.data, options));
        m_result.by = m_inputs.by;
        m_result.samples = m_inputs.data->samples();
        return {};
    }

    Status choose()
    {
        std::vector<std::string> names;
        for (const QuantizedUnit& unit : m_units->units())
            names.push_back(unit.name);
        m_chosen.resize(names.size());
        std::iota(m_chosen.begin(), m_chosen.end(), size_t(0));
        if (m_inputs.only.empty())
            return {};
        std::vector<bool> found(names.size(), false);
        for (const std::string& pattern : splitPatterns(m_inputs.only, names)) {
            QS_TRY(const auto indices, matchNames(pattern, names));
            for (const size_t i : indices)
                found[i] = true;
        }
        std::erase_if(m_chosen, [&](size_t i) { return !found[i]; });
        return {};
    }

    /// Variant 0 has all units, then alone and without by turns.
    Status measureUnits()
    {
        const auto& units = m_units->units();
        const auto plan = [&](size_t variant) -> Result<std::shared_ptr<const Plan>> {
            if (variant == 0)
                return m_all;
            const Indices one { m_chosen[(variant - 1) / 2] };
            return planOf(variant % 2 ? m_units->only(one) : m_units->without(one));
        };
        QS_TRY(const auto scores, m_runs->measure(1 + 2 * m_chosen.size(), plan, "sensitivity", m_progress, m_cancel));
        m_result.quantized = scores[0];
        for (size_t c = 0; c < m_chosen.size(); ++c) {
            const QuantizedUnit& unit = units[m_chosen[c]];
            UnitSensitivity row { unit.name, unit.opType, scores[1 + 2 * c], scores[2 + 2 * c], {} };
            if (m_units->macsKnown())
                row.macShare = unitMacs() > 0 ? double(unit.macs) / double(unitMacs()) : 0;
            m_result.units.push_back(std::move(row));
        }
        return {};
    }

    int64_t unitMacs() const
    {
        return std::accumulate(m_units->units().begin(), m_units->units().end(), int64_t(0),
            [](int64_t sum, const QuantizedUnit& unit) { return sum + unit.macs; });
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

    /// Of rows.
    Exclusion exclusion(const Indices& units, const OutputScore& score) const
    {
        Exclusion result { {}, {}, score };
        int64_t left = unitMacs();
        for (const size_t u : units) {
            const QuantizedUnit& unit = m_units->units()[m_chosen[u]];
            result.excluded.push_back(unit.name);
            left -= unit.macs;
        }
        if (m_units->macsKnown())
            result.quantizedMacShare = m_units->totalMacs() > 0 ? double(left) / double(m_units->totalMacs()) : 0;
        return result;
    }

    /// Of each size the better of both orders; what is no better than fewer exclusions is left away.
    Status exclude()
    {
        const auto sizes = triedSizes(m_result.units.size());
        std::vector<Indices> tried;
        for (const size_t n : sizes)
            for (const Indices* order : { &m_bySaving, &m_byNoise })
                tried.emplace_back(order->begin(), order->begin() + std::ptrdiff_t(n));
        const auto plan = [&](size_t variant) {
            Indices units;
            for (const size_t u : tried[variant])
                units.push_back(m_chosen[u]);
            std::ranges::sort(units);
            return planOf(m_units->without(units));
        };
        QS_TRY(const auto scores, m_runs->measure(tried.size(), plan, "exclusions", m_progress, m_cancel));
        m_result.pareto.push_back(exclusion({}, m_result.quantized));
        for (size_t t = 0; t + 1 < tried.size(); t += 2) {
            const size_t better = scores[t + 1].noise < scores[t].noise ? t + 1 : t;
            if (scores[better].noise < m_result.pareto.back().score.noise)
                m_result.pareto.push_back(exclusion(tried[better], scores[better]));
        }
        std::vector<UnitSensitivity> ranked;
        for (const size_t u : m_bySaving)
            ranked.push_back(std::move(m_result.units[u]));
        m_result.units = std::move(ranked);
        return {};
    }

    const SensitivityInputs& m_inputs;
    const ProgressFn& m_progress;
    const CancelToken& m_cancel;
    PlanOptions m_options;
    std::optional<QuantizedUnits> m_units;
    std::optional<VariantRuns> m_runs;
    std::shared_ptr<const Plan> m_all;
    Sensitivity m_result;
    Indices m_chosen; ///< unit of each row
    Indices m_bySaving, m_byNoise; ///< rows
};

} // namespace

std::string_view unitKindName(UnitKind kind)
{
    return kind == UnitKind::Node ? "node" : kind == UnitKind::Tensor ? "tensor" : "type";
}

std::optional<UnitKind> unitKindOf(std::string_view name)
{
    for (const UnitKind kind : { UnitKind::Node, UnitKind::Tensor, UnitKind::Type })
        if (name == unitKindName(kind))
            return kind;
    return std::nullopt;
}

Result<Sensitivity> measureSensitivity(
    const SensitivityInputs& inputs, const ProgressFn& progress, const CancelToken& cancel)
{
    return SensitivityRun(inputs, progress, cancel).run();
}

} // namespace qs
