// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qdq/quant_scan.h"
#include "core/qdq/same_params.h"

#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

/// What a Clip of codes lets pass.
CodeRange passedBy(const QuantScan& scan, const Node& clip, CodeRange all)
{
    const auto bound = [&](size_t slot, int64_t& end) {
        const Tensor* t = scan.constantInput(clip, int(slot));
        if (t && t->count() == 1 && isInteger(t->dtype()))
            end = std::clamp(toInts(*t)[0], all.low, all.high);
    };
    CodeRange range = all;
    bound(1, range.low);
    bound(2, range.high);
    return range.low <= range.high ? range : all;
}

/// All that any reader of these codes sees of them.
CodeRange seenOf(const QuantScan& scan, ValueId codes, CodeRange all)
{
    CodeRange seen { all.high, all.low };
    for (const Use& use : scan.graph.value(codes).uses) {
        const Node& reader = scan.graph.node(use.node);
        const CodeRange range = reader.is("Clip") && use.slot == 0 ? passedBy(scan, reader, all) : all;
        seen = { std::min(seen.low, range.low), std::max(seen.high, range.high) };
    }
    return scan.graph.isOutput(codes) ? all : seen;
}

/// The quantizer that this value is the codes of, under whichever name.
std::optional<uint32_t> codesOf(const QuantScan& scan, ValueId id)
{
    const NodeId producer = scan.graph.value(id).producer;
    return producer.valid() && isDequantizeLinear(scan.graph.node(producer)) ? std::nullopt
                                                                             : scan.quantizers.ofQuantized(id);
}

} // namespace

void readAxis(const Node& node, size_t rank, QuantParams& params)
{
    if (params.scale.size() <= 1)
        return;
    int64_t axis = node.attributes.integer("axis", 1);
    if (axis < 0 && rank > 0)
        axis += static_cast<int64_t>(rank);
    params.axis = axis;
    params.blockSize = node.attributes.integer("block_size", 0);
}

size_t rankOf(const QuantScan& scan, ValueId id)
{
    if (const Tensor* t = scan.constants(id))
        return t->rank();
    const auto& dims = scan.graph.value(id).type.dims;
    return dims ? dims->size() : 0;
}

bool saysItsCodes(const Node& node)
{
    const bool needsInput = isQuantizeLinear(node) || isDequantizeLinear(node) || node.is("DynamicQuantizeLinear");
    return node.hasOutput(0) && (node.hasInput(0) || !needsInput);
}

void keepClipped(const QuantScan& scan, ValueId clipped, QuantParams& params)
{
    const NodeId made = scan.graph.value(clipped).producer;
    const auto all = codeRange(params.dtype);
    if (!made.valid() || !scan.graph.node(made).is("Clip") || !scan.graph.node(made).hasInput(0) || !all)
        return;
    // A stored weight has its codes from here alone, whoever else reads what they are made of.
    const Node& clip = scan.graph.node(made);
    const CodeRange had = params.codes();
    const CodeRange seen = scan.constants(clipped) ? passedBy(scan, clip, had) : seenOf(scan, clip.inputs[0], had);
    if (seen.low > all->low || seen.high < all->high)
        params.kept = seen;
}

bool readParams(
    const QuantScan& scan, const Node& node, int scaleInput, int zeroPointInput, DType codes, QuantParams& params)
{
    const Tensor* scale = scan.constantInput(node, scaleInput);
    if (!scale)
        return false;
    params.dtype = codes;
    params.scale = toFloats(*scale);
    params.zeroPoint.assign(params.scale.size(), 0);
    if (const Tensor* zero = scan.constantInput(node, zeroPointInput)) {
        if (params.dtype == DType::Undefined)
            params.dtype = zero->dtype();
        if (isInteger(zero->dtype())) {
            const auto points = toInts(*zero);
            for (size_t i = 0; i < params.zeroPoint.size() && !points.empty(); ++i)
                params.zeroPoint[i]
                    = static_cast<int32_t>(points.size() == 1 ? points[0] : points[std::min(i, points.size() - 1)]);
        }
    }
    if (params.dtype == DType::Undefined)
        params.dtype = DType::UInt8;
    return !params.scale.empty();
}

