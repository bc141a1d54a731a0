// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rules/findings.h"

#include "core/match/graph/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>

namespace qs {

namespace {

/// Drift from which it is worth telling where it comes from.
constexpr double kDriftedDb = 20;
constexpr double kHealthyLocalDb = 6;

bool onlyInherits(const ActivationRow& row)
{
    if (row.lostActivation.valid() || !row.accumulated.sqnrDb || *row.accumulated.sqnrDb > kDriftedDb
        || !row.noise.inherited)
        return false;
    const double mse = row.accumulated.rmse.value_or(0) * row.accumulated.rmse.value_or(0);
    const bool dominates = *row.noise.inherited > 0.8 * mse;
    const bool healthy = !row.idealSqnrDb || row.localExact
        || (row.localSqnrDb && *row.localSqnrDb > *row.idealSqnrDb - kHealthyLocalDb);
    return dominates && healthy;
}

/// Its own quantizer is far from what its scale allows: worth pointing at.
bool spoilsItself(const ActivationRow& row)
{
    return row.localSqnrDb && row.idealSqnrDb && *row.localSqnrDb < *row.idealSqnrDb - kHealthyLocalDb;
}

/// Walks up from a tensor that only inherits to the nearest one that makes noise itself.
class SourceFinder {
public:
    SourceFinder(const Graph& graph, const Comparison& c)
        : m_graph(graph)
        , m_c(c)
    {
        for (size_t i = 0; i < c.activations.size(); ++i)
            m_rowOf.try_emplace(c.activations[i].floatValue, i);
    }

    /// The worst finding upstream if there is one, else the nearest tensor that makes noise itself.
    std::optional<size_t> sourceOf(size_t row, const std::vector<Finding>& found)
    {
        m_seen.assign(m_graph.values().size(), false);
        const std::optional<size_t> nearest = walk(row);
        const Finding* worst = nullptr;
        for (const Finding& f : found)
            if (f.activation && f.severity != Severity::Note && *f.activation != row
                && m_seen[m_c.activations[*f.activation].floatValue.index()]
                && (!worst || f.severity < worst->severity || (f.severity == worst->severity && f.rank > worst->rank)))
                worst = &f;
        return worst ? worst->activation : nearest;
    }

private:
    struct Step {
        ValueId value;
        bool past = false; ///< beyond the first tensor on the way that does not only inherit
    };

    /// Marks all that a tensor depends on; the nearest one that makes noise itself.
    std::optional<size_t> walk(size_t start)
    {
        std::optional<size_t> nearest;
        std::vector<Step> open { { m_c.activations[start].floatValue, false } };
        while (!open.empty()) {
            Step step = open.back();
            open.pop_back();
            if (m_seen[step.value.index()])
                continue;
            m_seen[step.value.index()] = true;
            look(step, start, nearest);
            const NodeId producer = m_graph.value(step.value).producer;
            if (!producer.valid())
                continue;
            const std::vector<ValueId>& inputs = m_graph.node(producer).inputs;
            for (auto in = inputs.rbegin(); in != inputs.rend(); ++in) // the first one is looked at first
                if (in->valid())
                    open.push_back({ *in, step.past });
        }
        return nearest;
    }

    void look(Step& step, size_t start, std::optional<size_t>& nearest) const
    {
        const auto it = m_rowOf.find(step.value);
        if (it == m_rowOf.end() || it->second == start || step.past)
            return;
        const ActivationRow& row = m_c.activations[it->second];
        if (onlyInherits(row))
            return;
        if (spoilsItself(row) && (!nearest || ownNoiseShare(row) > ownNoiseShare(m_c.activations[*nearest])))
            nearest = it->second;
        step.past = true;
    }

