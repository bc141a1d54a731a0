// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/fuse/unit_builder.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr const char* kMicrosoft = "com.microsoft";

template <size_t n> bool among(const std::string& type, const std::array<std::string_view, n>& types)
{
    return std::ranges::find(types, type) != types.end();
}

bool isByte(DType type) { return type == DType::UInt8 || type == DType::Int8; }

bool sameDim(const Dim& a, const Dim& b)
{
    return a.known() || b.known() ? a.value == b.value : !a.symbol.empty() && a.symbol == b.symbol;
}

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

Node withAttributes(Node node, const Node& of)
{
    node.attributes = of.attributes;
    return node;
}

} // namespace

UnitBuilder::UnitBuilder(const QdqGraph& qdq, const PlanOptions& options, NodeId op)
    : m_qdq(qdq)
    , m_options(options)
    , m_op(op)
    , m_program(options.mode)
    , m_nodes { op }
{
}

UnitBuilder::Slot UnitBuilder::value(ValueId id)
{
    return id.valid() ? m_program.input(id, m_qdq.plan().facts().of(id).dtype, constant(id)) : Slot {};
}

UnitBuilder::MaybeSlot UnitBuilder::add(
    Node node, const std::vector<Slot>& inputs, DType output, PairSaturation saturation)
{
    auto slot = m_program.add(std::move(node), inputs, output, saturation);
    return slot.ok() ? MaybeSlot(*slot) : std::nullopt;
}

std::optional<UnitBuilder::Operand> UnitBuilder::operand(size_t i)
{
    if (!node().hasInput(i))
        return std::nullopt;
    auto codes = m_qdq.codesOf(node().inputs[i]);
    return codes && isByte(codes->type) ? operandOf(std::move(*codes)) : std::nullopt;
}

std::optional<UnitBuilder::Operand> UnitBuilder::operandOf(RealCodes codes)
{
    Operand o;
    const auto code = moved(value(codes.codes), codes.moves);
    if (!code)
        return std::nullopt;
    o.code = *code;
    o.scale = value(codes.scale);
    o.zero = value(codes.zeroPoint);
    o.codes = std::move(codes);
    return o;
}

/// Applies movements to codes as they are applied to floats in the file.
UnitBuilder::MaybeSlot UnitBuilder::moved(Slot codes, const std::vector<NodeId>& moves)
{
    MaybeSlot at = codes;
    for (NodeId id : moves) {
        const Node& move = graph().node(id);
        std::vector<Slot> inputs { *at };
        for (size_t i = 1; i < move.inputs.size(); ++i)
            inputs.push_back(value(move.inputs[i]));
        at = add(move, inputs, m_qdq.plan().facts().of(move.outputs[0]).dtype);
        if (!at)
            return std::nullopt;
        m_nodes.push_back(id);
    }
    return at;
}

UnitBuilder::MaybeSlot UnitBuilder::reshaped(Slot codes, const Shape& shape, DType type)
{
    const Slot sizes = m_program.constant(Tensor::of<int64_t>({ static_cast<int64_t>(shape.size()) }, shape));
    return add(programNode("Reshape"), { codes, sizes }, type);
}

UnitBuilder::Slot UnitBuilder::outZero()
{
    if (m_result->zeroPoint.valid())
        return value(m_result->zeroPoint);
    return m_program.constant(m_result->type == DType::Int8 ? Tensor::scalar<int8_t>(0) : Tensor::scalar<uint8_t>(0));
}

/// Appends an operator on codes as the runtime sees them, and makes the codes of the file of its result.
UnitBuilder::MaybeSlot UnitBuilder::addSeen(Node node, std::vector<Slot> inputs, size_t zeroSlot)
{
    const bool flips = m_result->type != m_result->seen;
    if (flips)
        inputs[zeroSlot] = m_program.flipSign(inputs[zeroSlot]);
    const auto codes = add(std::move(node), inputs, m_result->seen);
    return codes && flips ? m_program.flipSign(*codes) : codes;
}

bool UnitBuilder::oneGrid(const Operand& o) const
{
    const Tensor *scale = constant(o.codes.scale), *zero = constant(o.codes.zeroPoint);
    return scale && scale->count() == 1 && (!zero || zero->count() == 1);
}

bool UnitBuilder::scalesFit(const Operand& o, int64_t channels, int64_t axis) const
{
    const Tensor* scale = constant(o.codes.scale);
    if (!o.codes.scale.valid() || (scale && scale->count() == 1))
        return true;
    return scale && scale->rank() == 1 && scale->count() == channels && o.codes.axis == axis && o.codes.moves.empty();
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
    if (!m_result || !x || !oneGrid(*x) || x->codes.seen != DType::UInt8 || m_result->seen != DType::UInt8)
        return std::nullopt;
    auto w = operand(1);
    const Tensor* real = constant(node().inputs[1]);
    if (!w && real && quantizesConstants())
        w = quantizedWeight(*real);
    if (!w)
        return std::nullopt;
    const auto& dims = m_qdq.plan().facts().of(node().inputs[1]).dims;
    if (!dims || dims->empty() || !scalesFit(*w, (*dims)[0].value, 0))
        return std::nullopt;
    const auto b = bias(2, *x, *w, true);
    if (!b)
        return std::nullopt;
    return add(withAttributes(programNode("QLinearConv"), node()),
        { x->code, x->scale, x->zero, w->code, w->scale, w->zero, outScale(), outZero(), *b }, m_result->type,
        saturation(*x, *w));
}

