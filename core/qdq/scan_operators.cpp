// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qdq/quant_scan.h"

#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

/// True when the codes that a node writes floats from come of a dynamic quantizer.
bool readsDynamicCodes(const QuantScan& scan, const Node& node, const QLinearSignature& signature)
{
    if (signature.output.scale >= 0 || signature.inputs.empty())
        return false;
    const auto slot = static_cast<size_t>(signature.inputs[0].codes);
    const auto known = node.hasInput(slot) ? scan.quantizers.ofQuantized(node.inputs[slot]) : std::nullopt;
    return known && scan.quantizers.at(*known).dynamic;
}

int64_t weightAxis(const Node& node, size_t rank)
{
    if (node.opType == "QLinearConv")
        return 0;
    if (node.opType == "QGemm")
        return node.attributes.integer("transB", 0) ? 0 : 1;
    return static_cast<int64_t>(rank) - 1;
}

void storedBias(QuantScan& scan, const Node& node, const QLinearSignature& signature)
{
    const Tensor* stored = scan.constantInput(node, signature.bias);
    const Tensor* xs = scan.constantInput(node, signature.inputs[0].scale);
    const Tensor* ws = scan.constantInput(node, signature.inputs[1].scale);
    if (!stored || !xs || !ws || xs->count() != 1 || scan.quantizers.ofQuantized(node.inputs[size_t(signature.bias)]))
        return;
    Quantizer q;
    q.role = QuantRole::Bias;
    q.codes = node.inputs[size_t(signature.bias)];
    q.params.dtype = stored->dtype();
    const float x = toFloats(*xs)[0];
    for (float w : toFloats(*ws))
        q.params.scale.push_back(x * w);
    q.params.zeroPoint.assign(q.params.scale.size(), 0);
    if (q.params.scale.size() > 1)
        q.params.axis = static_cast<int64_t>(stored->rank()) - 1;
    scan.quantizers.add(std::move(q));
}

/// A weight of an integer product with the scales `scale` / `divisor`.
void storedWeight(QuantScan& scan, const Node& node, const Tensor& scale, float divisor)
{
    const Tensor* stored = scan.constantInput(node, 1);
    if (!stored || scan.quantizers.ofQuantized(node.inputs[1]) || scale.count() == 0)
        return;
    Quantizer q;
    q.role = QuantRole::Weight;
    q.codes = node.inputs[1];
    q.params.dtype = stored->dtype();
    q.params.scale = toFloats(scale);
    for (float& v : q.params.scale)
        v /= divisor;
    q.params.zeroPoint.assign(q.params.scale.size(), 0);
    if (const Tensor* zero = scan.constantInput(node, 3); zero && zero->count() > 0) {
        const auto points = toInts(*zero);
        for (size_t k = 0; k < q.params.zeroPoint.size(); ++k)
            q.params.zeroPoint[k] = static_cast<int32_t>(points[std::min(k, points.size() - 1)]);
    }
    if (q.params.scale.size() > 1)
        q.params.axis = node.opType == "ConvInteger" ? 0 : static_cast<int64_t>(stored->rank()) - 1;
    scan.quantizers.add(std::move(q));
}

/// The weight's scale is the constant factor; the last one when the other is constant too.
void storedFactor(QuantScan& scan, const Node& node, const Node& product)
{
    for (int i : { 1, 0 })
        if (const Tensor* scale = scan.constantInput(product, i))
            return storedWeight(scan, node, *scale, 1);
}

/// What an operator reads of a stored table, where others have moved it before.
void movedRows(QuantScan& scan, ValueId codes, QuantParams params)
{
    const auto type = scan.quantizers.ofQuantized(codes) ? std::nullopt : scanMovedTable(scan, codes, params);
    if (!type)
        return;
    Quantizer rows;
    rows.codes = codes;
    rows.params = std::move(params);
    rows.params.dtype = *type;
    scan.quantizers.add(std::move(rows));
}

/// Codes gathered from a stored table, multiplied as they are: the other factor is the table's scale.
void gatheredFactor(QuantScan& scan, const Node& node, const Node& product)
{
    QuantParams params;
    if (!node.hasInput(0) || !readParams(scan, product, 0, -1, DType::UInt8, params))
        return;
    if (const Tensor* zero = scan.constantInput(node, 2); params.perTensor() && zero && zero->count() == 1)
        params.zeroPoint = { static_cast<int32_t>(toInts(*zero)[0]) };
    movedRows(scan, node.inputs[0], std::move(params));
}

NodeId onlyReader(const QuantScan& scan, ValueId id)
{
    const auto& uses = scan.graph.value(id).uses;
    return uses.size() == 1 ? uses[0].node : NodeId();
}

} // namespace

void scanOperatorOnCodes(QuantScan& scan, NodeId id, const QLinearSignature& signature)
{
    const Node& node = scan.graph.node(id);
    (readsDynamicCodes(scan, node, signature) ? scan.evidence.dynamicQuantizers : scan.evidence.operatorsOnCodes)
        = true;
    for (const CodeOperand& in : signature.inputs) {
        const Tensor* stored = scan.constantInput(node, in.codes);
        QuantParams read;
        if (!stored && node.hasInput(size_t(in.codes))
            && readParams(scan, node, in.scale, in.zeroPoint, DType::UInt8, read))
            movedRows(scan, node.inputs[size_t(in.codes)], std::move(read));
        if (!stored || scan.quantizers.ofQuantized(node.inputs[size_t(in.codes)]))
            continue;
        Quantizer q;
        q.role = QuantRole::Weight;
        q.codes = node.inputs[size_t(in.codes)];
        q.quantize = NodeId();
        if (!readParams(scan, node, in.scale, in.zeroPoint, stored->dtype(), q.params))
            continue;
        if (q.params.scale.size() > 1)
            q.params.axis = weightAxis(node, stored->rank());
        scan.quantizers.add(std::move(q));
    }
    if (signature.bias >= 0)
        storedBias(scan, node, signature);
    if (signature.output.scale < 0)
        return;
    Quantizer q;
    q.codes = node.outputs[0];
    q.quantize = id;
    q.dynamic = !readParams(scan, node, signature.output.scale, signature.output.zeroPoint, DType::Undefined, q.params);
    scan.quantizers.add(std::move(q));
}