    const Graph& m_graph;
    const Comparison& m_c;
    std::unordered_map<ValueId, size_t> m_rowOf;
    std::vector<bool> m_seen; ///< by value
};

} // namespace

void findInherited(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    SourceFinder finder(pair.floatPlan->graph(), c);
    std::map<size_t, std::vector<size_t>> bySource;
    for (size_t i = 0; i < c.activations.size(); ++i)
        if (onlyInherits(c.activations[i]))
            if (const auto source = finder.sourceOf(i, found))
                bySource[*source].push_back(i);
    for (const auto& [source, rows] : bySource) {
        const auto worst = *std::ranges::min_element(
            rows, {}, [&](size_t r) { return c.activations[r].accumulated.sqnrDb.value_or(0); });
        const ActivationRow& from = c.activations[source];
        Finding f = activationFinding(c, worst, Rule::Inherited);
        f.title = rows.size() == 1 ? "Inherited in 1 tensor" : fmt::format("Inherited in {} tensors", rows.size());
        const std::string place = from.node.empty() ? "the input " + from.name : from.node;
        f.summary = fmt::format(
            "Their own quantizers are good; the error (down to {:.1f} dB) follows from {}, which stands at {:.1f} dB.",
            *c.activations[worst].accumulated.sqnrDb, place, from.accumulated.sqnrDb.value_or(0));
        f.evidence.push_back({ "source", std::nullopt, from.name, {} });
        f.evidence.push_back(evidence("tensors", double(rows.size())));
        f.evidence.push_back(evidence("sqnr_db", *c.activations[worst].accumulated.sqnrDb, "dB"));
        f.evidence.push_back(evidence("source_sqnr_db", from.accumulated.sqnrDb.value_or(0), "dB"));
        f.remedy = ruleRemedy(f.rule, place);
        found.push_back(std::move(f));
    }
}

namespace {

/// Values without a partner of one file that are not merely taken in by a partner behind them, as a Conv's output
/// before the normalization or Relu that the other file has folded.
std::vector<ValueId> leftAlone(
    const CanonicalGraph& graph, const std::vector<ValueId>& unmatched, const std::set<ValueId>& paired)
{
    const auto takenIn = [&](ValueId value) {
        for (ValueId root = graph.root(value); graph.readers(root).size() == 1;) {
            const NodeId next = graph.readers(root)[0];
            if (graph.kind(next) == FlowKind::Opaque || graph.graph().node(next).outputs.empty())
                return false;
            root = graph.root(graph.graph().node(next).outputs[0]);
            if (paired.contains(root))
                return true;
        }
        return false;
    };
    std::vector<ValueId> alone;
    std::ranges::copy_if(unmatched, std::back_inserter(alone), [&](ValueId value) { return !takenIn(value); });
    return alone;
}

} // namespace

void findUnmatched(const ComparePair& pair, std::vector<Finding>& found)
{
    const Alignment& a = *pair.alignment;
    if (a.unmatchedFloat.empty() && a.unmatchedQuant.empty())
        return;
    const CanonicalGraph f(*pair.floatPlan, nullptr), q(*pair.quantPlan, pair.quantView.get());
    std::set<ValueId> pairedFloat, pairedQuant;
    for (const ValuePair& p : a.values) {
        pairedFloat.insert(f.root(p.floatValue));
        pairedQuant.insert(q.root(p.quantValue));
    }
    const auto ofFloat = leftAlone(f, a.unmatchedFloat, pairedFloat);
    const auto ofQuant = leftAlone(q, a.unmatchedQuant, pairedQuant);
    if (ofFloat.empty() && ofQuant.empty())
        return;
    const bool heavy = std::ranges::any_of(ofFloat, [&](ValueId v) {
        const NodeId producer = f.graph().value(v).producer;
        return producer.valid() && f.isHeavy(producer);
    });
    Finding finding = makeFinding(Rule::Unmatched);
    if (heavy)
        finding.severity = Severity::Warning;
    finding.title = fmt::format("{} values without a partner", ofFloat.size() + ofQuant.size());
    finding.summary
        = fmt::format("{} of the float file and {} of the quantized file could not be paired and are not compared.",
            ofFloat.size(), ofQuant.size());
    const Graph& g = ofFloat.empty() ? q.graph() : f.graph();
    const ValueId first = ofFloat.empty() ? ofQuant[0] : ofFloat[0];
    finding.tensor = g.value(first).name;
    if (const NodeId producer = g.value(first).producer; producer.valid())
        finding.node = g.node(producer).name;
    finding.evidence.push_back(evidence("float", double(ofFloat.size())));
    finding.evidence.push_back(evidence("quantized", double(ofQuant.size())));
    found.push_back(std::move(finding));
}

} // namespace qs
