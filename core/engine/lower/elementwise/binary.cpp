// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/elementwise/parts.h"
#include "core/graph/domains.h"

#include "core/engine/lower/common/broadcast_operands.h"
#include "core/engine/lower/common/element_types.h"
#include "core/engine/registry/registry.h"
#include "core/kernels/elementwise/binary.h"
#include "core/kernels/elementwise/unary.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

template <class T> Run<T> runOf(const BroadcastOperands& o, size_t k, size_t offset)
{
    return { o.tensors[k].data<T>().data() + offset, o.loop.innerStride(k) };
}

/// Elements of operand k at a place of the run, as W; one element when the operand is repeated.
template <class W>
Run<W> loadRun(const BroadcastOperands& o, size_t k, size_t offset, size_t at, size_t n, std::array<W, kChunk>& buffer)
{
    const Tensor& t = o.tensors[k];
    const size_t stride = o.loop.innerStride(k);
    loadElements(t.dtype(), t.bytes().data(), offset + at * stride, buffer.data(), stride ? n : 1);
    return { buffer.data(), stride };
}

/// Combines all operands from left to right; `divisor` is the operand count for Mean, else 1.
template <class W> void foldConverted(BinaryOp op, const BroadcastOperands& o, double divisor, Tensor& out)
{
    std::array<W, kChunk> sum, left, right;
    forEachRun(o.loop, [&](std::span<const size_t> offsets, size_t outOffset) {
        for (size_t at = 0; at < o.loop.runLength(); at += kChunk) {
            const size_t n = std::min(kChunk, o.loop.runLength() - at);
            Run<W> a = loadRun(o, 0, offsets[0], at, n, left);
            for (size_t k = 1; k < o.tensors.size(); ++k) {
                binaryReference(op, a, loadRun(o, k, offsets[k], at, n, right), sum.data(), n);
                a = { sum.data(), 1 };
            }
            for (size_t i = 0; divisor != 1 && i < n; ++i)
                sum[i] = static_cast<W>(sum[i] / divisor);
            storeElements(out.dtype(), writable(out), outOffset + at, sum.data(), n);
        }
    });
}

void foldFloats(BinaryOp op, const BroadcastOperands& o, float divisor, Tensor& out)
{
    forEachRun(o.loop, [&](std::span<const size_t> offsets, size_t outOffset) {
        float* y = out.fill<float>().data() + outOffset;
        const size_t n = o.loop.runLength();
        Run<float> a = runOf<float>(o, 0, offsets[0]);
        for (size_t k = 1; k < o.tensors.size(); ++k) {
            binaryFast(op, a, runOf<float>(o, k, offsets[k]), y, n);
            a = { y, 1 };
        }
        if (divisor != 1)
            binaryFast(BinaryOp::Div, a, { &divisor, 0 }, y, n);
    });
}

struct BinaryEntry {
    BinaryOp op;
    bool mean = false;
};

BinaryEntry binaryEntry(const Node& node)
{
    static const std::map<std::string_view, BinaryEntry> entries {
        { "Add", { BinaryOp::Add } },
        { "Sub", { BinaryOp::Sub } },
        { "Mul", { BinaryOp::Mul } },
        { "Div", { BinaryOp::Div } },
        { "Pow", { BinaryOp::Pow } },
        { "Max", { BinaryOp::Max } },
        { "Min", { BinaryOp::Min } },
        { "Sum", { BinaryOp::Add } },
        { "Mean", { BinaryOp::Add, true } },
        { "PRelu", { BinaryOp::PRelu } },
        { "And", { BinaryOp::And } },
        { "Or", { BinaryOp::Or } },
        { "Xor", { BinaryOp::Xor } },
        { "BitwiseAnd", { BinaryOp::BitwiseAnd } },
        { "BitwiseOr", { BinaryOp::BitwiseOr } },
        { "BitwiseXor", { BinaryOp::BitwiseXor } },
    };
    if (node.opType == "Mod")
        return { node.attributes.integer("fmod", 0) ? BinaryOp::ModTruncate : BinaryOp::ModFloor };
    if (node.opType == "BitShift")
        return { node.attributes.text("direction", "LEFT") == "RIGHT" ? BinaryOp::ShiftRight : BinaryOp::ShiftLeft };
    return entries.at(node.opType);
}

/// How the second operand's axes meet the first's: opsets before 7 align them at an attribute, PRelu at the channels.
struct Alignment {
    std::optional<int64_t> axis;
    bool channels = false;
};

