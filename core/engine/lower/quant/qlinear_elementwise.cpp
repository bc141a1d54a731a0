// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/quant/qlinear_parts.h"
#include "core/graph/domains.h"

#include "core/base/rounding.h"
#include "core/engine/lower/common/broadcast_operands.h"
#include "core/engine/lower/common/element_types.h"
#include "core/engine/registry/registry.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace qs {

Result<Grid> readGrid(const StepContext& s, size_t scaleSlot, size_t zeroPointSlot)
{
    const Tensor* scale = s.input(scaleSlot);
    const Tensor* zeroPoint = s.input(zeroPointSlot);
    if (!scale || scale->count() != 1 || scale->dtype() != DType::Float32)
        return badInput("input " + std::to_string(scaleSlot) + " must be one float32 scale");
    if (zeroPoint && (zeroPoint->count() != 1 || dtypeBits(zeroPoint->dtype()) != 8))
        return badInput("input " + std::to_string(zeroPointSlot) + " must be one 8-bit zero point");
    return Grid { scale->data<float>()[0], zeroPoint ? static_cast<int32_t>(elementAsInt(*zeroPoint, 0)) : 0 };
}

Status checkCodes(const StepContext& s, size_t slot)
{
    const Tensor* t = s.input(slot);
    if (!t || (t->dtype() != DType::UInt8 && t->dtype() != DType::Int8))
        return badInput("input " + std::to_string(slot) + " must hold uint8 or int8 codes");
    return {};
}

UnroundedOutput::UnroundedOutput(const StepContext& s, const Tensor& like)
{
    if (s.wantsUnrounded())
        tensor = s.allocate(DType::Float32, like.shape(), like.layout());
}

LoweredNode qlinearNode(StepFn run, const LowerContext& c)
{
    LoweredNode lowered;
    lowered.run = std::move(run);
    lowered.kernel = c.mode == KernelMode::Reference ? "reference" : "8-bit codes";
    lowered.layouts = LayoutRule::Any;
    lowered.offersUnrounded = true;
    return lowered;
}

