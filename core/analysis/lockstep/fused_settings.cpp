// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/fused_settings.h"

#include "core/analysis/bypass/bypass.h"
#include "core/analysis/bypass/network_outputs.h"
#include "core/analysis/bypass/network_run.h"
#include "core/analysis/bypass/proof_distances.h"
#include "core/analysis/lockstep/changed_functions.h"
#include "core/analysis/lockstep/node_choices.h"
#include "core/analysis/pairs/masked_values.h"
#include "core/analysis/rounding/relative_distance.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <utility>

namespace qs {

namespace {

constexpr size_t kMostSettingRuns = 64; ///< each a run up to the place
constexpr size_t kMostNodesBefore = 96; ///< between the place and what has partners
constexpr double kExplainsMuch = 0.3; ///< of what is between the files: the cause is known
constexpr double kLeftAtPlace = 0.1; ///< part of the distance at the place that another cause may leave

/// Nodes of a graph that lead to a value from `known` ones, the nearest first.
std::vector<NodeId> nodesBefore(const Plan& plan, ValueId place, const std::set<std::string>& known)
{
    const Graph& graph = plan.graph();
    std::vector<NodeId> nodes;
    std::vector<ValueId> front { place };
    std::set<ValueId> seen { place };
    for (size_t i = 0; i < front.size(); ++i) {
        const NodeId producer = graph.value(front[i]).producer;
        if (!producer.valid() || std::ranges::find(nodes, producer) != nodes.end())
            continue;
        if (nodes.size() == kMostNodesBefore)
            break;
        nodes.push_back(producer);
        for (const ValueId in : graph.node(producer).inputs)
            if (in.valid() && !plan.constant(in) && isFloat(plan.facts().of(in).dtype)
                && !known.contains(graph.value(in).name) && seen.insert(in).second)
                front.push_back(in);
    }
    return nodes;
}

/// Where most of what is between the files comes in.
const ValueDistance& placeToldOf(const NetworkDistance& told)
{
    return told.mostFrom ? *told.mostFrom : *told.firstApart;
}

class FusedSettings {
public:
    FusedSettings(const ComparePair& pair, const NetworkDistance& told, const ProofSample& sample,
        std::shared_ptr<const Plan> plan, const WorkContext& work)
        : m_pair(pair)
        , m_told(told)
        , m_sample(sample)
        , m_plan(std::move(plan))
        , m_work(work)
    {
    }

    std::optional<ChangedFunction> find()
    {
        if (!findPlace())
            return std::nullopt;
        const auto x = runNetwork(m_pair.floatPlan, m_pair.floatPlan, { m_place.shown }, m_sample.inputs, m_work);
        const auto y = runNetwork(m_plan, m_pair.floatPlan, { m_place.b }, m_sample.inputs, m_work);
        if (!x.ok() || !y.ok())
            return std::nullopt;
        m_x = (*x)[0];
        const double enough = std::max(m_told.tolerance, kLeftAtPlace * distanceOf((*y)[0]));
        std::optional<SettingChoice> best;
        double least = enough;
        for (SettingChoice& choice : choices()) {
            const auto plan = withChoice(choice);
            const double left = plan.ok() ? distanceAt(**plan, *plan) : HUGE_VAL;
            if (left >= least)
                continue;
            least = left;
            best = std::move(choice);
            if (left <= m_told.tolerance)
                break;
        }
        return best ? changedBy(*best) : std::nullopt;
    }

private:
    /// The first value apart, by the names of both files.
    bool findPlace()
    {
        const auto pairs = planPairs(m_pair);
        for (const ValueOfBoth& both : comparableValues({ m_pair.floatPlan, m_plan }, m_pair, pairs)) {
            if (both.shown == placeToldOf(m_told).floatValue) {
                m_place = both;
                continue;
            }
            m_knownFloat.insert(m_pair.floatPlan->graph().value(both.f).name);
            m_knownQuant.insert(m_plan->graph().value(both.b).name);
        }
        const ValueId shown = placeToldOf(m_told).floatValue;
        const ValueId named = m_plan->graph().findValue(m_pair.floatPlan->graph().value(shown).name);
        if (!m_place.b.valid() && named.valid() && !m_plan->blocked(named) && !m_plan->constant(named))
            m_place = { shown, named, shown }; // a pair that was given up
        return m_place.b.valid();
    }

    std::vector<SettingChoice> choices() const
    {
        const auto floatNodes = nodesBefore(*m_pair.floatPlan, m_place.shown, m_knownFloat);
        std::vector<SettingChoice> found;
        for (const NodeId node : nodesBefore(*m_plan, m_place.b, m_knownQuant))
            for (SettingChoice& choice : nodeChoices(*m_plan, node, *m_pair.floatPlan, floatNodes))
                if (found.size() < kMostSettingRuns)
                    found.push_back(std::move(choice));
        return found;
    }

