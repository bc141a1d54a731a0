// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"

#include "core/base/rounding.h"
#include "core/engine/lower/common/broadcast_operands.h"
#include "core/engine/lower/common/element_types.h"
#include "core/engine/lower/quant/qlinear_parts.h"
#include "core/engine/registry/registry.h"
#include "core/kernels/quantize/quantize.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

/// Scales and zero points of one Q/DQ node, one to one.
struct QuantVectors {
    std::vector<float> scale;
    std::vector<int32_t> zeroPoint;
    Shape shape; ///< of the scale
};

using QuantVectorsPtr = std::shared_ptr<const QuantVectors>;

Result<QuantVectorsPtr> quantVectors(const Tensor& scale, const Tensor* zeroPoint)
{
    if (!isFloat(scale.dtype()) && scale.dtype() != DType::Int32)
        return badInput("the scale has element type " + std::string(dtypeName(scale.dtype())));
    auto v = std::make_shared<QuantVectors>();
    v->scale = toFloats(scale);
    v->shape = scale.shape();
    v->zeroPoint.assign(v->scale.size(), 0);
    if (!zeroPoint)
        return QuantVectorsPtr(std::move(v));
    const bool typed = isInteger(zeroPoint->dtype()) || isFloat(zeroPoint->dtype());
    if (!typed || (zeroPoint->count() != scale.count() && zeroPoint->count() != 1))
        return badInput("the zero point has " + std::to_string(zeroPoint->count()) + " elements, the scale "
            + std::to_string(scale.count()));
    if (isFloat(zeroPoint->dtype()))
        return QuantVectorsPtr(std::move(v)); // float8 and float4 grids have no zero point but 0
    const std::vector<int64_t> z = toInts(*zeroPoint);
    for (size_t i = 0; i < v->zeroPoint.size(); ++i)
        v->zeroPoint[i] = static_cast<int32_t>(z.size() == 1 ? z[0] : z[i]);
    return QuantVectorsPtr(std::move(v));
}

/// A tensor in memory order as outer x axis x inner, with the place of each element's scale.
struct AxisView {
    size_t outer = 1, axis = 1, inner = 1;
    size_t block = 1; ///< neighbours along the axis that share a scale
    bool perTensor = false, blocked = false;
};

Result<AxisView> axisView(const Tensor& x, const QuantVectors& v, int64_t axisAttribute, int64_t blockSize)
{
    AxisView view;
    if (v.scale.size() == 1 && (blockSize == 0 || v.shape.size() != x.rank())) {
        view.perTensor = true;
        view.inner = static_cast<size_t>(x.count());
        return view;
    }
    const auto axis = normalizedAxis(axisAttribute, x.rank());
    if (!axis)
        return badInput("axis " + std::to_string(axisAttribute) + " does not fit the shape " + shapeText(x.shape()));
    if (blockSize > 0) {
        Shape expected = x.shape();
        expected[*axis] = (expected[*axis] + blockSize - 1) / blockSize;
        if (v.shape != expected)
            return badInput("the scale has shape " + shapeText(v.shape) + ", blocks of " + std::to_string(blockSize)
                + " need " + shapeText(expected));
    } else if (v.shape.size() != 1 || v.shape[0] != x.dim(*axis)) {
        return badInput("the scale has shape " + shapeText(v.shape) + ", axis " + std::to_string(*axis) + " of "
            + shapeText(x.shape()) + " needs one scale for each of its " + std::to_string(x.dim(*axis)));
    }
    const Shape shape = memoryShape(x.shape(), x.layout());
    const size_t at = memoryAxis(*axis, x.rank(), x.layout());
    for (size_t i = 0; i < shape.size(); ++i)
        (i < at ? view.outer : i == at ? view.axis : view.inner) *= static_cast<size_t>(shape[i]);
    view.blocked = blockSize > 0;
    view.block = blockSize > 0 ? static_cast<size_t>(blockSize) : 1;
    return view;
}

/// Calls fn(first element, count, QuantRun) for runs that the kernels can take, in memory order.
template <class Fn> void forEachQuantRun(const AxisView& view, const QuantVectors& v, Fn fn)
{
    const auto run = [&](size_t index, size_t stride) {
        return QuantRun { v.scale.data() + index, v.zeroPoint.data() + index, stride };
    };
    if (view.perTensor)
        return fn(0, view.inner, run(0, 0));
    const size_t blocks = (view.axis + view.block - 1) / view.block;
    for (size_t o = 0; o < view.outer; ++o) {
        if (!view.blocked && view.inner == 1) {
            fn(o * view.axis, view.axis, run(0, 1));
            continue;
        }
        for (size_t a = 0; a < view.axis; ++a) {
            const size_t first = (o * view.axis + a) * view.inner;
            const size_t scaleAt = view.blocked ? (o * blocks + a / view.block) * view.inner : a;
            fn(first, view.inner, run(scaleAt, view.blocked ? 1 : 0));
        }
    }
}

struct QuantAttributes {
    int64_t axis = 1, blockSize = 0;
    DType outputType = DType::Undefined;
    DType precision = DType::Undefined;
    Overflow overflow = Overflow::Saturate;
    bool reference = false;
    bool wideQuotients = false;
};

