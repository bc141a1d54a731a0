// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qdq/code_readers.h"

#include "core/qdq/quant_scan.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace qs {

namespace {

/// Relative: scales stored in float16 beside float32 ones are still the same.
constexpr double kSameScale = 1e-3;

/// Where a node says what the codes that it reads mean.
std::vector<CodeOperand> readOperands(const Node& node)
{
    if (isDequantizeLinear(node))
        return { { 0, 1, 2 } };
    if (node.is("ConvInteger") || node.is("MatMulInteger"))
        return { { 0, -1, 2 }, { 1, -1, 3 } };
    const auto signature = qlinearSignature(node);
    return signature ? signature->inputs : std::vector<CodeOperand> {};
}

bool sameNumbers(const QuantParams& a, const QuantParams& b)
{
    return std::fabs(double(a.scale[0]) - double(b.scale[0])) <= kSameScale * std::fabs(double(a.scale[0]))
        && a.zeroPoint == b.zeroPoint;
}

/// An activation whose writer says one constant scale.
bool saysOneScale(const Quantizer& q)
{
    return q.role == QuantRole::Activation && q.quantize.valid() && !q.dynamic && q.params.perTensor();
}

/// One zero point computed for each sample.
bool computesZeroPoint(const Graph& graph, const Quantizer& q)
{
    const NodeId maker = q.dynamic && q.zeroPointValue.valid() ? graph.value(q.zeroPointValue).producer : NodeId();
    return maker.valid() && graph.node(maker).is("DynamicQuantizeLinear");
}

/// One zero point that does not depend on data; none is zero.
std::optional<int32_t> fixedZeroPoint(const QuantScan& scan, const Node& node, int slot)
{
    if (slot < 0 || !node.hasInput(size_t(slot)))
        return 0;
    const Tensor* zero = scan.constantInput(node, slot);
    if (!zero || !isInteger(zero->dtype()) || zero->count() == 0)
        return std::nullopt;
    const auto points = toInts(*zero);
    const bool one = std::ranges::all_of(points, [&](int64_t point) { return point == points[0]; });
    return one ? std::optional(static_cast<int32_t>(points[0])) : std::nullopt;
}

/// What the node takes the codes for, where it may be something else than the quantizer says.
std::optional<OddReader> oddReader(
    const QuantScan& scan, NodeId id, const CodeOperand& in, uint32_t index, const Quantizer& q)
{
    const Node& node = scan.graph.node(id);
    const bool zeroAlone = in.scale < 0;
    if (computesZeroPoint(scan.graph, q)) {
        if (in.zeroPoint >= 0 && node.hasInput(size_t(in.zeroPoint))
            && node.inputs[size_t(in.zeroPoint)] == q.zeroPointValue)
            return std::nullopt; // known, where it is computed of constants
        const auto zero = fixedZeroPoint(scan, node, in.zeroPoint);
        return zero ? std::optional(OddReader { id, index, { q.params.dtype, {}, { *zero }, {} }, true, true })
                    : std::nullopt;
    }
    if (!saysOneScale(q))
        return std::nullopt;
    QuantParams read = q.params;
    if (zeroAlone) {
        const auto zero = fixedZeroPoint(scan, node, in.zeroPoint);
        read.zeroPoint = { zero.value_or(q.params.zeroPoint[0]) };
    } else if (!readParams(scan, node, in.scale, in.zeroPoint, q.params.dtype, read)) {
        return std::nullopt;
    }
    return read.perTensor() && !sameNumbers(q.params, read)
        ? std::optional(OddReader { id, index, std::move(read), zeroAlone, false })
        : std::nullopt;
}

} // namespace

double stepsOff(const QuantParams& written, const QuantParams& read)
{
    const auto off = [&](double code) {
        return std::fabs(
                   double(read.scale[0]) * (code - read.zero(0)) - double(written.scale[0]) * (code - written.zero(0)))
            / double(written.scale[0]);
    };
    const auto codes = written.codes();
    return std::max(off(double(codes.low)), off(double(codes.high)));
}

QuantParams ofChannel(const QuantParams& p, size_t channel)
{
    const size_t s = std::min(channel, p.scale.size() - 1);
    return { p.dtype, { p.scale[s] }, { s < p.zeroPoint.size() ? p.zeroPoint[s] : 0 }, {} };
}

std::vector<OddReader> oddReaders(const Graph& graph, const ConstantLookup& constants, const QuantView& view)
{
    const QuantScan scan(graph, constants);
    std::vector<OddReader> found;
    for (size_t n = 0; n < graph.nodes().size(); ++n) {
        const Node& node = graph.nodes()[n];
        for (const CodeOperand& in : readOperands(node)) {
            const auto q
                = node.hasInput(size_t(in.codes)) ? view.ofQuantized(node.inputs[size_t(in.codes)]) : std::nullopt;
            if (!q)
                continue;
            if (auto odd = oddReader(scan, NodeId(n), in, *q, view.quantizers()[*q]))
                found.push_back(std::move(*odd));
        }
    }
    return found;
}