Alignment alignmentOf(const Node& node)
{
    if (node.opset == 0 || node.opset >= 7)
        return {};
    if (node.opType == "PRelu")
        return { std::nullopt, true };
    const auto* axis = node.attributes.get<int64_t>("axis");
    return { axis && node.attributes.integer("broadcast", 0) ? std::optional(*axis) : std::nullopt, false };
}

/// The second operand with trailing sizes of 1, so that ordinary broadcasting aligns it as asked.
Result<Tensor> aligned(const Alignment& a, const Tensor& first, const Tensor& second)
{
    if (a.channels ? second.rank() != 1 || first.rank() < 2 || second.count() == 1 : !a.axis)
        return second;
    const size_t rank = first.rank();
    const auto axis = a.channels ? std::optional<size_t>(1) : normalizedAxis(*a.axis, rank);
    if (!axis || *axis + second.rank() > rank)
        return badInput("axis " + std::to_string(a.axis.value_or(1)) + " does not fit rank " + std::to_string(rank));
    Shape shape = second.shape();
    shape.resize(rank - *axis, 1);
    return toPlain(second).reshaped(std::move(shape));
}

/// Element type of the result, or an issue when the operands' types do not fit the operator.
Result<DType> resultType(const StepContext& s, BinaryOp op, bool mixed)
{
    const DType type = s.in(0).dtype();
    for (size_t i = 0; i < s.inputCount(); ++i) {
        const DType t = s.input(i) ? s.in(i).dtype() : type;
        if (!isNumeric(t) || (isFloat(t) && !binaryTakesFloats(op)))
            return unsupportedType(t);
        if (t != type && !mixed)
            return badInput("operands are " + std::string(dtypeName(type)) + " and " + std::string(dtypeName(t)), {},
                "insert a Cast");
    }
    return type;
}

Result<Tensor> runFold(const StepContext& s, const BinaryEntry& entry, const Alignment& alignment, KernelMode mode)
{
    const bool mixed = entry.op == BinaryOp::Pow;
    if (mixed && s.inputCount() > 2)
        return badInput("it has " + std::to_string(s.inputCount()) + " operands");
    QS_TRY(const DType type, resultType(s, entry.op, mixed));
    std::vector<const Tensor*> operands;
    for (size_t i = 0; i < s.inputCount(); ++i)
        operands.push_back(&s.in(i));
    Tensor second;
    if (operands.size() == 2 && (alignment.axis || alignment.channels)) {
        QS_TRY(second, aligned(alignment, s.in(0), s.in(1)));
        operands[1] = &second;
    }
    if (operands.size() == 1)
        return *operands[0];
    QS_TRY(const BroadcastOperands o, prepareBroadcast(s, operands));
    Tensor out = s.allocate(type, o.shape, o.layout);
    const double divisor = entry.mean ? static_cast<double>(operands.size()) : 1;
    WorkType work = workTypeOf(type, mode);
    if (mixed)
        work = commonWorkType(work, workTypeOf(s.in(1).dtype(), mode));
    const bool floats = work == WorkType::Float && type == DType::Float32 && s.in(1).dtype() == DType::Float32;
    if (floats)
        foldFloats(entry.op, o, static_cast<float>(divisor), out);
    else
        withWorkType(work, [&](auto w) { foldConverted<decltype(w)>(entry.op, o, divisor, out); });
    return out;
}

std::string kernelName(KernelMode mode) { return mode == KernelMode::Reference ? "reference" : "element-wise"; }

/// What the node is as an element-wise function of two float32 operands; null when it is something else.
std::shared_ptr<const ElementOp> elementOf(const LowerContext& c, const BinaryEntry& entry, const Alignment& alignment)
{
    constexpr BinaryOp kOps[] { BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Max,
        BinaryOp::Min, BinaryOp::PRelu };
    const bool fits = c.mode == KernelMode::Fast && c.inputTypes.size() == 2 && c.inputType(0) == DType::Float32
        && c.inputType(1) == DType::Float32 && !entry.mean && !alignment.axis && !alignment.channels
        && std::ranges::find(kOps, entry.op) != std::end(kOps);
    return fits ? std::make_shared<ElementOp>(ElementOp { true, {}, {}, entry.op }) : nullptr;
}