QuantAttributes quantAttributes(const LowerContext& c)
{
    const Attributes& a = c.node.attributes;
    QuantAttributes q;
    q.axis = a.integer("axis", 1);
    q.blockSize = a.integer("block_size", 0);
    q.outputType = static_cast<DType>(a.integer("output_dtype", 0));
    q.precision = static_cast<DType>(a.integer("precision", 0));
    q.overflow = a.integer("saturate", 1) ? Overflow::Saturate : Overflow::ToSpecial;
    q.reference = c.mode == KernelMode::Reference;
    q.wideQuotients = c.wideQuotients;
    return q;
}

QuotientPrecision quotientPrecision(const QuantAttributes& q, DType x, DType scale)
{
    if (q.precision == DType::Float32 || (q.wideQuotients && x == DType::Float16))
        return QuotientPrecision::Single;
    if (q.precision == DType::Float16 || (q.precision == DType::Undefined && x == scale && x == DType::Float16))
        return QuotientPrecision::Half;
    if (q.precision == DType::BFloat16 || (q.precision == DType::Undefined && x == scale && x == DType::BFloat16))
        return QuotientPrecision::BFloat16;
    const bool wide = x == DType::Float64 || x == DType::Int32 || q.precision == DType::Float64;
    return wide ? QuotientPrecision::Double : QuotientPrecision::Single;
}

template <class T> void quantizeAll(const Tensor& x, Tensor& y, const AxisView& view, const QuantVectors& v)
{
    forEachQuantRun(view, v, [&](size_t first, size_t n, QuantRun run) {
        quantizeFast(x.data<float>().data() + first, run, y.fill<T>().data() + first, n);
    });
}

/// True when a fast kernel took it.
bool quantizeFastAs(const Tensor& x, Tensor& y, const AxisView& view, const QuantVectors& v)
{
    switch (y.dtype()) {
    case DType::UInt8:
        quantizeAll<uint8_t>(x, y, view, v);
        return true;
    case DType::Int8:
        quantizeAll<int8_t>(x, y, view, v);
        return true;
    case DType::UInt16:
        quantizeAll<uint16_t>(x, y, view, v);
        return true;
    case DType::Int16:
        quantizeAll<int16_t>(x, y, view, v);
        return true;
    default:
        return false;
    }
}

/// Part of a run that starts `at` elements further on.
QuantRun advanced(QuantRun run, size_t at)
{
    return { run.scale + at * run.stride, run.zeroPoint + at * run.stride, run.stride };
}

void quantizeAny(
    const Tensor& x, Tensor& y, const AxisView& view, const QuantVectors& v, QuotientPrecision p, Overflow overflow)
{
    std::array<double, kChunk> in, quotient;
    std::array<int64_t, kChunk> codes;
    const auto range = codeRange(y.dtype());
    forEachQuantRun(view, v, [&](size_t first, size_t count, QuantRun run) {
        for (size_t at = 0; at < count; at += kChunk) {
            const size_t n = std::min(kChunk, count - at);
            loadElements(x.dtype(), x.bytes().data(), first + at, in.data(), n);
            quotients(in.data(), advanced(run, at), p, quotient.data(), n);
            if (range) {
                quantizeReference(quotient.data(), advanced(run, at), range->low, range->high, codes.data(), n);
                storeElements(y.dtype(), writable(y), first + at, codes.data(), n);
            } else {
                storeElements(y.dtype(), writable(y), first + at, quotient.data(), n, overflow);
            }
        }
    });
}

Result<DType> codeType(const StepContext& s, const QuantAttributes& q)
{
    DType type = q.outputType == DType::Undefined ? DType::UInt8 : q.outputType;
    if (s.input(2))
        type = s.in(2).dtype();
    const bool smallFloat = isFloat(type) && dtypeBits(type) <= 8;
    if (!smallFloat && (!isInteger(type) || dtypeBits(type) > 16))
        return unsupportedType(type);
    return type;
}

Result<Tensor> quantize(const StepContext& s, const QuantAttributes& q, const QuantVectors& v)
{
    QS_TRY(const DType type, codeType(s, q));
    if (!isFloat(s.in(0).dtype()) && s.in(0).dtype() != DType::Int32)
        return unsupportedType(s.in(0).dtype());
    const bool plain = dtypeBits(type) < 8 || q.blockSize > 0;
    const Tensor x = plain ? inLayout(s, s.in(0), Layout::Plain) : s.in(0);
    QS_TRY(const AxisView view, axisView(x, v, q.axis, q.blockSize));
    Tensor y = s.allocate(type, x.shape(), x.layout());
    const QuotientPrecision precision = quotientPrecision(q, x.dtype(), s.in(1).dtype());
    const bool fast = !q.reference && x.dtype() == DType::Float32 && precision == QuotientPrecision::Single;
    if (!fast || !quantizeFastAs(x, y, view, v))
        quantizeAny(x, y, view, v, precision, q.overflow);
    return y;
}

