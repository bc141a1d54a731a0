// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/network_outputs.h"
#include "core/analysis/rows/output_row.h"
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rows/row_of_value.h"
#include "core/analysis/rules/findings.h"

#include "core/match/graph/canonical.h"
#include "core/qdq/quantization_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace qs {

namespace {

/// Drift from which it is worth telling where it comes from.
constexpr double kDriftedDb = 20;
constexpr double kHealthyLocalDb = 6;
/// Operators make noise of at most so much less: what stands at more than this above a tensor did not spoil it.
constexpr double kMostGrowthDb = 20;

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

/// How the noise of the worst output came about: back through the graph, in each node by what is inherited there, and
/// among its inputs by what they bring.
class NoiseShares {
public:
    NoiseShares(const Graph& graph, const Comparison& c)
        : m_rows(c.activations)
        , m_rowOf(c.activations)
        , m_brought(graph.values().size())
        , m_shares(graph.values().size())
        , m_further(c.activations.size())
    {
        const OutputRow* worst = worstOutput(c.outputs);
        if (!worst || !worst->floatValue.valid())
            return;
        for (size_t v = 0; v < m_brought.size(); ++v)
            if (const auto row = m_rowOf.find(ValueId(v)))
                m_brought[v] = ownNoise(*row);
        const auto& nodes = graph.nodes();
        for (size_t n = 0; n < nodes.size(); ++n)
            for (const ValueId out : nodes[n].outputs)
                if (out.valid() && m_brought[out.index()].relative < 0) // not compared: the noisiest input's
                    for (const ValueId in : nodes[n].inputs)
                        if (in.valid() && broughtTo(NodeId(n), in).relative > m_brought[out.index()].relative)
                            m_brought[out.index()] = broughtTo(NodeId(n), in);
        m_shares[worst->floatValue.index()] = 1;
        for (size_t n = nodes.size(); n-- > 0;)
            handBack(NodeId(n), nodes[n]);
    }
    double of(size_t row) const
    {
        const ValueId value = m_rows[row].floatValue;
        return m_rowOf.find(value) == row ? m_shares[value.index()] : m_further[row];
    }

private:
    struct Noise {
        double relative = -1, power = -1; ///< below zero: nothing is known
    };
    Noise ownNoise(size_t row) const
    {
        const ActivationRow& a = m_rows[row];
        const double rmse = a.accumulated.rmse.value_or(0), signal = a.signalPower.value_or(0);
        return signal > 0 ? Noise { rmse * rmse / signal, rmse * rmse } : Noise {};
    }
    /// A further row of the value, by which this node reads it.
    std::optional<size_t> furtherRow(NodeId reader, ValueId value) const
    {
        const auto row = m_rowOf.find(value, reader);
        return row && row != m_rowOf.find(value) ? row : std::nullopt;
    }
    Noise broughtTo(NodeId reader, ValueId value) const
    {
        const auto row = furtherRow(reader, value);
        return row ? ownNoise(*row) : m_brought[value.index()];
    }
    /// The part that was there before; all of it where that is not known.
    double inheritedPart(std::optional<size_t> row, const Noise& noise) const
    {
        const Number inherited = row ? m_rows[*row].noise.inherited : std::nullopt;
        return inherited && noise.power > 0 ? std::clamp(*inherited / noise.power, 0.0, 1.0) : 1;
    }
    /// What is there before the value's quantizers.
    double shareBefore(ValueId value)
    {
        double beside = 0;
        for (const size_t row : m_rowOf.further(value))
            (m_rows[row].behindSibling ? m_shares[value.index()] : beside)
                += m_further[row] * inheritedPart(row, ownNoise(row));
        return beside + m_shares[value.index()] * inheritedPart(m_rowOf.find(value), m_brought[value.index()]);
    }
    void handBack(NodeId id, const Node& node)
    {
        double share = 0;
        for (const ValueId out : node.outputs)
            if (out.valid())
                share += shareBefore(out);
        if (share <= 0)
            return;
        const bool adds = node.opType == "Add" || node.opType == "Sub" || node.opType == "Concat";
        const auto brought = [&](ValueId in) {
            const Noise noise = in.valid() ? broughtTo(id, in) : Noise {};
            return std::max(adds ? noise.power : noise.relative, 0.0);
        };
        double sum = 0;
        for (const ValueId in : node.inputs)
            sum += brought(in);
        for (const ValueId in : node.inputs)
            if (sum > 0 && in.valid()) {
                const auto row = furtherRow(id, in);
                (row ? m_further[*row] : m_shares[in.index()]) += share * brought(in) / sum;
            }
    }

