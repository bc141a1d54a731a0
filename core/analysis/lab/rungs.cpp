// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/rungs.h"

#include "core/analysis/pairs/pair_plan.h"

#include <algorithm>
#include <utility>

namespace qs {

namespace {

bool usable(const Plan& plan, ValueId id)
{
    return id.valid() && !plan.blocked(id) && !plan.hidden(id) && !plan.constant(id);
}

class RungFinder {
public:
    RungFinder(const LadderRequest& request, std::vector<std::string>& unknown)
        : m_r(request)
        , m_unknown(unknown)
    {
    }

    std::vector<Rung> find()
    {
        if (m_r.framework)
            addSaved(*m_r.framework, *m_r.pair.floatPlan, LadderSide::Framework);
        for (const OutputPair& out : pairOutputs(m_r.pair)) {
            const QuantParams* params = paramsOf(out.y);
            m_rungs.push_back({ LadderStep::Simulated, LadderSide::Float, LadderSide::Simulated, out.x, out.y, 0,
                out.name, true, params });
            m_rungs.push_back({ LadderStep::Integer, LadderSide::Simulated, LadderSide::Integer, out.y, out.y, 0,
                out.quantizedName, true, params });
        }
        if (m_r.device)
            addSaved(*m_r.device, *m_r.integerPlan, LadderSide::Device);
        std::ranges::stable_sort(m_rungs, [](const Rung& a, const Rung& b) {
            return a.step != b.step ? a.step < b.step : a.x.index() < b.x.index();
        });
        return std::move(m_rungs);
    }

private:
    const QuantParams* paramsOf(ValueId quantized) const
    {
        const auto q = m_r.pair.quantView->ofValue(quantized);
        if (!q)
            return nullptr;
        const QuantParams& params = m_r.pair.quantView->quantizers()[*q].params;
        return params.perTensor() ? &params : nullptr;
    }

    /// Saved values by name, else by position among the outputs.
    void addSaved(const SavedValues& saved, const Plan& plan, LadderSide side)
    {
        const Graph& graph = plan.graph();
        for (size_t i = 0; i < saved.values().size(); ++i) {
            const SavedValues::Value& value = saved.values()[i];
            ValueId id = graph.findValue(value.name);
            const bool single = saved.values().size() == 1 && graph.outputs().size() == 1;
            if (!id.valid() && side == LadderSide::Device)
                id = partnerOf(value.name);
            if (!id.valid() && (value.name.empty() || single) && value.position < graph.outputs().size())
                id = graph.outputs()[value.position];
            if (!usable(plan, id)) {
                m_unknown.push_back(value.name.empty() ? "output " + std::to_string(value.position) : value.name);
                continue;
            }
            Rung rung { LadderStep::Float, side, LadderSide::Float, id, id, i, graph.value(id).name, graph.isOutput(id),
                nullptr };
            if (side == LadderSide::Device) {
                rung.step = LadderStep::Device;
                rung.from = LadderSide::Integer;
                rung.to = LadderSide::Device;
                rung.params = paramsOf(id);
            }
            m_rungs.push_back(std::move(rung));
        }
    }

    /// The quantized value that is paired with a float value of that name.
    ValueId partnerOf(const std::string& floatName) const
    {
        const ValueId f = m_r.pair.floatPlan->graph().findValue(floatName);
        const auto& values = m_r.pair.alignment->values;
        const auto it = std::ranges::find(values, f, &ValuePair::floatValue);
        return f.valid() && it != values.end() ? it->quantValue : ValueId();
    }

    const LadderRequest& m_r;
    std::vector<std::string>& m_unknown;
    std::vector<Rung> m_rungs;
};

} // namespace

std::vector<Rung> rungsOf(const LadderRequest& request, std::vector<std::string>& unknown)
{
    return RungFinder(request, unknown).find();
}

} // namespace qs
