// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qdq/quantization_fault.h"

#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"
#include "core/qdq/qlinear_signature.h"

#include <vector>

namespace qs {

namespace {

/// Operators that are no QLinear* ones and have scales or zero points beside codes among their inputs.
std::vector<CodeOperand> otherOperands(const Node& node)
{
    if (isDequantizeLinear(node))
        return { { 0, 1, 2 } };
    if (node.is("ConvInteger") || node.is("MatMulInteger"))
        return { { 0, -1, 2 }, { 1, -1, 3 } };
    if (node.is("DynamicQuantizeMatMul", kMicrosoftDomain))
        return { { 1, 2, 3 } };
    if (node.is("DynamicQuantizeLSTM", kMicrosoftDomain))
        return { { 1, 8, 9 }, { 2, 10, 11 } };
    return {};
}

bool isCodeType(DType type)
{
    return isFloat(type) ? dtypeBits(type) <= 8 : isInteger(type) && (dtypeBits(type) <= 16 || type == DType::Int32);
}

class NodeCheck {
public:
    NodeCheck(const Node& node, const KnownFact& known)
        : m_node(node)
        , m_known(known)
    {
    }
    std::optional<Issue> run();

private:
    Fact input(int slot) const
    {
        const bool has = slot >= 0 && m_node.hasInput(static_cast<size_t>(slot));
        return has ? m_known(m_node.inputs[static_cast<size_t>(slot)]) : Fact {};
    }
    bool has(int slot) const { return slot >= 0 && m_node.hasInput(static_cast<size_t>(slot)); }
    void fail(std::string what)
    {
        if (!m_issue)
            m_issue = inferIssue(m_node, m_node.opType + ": " + what, "export the model again");
    }
    void quantizer();
    void operand(const CodeOperand& o);
    void parameters(const CodeOperand& o, const Fact& codes);
    void codeType(DType type, const std::string& whose);
    void alongAxis(const Fact& codes, const Tensor& scale);

    const Node& m_node;
    const KnownFact& m_known;
    std::optional<Issue> m_issue;
};

void NodeCheck::codeType(DType type, const std::string& whose)
{
    if (type != DType::Undefined && !isContainer(type) && !isCodeType(type))
        fail(whose + " the element type " + std::string(dtypeName(type)) + ", which is none of codes");
}

/// The shape of the scales of values of that shape.
Shape scalesAlong(Shape shape, size_t axis, int64_t block)
{
    if (block == 0)
        return { shape[axis] };
    shape[axis] = shape[axis] / block + (shape[axis] % block != 0);
    return shape;
}

/// The first axis along which scales of that shape fit.
std::optional<int64_t> axisOf(const Shape& scales, const Shape& values, int64_t block)
{
    for (size_t axis = 0; axis < values.size() && block >= 0; ++axis)
        if (scales == scalesAlong(values, axis, block))
            return int64_t(axis);
    return std::nullopt;
}

/// Several scales of Q/DQ: one for each index of the axis, or for each block along it.
void NodeCheck::alongAxis(const Fact& codes, const Tensor& scale)
{
    const int64_t block = m_node.attributes.integer("block_size", 0);
    if (!codes.value)
        return; // data show it
    const Shape& shape = codes.value->shape();
    if (scale.count() == 1 && (block == 0 || scale.rank() != shape.size()))
        return;
    const int64_t stated = m_node.attributes.integer("axis", 1);
    const auto axis = normalizedAxis(stated, shape.size());
    if (axis && block >= 0 && scale.shape() == scalesAlong(shape, *axis, block))
        return;
    std::string what = "the scale's shape " + shapeText(scale.shape()) + " does not fit values of shape "
        + shapeText(shape) + " along axis " + std::to_string(stated);
    if (const auto other = axisOf(scale.shape(), shape, block))
        return fail(what + ", it would along axis " + std::to_string(*other));
    fail(std::move(what));
}

/// `codes`: what the scale and the zero point are of.
void NodeCheck::parameters(const CodeOperand& o, const Fact& codes)
{
    if (o.scale >= 0 && !has(o.scale))
        return fail("it has no scale: required input " + std::to_string(o.scale) + " is missing");
    const Fact scale = input(o.scale), zero = input(o.zeroPoint);
    if (scale.dtype != DType::Undefined && !isFloat(scale.dtype) && scale.dtype != DType::Int32)
        fail("the scale has the element type " + std::string(dtypeName(scale.dtype)));
    codeType(zero.dtype, "the zero point has");
    const bool nothing = codes.dims && dimProduct(*codes.dims) == 0;
    if (scale.value && scale.value->count() == 0 && !nothing)
        fail("the scale is empty");
    if (zero.value && zero.value->count() == 0 && !nothing)
        fail("the zero point is empty");
    if (!scale.value || !zero.value)
        return;
    const int64_t scales = scale.value->count(), zeros = zero.value->count();
    if (scales != zeros && scales != 1 && zeros != 1)
        fail("the zero point has " + std::to_string(zeros) + " elements, the scale " + std::to_string(scales));
}

void NodeCheck::operand(const CodeOperand& o)
{
    if (!has(o.codes) && !has(o.scale))
        return; // an operand that may be left out; if not, the operator itself says so
    const Fact codes = input(o.codes);
    codeType(codes.dtype, "its input " + std::to_string(o.codes) + " has");
    parameters(o, codes);
}

void NodeCheck::quantizer()
{
    const auto stated = static_cast<DType>(m_node.attributes.integer("output_dtype", 0));
    codeType(has(2) ? input(2).dtype : stated, "its codes have");
    parameters({ 0, 1, 2 }, input(0));
}

std::optional<Issue> NodeCheck::run()
{
    const bool writes = isQuantizeLinear(m_node), reads = isDequantizeLinear(m_node);
    if ((writes || reads) && (!has(0) || m_node.outputs.empty()))
        fail(has(0) ? "it has no output" : "required input 0 is missing");
    if (m_issue)
        return m_issue;
    if (writes)
        quantizer();
    for (const CodeOperand& o : otherOperands(m_node))
        operand(o);
    if (const auto signature = qlinearSignature(m_node)) {
        for (const CodeOperand& o : signature->inputs)
            operand(o);
        if (const CodeOperand& out = signature->output; out.scale >= 0)
            parameters(out, {});
    }
    if (const Fact scale = input(1); (writes || reads) && scale.value)
        alongAxis(input(0), *scale.value);
    return m_issue;
}

} // namespace

std::optional<Issue> quantizationFault(const Node& node, const KnownFact& known)
{
    return NodeCheck(node, known).run();
}

std::optional<int64_t> fittingAxis(const Node& node, const KnownFact& known)
{
    if (!isDequantizeLinear(node) || !quantizationFault(node, known) || !node.hasInput(0) || !node.hasInput(1))
        return std::nullopt;
    const Fact codes = known(node.inputs[0]), scale = known(node.inputs[1]);
    return codes.value && scale.value
        ? axisOf(scale.value->shape(), codes.value->shape(), node.attributes.integer("block_size", 0))
        : std::nullopt;
}

KnownFact knownFrom(const Graph& graph, const ConstantLookup& constants)
{
    return [&graph, constants](ValueId id) {
        if (const Tensor* t = constants(id))
            return constantFact(*t);
        const ValueType& type = graph.value(id).type;
        return type.container.empty() ? fact(type.dtype, type.dims) : Fact {};
    };
}

} // namespace qs