UnitBuilder::MaybeSlot UnitBuilder::matrixProduct()
{
    const auto a = operand(0), b = operand(1);
    if (!a || !b || !oneGrid(*a) || a->codes.seen != DType::UInt8)
        return std::nullopt;
    const auto& dims = m_qdq.plan().facts().of(node().inputs[1]).dims;
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
    return add(programNode("MatMulIntegerToFloat", kMicrosoft),
        { a->code, b->code, a->scale, b->scale, a->zero, b->zero }, DType::Float32, saturation(*a, *b));
}

/// MatMul and Add that the runtime makes a Gemm of. nullopt: there is no such Add; an absent slot: there is, and it
/// keeps the product from being joined.
UnitBuilder::MaybeSlot UnitBuilder::productWithAddend(const Operand& left, const Operand& right)
{
    const ValueId out = node().outputs[0];
    const NodeId next = m_qdq.onlyReader(out);
    if (!next.valid() || !graph().node(next).is("Add") || graph().node(next).inputs.size() != 2)
        return std::nullopt;
    const Node& sum = graph().node(next);
    const ValueId other = sum.inputs[m_qdq.source(sum.inputs[0]) == out ? 1 : 0];
    const auto facts = [&](ValueId id) { return m_qdq.plan().facts().of(id).dims; };
    const auto a = facts(node().inputs[0]), b = facts(node().inputs[1]), c = facts(other);
    if (!a || !b || !c || !makesGemm(*a, *b, *c))
        return std::nullopt;
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
    auto product = bias ? gemmOf(programNode("QGemm", kMicrosoft), rows, right, *bias) : std::nullopt;
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
    if (!a || !oneGrid(*a))
        return std::nullopt;
    auto b = operand(1);
    const Tensor* real = constant(node().inputs[1]);
    if (!b && real && quantizesConstants())
        b = quantizedWeight(*real);
    if (!b || (a->codes.seen == DType::Int8 && b->codes.seen != DType::Int8)
        || (m_result && m_result->seen != a->codes.seen) || (!m_result && m_qdq.meetsQuantizer(m_op)))
        return std::nullopt;
    const int64_t axis = node().attributes.integer("transB", 0) ? 0 : 1;
    const auto& dims = m_qdq.plan().facts().of(node().inputs[1]).dims;
    if (!dims || dims->size() != 2 || !scalesFit(*b, (*dims)[static_cast<size_t>(axis)].value, axis))
        return std::nullopt;
    const bool scaled = node().attributes.real("alpha", 1) != 1 || node().attributes.real("beta", 1) != 1;
    if (node().hasInput(2) && scaled)
        return std::nullopt;
    const auto c = bias(2, *a, *b, false);
    return c ? gemmOf(withAttributes(programNode("QGemm", kMicrosoft), node()), *a, *b, *c) : std::nullopt;
}

std::optional<std::vector<UnitBuilder::Operand>> UnitBuilder::likeOperands(size_t first, size_t count)
{
    std::vector<Operand> list;
    for (size_t i = first; m_result && i < first + count; ++i) {
        auto o = operand(i);
        if (!o || !oneGrid(*o) || o->codes.seen != m_result->seen)
            return std::nullopt;
        // The zero points take part in the rounding, so the codes must be those that the runtime works on.
        if (o->codes.type != o->codes.seen) {
            o->code = m_program.flipSign(o->code);
            o->zero = m_program.flipSign(o->zero);
        }
        list.push_back(std::move(*o));
    }
    return m_result && isByte(m_result->type) ? std::optional(std::move(list)) : std::nullopt;
}

UnitBuilder::MaybeSlot UnitBuilder::elementwise()
{
    const auto o = likeOperands(0, 2);
    if (!o)
        return std::nullopt;
    const Operand &a = (*o)[0], &b = (*o)[1];
    return addSeen(programNode("QLinear" + node().opType, kMicrosoft),
        { a.code, a.scale, a.zero, b.code, b.scale, b.zero, outScale(), outZero() }, 7);
}

UnitBuilder::MaybeSlot UnitBuilder::unary()
{
    const auto o = likeOperands(0, 1);
    if (!o)
        return std::nullopt;
    for (int64_t d : node().attributes.integers("dilations"))
        if (d != 1)
            return std::nullopt;
    Node joined = withAttributes(programNode("QLinear" + node().opType, kMicrosoft), node());
    if (node().opType == "Softmax")
        joined.attributes.set("opset", static_cast<int64_t>(node().opset));
    const Operand& x = (*o)[0];
    return addSeen(std::move(joined), { x.code, x.scale, x.zero, outScale(), outZero() }, 4);
}