namespace {

bool movesCodes(const Node& node) { return movesElements(node) || node.is("Concat") || node.is("Identity"); }

/// Whoever makes the codes, the nearest one behind nodes that only move them.
std::optional<uint32_t> writerOf(const Graph& graph, const QuantView& view, ValueId codes)
{
    constexpr size_t kMost = 64; // values
    std::vector<ValueId> front { codes };
    for (size_t i = 0; i < front.size(); ++i) {
        const auto q = view.ofQuantized(front[i]);
        if (q && view.quantizers()[*q].quantize.valid() && view.quantizers()[*q].codes == front[i])
            return q;
        const NodeId producer = graph.value(front[i]).producer;
        if (!producer.valid() || !movesCodes(graph.node(producer)))
            continue;
        for (const ValueId in : graph.node(producer).inputs)
            if (in.valid() && front.size() < kMost && std::ranges::find(front, in) == front.end())
                front.push_back(in);
    }
    return std::nullopt;
}

/// The channel whose numbers are furthest apart; nothing where all are alike.
std::optional<size_t> oddestChannel(const QuantParams& a, const QuantParams& b)
{
    const size_t channels = std::max(a.scale.size(), b.scale.size());
    if (std::min(a.scale.size(), b.scale.size()) != channels && !a.perTensor() && !b.perTensor())
        return std::nullopt; // they lie along other axes
    std::optional<size_t> oddest;
    double most = 0;
    for (size_t c = 0; c < channels; ++c) {
        const QuantParams x = ofChannel(a, c), y = ofChannel(b, c);
        if (sameNumbers(x, y) || x.scale[0] == 0)
            continue;
        const double off = std::fabs(double(y.scale[0]) / double(x.scale[0]) - 1)
            + std::fabs(double(x.zeroPoint[0]) - double(y.zeroPoint[0])) / 256;
        if (!oddest || off > most) {
            oddest = c;
            most = off;
        }
    }
    return oddest;
}

size_t differingChannels(const QuantParams& a, const QuantParams& b)
{
    size_t differing = 0;
    for (size_t c = 0; c < std::max(a.scale.size(), b.scale.size()); ++c)
        differing += !sameNumbers(ofChannel(a, c), ofChannel(b, c));
    return differing;
}

bool alongOneAxis(const QuantParams& a, const QuantParams& b)
{
    const bool several = a.scale.size() > 1 && b.scale.size() > 1;
    return !several || (a.scale.size() == b.scale.size() && a.axis == b.axis && a.blockSize == b.blockSize);
}

/// Looks at all that reads codes, behind nodes that only move them.
class ReturnReaders {
public:
    ReturnReaders(const QuantScan& scan, const QuantView& view, uint32_t writer)
        : m_scan(scan)
        , m_writer(writer)
        , m_written(view.quantizers()[writer].params)
    {
    }
    void follow(ValueId codes)
    {
        std::vector<ValueId> front { codes };
        for (size_t i = 0; i < front.size(); ++i)
            for (const Use& use : m_scan.graph.value(front[i]).uses) {
                if (!use.node.valid() || !m_seen.insert(use.node).second)
                    continue;
                const Node& node = m_scan.graph.node(use.node);
                if (movesCodes(node) && node.hasOutput(0) && (use.slot == 0 || node.is("Concat")))
                    front.push_back(node.outputs[0]);
                for (const CodeOperand& in : readOperands(node))
                    if (size_t(in.codes) == use.slot)
                        look(use.node, in);
            }
    }
    std::vector<OddReturn> found;

private:
    void look(NodeId id, const CodeOperand& in)
    {
        QuantParams read;
        if (!readParams(m_scan, m_scan.graph.node(id), in.scale, in.zeroPoint, m_written.dtype, read))
            return;
        if (const auto channel = oddestChannel(m_written, read))
            found.push_back({ id, m_writer, ofChannel(m_written, *channel), ofChannel(read, *channel), *channel,
                std::max(m_written.scale.size(), read.scale.size()) });
    }

    const QuantScan& m_scan;
    uint32_t m_writer;
    const QuantParams& m_written;
    std::set<NodeId> m_seen;
};

} // namespace

std::vector<OddConstant> oddConstants(const Graph& graph, const ConstantLookup& constants, const QuantView& view)
{
    const QuantScan scan(graph, constants);
    std::vector<OddConstant> found;
    for (size_t i = 0; i < view.quantizers().size(); ++i) {
        const Quantizer& q = view.quantizers()[i];
        if (q.role != QuantRole::Weight || q.dynamic || q.params.scale.empty() || !q.quantize.valid()
            || !isQuantizeLinear(graph.node(q.quantize)) || q.dequantize.empty())
            continue;
        QuantParams written;
        if (!readParams(scan, graph.node(q.quantize), 1, 2, q.params.dtype, written))
            continue;
        readAxis(graph.node(q.quantize), rankOf(scan, q.real), written);
        OddConstant odd { q.dequantize.front(), uint32_t(i), {}, !alongOneAxis(written, q.params), 0, 0 };
        if (const auto channel = odd.otherAxis ? std::nullopt : oddestChannel(written, q.params)) {
            odd.channel = *channel;
            odd.differing = differingChannels(written, q.params);
        }
        odd.written = std::move(written);
        if (odd.otherAxis || odd.differing > 0)
            found.push_back(std::move(odd));
    }
    return found;
}

std::vector<OddReturn> oddReturns(
    const Graph& graph, const ConstantLookup& constants, const QuantView& view, ValueId output, ValueId input)
{
    const auto writer = writerOf(graph, view, output);
    if (!writer || view.quantizers()[*writer].dynamic || view.quantizers()[*writer].params.scale.empty()
        || view.quantizers()[*writer].params.blockSize != 0)
        return {};
    const QuantScan scan(graph, constants);
    ReturnReaders readers(scan, view, *writer);
    readers.follow(input);
    return std::move(readers.found);
}

NodeId clipOfCodes(const Graph& graph, const Quantizer& quantizer)
{
    ValueId value = quantizer.codes;
    while (value.valid() && graph.value(value).producer.valid()) {
        const NodeId maker = graph.value(value).producer;
        const Node& node = graph.node(maker);
        if (node.is("Clip"))
            return maker;
        value = (node.is("Cast") || node.is("Identity")) && node.hasInput(0) ? node.inputs[0] : ValueId();
    }
    return NodeId();
}

} // namespace qs