void scanBlockWeight(QuantScan& scan, const Node& node, BlockWeight weight)
{
    const ValueId codes = node.inputs[weight.slot];
    if (scan.quantizers.ofQuantized(codes))
        return;
    Quantizer q;
    q.role = QuantRole::Weight;
    q.codes = codes;
    q.logicalCodes = std::move(weight.codes);
    q.params = std::move(weight.params);
    scan.quantizers.add(std::move(q));
}

void scanDynamicProduct(QuantScan& scan, const Node& node)
{
    scan.evidence.dynamicQuantizers = true;
    const Tensor* stored = scan.constantInput(node, 1);
    Quantizer q;
    if (!stored || scan.quantizers.ofQuantized(node.inputs[1])
        || !readParams(scan, node, 2, 3, stored->dtype(), q.params))
        return;
    q.role = QuantRole::Weight;
    q.codes = node.inputs[1];
    if (q.params.scale.size() > 1)
        q.params.axis = static_cast<int64_t>(stored->rank()) - 1;
    scan.quantizers.add(std::move(q));
}

void scanReadCache(QuantScan& scan, NodeId id)
{
    const Node& node = scan.graph.node(id);
    scan.plumbing[id.index()] = true;
    if (!node.hasInput(0))
        return;
    Quantizer q;
    q.codes = node.inputs[0];
    q.dequantized = node.outputs[0];
    q.quantize = scan.graph.value(q.codes).producer;
    const DType codes = node.attributes.integer("bits", 8) == 4 ? DType::Int4 : DType::Int8;
    // A scale for each head and channel lies along two axes, which parameters cannot say.
    q.dynamic = !readParams(scan, node, 1, -1, codes, q.params) || !q.params.perTensor();
    if (q.dynamic)
        q.params = {};
    scan.quantizers.add(std::move(q));
}

void scanDynamicLstm(QuantScan& scan, const Node& node)
{
    scan.evidence.dynamicQuantizers = true;
    for (const CodeOperand& in : { CodeOperand { 1, 8, 9 }, CodeOperand { 2, 10, 11 } }) {
        const Tensor* stored = scan.constantInput(node, in.codes); // directions x inputs x gates' rows
        Quantizer q;
        if (!stored || stored->rank() != 3 || scan.quantizers.ofQuantized(node.inputs[size_t(in.codes)])
            || !readParams(scan, node, in.scale, in.zeroPoint, stored->dtype(), q.params))
            continue;
        const auto scales = static_cast<int64_t>(q.params.scale.size());
        if (scales == stored->dim(0) * stored->dim(2) && scales > 1) { // one a row of each direction
            q.params.axis = 1;
            q.params.blockSize = stored->dim(1);
        } else if (scales == stored->dim(0) && scales > 1) {
            q.params.axis = 0;
        } else if (scales != 1) {
            continue;
        }
        q.role = QuantRole::Weight;
        q.codes = node.inputs[size_t(in.codes)];
        scan.quantizers.add(std::move(q));
    }
}

void scanIntegerProduct(QuantScan& scan, const Node& node)
{
    scan.evidence.dynamicQuantizers = true;
    NodeId cast = onlyReader(scan, node.outputs[0]);
    if (!cast.valid() || scan.graph.node(cast).opType != "Cast" || !saysItsCodes(scan.graph.node(cast)))
        return;
    const ValueId castOut = scan.graph.node(cast).outputs[0];
    const NodeId scaled = onlyReader(scan, castOut);
    if (!scaled.valid() || scan.graph.node(scaled).opType != "Mul" || scan.graph.node(scaled).inputs.size() != 2)
        return;
    scan.scaling.push_back(cast);
    scan.scaling.push_back(scaled);
    const Node& mul = scan.graph.node(scaled);
    if (mul.hasOutput(0))
        scan.scaledSums.emplace(node.outputs[0], mul.outputs[0]);
    const ValueId scales = mul.inputs[0] == castOut ? mul.inputs[1] : mul.inputs[0];
    const NodeId product = scales.valid() ? scan.graph.value(scales).producer : NodeId();
    if (product.valid() && scan.graph.node(product).opType == "Mul") {
        scan.scaling.push_back(product);
        storedFactor(scan, node, scan.graph.node(product));
        gatheredFactor(scan, node, scan.graph.node(product));
    } else if (const Tensor* both = scales.valid() ? scan.constants(scales) : nullptr) {
        const auto known = node.hasInput(0) ? scan.quantizers.ofQuantized(node.inputs[0]) : std::nullopt;
        if (known && scan.quantizers.at(*known).params.perTensor())
            storedWeight(scan, node, *both, scan.quantizers.at(*known).params.scale[0]);
    }
}

} // namespace qs
