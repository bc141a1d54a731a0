// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qdq/quant_view.h"

#include "core/graph/domains.h"
#include "core/qdq/block_weights.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

bool isIntegerProduct(const Node& node)
{
    return node.domain.empty() && (node.opType == "ConvInteger" || node.opType == "MatMulInteger");
}

/// Nodes that may stand between Q and DQ without changing what a code means.
bool passesCodes(const Node& node)
{
    return node.domain.empty() && (node.opType == "Cast" || node.opType == "Clip" || node.opType == "Identity");
}

/// False for a malformed node without the input and output that say which codes it is about.
bool isWhole(const Node& node)
{
    const bool needsInput = isQuantizeLinear(node) || isDequantizeLinear(node) || node.is("DynamicQuantizeLinear");
    return !node.outputs.empty() && node.outputs[0].valid() && (node.hasInput(0) || !needsInput);
}

} // namespace

/// Collects quantizers in one walk over the nodes.
class QuantViewBuilder {
public:
    QuantViewBuilder(const Graph& graph, const ConstantLookup& constants)
        : m_graph(graph)
        , m_constants(constants)
    {
        m_view.m_plumbing.assign(graph.nodes().size(), false);
    }

    QuantView build() &&
    {
        for (size_t n = 0; n < m_graph.nodes().size(); ++n)
            visit(NodeId(n));
        findUnits();
        m_view.m_form = form();
        return std::move(m_view);
    }

private:
    const Tensor* constantInput(const Node& node, int i) const
    {
        return i >= 0 && node.hasInput(size_t(i)) ? m_constants(node.inputs[size_t(i)]) : nullptr;
    }

    void visit(NodeId id)
    {
        const Node& node = m_graph.node(id);
        if (!isWhole(node))
            return;
        const bool constant = std::ranges::all_of(
            node.outputs, [&](ValueId out) { return !out.valid() || m_constants(out) != nullptr; });
        if (isQuantizeLinear(node)) {
            quantize(id, node);
        } else if (isDequantizeLinear(node)) {
            dequantize(id, node);
        } else if (constant) {
            if (passesCodes(node) && node.hasInput(0))
                passCodes(id, node);
            m_view.m_plumbing[id.index()] = true;
        } else if (node.is("DynamicQuantizeLinear")) {
            dynamicQuantize(id, node);
        } else if (const auto signature = qlinearSignature(node)) {
            qlinear(id, node, *signature);
        } else if (auto weight = blockWeight(node, m_constants)) {
            blockQuantized(node, std::move(*weight));
        } else if (node.is("DynamicQuantizeMatMul", kMicrosoftDomain)) {
            dynamicProduct(node);
        } else if (isIntegerProduct(node)) {
            integerProduct(node);
        } else if (passesCodes(node) && node.hasInput(0)) {
            passCodes(id, node);
        } else if (movesElements(node) && node.hasInput(0)) {
            moveCodes(id, node);
        }
    }

    uint32_t add(Quantizer q)
    {
        const auto index = static_cast<uint32_t>(m_view.m_quantizers.size());
        if (q.real.valid())
            m_view.m_byReal.try_emplace(q.real, index);
        if (q.codes.valid())
            m_view.m_byValue.try_emplace(q.codes, index);
        if (q.dequantized.valid())
            m_view.m_byValue.try_emplace(q.dequantized, index);
        m_view.m_quantizers.push_back(std::move(q));
        return index;
    }

