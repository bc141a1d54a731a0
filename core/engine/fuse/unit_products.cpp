// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/fuse/unit_builder.h"

#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

/// Products of codes: Conv, MatMul (with a sum behind it) and Gemm.
namespace qs {

namespace {

/// Whether the runtime makes a Gemm of a product of these sizes and a sum with `c`: one number a column, or for a
/// matrix one a row or an element too. Products of more axes must have known sizes.
bool makesGemm(const Dims& a, const Dims& b, const Dims& c)
{
    if (b.size() != 2 || a.size() < 2 || (a.size() > 2 && !toShape(a)))
        return false;
    if (c.size() == 1)
        return sameDim(c[0], b[1]);
    if (c.size() != 2 || a.size() != 2)
        return false;
    return sameDim(c[0], a[0]) ? sameDim(c[1], b[1]) || c[1].value == 1 : c[0].value == 1 && sameDim(c[1], b[1]);
}

} // namespace

bool UnitBuilder::scalesFit(const Operand& o, int64_t channels, int64_t axis) const
{
    const Tensor* scale = constant(o.codes.scale);
    if (!o.codes.scale.valid() || (scale && scale->count() == 1))
        return true;
    return scale && scale->rank() == 1 && scale->count() == channels && o.codes.axis == axis;
}

PairSaturation UnitBuilder::saturation(const Operand& left, const Operand& right) const
{
    if (m_options.profile != ArithmeticProfile::IntegerAvx2 || left.codes.seen != DType::UInt8
        || right.codes.seen != DType::Int8)
        return PairSaturation::None;
    return left.codes.type == DType::Int8 ? PairSaturation::ShiftedLeft : PairSaturation::AsTyped;
}

bool UnitBuilder::biasScaleFits(const RealCodes& bias, const Operand& left, const Operand& right) const
{
    const Tensor *scale = constant(bias.scale), *zero = constant(bias.zeroPoint);
    const Tensor *xs = constant(left.codes.scale), *ws = constant(right.codes.scale);
    if (!scale || !xs || !ws)
        return false;
    if (zero)
        for (int64_t z : toInts(*zero))
            if (z != 0)
                return false;
    const auto b = toFloats(*scale), w = toFloats(*ws);
    if (b.empty() || w.empty() || xs->count() == 0)
        return false;
    const float x = toFloats(*xs)[0];
    if (b.size() != 1 && w.size() != 1 && b.size() != w.size())
        return false;
    for (size_t i = 0; i < std::max(b.size(), w.size()); ++i) {
        const double expected = double(x) * w[w.size() == 1 ? 0 : i];
        if (std::abs(b[b.size() == 1 ? 0 : i] - expected) > 1e-6 + 1e-2 * std::abs(expected))
            return false;
    }
    return true;
}

UnitBuilder::MaybeSlot UnitBuilder::bias(size_t i, const Operand& left, const Operand& right, bool checkScale)
{
    if (!node().hasInput(i))
        return Slot {};
    if (const auto codes = m_qdq.codesOf(node().inputs[i])) {
        if (codes->type != DType::Int32 || !codes->moves.empty() || (checkScale && !biasScaleFits(*codes, left, right)))
            return std::nullopt;
        return value(codes->codes);
    }
    const Tensor* real = constant(node().inputs[i]);
    return real && quantizesConstants() ? quantizedBias(*real, left, right) : std::nullopt;
}

UnitBuilder::MaybeSlot UnitBuilder::convolution()
{
    const auto x = operand(0);
    if (!m_result || !x || !node().hasInput(1) || !oneGrid(*x) || x->codes.seen != DType::UInt8
        || m_result->seen != DType::UInt8)
        return std::nullopt;
    auto w = operand(1);
    const Tensor* real = constant(node().inputs[1]);
    if (!w && real && quantizesConstants())
        w = quantizedWeight(*real);
    if (!w)
        return std::nullopt;
    const auto& dims = m_qdq.lowered().facts().of(node().inputs[1]).dims;
    if (!dims || dims->empty() || !scalesFit(*w, (*dims)[0].value, 0))
        return std::nullopt;
    const auto b = bias(2, *x, *w, true);
    if (!b)
        return std::nullopt;
    return add(programNode("QLinearConv", {}, node().attributes),
        { x->code, x->scale, x->zero, w->code, w->scale, w->zero, outScale(), outZero(), *b }, m_result->type,
        saturation(*x, *w));
}

UnitBuilder::MaybeSlot UnitBuilder::matrixProduct()
{
    const auto a = operand(0), b = operand(1);
    if (!a || !b || !oneGrid(*a) || a->codes.seen != DType::UInt8)
        return std::nullopt;
    const auto& dims = m_qdq.lowered().facts().of(node().inputs[1]).dims;
    if (!dims || dims->empty() || !scalesFit(*b, dims->back().value, static_cast<int64_t>(dims->size()) - 1))
        return std::nullopt;
    if (auto joined = productWithAddend(*a, *b))
        return joined->valid() ? joined : std::nullopt;
    if (m_result) {
        if (m_result->seen != a->codes.seen)
            return std::nullopt;
        return add(programNode("QLinearMatMul"),
            { a->code, a->scale, a->zero, b->code, b->scale, b->zero, outScale(), outZero() }, m_result->type,
            saturation(*a, *b));
    }
    if (m_qdq.meetsQuantizer(m_op))
        return std::nullopt;
    return add(programNode("MatMulIntegerToFloat", kMicrosoftDomain),
        { a->code, b->code, a->scale, b->scale, a->zero, b->zero }, DType::Float32, saturation(*a, *b));
}

std::optional<UnitBuilder::Addend> UnitBuilder::gemmAddend() const
{
    const ValueId out = node().outputs[0];
    const NodeId next = m_qdq.onlyReader(out);
    if (!next.valid() || !graph().node(next).is("Add") || graph().node(next).inputs.size() != 2)
        return std::nullopt;
    const Node& sum = graph().node(next);
    if (!sum.hasInput(0) || !sum.hasInput(1) || !sum.hasOutput(0))
        return std::nullopt;
    const ValueId other = sum.inputs[m_qdq.source(sum.inputs[0]) == out ? 1 : 0];
    const auto &a = dimsOf(node().inputs[0]), &b = dimsOf(node().inputs[1]), &c = dimsOf(other);
    return a && b && c && makesGemm(*a, *b, *c) ? std::optional(Addend { next, other }) : std::nullopt;
}

/// MatMul and Add that the runtime makes a Gemm of. nullopt: there is no such Add; an absent slot: there is, and it
/// keeps the product from being joined.
UnitBuilder::MaybeSlot UnitBuilder::productWithAddend(const Operand& left, const Operand& right)
{
    const auto addend = gemmAddend();
    if (!addend)
        return std::nullopt;
    const auto [next, other] = *addend;
    const auto &a = dimsOf(node().inputs[0]), &b = dimsOf(node().inputs[1]);
    auto result = m_qdq.resultOf(next);
    const auto codes = m_qdq.codesOf(other);
    const Tensor* real = constant(other);
    if ((result && result->seen != left.codes.seen) || (!result && m_qdq.meetsQuantizer(next))
        || (codes ? codes->type != DType::Int32 : !real || !result))
        return Slot {};
    m_result = std::move(result);
    const auto bias = codes ? MaybeSlot(value(codes->codes)) : quantizedBias(*real, left, right);
    Operand rows = left;
    if (a->size() > 2) {
        const auto flat = reshaped(left.code, { -1, a->back().value }, left.codes.type);
        if (!flat)
            return Slot {};
        rows.code = *flat;
    }
    auto product = bias ? gemmOf(programNode("QGemm", kMicrosoftDomain), rows, right, *bias) : std::nullopt;
    if (product && a->size() > 2) {
        Shape full = *toShape(*a);
        full.back() = b->back().value;
        product = reshaped(*product, full, m_result ? m_result->type : DType::Float32);
    }
    m_nodes.push_back(next);
    return product ? product : Slot {};
}

UnitBuilder::MaybeSlot UnitBuilder::gemmOf(Node gemm, Operand left, Operand right, Slot bias)
{
    std::vector<Slot> inputs { left.code, left.scale, left.zero, right.code, right.scale, right.zero, bias };
    if (m_result) {
        inputs.push_back(outScale());
        inputs.push_back(outZero());
    }
    return add(std::move(gemm), inputs, m_result ? m_result->type : DType::Float32, saturation(left, right));
}

UnitBuilder::MaybeSlot UnitBuilder::gemm()
{
    const auto a = operand(0);
    if (!a || !node().hasInput(1) || !oneGrid(*a))
        return std::nullopt;
    auto b = operand(1);
    const Tensor* real = constant(node().inputs[1]);
    if (!b && real && quantizesConstants())
        b = quantizedWeight(*real);
    if (!b || (a->codes.seen == DType::Int8 && b->codes.seen != DType::Int8)
        || (m_result && m_result->seen != a->codes.seen) || (!m_result && m_qdq.meetsQuantizer(m_op)))
        return std::nullopt;
    const int64_t axis = node().attributes.integer("transB", 0) ? 0 : 1;
    const auto& dims = m_qdq.lowered().facts().of(node().inputs[1]).dims;
    if (!dims || dims->size() != 2 || !scalesFit(*b, (*dims)[static_cast<size_t>(axis)].value, axis))
        return std::nullopt;
    const bool scaled = node().attributes.real("alpha", 1) != 1 || node().attributes.real("beta", 1) != 1;
    if (node().hasInput(2) && scaled)
        return std::nullopt;
    const auto c = bias(2, *a, *b, false);
    return c ? gemmOf(programNode("QGemm", kMicrosoftDomain, node().attributes), *a, *b, *c) : std::nullopt;
}

} // namespace qs