    const SeenRows m_rows;
    const RowOfValue m_rowOf;
    std::vector<Noise> m_brought; ///< by value
    std::vector<double> m_shares; ///< by value, of its first row
    std::vector<double> m_further; ///< by row, of further ones
};

/// What the networks differ by is less than half of what the worst output is off by: most comes from somewhere else.
bool isLittleOfNoise(const Comparison& c)
{
    constexpr double kHalf = 0.5;
    if (!c.network || !c.network->known() || c.network->same())
        return false;
    const ValueDistance& apart = c.network->distance.worstOutput;
    return std::ranges::any_of(c.outputs, [&](const OutputRow& out) {
        return out.floatValue == apart.floatValue && out.similarity.sqnrDb
            && apart.distance < kHalf * std::pow(10.0, -*out.similarity.sqnrDb / 20);
    });
}

/// Where the noise of a tensor that only inherits comes from. Found for all values in one pass through the graph.
class SourceFinder {
public:
    SourceFinder(const Graph& graph, const Comparison& c, const std::vector<Finding>& found)
        : m_graph(graph)
        , m_c(c)
        , m_seen(c.activations)
        , m_found(found)
        , m_rowOf(c.activations)
        , m_findingsAt(graph.values().size())
        , m_above(graph.values().size())
        , m_upTo(graph.values().size())
    {
        const bool little = isLittleOfNoise(c);
        for (size_t f = 0; f < found.size(); ++f)
            if (found[f].activation && found[f].severity != Severity::Note
                && !(little && found[f].rule == Rule::ModelsDiffer))
                m_findingsAt[c.activations[*found[f].activation].floatValue.index()].push_back(f);
        for (size_t v = 0; v < m_upTo.size(); ++v)
            if (!graph.value(ValueId(v)).producer.valid())
                trace(ValueId(v));
        for (const Node& node : graph.nodes())
            for (const ValueId output : node.outputs)
                if (output.valid())
                    trace(output);
    }

    /// The worst finding upstream if there is one, else the nearest tensor that makes noise itself, if that is so much
    /// that it may explain the row's.
    std::optional<size_t> sourceOf(size_t row) const
    {
        const ValueId value = m_c.activations[row].floatValue;
        Sources sources = m_above[value.index()];
        for (const size_t f : m_findingsAt[value.index()])
            if (m_found[f].activation != row && isBefore(*m_found[f].activation, row))
                takeFinding(f, sources.finding);
        if (sources.finding)
            return m_found[*sources.finding].activation;
        const bool first = m_rowOf.find(value) == row || isBeside(row);
        const auto nearest = first ? sources.nearest : m_upTo[value.index()].nearest;
        return nearest && explains(m_c.activations[*nearest], m_c.activations[row]) ? nearest : std::nullopt;
    }

private:
    struct Sources {
        std::optional<size_t> finding; ///< the worst one
        std::optional<size_t> nearest; ///< row that makes the most noise, of those behind which nothing but inherits
    };

    static bool explains(const ActivationRow& from, const ActivationRow& row)
    {
        return !from.accumulated.sqnrDb || *from.accumulated.sqnrDb < *row.accumulated.sqnrDb + kMostGrowthDb;
    }

    bool isBeside(size_t row) const { return m_c.activations[row].siblings > 0 && !m_c.activations[row].behindSibling; }
    /// What `row` shows has gone through the quantizer of another row of its value.
    bool isBefore(size_t other, size_t row) const { return other == row || !isBeside(row); }

    void trace(ValueId value)
    {
        m_above[value.index()] = above(value);
        m_upTo[value.index()] = upTo(value, m_rowOf.find(value));
    }

    /// Of all that a value depends on.
    Sources above(ValueId value) const
    {
        Sources sources;
        const NodeId producer = m_graph.value(value).producer;
        if (!producer.valid())
            return sources;
        for (const ValueId in : m_graph.node(producer).inputs) {
            if (!in.valid())
                continue;
            const auto row = m_rowOf.find(in, producer);
            const Sources from = row == m_rowOf.find(in) ? m_upTo[in.index()] : upTo(in, row);
            if (from.finding)
                takeFinding(*from.finding, sources.finding);
            if (from.nearest)
                takeNearest(*from.nearest, sources.nearest);
        }
        return sources;
    }