    /// Fills scale, zero point, axis from constants; false when the scale is computed from data.
    bool readParams(const Node& node, int scaleInput, int zeroPointInput, DType codes, QuantParams& params) const
    {
        const Tensor* scale = constantInput(node, scaleInput);
        if (!scale)
            return false;
        params.dtype = codes;
        params.scale = toFloats(*scale);
        params.zeroPoint.assign(params.scale.size(), 0);
        if (const Tensor* zero = constantInput(node, zeroPointInput)) {
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

    /// Axis and block size of Q/DQ with several scales.
    void readAxis(const Node& node, size_t rank, QuantParams& params) const
    {
        if (params.scale.size() <= 1)
            return;
        int64_t axis = node.attributes.integer("axis", 1);
        if (axis < 0 && rank > 0)
            axis += static_cast<int64_t>(rank);
        params.axis = axis;
        params.blockSize = node.attributes.integer("block_size", 0);
    }

    size_t rankOf(ValueId id) const
    {
        if (const Tensor* t = m_constants(id))
            return t->rank();
        const auto& dims = m_graph.value(id).type.dims;
        return dims ? dims->size() : 0;
    }

    void quantize(NodeId id, const Node& node)
    {
        m_view.m_plumbing[id.index()] = true;
        Quantizer q;
        q.real = node.inputs[0];
        q.codes = node.outputs[0];
        q.quantize = id;
        q.role = m_constants(q.real) ? QuantRole::Weight : QuantRole::Activation;
        const auto outputType = static_cast<DType>(node.attributes.integer("output_dtype", 0));
        q.dynamic = !readParams(node, 1, 2, outputType, q.params);
        if (q.dynamic) {
            q.scaleValue = node.hasInput(1) ? node.inputs[1] : ValueId();
            q.zeroPointValue = node.hasInput(2) ? node.inputs[2] : ValueId();
        }
        readAxis(node, rankOf(q.real), q.params);
        add(std::move(q));
    }

    void dequantize(NodeId id, const Node& node)
    {
        m_view.m_plumbing[id.index()] = true;
        const ValueId codes = node.inputs[0], out = node.outputs[0];
        if (const auto known = lookup(codes)) {
            Quantizer& q = m_view.m_quantizers[*known];
            if (!q.dequantized.valid())
                q.dequantized = out;
            q.dequantize.push_back(id);
            if (q.real.valid() && q.quantize.valid() && isQuantizeLinear(m_graph.node(q.quantize)))
                (q.role == QuantRole::Activation ? m_activationPairs : m_weightPairs) += 1;
            m_view.m_byValue.try_emplace(out, *known);
            return;
        }
        const Tensor* stored = m_constants(codes);
        Quantizer q;
        q.codes = codes;
        q.dequantized = out;
        q.dequantize = { id };
        const DType type = stored ? stored->dtype() : m_graph.value(codes).type.dtype;
        q.role = !stored ? QuantRole::Activation : type == DType::Int32 ? QuantRole::Bias : QuantRole::Weight;
        q.dynamic = !readParams(node, 1, 2, type, q.params);
        readAxis(node, rankOf(codes), q.params);
        if (stored)
            ++m_weightPairs;
        add(std::move(q));
    }

    std::optional<uint32_t> lookup(ValueId id) const
    {
        const auto it = m_view.m_byValue.find(id);
        return it == m_view.m_byValue.end() ? std::nullopt : std::optional(it->second);
    }

    /// The quantizer that this value is the codes of, under whichever name.
    std::optional<uint32_t> codesOf(ValueId id) const
    {
        const NodeId producer = m_graph.value(id).producer;
        return producer.valid() && isDequantizeLinear(m_graph.node(producer)) ? std::nullopt : lookup(id);
    }

    void dynamicQuantize(NodeId id, const Node& node)
    {
        m_view.m_plumbing[id.index()] = true;
        m_dynamicNodes = true;
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
        add(std::move(q));
    }

    /// A stored weight of a node that multiplies floats by it.
    void blockQuantized(const Node& node, BlockWeight weight)
    {
        const ValueId codes = node.inputs[weight.slot];
        if (lookup(codes))
            return;
        Quantizer q;
        q.role = QuantRole::Weight;
        q.codes = codes;
        q.logicalCodes = std::move(weight.codes);
        q.params = std::move(weight.params);
        add(std::move(q));
    }

    /// DynamicQuantizeMatMul: floats, quantized inside, by a stored weight.
    void dynamicProduct(const Node& node)
    {
        m_dynamicNodes = true;
        const Tensor* stored = constantInput(node, 1);
        Quantizer q;
        if (!stored || lookup(node.inputs[1]) || !readParams(node, 2, 3, stored->dtype(), q.params))
            return;
        q.role = QuantRole::Weight;
        q.codes = node.inputs[1];
        if (q.params.scale.size() > 1)
            q.params.axis = static_cast<int64_t>(stored->rank()) - 1;
        add(std::move(q));
    }

    /// True when the codes that a node writes floats from come of a dynamic quantizer.
    bool readsDynamicCodes(const Node& node, const QLinearSignature& signature) const
    {
        if (signature.output.scale >= 0 || signature.inputs.empty())
            return false;
        const auto slot = static_cast<size_t>(signature.inputs[0].codes);
        const auto known = node.hasInput(slot) ? lookup(node.inputs[slot]) : std::nullopt;
        return known && m_view.m_quantizers[*known].dynamic;
    }

    void qlinear(NodeId id, const Node& node, const QLinearSignature& signature)
    {
        (readsDynamicCodes(node, signature) ? m_dynamicNodes : m_qlinearNodes) = true;
        for (const CodeOperand& in : signature.inputs) {
            const Tensor* stored = constantInput(node, in.codes);
            if (!stored || lookup(node.inputs[size_t(in.codes)]))
                continue;
            Quantizer q;
            q.role = QuantRole::Weight;
            q.codes = node.inputs[size_t(in.codes)];
            q.quantize = NodeId();
            if (!readParams(node, in.scale, in.zeroPoint, stored->dtype(), q.params))
                continue;
            if (q.params.scale.size() > 1)
                q.params.axis = weightAxis(node, stored->rank());
            add(std::move(q));
        }
        if (signature.bias >= 0)
            storedBias(node, signature);
        if (signature.output.scale < 0)
            return;
        Quantizer q;
        q.codes = node.outputs[0];
        q.quantize = id;
        q.dynamic = !readParams(node, signature.output.scale, signature.output.zeroPoint, DType::Undefined, q.params);
        add(std::move(q));
    }

    static int64_t weightAxis(const Node& node, size_t rank)
    {
        if (node.opType == "QLinearConv")
            return 0;
        if (node.opType == "QGemm")
            return node.attributes.integer("transB", 0) ? 0 : 1;
        return static_cast<int64_t>(rank) - 1;
    }

    void storedBias(const Node& node, const QLinearSignature& signature)
    {
        const Tensor* stored = constantInput(node, signature.bias);
        const Tensor* xs = constantInput(node, signature.inputs[0].scale);
        const Tensor* ws = constantInput(node, signature.inputs[1].scale);
        if (!stored || !xs || !ws || xs->count() != 1 || lookup(node.inputs[size_t(signature.bias)]))
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
        add(std::move(q));
    }

    /// ConvInteger / MatMulInteger -> Cast -> Mul(x_scale * w_scale): the weight's scale sits in that product.
    void integerProduct(const Node& node)
    {
        m_dynamicNodes = true;
        NodeId cast = onlyReader(node.outputs[0]);
        if (!cast.valid() || m_graph.node(cast).opType != "Cast" || !isWhole(m_graph.node(cast)))
            return;
        const ValueId castOut = m_graph.node(cast).outputs[0];
        const NodeId scaled = onlyReader(castOut);
        if (!scaled.valid() || m_graph.node(scaled).opType != "Mul" || m_graph.node(scaled).inputs.size() != 2)
            return;
        m_hidden.push_back(cast);
        m_hidden.push_back(scaled);
        const Node& mul = m_graph.node(scaled);
        if (!mul.outputs.empty() && mul.outputs[0].valid())
            m_view.m_scaledSums.emplace(node.outputs[0], mul.outputs[0]);
        const ValueId scales = mul.inputs[0] == castOut ? mul.inputs[1] : mul.inputs[0];
        const NodeId product = scales.valid() ? m_graph.value(scales).producer : NodeId();
        if (product.valid() && m_graph.node(product).opType == "Mul") {
            m_hidden.push_back(product);
            storedFactor(node, m_graph.node(product));
        } else if (const Tensor* both = scales.valid() ? m_constants(scales) : nullptr) {
            const auto known = node.hasInput(0) ? lookup(node.inputs[0]) : std::nullopt;
            if (known && m_view.m_quantizers[*known].params.perTensor())
                storedWeight(node, *both, m_view.m_quantizers[*known].params.scale[0]);
        }
    }

    /// The weight's scale is the constant factor; the last one when the other is constant too.
    void storedFactor(const Node& node, const Node& product)
    {
        for (int i : { 1, 0 })
            if (const Tensor* scale = constantInput(product, i))
                return storedWeight(node, *scale, 1);
    }

    /// A weight of an integer product with the scales `scale` / `divisor`.
    void storedWeight(const Node& node, const Tensor& scale, float divisor)
    {
        const Tensor* stored = constantInput(node, 1);
        if (!stored || lookup(node.inputs[1]) || scale.count() == 0)
            return;
        Quantizer q;
        q.role = QuantRole::Weight;
        q.codes = node.inputs[1];
        q.params.dtype = stored->dtype();
        q.params.scale = toFloats(scale);
        for (float& v : q.params.scale)
            v /= divisor;
        q.params.zeroPoint.assign(q.params.scale.size(), 0);
        if (const Tensor* zero = constantInput(node, 3); zero && zero->count() > 0) {
            const auto points = toInts(*zero);
            for (size_t k = 0; k < q.params.zeroPoint.size(); ++k)
                q.params.zeroPoint[k] = static_cast<int32_t>(points[std::min(k, points.size() - 1)]);
        }
        if (q.params.scale.size() > 1)
            q.params.axis = node.opType == "ConvInteger" ? 0 : static_cast<int64_t>(stored->rank()) - 1;
        add(std::move(q));
    }

    NodeId onlyReader(ValueId id) const
    {
        const auto& uses = m_graph.value(id).uses;
        return uses.size() == 1 ? uses[0].node : NodeId();
    }

    /// Cast, Clip or Identity between Q and DQ: the same quantizer under a new name.
    void passCodes(NodeId id, const Node& node)
    {
        const auto known = codesOf(node.inputs[0]);
        if (!known)
            return;
        const DType out = m_graph.value(node.outputs[0]).type.dtype;
        if (node.opType == "Cast" && isFloat(static_cast<DType>(node.attributes.integer("to", int64_t(out)))))
            return;
        if (Quantizer& q = m_view.m_quantizers[*known]; q.codes == node.inputs[0]) // the first of several readers
            q.codes = node.outputs[0];
        m_view.m_byValue.try_emplace(node.outputs[0], *known);
        m_view.m_plumbing[id.index()] = true;
    }

    /// MaxPool, Reshape ... on codes: a tensor of its own with its input's parameters.
    void moveCodes(NodeId id, const Node& node)
    {
        const auto known = codesOf(node.inputs[0]);
        if (!known)
            return;
        for (ValueId out : node.outputs) {
            if (!out.valid() || (out != node.outputs[0] && node.opType != "Split"))
                continue;
            Quantizer q;
            const Quantizer& from = m_view.m_quantizers[*known];
            q.codes = out;
            q.quantize = id;
            q.params = from.params;
            q.dynamic = from.dynamic;
            q.scaleValue = from.scaleValue;
            q.zeroPointValue = from.zeroPointValue;
            if (q.params.axis)
                continue; // an axis may move: leave it alone
            add(std::move(q));
        }
    }

    void findUnits()
    {
        for (NodeId id : m_hidden)
            m_view.m_plumbing[id.index()] = true;
        for (size_t n = 0; n < m_graph.nodes().size(); ++n) {
            if (m_view.m_plumbing[n])
                continue;
            const Node& node = m_graph.nodes()[n];
            QuantUnit unit { NodeId(n), {}, {} };
            for (ValueId in : node.inputs)
                if (in.valid())
                    if (const auto q = lookup(in))
                        unit.inputs.push_back(*q);
            std::ranges::stable_sort(unit.inputs, {}, [&](uint32_t q) { return m_view.m_quantizers[q].role; });
            for (ValueId out : node.outputs)
                if (out.valid())
                    if (const auto q = m_view.ofValue(out))
                        unit.outputs.push_back(*q);
            if (!unit.inputs.empty())
                m_view.m_units.push_back(std::move(unit));
        }
    }

    QuantForm form() const
    {
        bool weightOnlyNode = false;
        for (const Node& node : m_graph.nodes())
            weightOnlyNode |= node.domain == kMicrosoftDomain
                && (node.opType == "MatMulNBits" || node.opType == "GatherBlockQuantized"
                    || node.opType == "MatMulBnb4");
        const bool qdq = m_activationPairs > 0;
        const bool weightOnly = weightOnlyNode || (!qdq && !m_qlinearNodes && !m_dynamicNodes && m_weightPairs > 0);
        const int forms = int(qdq) + int(m_qlinearNodes) + int(m_dynamicNodes) + int(weightOnly);
        if (forms > 1)
            return QuantForm::Mixed;
        if (qdq)
            return QuantForm::Qdq;
        if (m_qlinearNodes)
            return QuantForm::QOperator;
        if (m_dynamicNodes)
            return QuantForm::Dynamic;
        if (weightOnly)
            return QuantForm::WeightOnly;
        return m_view.m_quantizers.empty() ? QuantForm::Float : QuantForm::Qdq;
    }

    const Graph& m_graph;
    const ConstantLookup& m_constants;
    QuantView m_view;
    std::vector<NodeId> m_hidden;
    size_t m_activationPairs = 0, m_weightPairs = 0;
    bool m_qlinearNodes = false, m_dynamicNodes = false;
};

std::string_view quantFormName(QuantForm form)
{
    switch (form) {
    case QuantForm::Float:
        return "float";
    case QuantForm::Qdq:
        return "qdq";
    case QuantForm::QOperator:
        return "qoperator";
    case QuantForm::Dynamic:
        return "dynamic";
    case QuantForm::WeightOnly:
        return "weight_only";
    case QuantForm::Mixed:
        return "mixed";
    }
    return "float";
}

QuantView QuantView::of(const Graph& graph, const ConstantLookup& constants)
{
    return QuantViewBuilder(graph, constants).build();
}

ValueId QuantView::scaledSums(ValueId sums) const
{
    const auto it = m_scaledSums.find(sums);
    return it == m_scaledSums.end() ? ValueId() : it->second;
}

std::optional<uint32_t> QuantView::ofQuantized(ValueId id) const
{
    const auto it = m_byValue.find(id);
    return it == m_byValue.end() ? std::nullopt : std::optional(it->second);
}

std::optional<uint32_t> QuantView::ofValue(ValueId id) const
{
    if (const auto q = ofQuantized(id))
        return q;
    const auto it = m_byReal.find(id);
    return it == m_byReal.end() ? std::nullopt : std::optional(it->second);
}

} // namespace qs