    Result<std::shared_ptr<const Plan>> withChoice(const SettingChoice& choice) const
    {
        GraphDraft draft(std::make_shared<const Model>(m_plan->model()));
        const auto node = std::ranges::find(draft.nodes, choice.node, &DraftNode::origin);
        if (node == draft.nodes.end())
            return badInput("the node is not there any more");
        QS_CHECK(choice.put(draft, size_t(node - draft.nodes.begin())));
        QS_TRY(const auto model, draft.build());
        return Plan::make(model);
    }

    double distanceOf(const Tensor& y) const
    {
        RealsOfBoth both { toFloats(m_x), toFloats(y) };
        if (both.x.size() != both.y.size() || m_x.rank() == 0)
            return HUGE_VAL;
        blankMasked(*m_pair.floatPlan, m_place.shown, size_t(m_x.shape().back()), both.x, both.y);
        for (auto* reals : { &both.x, &both.y })
            *reals = countedReals(m_sample, m_place.shown, m_x.shape(), std::move(*reals));
        return lostBetween(both.x, both.y).elements > 0 ? HUGE_VAL : relativeDistance(both.x, both.y);
    }

    double distanceAt(const Plan& plan, const std::shared_ptr<const Plan>& shared) const
    {
        const ValueId id = plan.graph().findValue(m_plan->graph().value(m_place.b).name);
        if (!id.valid() || plan.blocked(id))
            return HUGE_VAL;
        const auto y = runNetwork(shared, m_pair.floatPlan, { id }, m_sample.inputs, m_work);
        return y.ok() ? distanceOf((*y)[0]) : HUGE_VAL;
    }

    /// What it moves the outputs by.
    std::optional<ChangedFunction> changedBy(const SettingChoice& choice) const
    {
        const auto plan = withChoice(choice);
        std::vector<ValueId> before, after, shown;
        for (const ValueOfBoth& out : comparableOutputs({ m_pair.floatPlan, m_plan }, m_pair)) {
            shown.push_back(out.shown);
            before.push_back(out.b);
            after.push_back((*plan)->graph().findValue(m_plan->graph().value(out.b).name));
        }
        if (std::ranges::find(after, ValueId()) != after.end())
            return std::nullopt;
        const auto x = runNetwork(*plan, m_pair.floatPlan, after, m_sample.inputs, m_work);
        const auto y = runNetwork(m_plan, m_pair.floatPlan, before, m_sample.inputs, m_work);
        if (!x.ok() || !y.ok())
            return std::nullopt;
        double most = 0;
        ValueId output;
        for (size_t i = 0; i < x->size() && output != m_told.worstOutput.floatValue; ++i)
            if (const double moved = relativeDistance(
                    countedReals(m_sample, shown[i], (*x)[i]), countedReals(m_sample, shown[i], (*y)[i]));
                moved > most || shown[i] == m_told.worstOutput.floatValue) {
                most = moved;
                output = shown[i];
            }
        const Graph& graph = m_pair.floatPlan->graph();
        const Value& value = graph.value(m_place.shown);
        return ChangedFunction { choice.text, value.producer.valid() ? graph.node(value.producer).name : std::string(),
            value.name, most, false, output.valid() ? graph.value(output).name : std::string() };
    }

    const ComparePair& m_pair;
    const NetworkDistance& m_told;
    const ProofSample& m_sample;
    const std::shared_ptr<const Plan> m_plan; ///< the quantized file without quantizers
    const WorkContext& m_work;
    ValueOfBoth m_place;
    std::set<std::string> m_knownFloat, m_knownQuant; ///< values with partners
    Tensor m_x; ///< the float model's value at the place
};

} // namespace

void findFusedSetting(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work, NetworkProof& proof)
{
    const auto& told = proof.withFloatWeights;
    if (proof.same() || !told || !told->apart() || told->counted || told->overflow || !told->firstApart)
        return;
    if (!proof.changed.empty()
        && proof.changed.front().effect >= kExplainsMuch * std::min(told->worstOutput.distance, 1.0))
        return;
    const auto sample = std::ranges::find(samples, told->sample, &ProofSample::number);
    const auto bypassed = bypassQuantizers(pair, planPairs(pair));
    if (sample == samples.end() || !bypassed.ok())
        return;
    if (auto found = FusedSettings(pair, *told, *sample, bypassed->plan, work).find()) {
        proof.otherFunctions.push_back(found->text);
        proof.changed.push_back(std::move(*found));
        sortByEffect(pair, &*told, proof);
    }
}

} // namespace qs