namespace {

template <class T> Status runBinary(StepContext& s, QLinearBinary p, bool reference)
{
    QS_TRY(p.a, readGrid(s, 1, 2));
    QS_TRY(p.b, readGrid(s, 4, 5));
    QS_TRY(p.out, readGrid(s, 6, 7));
    if (s.in(3).dtype() != s.in(0).dtype())
        return badInput("both operands must hold codes of one type");
    const Tensor* operands[] = { &s.in(0), &s.in(3) };
    QS_TRY(const BroadcastOperands o, prepareBroadcast(s, operands));
    Tensor y = s.allocate(s.in(0).dtype(), o.shape, o.layout);
    UnroundedOutput real(s, y);
    forEachRun(o.loop, [&](std::span<const size_t> at, size_t outAt) {
        const Run<T> a { o.tensors[0].data<T>().data() + at[0], o.loop.innerStride(0) };
        const Run<T> b { o.tensors[1].data<T>().data() + at[1], o.loop.innerStride(1) };
        T* out = y.fill<T>().data() + outAt;
        if (reference || real.data())
            qlinearReference(p, a, b, out, real.data() ? real.data() + outAt : nullptr, o.loop.runLength());
        else
            qlinearFast(p, a, b, out, o.loop.runLength());
    });
    real.hand(s);
    s.setOutput(0, std::move(y));
    return {};
}

Result<LoweredNode> lowerBinary(const LowerContext& c)
{
    QLinearBinary p;
    p.op = c.node.opType == "QLinearMul" ? BinaryOp::Mul : BinaryOp::Add;
    const bool reference = c.mode == KernelMode::Reference;
    return qlinearNode(
        [p, reference](StepContext& s) -> Status {
            QS_CHECK(checkCodes(s, 3));
            return withCodeType(s, 0, [&](auto code) { return runBinary<decltype(code)>(s, p, reference); });
        },
        c);
}

void applyTable(const CodeTable& table, const Tensor& x, Tensor& y, float* real)
{
    lookUp(table, x.data<uint8_t>().data(), y.fill<uint8_t>().data(), real, static_cast<size_t>(x.count()));
}

/// QLinearSigmoid and QLinearLeakyRelu.
Result<LoweredNode> lowerFunction(const LowerContext& c)
{
    const bool leaky = c.node.opType == "QLinearLeakyRelu";
    const float alpha = c.node.attributes.real("alpha", 0.01f);
    const auto function = [leaky, alpha](float v) {
        if (leaky)
            return v >= 0 ? v : alpha * v;
        return static_cast<float>(1 / (1 + std::exp(-double(v))));
    };
    return qlinearNode(
        [function](StepContext& s) -> Status {
            QS_TRY(const Grid in, readGrid(s, 1, 2));
            QS_TRY(const Grid out, readGrid(s, 3, 4));
            Tensor y;
            QS_CHECK(withCodeType(s, 0, [&](auto code) -> Status {
                y = s.allocate(s.in(0).dtype(), s.in(0).shape(), s.in(0).layout());
                UnroundedOutput real(s, y);
                applyTable(makeCodeTable<decltype(code)>(in, out, function), s.in(0), y, real.data());
                real.hand(s);
                return {};
            }));
            s.setOutput(0, std::move(y));
            return {};
        },
        c);
}

/// Codes of input `slot` moved to another grid, with their real values when they are asked for.
struct Moved {
    Tensor codes, reals;
};

Result<Moved> requantized(const StepContext& s, size_t slot, Grid in, Grid out)
{
    Moved moved;
    QS_CHECK(withCodeType(s, slot, [&](auto code) -> Status {
        const Tensor& x = s.in(slot);
        moved.codes = s.allocate(x.dtype(), x.shape(), x.layout());
        UnroundedOutput real(s, x);
        applyTable(makeRequantizeTable<decltype(code)>(in, out), x, moved.codes, real.data());
        moved.reals = std::move(real.tensor);
        return {};
    }));
    return moved;
}

template <class T> Tensor selected(const StepContext& s, const BroadcastOperands& o)
{
    Tensor y = s.allocate(o.tensors[1].dtype(), o.shape, o.layout);
    const auto run = [&](size_t k, size_t at) {
        return Run<T> { o.tensors[k].data<T>().data() + at, o.loop.innerStride(k) };
    };
    forEachRun(o.loop, [&](std::span<const size_t> at, size_t outAt) {
        const Run<uint8_t> condition { o.tensors[0].data<uint8_t>().data() + at[0], o.loop.innerStride(0) };
        selectElements(condition, run(1, at[1]), run(2, at[2]), y.fill<T>().data() + outAt, o.loop.runLength());
    });
    return y;
}

Status runWhere(StepContext& s)
{
    QS_TRY(const Grid x, readGrid(s, 2, 3));
    QS_TRY(const Grid y, readGrid(s, 5, 6));
    QS_TRY(const Grid z, readGrid(s, 7, 8));
    if (s.in(0).dtype() != DType::Bool)
        return badInput("the condition must be bool");
    QS_TRY(const Moved first, requantized(s, 1, x, z));
    QS_TRY(const Moved second, requantized(s, 4, y, z));
    const Tensor* codes[] = { &s.in(0), &first.codes, &second.codes };
    QS_TRY(const BroadcastOperands o, prepareBroadcast(s, codes));
    s.setOutput(0, selected<uint8_t>(s, o));
    if (s.wantsUnrounded()) {
        const Tensor* reals[] = { &s.in(0), &first.reals, &second.reals };
        QS_TRY(const BroadcastOperands r, prepareBroadcast(s, reals));
        s.setUnrounded(selected<float>(s, r));
    }
    return {};
}

Result<LoweredNode> lowerWhere(const LowerContext& c) { return qlinearNode(runWhere, c); }

/// Parts of one element type and layout behind each other along a logical axis.
Tensor concatenated(const StepContext& s, const std::vector<Tensor>& parts, size_t axis, Shape shape, Layout layout)
{
    Tensor y = s.allocate(parts[0].dtype(), shape, layout);
    const size_t bytes = dtypeBits(y.dtype()) / 8;
    const size_t at = memoryAxis(axis, shape.size(), layout);
    const auto tail = [&](const Shape& logical) { // bytes of one piece: everything from the axis on
        const Shape m = memoryShape(logical, layout);
        size_t n = bytes;
        for (size_t i = at; i < m.size(); ++i)
            n *= static_cast<size_t>(m[i]);
        return n;
    };
    const size_t row = tail(shape);
    size_t offset = 0;
    for (const Tensor& part : parts) {
        const size_t piece = tail(part.shape());
        for (size_t i = 0; piece != 0 && i * piece < part.byteCount(); ++i)
            std::memcpy(writable(y) + i * row + offset, part.bytes().data() + i * piece, piece);
        offset += piece;
    }
    return y;
}

Status runConcat(StepContext& s, int64_t axisAttribute)
{
    QS_TRY(const Grid out, readGrid(s, 0, 1));
    std::vector<Tensor> codes, reals;
    Shape shape;
    std::optional<size_t> axis;
    Layout layout = s.input(2) ? s.in(2).layout() : Layout::Plain;
    for (size_t slot = 2; slot < s.inputCount(); slot += 3)
        if (s.input(slot) && s.in(slot).layout() != layout)
            layout = Layout::Plain;
    for (size_t slot = 2; slot < s.inputCount(); slot += 3) {
        QS_TRY(const Grid in, readGrid(s, slot + 1, slot + 2));
        QS_TRY(Moved moved, requantized(s, slot, in, out));
        const Shape& own = moved.codes.shape();
        if (codes.empty()) {
            shape = own;
            axis = normalizedAxis(axisAttribute, own.size());
        } else if (axis && own.size() == shape.size()) {
            shape[*axis] += own[*axis];
        }
        Shape rest = own;
        if (axis && own.size() == shape.size())
            rest[*axis] = shape[*axis];
        if (!axis || rest != shape || moved.codes.dtype() != s.in(2).dtype())
            return badInput("the parts do not fit together along axis " + std::to_string(axisAttribute));
        codes.push_back(inLayout(s, moved.codes, layout));
        if (moved.reals.valid())
            reals.push_back(inLayout(s, moved.reals, layout));
    }
    if (codes.empty())
        return badInput("there is nothing to concatenate");
    s.setOutput(0, concatenated(s, codes, *axis, shape, layout));
    if (s.wantsUnrounded())
        s.setUnrounded(concatenated(s, reals, *axis, shape, layout));
    return {};
}

Result<LoweredNode> lowerConcat(const LowerContext& c)
{
    const int64_t axis = c.node.attributes.integer("axis", 0);
    return qlinearNode([axis](StepContext& s) { return runConcat(s, axis); }, c);
}

} // namespace

void lowerQLinearElementwise(LoweringRegistry& r)
{
    r.add(kMicrosoftDomain, "QLinearAdd", lowerBinary);
    r.add(kMicrosoftDomain, "QLinearMul", lowerBinary);
    r.add(kMicrosoftDomain, "QLinearSigmoid", lowerFunction);
    r.add(kMicrosoftDomain, "QLinearLeakyRelu", lowerFunction);
    r.add(kMicrosoftDomain, "QLinearWhere", lowerWhere);
    r.add(kMicrosoftDomain, "QLinearConcat", lowerConcat);
}

} // namespace qs