    /// The same with the value itself, as this row shows it.
    Sources upTo(ValueId value, std::optional<size_t> row) const
    {
        Sources sources = m_above[value.index()];
        for (const size_t f : m_findingsAt[value.index()])
            if (!row || isBefore(*m_found[f].activation, *row))
                takeFinding(f, sources.finding);
        if (!row || onlyInherits(m_seen[*row]))
            return sources;
        sources.nearest.reset();
        if (spoilsItself(m_seen[*row]))
            sources.nearest = row;
        return sources;
    }

    void takeFinding(size_t finding, std::optional<size_t>& worst) const
    {
        const auto order = [&](size_t f) { return std::tuple(m_found[f].severity, -m_found[f].rank, f); };
        if (!worst || order(finding) < order(*worst))
            worst = finding;
    }

    void takeNearest(size_t row, std::optional<size_t>& nearest) const
    {
        if (!nearest || ownNoiseShare(m_seen[row]) > ownNoiseShare(m_seen[*nearest]))
            nearest = row;
    }

    const Graph& m_graph;
    const Comparison& m_c;
    const SeenRows m_seen;
    const std::vector<Finding>& m_found;
    const RowOfValue m_rowOf;
    std::vector<std::vector<size_t>> m_findingsAt; ///< by value; no notes
    std::vector<Sources> m_above; ///< by value
    std::vector<Sources> m_upTo; ///< by value, as its first row shows it
};

std::string placeText(const ActivationRow& row)
{
    return row.node.empty() ? "the graph input '" + row.name + "'" : row.node;
}

/// The tensor is as good as it was written: what is wrong is one of its readers, which misreads it or gives it the
/// scale of a wider one. Null where that is not told.
const Finding* misreadAt(const std::vector<Finding>& found, size_t row, const ActivationRow& from)
{
    const auto f = std::ranges::find_if(found, [&](const Finding& one) {
        const bool ofReader = one.rule == Rule::WrongZeroPoint || one.rule == Rule::ScaleMismatchAtJoin;
        return ofReader && one.activation == row && !one.node.empty() && one.node != from.node;
    });
    return f == found.end() ? nullptr : &*f;
}

/// What is wrong at the source of an error. Where an extreme value rules the range, most power is its own, and the
/// tensor's numbers say nothing of the rest.
std::string sourceText(const std::vector<Finding>& found, size_t row, const ActivationRow& from, const Finding* misread)
{
    if (misread)
        return (misread->rule == Rule::WrongZeroPoint ? "misreads " : "has one scale for wider values and ")
            + from.name;
    if (std::ranges::any_of(
            found, [&](const Finding& f) { return f.rule == Rule::ExtremeConstant && f.activation == row; }))
        return "spends its steps on extreme values";
    return fmt::format("stands at {:.1f} dB", from.accumulated.sqnrDb.value_or(0));
}

/// What is said of the quantizers of tensors that only inherit.
std::string quantizersText(const Comparison& c, const std::vector<size_t>& rows)
{
    const bool single = rows.size() == 1;
    const auto with
        = size_t(std::ranges::count_if(rows, [&](size_t row) { return hasOwnQuantizer(c.activations[row]); }));
    if (with == 0)
        return single ? "It has no quantizer of its own" : "They have no quantizers of their own";
    if (with == rows.size())
        return single ? "Its own quantizer is good" : "Their own quantizers are good";
    return fmt::format("{} of them {}, the others have none", with,
        with == 1 ? "has a good quantizer of its own" : "have good quantizers of their own");
}

FindingPlace inheritedPlace(const Comparison& c, size_t index)
{
    const ActivationRow& row = c.activations[index];
    FindingPlace place { row.node, row.name, index, {}, {}, {}, {}, 1 };
    place.evidence.push_back(evidence("sqnr_db", row.accumulated.sqnrDb.value_or(0), "dB"));
    return place;
}

} // namespace

std::vector<double> noiseShares(const ComparePair& pair, const Comparison& c)
{
    const NoiseShares shares(pair.floatPlan->graph(), c);
    std::vector<double> passed;
    for (size_t i = 0; i < c.activations.size(); ++i)
        passed.push_back(shares.of(i));
    return passed;
}

