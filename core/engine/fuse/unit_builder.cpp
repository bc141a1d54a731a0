// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/fuse/unit_builder.h"

#include "core/engine/lower/common/codes.h"
#include "core/graph/domains.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

template <size_t n> bool among(const std::string& type, const std::array<std::string_view, n>& types)
{
    return std::ranges::find(types, type) != types.end();
}

} // namespace

UnitBuilder::UnitBuilder(const QdqGraph& qdq, const PlanOptions& options, NodeId op)
    : m_qdq(qdq)
    , m_options(options)
    , m_op(op)
    , m_program(options)
    , m_nodes { op }
{
}

UnitBuilder::Slot UnitBuilder::value(ValueId id)
{
    const std::vector<ValueId> madeFrom = m_qdq.madeFrom(id);
    for (const ValueId from : madeFrom) // so that the unit's key says what the constant is
        value(from);
    if (!madeFrom.empty())
        return m_program.constant(*constant(id));
    return id.valid() ? m_program.input(id, m_qdq.lowered().facts().of(id).dtype, constant(id)) : Slot {};
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
    return codes && isCode(codes->type) ? operandOf(std::move(*codes)) : std::nullopt;
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

const Tensor* UnitBuilder::knownSizes(ValueId id) const
{
    const auto& known = m_qdq.lowered().facts().of(id).value;
    return known ? &*known : nullptr;
}

/// Applies movements to codes as they are applied to floats in the file.
UnitBuilder::MaybeSlot UnitBuilder::moved(Slot codes, const std::vector<NodeId>& moves)
{
    MaybeSlot at = codes;
    for (NodeId id : moves) {
        const Node& move = graph().node(id);
        std::vector<Slot> inputs { *at };
        for (size_t i = 1; i < move.inputs.size(); ++i) {
            const ValueId in = move.inputs[i];
            const Tensor* sizes = in.valid() && !constant(in) ? knownSizes(in) : nullptr;
            inputs.push_back(sizes ? m_program.constant(*sizes) : value(in));
        }
        at = add(move, inputs, m_qdq.lowered().facts().of(move.outputs[0]).dtype);
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
    return m_result && isCode(m_result->type) ? std::optional(std::move(list)) : std::nullopt;
}

UnitBuilder::MaybeSlot UnitBuilder::elementwise()
{
    const auto o = likeOperands(0, 2);
    if (!o)
        return std::nullopt;
    const Operand &a = (*o)[0], &b = (*o)[1];
    return addSeen(programNode("QLinear" + node().opType, kMicrosoftDomain),
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
    Node joined = programNode("QLinear" + node().opType, kMicrosoftDomain, node().attributes);
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
    return addSeen(programNode("QLinearConcat", kMicrosoftDomain, node().attributes), std::move(inputs), 1);
}

/// Where with codes on one side and a constant number on the other.
std::optional<std::vector<UnitBuilder::Operand>> UnitBuilder::codesAndNumber()
{
    for (size_t number : { 1, 2 }) {
        const Tensor* real = node().hasInput(number) ? constant(node().inputs[number]) : nullptr;
        if (!real || real->dtype() != DType::Float32 || real->rank() != 0 || m_qdq.codesOf(node().inputs[number]))
            continue;
        auto codes = likeOperands(3 - number, 1);
        if (!codes || codes->front().codes.type != DType::UInt8)
            return std::nullopt;
        codes->insert(codes->begin() + (number == 1 ? 0 : 1), quantizedNumber(toFloats(*real)[0]));
        return codes;
    }
    return std::nullopt;
}

UnitBuilder::MaybeSlot UnitBuilder::selection()
{
    auto o = likeOperands(1, 2);
    if (!o)
        o = codesAndNumber();
    if (!o || !node().hasInput(0))
        return std::nullopt;
    const Operand &x = (*o)[0], &y = (*o)[1];
    return addSeen(programNode("QLinearWhere", kMicrosoftDomain),
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

/// The first QuantizeLinear and every DequantizeLinear have the parameters of the one pair, what quantizes again hands
/// the codes on.
UnitBuilder::MaybeSlot UnitBuilder::mergedNode()
{
    const DType made = m_qdq.lowered().facts().of(node().outputs[0]).dtype;
    if (const ValueId codes = m_qdq.repeatedCodes(m_op); codes.valid() && isQuantizeLinear(node()))
        return add(programNode("Identity"), { value(codes) }, made);
    if (!m_qdq.regrids(m_op))
        return std::nullopt;
    const PairParameters grid = m_qdq.parameters(m_op);
    return add(programNode(node().opType), { value(node().inputs[0]), value(grid.scale), value(grid.zeroPoint) }, made);
}

UnitBuilder::MaybeSlot UnitBuilder::integerOperator()
{
    static constexpr std::array<std::string_view, 5> unaries { "AveragePool", "GlobalAveragePool", "LeakyRelu",
        "Sigmoid", "Softmax" };
    static constexpr std::array<std::string_view, 12> movements { "DepthToSpace", "Expand", "Flatten", "Gather",
        "GatherElements", "MaxPool", "Reshape", "Slice", "Squeeze", "Tile", "Transpose", "Unsqueeze" };
    const std::string& type = node().opType;
    if (!node().domain.empty() || !node().hasInput(0) || !node().hasOutput(0))
        return std::nullopt;
    if (m_qdq.isMerged(m_op))
        return mergedNode();
    m_result = m_qdq.resultOf(m_op);
    if (type == "Conv")
        return convolution();
    if (auto product = blockProduct()) {
        m_result.reset(); // it gives floats, which a QuantizeLinear of 16 bits may still make codes of
        return product;
    }
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
    unit.nodes.erase(std::unique(unit.nodes.begin(), unit.nodes.end()), unit.nodes.end());
    unit.inputs = m_program.inputs();
    const bool otherGrid = m_qdq.regrids(m_result ? m_result->quantize : m_op);
    auto finished = std::move(m_program).finish(result, otherGrid, m_qdq.isMerged(m_op));
    unit.lowered = std::move(finished.lowered);
    unit.steps = std::move(finished.steps);
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
        UnitProgram copy(m_options);
        const Slot codes = copy.input(result->codes, result->type, nullptr);
        const auto same = copy.add(programNode("Identity"), { codes }, result->type);
        if (!same.ok())
            continue;
        auto finished = std::move(copy).finish(*same);
        units.push_back({ FusedUnit::When::Always, twin, { twin }, { result->codes }, {}, std::move(finished.lowered),
            std::move(finished.steps) });
    }
    return units;
}

} // namespace qs