Result<LoweredNode> lowerFold(const LowerContext& c)
{
    const BinaryEntry entry = binaryEntry(c.node);
    for (DType t : c.inputTypes)
        if (t != DType::Undefined && (!isNumeric(t) || (isFloat(t) && !binaryTakesFloats(entry.op))))
            return unsupportedType(t);
    const Alignment alignment = alignmentOf(c.node);
    const KernelMode mode = c.mode;
    LoweredNode lowered;
    lowered.run = [entry, alignment, mode](StepContext& s) -> Status {
        for (size_t i = 0; i < s.inputCount(); ++i)
            if (!s.input(i))
                return badInput("operand " + std::to_string(i + 1) + " is missing");
        QS_TRY(Tensor out, runFold(s, entry, alignment, mode));
        s.setOutput(0, std::move(out));
        return {};
    };
    lowered.kernel = kernelName(mode);
    lowered.layouts = LayoutRule::Any;
    lowered.element = elementOf(c, entry, alignment);
    return lowered;
}

CompareOp compareOp(std::string_view type)
{
    if (type == "Equal")
        return CompareOp::Equal;
    if (type == "Greater")
        return CompareOp::Greater;
    if (type == "Less")
        return CompareOp::Less;
    return type == "GreaterOrEqual" ? CompareOp::GreaterOrEqual : CompareOp::LessOrEqual;
}

void compareStrings(const BroadcastOperands& o, Tensor& out)
{
    const auto &x = o.tensors[0].stringData(), &y = o.tensors[1].stringData();
    forEachRun(o.loop, [&](std::span<const size_t> offsets, size_t outOffset) {
        for (size_t i = 0; i < o.loop.runLength(); ++i)
            out.fill<uint8_t>()[outOffset + i]
                = x[offsets[0] + i * o.loop.innerStride(0)] == y[offsets[1] + i * o.loop.innerStride(1)];
    });
}

Result<Tensor> runCompare(const StepContext& s, CompareOp op, const Alignment& alignment)
{
    const DType type = s.in(0).dtype();
    const bool strings = type == DType::String && s.in(1).dtype() == DType::String && op == CompareOp::Equal;
    if (!strings && (!isNumeric(type) || !isNumeric(s.in(1).dtype())))
        return unsupportedType(isNumeric(type) ? s.in(1).dtype() : type);
    QS_TRY(const Tensor second, aligned(alignment, s.in(0), s.in(1)));
    const Tensor* operands[] = { &s.in(0), &second };
    QS_TRY(const BroadcastOperands o, prepareBroadcast(s, operands));
    Tensor out = s.allocate(DType::Bool, o.shape, o.layout);
    if (strings) {
        compareStrings(o, out);
        return out;
    }
    const WorkType work
        = commonWorkType(workTypeOf(type, KernelMode::Fast), workTypeOf(second.dtype(), KernelMode::Fast));
    withWorkType(work, [&](auto w) {
        using W = decltype(w);
        std::array<W, kChunk> left, right;
        forEachRun(o.loop, [&](std::span<const size_t> offsets, size_t outOffset) {
            for (size_t at = 0; at < o.loop.runLength(); at += kChunk) {
                const size_t n = std::min(kChunk, o.loop.runLength() - at);
                compareElements(op, loadRun(o, 0, offsets[0], at, n, left), loadRun(o, 1, offsets[1], at, n, right),
                    out.fill<uint8_t>().data() + outOffset + at, n);
            }
        });
    });
    return out;
}

Result<LoweredNode> lowerCompare(const LowerContext& c)
{
    const CompareOp op = compareOp(c.node.opType);
    const Alignment alignment = alignmentOf(c.node);
    LoweredNode lowered;
    lowered.run = [op, alignment](StepContext& s) -> Status {
        QS_TRY(Tensor out, runCompare(s, op, alignment));
        s.setOutput(0, std::move(out));
        return {};
    };
    lowered.kernel = kernelName(c.mode);
    lowered.layouts = LayoutRule::Any;
    return lowered;
}

Result<Tensor> selectStrings(const StepContext& s, const BroadcastOperands& o)
{
    QS_TRY(const Tensor room, allocateTexts(s, o.shape));
    std::vector<std::string> values(static_cast<size_t>(*elementCount(o.shape)));
    forEachRun(o.loop, [&](std::span<const size_t> offsets, size_t outOffset) {
        for (size_t i = 0; i < o.loop.runLength(); ++i) {
            const bool first = o.tensors[0].data<uint8_t>()[offsets[0] + i * o.loop.innerStride(0)];
            const size_t k = first ? 1 : 2;
            values[outOffset + i] = o.tensors[k].stringData()[offsets[k] + i * o.loop.innerStride(k)];
        }
    });
    return Tensor::strings(o.shape, std::move(values));
}