std::vector<double> outputShares(const ComparePair& pair, const Comparison& c)
{
    std::vector<double> own = noiseShares(pair, c);
    const SeenRows rows(c.activations);
    for (size_t i = 0; i < own.size(); ++i)
        own[i] *= ownPartOfNoise(rows[i]).value_or(0);
    return own;
}

void findInherited(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    if (c.network && areInOtherOrder(*c.network)) // which is no noise
        return;
    const SourceFinder finder(pair.floatPlan->graph(), c, found);
    std::map<size_t, std::vector<size_t>> bySource;
    for (size_t i = 0; i < c.activations.size(); ++i)
        if (onlyInherits(c.activations[i]))
            if (const auto source = finder.sourceOf(i))
                bySource[*source].push_back(i);
    for (auto& [source, rows] : bySource) {
        std::ranges::stable_sort(rows, {}, [&](size_t r) { return c.activations[r].accumulated.sqnrDb.value_or(0); });
        const size_t worst = rows.front();
        const ActivationRow& from = c.activations[source];
        Finding f = activationFinding(c, worst, Rule::Inherited);
        f.title = rows.size() == 1 ? "Inherited in 1 tensor" : fmt::format("Inherited in {} tensors", rows.size());
        const Finding* misread = misreadAt(found, source, from);
        const std::string place = misread ? misread->node : placeText(from);
        f.summary = fmt::format("{}; the error (down to {:.1f} dB) follows from {}, which {}.", quantizersText(c, rows),
            *c.activations[worst].accumulated.sqnrDb, place, sourceText(found, source, from, misread));
        f.evidence.push_back({ "source", std::nullopt, from.name, {} });
        f.evidence.push_back(evidence("tensors", double(rows.size())));
        f.evidence.push_back(evidence("sqnr_db", *c.activations[worst].accumulated.sqnrDb, "dB"));
        f.evidence.push_back(evidence("source_sqnr_db", from.accumulated.sqnrDb.value_or(0), "dB"));
        f.remedy = ruleRemedy(f.rule, place);
        if (rows.size() > 1)
            for (const size_t row : rows)
                f.places.push_back(inheritedPlace(c, row));
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

void findUnmatched(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
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
    // Shown to be one network with the float model's weights in all places: what is inside fused nodes is right, too.
    const bool shown = c.network && c.network->known() && c.network->same() && !c.network->rearranged
        && !c.network->storedWeights && c.network->unpaired.empty();
    if (heavy && !shown)
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
    if (!blockingOperators(q.plan()).empty())
        finding.remedy = "Links do not help: operators before these values cannot be run.";
    finding.evidence.push_back(evidence("float", double(ofFloat.size())));
    finding.evidence.push_back(evidence("quantized", double(ofQuant.size())));
    found.push_back(std::move(finding));
}

void findFaultyParameters(const ComparePair& pair, std::vector<Finding>& found)
{
    const Plan& plan = *pair.quantPlan;
    const Graph& graph = plan.graph();
    const KnownFact known = knownFrom(graph, [&](ValueId id) { return plan.constant(id); });
    const Node* first = nullptr;
    size_t count = 0;
    for (const auto& [id, issue] : plan.unsupported())
        if (quantizationFault(graph.node(id), known)) {
            first = first ? first : &graph.node(id);
            ++count;
        }
    if (!first)
        return;
    Finding f = makeFinding(Rule::RuntimeRejects);
    f.severity = Severity::Error;
    f.cause = kFaultyParameters;
    f.node = first->name;
    f.title = "The scales or zero points of " + first->name + " do not fit";
    f.summary = quantizationFault(*first, known)->what + ". ONNX does not allow that, and ONNX Runtime refuses the file"
        + (count > 1 ? fmt::format("; {} more nodes are like it", count - 1) : std::string())
        + ". What depends on it has no numbers, and whether the two files are one network could not be tested there.";
    f.evidence = { evidence("nodes", double(count)) };
    f.remedy = "Quantize this tensor anew.";
    if (const auto axis = fittingAxis(*first, known)) {
        f.remedy = fmt::format("Set the axis of {} to {}.", first->name, *axis);
        f.evidence.push_back(evidence("fitting_axis", double(*axis)));
    }
    f.rank = kNetworkRank;
    found.push_back(std::move(f));
}

} // namespace qs