UnitBuilder::MaybeSlot UnitBuilder::concatenation()
{
    const auto o = likeOperands(0, node().inputs.size());
    if (!o)
        return std::nullopt;
    std::vector<Slot> inputs { outScale(), outZero() };
    for (const Operand& part : *o)
        inputs.insert(inputs.end(), { part.code, part.scale, part.zero });
    return addSeen(withAttributes(programNode("QLinearConcat", kMicrosoft), node()), std::move(inputs), 1);
}

UnitBuilder::MaybeSlot UnitBuilder::selection()
{
    const auto o = likeOperands(1, 2);
    if (!o || !node().hasInput(0))
        return std::nullopt;
    const Operand &x = (*o)[0], &y = (*o)[1];
    return addSeen(programNode("QLinearWhere", kMicrosoft),
        { value(node().inputs[0]), x.code, x.scale, x.zero, y.code, y.scale, y.zero, outScale(), outZero() }, 8);
}

/// Codes are moved as floats would be; with equal parameters before and after that changes nothing else.
UnitBuilder::MaybeSlot UnitBuilder::movement()
{
    const auto o = operand(0);
    if (!o || !m_result || o->codes.seen != m_result->seen || !m_qdq.sameGrid(o->codes, *m_result)
        || node().outputs.size() != 1 || m_result->nodes.size() != m_result->moves.size() + 1) // a Relu or Clip between
        return std::nullopt;
    std::vector<Slot> inputs { o->code };
    for (size_t i = 1; i < node().inputs.size(); ++i)
        inputs.push_back(value(node().inputs[i]));
    return add(node(), inputs, m_result->type);
}

UnitBuilder::MaybeSlot UnitBuilder::integerOperator()
{
    static constexpr std::array<std::string_view, 5> unaries { "AveragePool", "GlobalAveragePool", "LeakyRelu",
        "Sigmoid", "Softmax" };
    static constexpr std::array<std::string_view, 12> movements { "DepthToSpace", "Expand", "Flatten", "Gather",
        "GatherElements", "MaxPool", "Reshape", "Slice", "Squeeze", "Tile", "Transpose", "Unsqueeze" };
    const std::string& type = node().opType;
    if (!node().domain.empty() || node().outputs.empty())
        return std::nullopt;
    m_result = m_qdq.resultOf(m_op);
    if (type == "Conv")
        return convolution();
    if (type == "MatMul")
        return matrixProduct();
    if (type == "Gemm")
        return gemm();
    if (type == "Add" || type == "Mul")
        return elementwise();
    if (type == "Concat")
        return concatenation();
    if (type == "Where")
        return selection();
    if (among(type, unaries))
        return unary();
    const bool nearest = type == "Resize" && node().attributes.text("mode", "nearest") == "nearest";
    if ((among(type, movements) && (type != "MaxPool" || node().opset >= 12)) || nearest)
        return movement();
    return std::nullopt;
}

FusedUnit UnitBuilder::unit(Slot result, DType output)
{
    FusedUnit unit;
    unit.when = FusedUnit::When::Always;
    unit.node = m_op;
    unit.nodes = m_nodes;
    if (m_result && output != DType::Float32)
        unit.nodes.insert(unit.nodes.end(), m_result->nodes.begin(), m_result->nodes.end());
    std::ranges::sort(unit.nodes);
    const auto repeated = std::ranges::unique(unit.nodes);
    unit.nodes.erase(repeated.begin(), repeated.end());
    unit.inputs = m_program.inputs();
    unit.lowered = std::move(m_program).finish(result);
    return unit;
}

std::vector<FusedUnit> UnitBuilder::build()
{
    std::vector<FusedUnit> units;
    auto slot = integerOperator();
    if (slot && m_result)
        slot = moved(*slot, m_result->moves);
    if (!slot) {
        UnitBuilder fresh(m_qdq, m_options, m_op);
        const auto floats = fresh.quantizedConstants();
        if (floats)
            units.push_back(fresh.unit(*floats, DType::Float32));
        return units;
    }
    const auto result = m_result;
    units.push_back(unit(*slot, result ? result->type : DType::Float32));
    for (NodeId twin : result ? result->twins : std::vector<NodeId> {}) {
        UnitProgram copy(m_options.mode);
        const Slot codes = copy.input(result->codes, result->type, nullptr);
        const auto same = copy.add(programNode("Identity"), { codes }, result->type);
        if (same.ok())
            units.push_back(
                { FusedUnit::When::Always, twin, { twin }, { result->codes }, {}, std::move(copy).finish(*same) });
    }
    return units;
}

} // namespace qs