template <class T> bool dequantizeAll(const Tensor& x, Tensor& y, const AxisView& view, const QuantVectors& v)
{
    forEachQuantRun(view, v, [&](size_t first, size_t n, QuantRun run) {
        dequantizeFast(x.data<T>().data() + first, run, y.fill<float>().data() + first, n);
    });
    return true;
}

bool dequantizeFastAs(const Tensor& x, Tensor& y, const AxisView& view, const QuantVectors& v)
{
    switch (x.dtype()) {
    case DType::UInt8:
        return dequantizeAll<uint8_t>(x, y, view, v);
    case DType::Int8:
        return dequantizeAll<int8_t>(x, y, view, v);
    case DType::UInt16:
        return dequantizeAll<uint16_t>(x, y, view, v);
    case DType::Int16:
        return dequantizeAll<int16_t>(x, y, view, v);
    case DType::Int32:
        return dequantizeAll<int32_t>(x, y, view, v);
    default:
        return false;
    }
}

void dequantizeAny(const Tensor& x, Tensor& y, const AxisView& view, const QuantVectors& v)
{
    std::array<double, kChunk> codes;
    std::array<float, kChunk> reals;
    forEachQuantRun(view, v, [&](size_t first, size_t count, QuantRun run) {
        for (size_t at = 0; at < count; at += kChunk) {
            const size_t n = std::min(kChunk, count - at);
            loadElements(x.dtype(), x.bytes().data(), first + at, codes.data(), n);
            dequantizeReference(codes.data(), advanced(run, at), reals.data(), n);
            storeElements(y.dtype(), writable(y), first + at, reals.data(), n);
        }
    });
}

Result<Tensor> dequantize(const StepContext& s, const QuantAttributes& q, const QuantVectors& v)
{
    const DType type = q.outputType == DType::Undefined ? s.in(1).dtype() : q.outputType;
    if (!isNumeric(s.in(0).dtype()) || !isFloat(type))
        return unsupportedType(isFloat(type) ? s.in(0).dtype() : type);
    const Tensor x = q.blockSize > 0 ? inLayout(s, s.in(0), Layout::Plain) : s.in(0);
    QS_TRY(const AxisView view, axisView(x, v, q.axis, q.blockSize));
    Tensor y = s.allocate(type, x.shape(), x.layout());
    if (q.reference || type != DType::Float32 || !dequantizeFastAs(x, y, view, v))
        dequantizeAny(x, y, view, v);
    return y;
}

/// Both directions: scales and zero points are unpacked once when they are constant.
template <Result<Tensor> (*Compute)(const StepContext&, const QuantAttributes&, const QuantVectors&)>
Result<LoweredNode> lowerLinear(const LowerContext& c)
{
    const QuantAttributes q = quantAttributes(c);
    const bool hasZeroPoint = c.node.hasInput(2);
    QuantVectorsPtr packed;
    if (c.constant(1) && (!hasZeroPoint || c.constant(2))) {
        QS_TRY(packed, quantVectors(*c.constant(1), c.constant(2)));
    }
    LoweredNode lowered;
    lowered.run = [q, packed](StepContext& s) -> Status {
        QuantVectorsPtr v = packed;
        if (!v) {
            QS_TRY(v, quantVectors(s.in(1), s.input(2)));
        }
        QS_TRY(Tensor y, Compute(s, q, *v));
        s.setOutput(0, std::move(y));
        return {};
    };
    lowered.kernel = q.reference ? "reference" : "highway quantize";
    lowered.layouts = LayoutRule::Any;
    return lowered;
}

Result<LoweredNode> lowerDynamicQuantize(const LowerContext& c)
{
    const bool reference = c.mode == KernelMode::Reference;
    LoweredNode lowered;
    lowered.run = [reference](StepContext& s) -> Status {
        const Tensor& x = s.in(0);
        if (x.dtype() != DType::Float32)
            return unsupportedType(x.dtype());
        const auto [scale, zero] = dynamicScale(rangeWithZero(x.data<float>().data(), static_cast<size_t>(x.count())));
        const QuantVectors v { { scale }, { zero }, {} };
        AxisView view;
        view.perTensor = true;
        view.inner = static_cast<size_t>(x.count());
        Tensor y = s.allocate(DType::UInt8, x.shape(), x.layout());
        if (reference)
            quantizeAny(x, y, view, v, QuotientPrecision::Single, Overflow::Saturate);
        else
            quantizeFastAs(x, y, view, v);
        s.setOutput(0, std::move(y));
        s.setOutput(1, Tensor::scalar(scale));
        s.setOutput(2, Tensor::scalar(zero));
        return {};
    };
    lowered.kernel = reference ? "reference" : "highway quantize";
    lowered.layouts = LayoutRule::Any;
    return lowered;
}

} // namespace

void lowerQuant(LoweringRegistry& r)
{
    for (const char* domain : { "", kMicrosoftDomain }) {
        r.add(domain, "QuantizeLinear", lowerLinear<quantize>);
        r.add(domain, "DequantizeLinear", lowerLinear<dequantize>);
    }
    r.add("", "DynamicQuantizeLinear", lowerDynamicQuantize);
    lowerQLinearElementwise(r);
    lowerQLinearReductions(r);
}

} // namespace qs