template <class T> void select(const BroadcastOperands& o, Tensor& out)
{
    forEachRun(o.loop, [&](std::span<const size_t> offsets, size_t outOffset) {
        selectElements(runOf<uint8_t>(o, 0, offsets[0]), runOf<T>(o, 1, offsets[1]), runOf<T>(o, 2, offsets[2]),
            out.fill<T>().data() + outOffset, o.loop.runLength());
    });
}

struct Wide {
    uint64_t words[2];
};

Result<Tensor> runWhere(const StepContext& s)
{
    const DType type = s.in(1).dtype();
    if (s.in(0).dtype() != DType::Bool || s.in(2).dtype() != type)
        return badInput("Where needs a bool condition and two operands of one type");
    const Tensor* operands[] = { &s.in(0), &s.in(1), &s.in(2) };
    if (type == DType::String) {
        QS_TRY(const BroadcastOperands o, prepareBroadcast(s, operands));
        return selectStrings(s, o);
    }
    const bool packed = dtypeBits(type) < 8;
    const Tensor x = unpacked(s.in(1)), y = unpacked(s.in(2));
    operands[1] = &x;
    operands[2] = &y;
    QS_TRY(const BroadcastOperands o, prepareBroadcast(s, operands));
    Tensor out = s.allocate(x.dtype(), o.shape, o.layout);
    switch (dtypeBits(x.dtype())) {
    case 8:
        select<uint8_t>(o, out);
        break;
    case 16:
        select<uint16_t>(o, out);
        break;
    case 32:
        select<uint32_t>(o, out);
        break;
    case 64:
        select<uint64_t>(o, out);
        break;
    default:
        select<Wide>(o, out);
    }
    return packed ? packedAs(toPlain(out), type) : out;
}

Result<LoweredNode> lowerWhere(const LowerContext& c)
{
    LoweredNode lowered;
    lowered.run = [](StepContext& s) -> Status {
        QS_TRY(Tensor out, runWhere(s));
        s.setOutput(0, std::move(out));
        return {};
    };
    lowered.kernel = kernelName(c.mode);
    lowered.layouts = LayoutRule::Any;
    return lowered;
}

/// com.microsoft BiasGelu and FastGelu: a Gelu of the sum of input and (optional) bias.
Result<LoweredNode> lowerBiasGelu(const LowerContext& c)
{
    if (c.inputType(0) != DType::Undefined && !isFloat(c.inputType(0)))
        return unsupportedType(c.inputType(0));
    const UnaryOp op = c.node.opType == "FastGelu" ? UnaryOp::GeluTanh : UnaryOp::Gelu;
    const KernelMode mode = c.mode;
    LoweredNode lowered;
    lowered.run = [op, mode](StepContext& s) -> Status {
        QS_TRY(const DType type, resultType(s, BinaryOp::Add, false));
        std::vector<const Tensor*> operands { &s.in(0) };
        if (s.input(1))
            operands.push_back(&s.in(1));
        QS_TRY(const BroadcastOperands o, prepareBroadcast(s, operands));
        Tensor sum = s.in(0);
        if (operands.size() == 2) {
            sum = s.allocate(type, o.shape, o.layout);
            withWorkType(workTypeOf(type, mode), [&](auto w) { foldConverted<decltype(w)>(BinaryOp::Add, o, 1, sum); });
        }
        Tensor out = s.allocate(type, sum.shape(), sum.layout());
        withWorkType(workTypeOf(type, mode), [&](auto work) {
            using W = decltype(work);
            mapChunks<W>(sum, out, [&](const W* in, W* y, size_t n) { unaryReference(op, {}, in, y, n); });
        });
        s.setOutput(0, std::move(out));
        return {};
    };
    lowered.kernel = kernelName(mode);
    lowered.layouts = LayoutRule::Any;
    return lowered;
}

} // namespace

void lowerElementwiseBinary(LoweringRegistry& r)
{
    for (const char* type : { "Add", "Sub", "Mul", "Div", "Pow", "Mod", "Max", "Min", "Sum", "Mean", "PRelu", "And",
             "Or", "Xor", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor" })
        r.add("", type, lowerFold);
    for (const char* type : { "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual" })
        r.add("", type, lowerCompare);
    r.add("", "Where", lowerWhere);
    r.add(kMicrosoftDomain, "BiasGelu", lowerBiasGelu);
    r.add(kMicrosoftDomain, "FastGelu", lowerBiasGelu);
}

} // namespace qs