std::optional<DType> scanMovedTable(QuantScan& scan, ValueId codes, const QuantParams& params)
{
    if (!params.perTensor())
        return std::nullopt;
    std::vector<ValueId> from; // before each of the operators, the nearest first
    for (ValueId at = codes; !scan.constants(at); at = from.back()) {
        const NodeId producer = scan.graph.value(at).producer;
        if (!producer.valid() || !movesElements(scan.graph.node(producer)))
            return std::nullopt;
        from.push_back(scan.graph.node(producer).inputs[0]);
    }
    const Tensor* table = from.empty() ? nullptr : scan.constants(from.back());
    if (!table || !isInteger(table->dtype()))
        return std::nullopt;
    for (const ValueId value : from) {
        if (scan.quantizers.ofQuantized(value))
            continue;
        Quantizer q;
        q.role = value == from.back() ? QuantRole::Weight : QuantRole::Activation;
        q.codes = value;
        q.params = params;
        q.params.dtype = table->dtype();
        scan.quantizers.add(std::move(q));
    }
    return table->dtype();
}

void scanQuantizeLinear(QuantScan& scan, NodeId id)
{
    const Node& node = scan.graph.node(id);
    scan.plumbing[id.index()] = true;
    Quantizer q;
    q.real = node.inputs[0];
    q.codes = node.outputs[0];
    q.quantize = id;
    q.role = scan.constants(q.real) ? QuantRole::Weight : QuantRole::Activation;
    const auto outputType = static_cast<DType>(node.attributes.integer("output_dtype", 0));
    q.dynamic = !readParams(scan, node, 1, 2, outputType, q.params);
    if (q.dynamic) {
        q.scaleValue = node.hasInput(1) ? node.inputs[1] : ValueId();
        q.zeroPointValue = node.hasInput(2) ? node.inputs[2] : ValueId();
    }
    readAxis(node, rankOf(scan, q.real), q.params);
    scan.quantizers.add(std::move(q));
}

/// What a DequantizeLinear says of the codes of `known`; nothing where it is computed from data.
std::optional<QuantParams> paramsRead(const QuantScan& scan, const Node& node, const Quantizer& known)
{
    QuantParams params;
    if (!readParams(scan, node, 1, 2, known.params.dtype, params))
        return std::nullopt;
    readAxis(node, rankOf(scan, known.codes), params);
    params.kept = known.params.kept;
    return params;
}

/// Codes of a constant that stands in the file in floats.
bool isQuantizedConstant(const QuantScan& scan, const Quantizer& q)
{
    return q.role == QuantRole::Weight && q.quantize.valid() && !q.dynamic
        && isQuantizeLinear(scan.graph.node(q.quantize));
}

/// The known quantizer of the codes that a DequantizeLinear reads. Writers store equal codes once, and each reader has
/// a scale of its own: stored codes that are read in two ways are two tensors.
std::optional<uint32_t> quantizerRead(const QuantScan& scan, const Node& node)
{
    const ValueId codes = node.inputs[0];
    const auto known = scan.quantizers.ofQuantized(codes);
    if (!known)
        return known;
    const Quantizer& first = scan.quantizers.at(*known);
    const bool constant = isQuantizedConstant(scan, first);
    if (!constant && (!scan.constants(codes) || first.quantize.valid()))
        return known;
    const auto params = paramsRead(scan, node, first);
    if (!params || (constant && first.dequantize.empty()))
        return known;
    const auto& all = scan.quantizers.all();
    const ValueId own = constant ? first.codes : codes;
    for (size_t i = *known; i < all.size(); ++i)
        if (all[i].codes == own && !all[i].dynamic && sameParams(all[i].params, *params))
            return uint32_t(i);
    return first.codes == own ? std::nullopt : known;
}

/// Of a constant in floats the codes are what its reader takes them for, whatever QuantizeLinear made them with: see
/// oddWeights().
void takeParamsRead(QuantScan& scan, const Node& node, Quantizer& q)
{
    if (isQuantizedConstant(scan, q) && q.dequantize.empty())
        if (auto params = paramsRead(scan, node, q))
            q.params = std::move(*params);
}

