// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/network_outputs.h"

#include "core/analysis/bypass/network_run.h"
#include "core/analysis/bypass/proof_distances.h"
#include "core/qdq/name_tails.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <map>
#include <set>

namespace qs {

namespace {

/// A type that rounding moves by little; unknown ones are taken for it.
bool isReal(const Plan& plan, ValueId id)
{
    const DType type = plan.facts().of(id).dtype;
    return type == DType::Undefined || isFloat(type);
}

/// The values of both networks that have this name, in the quantized file perhaps that of their codes.
std::optional<std::pair<ValueId, ValueId>> namesakes(const TwoNetworks& networks, const std::string& name)
{
    const ValueId one = networks.f->graph().findValue(name);
    ValueId other = networks.b->graph().findValue(name);
    if (!other.valid())
        other = networks.b->graph().findValue(name + tails::kCodes);
    if (!one.valid() || !other.valid() || networks.f->blocked(one) || networks.b->blocked(other)
        || networks.f->constant(one) || networks.b->constant(other) || !isReal(*networks.f, one)
        || !isReal(*networks.b, other))
        return std::nullopt;
    return std::pair(one, other);
}

class OutputFinder {
public:
    OutputFinder(const TwoNetworks& networks, const ComparePair& pair)
        : m_two(networks)
        , m_pair(pair)
    {
    }

    std::vector<ValueOfBoth> find()
    {
        for (const OutputPair& out : pairOutputs(m_pair))
            add(m_two.f->graph().findValue(m_pair.floatPlan->graph().value(out.x).name),
                m_two.b->graph().findValue(m_pair.quantPlan->graph().value(out.y).name), out.x);
        return std::move(m_found);
    }

private:
    void add(ValueId x, ValueId y, ValueId shown)
    {
        if (!x.valid() || !y.valid() || m_two.f->blocked(x) || m_two.b->blocked(y) || m_two.f->constant(x)
            || m_two.b->constant(y) || !m_seen.insert({ x, y }).second)
            return;
        if (isReal(*m_two.f, x) && isReal(*m_two.b, y)) {
            const ValueId own = m_pair.floatPlan->graph().findValue(m_two.f->graph().value(x).name);
            m_found.push_back({ x, y, own.valid() ? own : shown });
            return;
        }
        const NodeId first = m_two.f->graph().value(x).producer, second = m_two.b->graph().value(y).producer;
        if (!first.valid() || !second.valid())
            return;
        const Node &a = m_two.f->graph().node(first), &b = m_two.b->graph().node(second);
        if (a.opType == b.opType)
            for (size_t slot = 0; slot < std::min(a.inputs.size(), b.inputs.size()); ++slot)
                add(a.inputs[slot], b.inputs[slot], shown);
    }

    const TwoNetworks& m_two;
    const ComparePair& m_pair;
    std::vector<ValueOfBoth> m_found;
    std::set<std::pair<ValueId, ValueId>> m_seen;
};

/// Whole numbers at the outputs and before them, as far as both files make them by the same operators.
class CountedFinder {
public:
    CountedFinder(const TwoNetworks& networks, const ComparePair& pair)
        : m_two(networks)
    {
        for (const OutputPair& out : pairOutputs(pair)) {
            const ValueId x = m_two.f->graph().findValue(pair.floatPlan->graph().value(out.x).name);
            const ValueId y = m_two.b->graph().findValue(pair.quantPlan->graph().value(out.y).name);
            if (x.valid() && y.valid() && !isReal(*m_two.f, x) && !isReal(*m_two.b, y))
                static_cast<void>(add(x, y));
        }
    }
    std::vector<std::pair<ValueId, ValueId>> counted; ///< what one is made from stands before it
    std::map<ValueId, ValueId> reals; ///< that they are made from: of the first file, by those of the second

private:
    /// False where they are made in another way.
    bool add(ValueId x, ValueId y)
    {
        if (!x.valid() || !y.valid())
            return x.valid() == y.valid();
        const auto known = m_known.find({ x, y });
        if (known != m_known.end())
            return known->second;
        return m_known[{ x, y }] = isMadeAlike(x, y);
    }

