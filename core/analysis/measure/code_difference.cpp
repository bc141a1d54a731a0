// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/code_difference.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace qs {

namespace {

template <class A, class B> CodeDifference countDifferences(const A& a, const B& b)
{
    CodeDifference d;
    d.count = a.size();
    for (size_t i = 0; i < a.size(); ++i) {
        const int64_t steps = std::abs(static_cast<int64_t>(a[i]) - static_cast<int64_t>(b[i]));
        d.offByOne += steps == 1;
        d.beyond += steps > 1;
        d.squares += static_cast<uint64_t>(steps * steps);
    }
    return d;
}

} // namespace

CodeDifference differenceOf(const Tensor& a, const Tensor& b)
{
    if (a.shape() != b.shape() || a.dtype() != b.dtype())
        return { static_cast<uint64_t>(a.count()), 0, static_cast<uint64_t>(a.count()), 0 };
    const Layout layout = a.layout() == b.layout() ? a.layout() : Layout::Plain;
    const Tensor x = toLayout(a, layout), y = toLayout(b, layout);
    if (x.dtype() == DType::UInt8)
        return countDifferences(x.data<uint8_t>(), y.data<uint8_t>());
    if (x.dtype() == DType::Int8)
        return countDifferences(x.data<int8_t>(), y.data<int8_t>());
    return countDifferences(toInts(x), toInts(y));
}

void OrderedSum::add(double value)
{
    if (!(value > 0) || !std::isfinite(value))
        return;
    constexpr int kKeptBits = 40; // 2^24 numbers of one exponent fit in 64 bits
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    m_parts[exponent - kKeptBits] += static_cast<uint64_t>(std::llround(std::ldexp(mantissa, kKeptBits)));
}

void OrderedSum::add(const OrderedSum& more)
{
    for (const auto& [exponent, times] : more.m_parts)
        m_parts[exponent] += times;
}

double OrderedSum::total() const
{
    double sum = 0;
    for (const auto& [exponent, times] : m_parts)
        sum += std::ldexp(double(times), exponent);
    return sum;
}

void SumDifference::add(const Tensor& exact, const Tensor& made)
{
    if (exact.shape() != made.shape() || exact.dtype() != made.dtype())
        return;
    const std::vector<float> x = toFloats(toLayout(exact, Layout::Plain)), y = toFloats(toLayout(made, Layout::Plain));
    double differences = 0, powers = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const double difference = double(y[i]) - double(x[i]);
        differences += difference * difference;
        powers += double(x[i]) * double(x[i]);
    }
    squares.add(differences);
    signal.add(powers);
    count += x.size();
}

void SumDifference::add(const SumDifference& more)
{
    squares.add(more.squares);
    signal.add(more.signal);
    count += more.count;
}

namespace {

/// What the only reader of this type makes of a value; invalid when there is another one.
ValueId onlyResult(const Graph& graph, ValueId value, const char* type)
{
    const auto& uses = graph.value(value).uses;
    if (uses.size() != 1 || graph.isOutput(value))
        return {};
    const Node& reader = graph.node(uses[0].node);
    return reader.is(type) && reader.hasOutput(0) ? reader.outputs[0] : ValueId();
}

} // namespace

std::vector<SaturatingSums> saturatingSums(const Plan& integer)
{
    std::vector<SaturatingSums> list;
    const Graph& graph = integer.graph();
    for (size_t n = 0; n < graph.nodes().size(); ++n) {
        const FusedUnit* unit = integer.unit(NodeId(n));
        const auto& step = integer.step(NodeId(n));
        const Node& node = graph.node(NodeId(n));
        if (!(unit ? unit->lowered.countsPairs : step.lowered && step.lowered->countsPairs) || !node.hasOutput(0))
            continue;
        SaturatingSums sums { NodeId(n), node.outputs[0], node.outputs[0], {} };
        const DType type = integer.facts().of(sums.made).dtype;
        if (type == DType::Int32)
            if (const ValueId cast = onlyResult(graph, sums.made, "Cast"); cast.valid())
                if (const ValueId scaled = onlyResult(graph, cast, "Mul"); scaled.valid())
                    sums.scaled = scaled;
        if (type != DType::Int32 && type != DType::Float32 && type != DType::Float16)
            continue;
        const ValueId sum = onlyResult(graph, sums.scaled, "Add");
        if (sum.valid())
            for (const ValueId term : graph.node(graph.value(sum).producer).inputs)
                if (term.valid() && integer.constant(term))
                    sums.biased = sum;
        if (!integer.hidden(sums.scaled) && !integer.blocked(sums.scaled) && !integer.constant(sums.scaled))
            list.push_back(sums);
    }
    return list;
}

NodeId nodeOfSums(const Plan& integer, NodeId last)
{
    const FusedUnit* unit = integer.unit(last);
    return unit ? unit->node : last;
}

void addPairCounts(std::map<NodeId, PairCounts>& total, const std::map<NodeId, PairCounts>& counts)
{
    for (const auto& [id, more] : counts) {
        PairCounts& sum = total[id];
        sum.pairs += more.pairs;
        sum.saturated.resize(std::max(sum.saturated.size(), more.saturated.size()));
        for (size_t c = 0; c < more.saturated.size(); ++c)
            sum.saturated[c] += more.saturated[c];
        if (losesMore(more.worst, sum.worst))
            sum.worst = more.worst;
    }
}

} // namespace qs