void scanDequantizeLinear(QuantScan& scan, NodeId id)
{
    const Node& node = scan.graph.node(id);
    scan.plumbing[id.index()] = true;
    const ValueId codes = node.inputs[0], out = node.outputs[0];
    if (const auto known = quantizerRead(scan, node)) {
        Quantizer& q = scan.quantizers.at(*known);
        takeParamsRead(scan, node, q);
        if (!q.dequantized.valid())
            q.dequantized = out;
        q.dequantize.push_back(id);
        if (q.real.valid() && q.quantize.valid() && isQuantizeLinear(scan.graph.node(q.quantize)))
            (q.role == QuantRole::Activation ? scan.evidence.activationPairs : scan.evidence.weightPairs) += 1;
        scan.quantizers.addValue(out, *known);
        return;
    }
    const Tensor* stored = scan.constants(codes);
    Quantizer q;
    q.codes = codes;
    q.dequantized = out;
    q.dequantize = { id };
    if (const auto first = scan.quantizers.ofQuantized(codes);
        first && isQuantizedConstant(scan, scan.quantizers.at(*first))) {
        q = scan.quantizers.at(*first);
        q.params = *paramsRead(scan, node, q);
        q.dequantized = out;
        q.dequantize = { id };
        ++scan.evidence.weightPairs;
        scan.quantizers.add(std::move(q));
        return;
    }
    const DType type = stored ? stored->dtype() : scan.graph.value(codes).type.dtype;
    q.role = !stored ? QuantRole::Activation : type == DType::Int32 ? QuantRole::Bias : QuantRole::Weight;
    q.dynamic = !readParams(scan, node, 1, 2, type, q.params);
    readAxis(node, rankOf(scan, codes), q.params);
    keepClipped(scan, codes, q.params);
    if (stored)
        ++scan.evidence.weightPairs;
    const QuantParams params = q.params;
    const bool table = !stored && !q.dynamic;
    scan.quantizers.add(std::move(q));
    if (table)
        scanMovedTable(scan, codes, params);
}

void scanDynamicQuantizeLinear(QuantScan& scan, NodeId id)
{
    const Node& node = scan.graph.node(id);
    scan.plumbing[id.index()] = true;
    scan.evidence.dynamicQuantizers = true;
    Quantizer q;
    q.real = node.inputs[0];
    q.codes = node.outputs[0];
    q.quantize = id;
    q.dynamic = true;
    q.params.dtype = DType::UInt8;
    if (node.outputs.size() > 2) {
        q.scaleValue = node.outputs[1];
        q.zeroPointValue = node.outputs[2];
    }
    scan.quantizers.add(std::move(q));
}

void scanPassedCodes(QuantScan& scan, NodeId id)
{
    const Node& node = scan.graph.node(id);
    const auto known = codesOf(scan, node.inputs[0]);
    if (!known)
        return;
    const DType out = scan.graph.value(node.outputs[0]).type.dtype;
    if (node.opType == "Cast" && isFloat(static_cast<DType>(node.attributes.integer("to", int64_t(out)))))
        return;
    if (Quantizer& q = scan.quantizers.at(*known); q.codes == node.inputs[0]) { // the first of several readers
        q.codes = node.outputs[0];
        keepClipped(scan, q.codes, q.params);
    }
    scan.quantizers.addValue(node.outputs[0], *known);
    scan.plumbing[id.index()] = true;
}

void scanMovedCodes(QuantScan& scan, NodeId id)
{
    const Node& node = scan.graph.node(id);
    const auto known = codesOf(scan, node.inputs[0]);
    if (!known)
        return;
    for (ValueId out : node.outputs) {
        if (!out.valid() || (out != node.outputs[0] && node.opType != "Split"))
            continue;
        Quantizer q;
        const Quantizer& from = scan.quantizers.at(*known);
        q.codes = out;
        q.quantize = id;
        q.params = from.params;
        q.dynamic = from.dynamic;
        q.scaleValue = from.scaleValue;
        q.zeroPointValue = from.zeroPointValue;
        if (q.params.axis)
            continue; // an axis may move: leave it alone
        scan.quantizers.add(std::move(q));
    }
}

void scanJoinedCodes(QuantScan& scan, NodeId id)
{
    const Node& node = scan.graph.node(id);
    const auto first = node.hasInput(0) ? codesOf(scan, node.inputs[0]) : std::nullopt;
    if (!first)
        return;
    const QuantParams params = scan.quantizers.at(*first).params;
    const bool alike = params.perTensor() && std::ranges::all_of(node.inputs, [&](ValueId in) {
        const auto known = in.valid() ? codesOf(scan, in) : std::nullopt;
        if (!known || scan.quantizers.at(*known).dynamic)
            return false;
        const QuantParams& other = scan.quantizers.at(*known).params;
        return other.dtype == params.dtype && other.scale == params.scale && other.zero(0) == params.zero(0);
    });
    if (!alike)
        return;
    Quantizer q;
    q.codes = node.outputs[0];
    q.quantize = id;
    q.params = params;
    scan.quantizers.add(std::move(q));
}

} // namespace qs