    bool isMadeAlike(ValueId x, ValueId y)
    {
        if (m_two.f->constant(x) || m_two.b->constant(y))
            return m_two.f->constant(x) && m_two.b->constant(y);
        if (m_two.f->blocked(x) || m_two.b->blocked(y) || isReal(*m_two.f, x) != isReal(*m_two.b, y))
            return false;
        if (isReal(*m_two.f, x))
            return reals.try_emplace(y, x).first->second == x;
        const NodeId first = m_two.f->graph().value(x).producer, second = m_two.b->graph().value(y).producer;
        if (!first.valid() || !second.valid())
            return first.valid() == second.valid();
        const Node &a = m_two.f->graph().node(first), &b = m_two.b->graph().node(second);
        if (a.opType != b.opType || !a.captures.empty() || !b.captures.empty())
            return false;
        for (size_t slot = 0; slot < std::max(a.inputs.size(), b.inputs.size()); ++slot)
            if (!add(slot < a.inputs.size() ? a.inputs[slot] : ValueId(),
                    slot < b.inputs.size() ? b.inputs[slot] : ValueId()))
                return false;
        counted.emplace_back(x, y);
        return true;
    }

    const TwoNetworks& m_two;
    std::map<std::pair<ValueId, ValueId>, bool> m_known;
};

double shareOfOthers(const Tensor& a, const Tensor& b)
{
    if (a.count() != b.count())
        return 1;
    const std::vector<double> x = toDoubles(a), y = toDoubles(b);
    size_t others = 0;
    for (size_t i = 0; i < x.size(); ++i)
        others += x[i] != y[i];
    return x.empty() ? 0 : double(others) / double(x.size());
}

} // namespace

std::vector<ValueOfBoth> comparableOutputs(const TwoNetworks& networks, const ComparePair& pair)
{
    return OutputFinder(networks, pair).find();
}

std::string blockingOperators(const Plan& plan)
{
    const auto& outputs = plan.graph().outputs();
    if (!std::ranges::all_of(outputs, [&](ValueId out) { return out.valid() && plan.blocked(out); }))
        return {};
    std::vector<std::pair<std::string, size_t>> counts; // in node order
    for (const auto& [id, issue] : plan.unsupported()) {
        const Node& node = plan.graph().node(id);
        const std::string type = node.domain.empty() ? node.opType : node.opType + " (" + node.domain + ")";
        auto at = std::ranges::find(counts, type, &std::pair<std::string, size_t>::first);
        if (at == counts.end())
            at = counts.insert(at, { type, 0 });
        ++at->second;
    }
    std::string text;
    for (const auto& [type, count] : counts)
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + type;
    return text;
}

std::vector<ValueOfBoth> comparableValues(
    const TwoNetworks& networks, const ComparePair& pair, const std::vector<PairPlan>& pairs)
{
    std::vector<ValueOfBoth> values;
    for (const PairPlan& p : pairs) {
        if (p.pair.unrounded.valid())
            continue; // before an activation that the bypassed operator does, too: it gives out what is behind
        // Of a dynamic quantizer there are the reals that it is given; its codes are still made.
        const Quantizer* q = p.pair.quantizer ? &pair.quantView->quantizers()[*p.pair.quantizer] : nullptr;
        const ValueId y = q && q->dynamic && q->real.valid() ? q->real : p.pair.quantValue;
        const ValueId one = networks.f->graph().findValue(pair.floatPlan->graph().value(p.x).name);
        ValueId other = networks.b->graph().findValue(pair.quantPlan->graph().value(y).name);
        if (q && !other.valid()) // what only passed it on was taken out: no bounds were between them
            for (const ValueId form : { q->codes, q->real })
                if (form.valid() && !other.valid())
                    other = networks.b->graph().findValue(pair.quantPlan->graph().value(form).name);
        if (one.valid() && other.valid() && !networks.f->blocked(one) && !networks.b->blocked(other)
            && !networks.b->constant(other) && isReal(*networks.f, one) && isReal(*networks.b, other))
            values.push_back({ one, other, p.x });
    }
    return values;
}

std::vector<ValueOfBoth> namesakesBefore(const TwoNetworks& networks, const ComparePair& pair, ValueId place)
{
    const Graph& graph = pair.floatPlan->graph();
    const auto& alone = pair.alignment->unmatchedFloat; // topological order
    const std::set<ValueId> unpaired(alone.begin(), alone.end());
    std::set<ValueId> before;
    std::vector<ValueId> front { place };
    while (!front.empty()) {
        const NodeId producer = graph.value(front.back()).producer;
        front.pop_back();
        for (const ValueId in : producer.valid() ? graph.node(producer).inputs : std::vector<ValueId> {})
            if (in.valid() && unpaired.contains(in) && before.insert(in).second)
                front.push_back(in);
    }
    std::vector<ValueOfBoth> values;
    for (const ValueId v : alone)
        if (before.contains(v))
            if (const auto both = namesakes(networks, graph.value(v).name))
                values.push_back({ both->first, both->second, v });
    return values;
}

std::optional<OtherCounts> otherCounts(
    const TwoNetworks& networks, const ComparePair& pair, const std::vector<Tensor>& inputs, const WorkContext& work)
{
    const CountedFinder found(networks, pair);
    std::vector<ValueId> ofFloat, ofOther;
    for (const auto& [x, y] : found.counted) {
        ofFloat.push_back(x);
        ofOther.push_back(y);
    }
    for (const auto& [y, x] : found.reals)
        ofFloat.push_back(x);
    if (found.counted.empty())
        return std::nullopt;
    const auto x = runNetwork(networks.f, pair.floatPlan, ofFloat, inputs, work);
    if (!x.ok())
        return std::nullopt;
    std::map<ValueId, Tensor> given;
    size_t next = found.counted.size();
    for (const auto& [other, real] : found.reals)
        given.emplace(other, (*x)[next++]);
    const auto y = runNetworkFrom(networks.b, pair.floatPlan, given, ofOther, inputs, work);
    if (!y.ok())
        return std::nullopt;
    for (size_t i = 0; i < found.counted.size(); ++i)
        if (const double share = shareOfOthers((*x)[i], (*y)[i]); share > 0)
            return OtherCounts { pair.floatPlan->graph().findValue(networks.f->graph().value(ofFloat[i]).name), share };
    return std::nullopt;
}

namespace {

/// Casts of reals to float16 that lead to a value, none of them through one of `known`; in their order.
std::set<NodeId> castsBefore(const Plan& plan, ValueId value, const std::set<ValueId>& known)
{
    const Graph& graph = plan.graph();
    std::set<NodeId> casts, seen;
    for (std::vector<ValueId> open { value }; !open.empty();) {
        const NodeId by = graph.value(open.back()).producer;
        open.pop_back();
        if (!by.valid() || !seen.insert(by).second)
            continue;
        const Node& node = graph.node(by);
        if (node.is("Cast") && node.hasInput(0) && node.hasOutput(0) && !plan.constant(node.outputs[0])
            && !plan.blocked(node.outputs[0]) && plan.facts().of(node.outputs[0]).dtype == DType::Float16
            && isReal(plan, node.inputs[0]))
            casts.insert(by);
        for (const ValueId in : node.inputs)
            if (in.valid() && !known.contains(in))
                open.push_back(in);
    }
    return casts;
}

/// The first Cast before values[at] in which numbers become infinite; those before it lose nothing.
std::optional<ValueOverflow> overflowInCast(const TwoNetworks& networks, const ComparePair& pair,
    const std::vector<ValueOfBoth>& values, size_t at, const std::vector<Tensor>& inputs, const WorkContext& work)
{
    const Graph& graph = networks.b->graph();
    std::map<ValueId, ValueId> shown;
    std::set<ValueId> known;
    for (size_t i = 0; i < at; ++i) {
        shown.emplace(values[i].b, values[i].shown);
        known.insert(values[i].b);
    }
    const std::set<NodeId> casts = castsBefore(*networks.b, values[at].b, known);
    std::vector<ValueId> ends;
    for (const NodeId cast : casts)
        ends.insert(ends.end(), { graph.node(cast).inputs[0], graph.node(cast).outputs[0] });
    const auto run = casts.empty() ? Result<std::vector<Tensor>>(std::vector<Tensor> {})
                                   : runNetwork(networks.b, pair.floatPlan, ends, inputs, work);
    size_t i = 0;
    for (const NodeId cast : casts) {
        const Lost lost = run.ok() ? lostBetween(toFloats((*run)[i]), toFloats((*run)[i + 1])) : Lost {};
        const auto partner = shown.find(ends[i]);
        if (lost.elements > 0)
            return ValueOverflow { partner == shown.end() ? values[at].shown : partner->second, lost.elements,
                lost.largest, graph.node(cast).name };
        i += 2;
    }
    return std::nullopt;
}

} // namespace

std::optional<ValueOverflow> firstOverflow(const TwoNetworks& networks, const ComparePair& pair,
    const std::vector<ValueOfBoth>& values, const std::vector<Lost>& lost, ValueId last,
    const std::vector<Tensor>& inputs, const WorkContext& work)
{
    bool searched = false;
    for (size_t i = 0; i < std::min(values.size(), lost.size()); ++i) {
        if (lost[i].elements > 0 && networks.b->facts().of(values[i].b).dtype == DType::Float16)
            return ValueOverflow { values[i].shown, lost[i].elements, lost[i].largest };
        if (lost[i].elements > 0 && !std::exchange(searched, true))
            if (auto found = overflowInCast(networks, pair, values, i, inputs, work))
                return found;
        if (last.valid() && values[i].shown == last)
            break;
    }
    return std::nullopt;
}

} // namespace qs
