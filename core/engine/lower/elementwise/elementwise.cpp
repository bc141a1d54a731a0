// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/elementwise/parts.h"
#include "core/graph/domains.h"

#include "core/engine/lower/common/element_types.h"
#include "core/engine/registry/registry.h"
#include "core/kernels/elementwise/unary.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

using ParamsFn = void (*)(const Node& node, UnaryParams& p);

struct UnaryEntry {
    UnaryOp op;
    ParamsFn params = nullptr;
};

template <int AlphaMillionths> void alpha(const Node& node, UnaryParams& p)
{
    p.a = node.attributes.real("alpha", static_cast<float>(AlphaMillionths) / 1e6f);
}

void hardSigmoidParams(const Node& node, UnaryParams& p)
{
    p.a = node.attributes.real("alpha", 0.2f);
    p.b = node.attributes.real("beta", 0.5f);
}

void seluParams(const Node& node, UnaryParams& p)
{
    const bool old = node.opset > 0 && node.opset < 6;
    p.a = node.attributes.real("alpha", old ? 1.6732f : 1.67326319217681884765625f);
    p.b = node.attributes.real("gamma", old ? 1.0507f : 1.05070102214813232421875f);
}

void shrinkParams(const Node& node, UnaryParams& p)
{
    p.a = node.attributes.real("lambd", 0.5f);
    p.b = node.attributes.real("bias", 0.0f);
}

const std::map<std::string_view, UnaryEntry>& unaryEntries()
{
    static const std::map<std::string_view, UnaryEntry> entries {
        { "Neg", { UnaryOp::Neg } },
        { "Abs", { UnaryOp::Abs } },
        { "Ceil", { UnaryOp::Ceil } },
        { "Floor", { UnaryOp::Floor } },
        { "Round", { UnaryOp::Round } },
        { "Sign", { UnaryOp::Sign } },
        { "Sqrt", { UnaryOp::Sqrt } },
        { "Reciprocal", { UnaryOp::Reciprocal } },
        { "Exp", { UnaryOp::Exp } },
        { "Log", { UnaryOp::Log } },
        { "Erf", { UnaryOp::Erf } },
        { "Sin", { UnaryOp::Sin } },
        { "Cos", { UnaryOp::Cos } },
        { "Tan", { UnaryOp::Tan } },
        { "Asin", { UnaryOp::Asin } },
        { "Acos", { UnaryOp::Acos } },
        { "Atan", { UnaryOp::Atan } },
        { "Sinh", { UnaryOp::Sinh } },
        { "Cosh", { UnaryOp::Cosh } },
        { "Asinh", { UnaryOp::Asinh } },
        { "Acosh", { UnaryOp::Acosh } },
        { "Atanh", { UnaryOp::Atanh } },
        { "Sigmoid", { UnaryOp::Sigmoid } },
        { "Tanh", { UnaryOp::Tanh } },
        { "Relu", { UnaryOp::Relu } },
        { "Softplus", { UnaryOp::Softplus } },
        { "Softsign", { UnaryOp::Softsign } },
        { "Mish", { UnaryOp::Mish } },
        { "HardSwish", { UnaryOp::HardSwish } },
        { "HardSigmoid", { UnaryOp::HardSigmoid, hardSigmoidParams } },
        { "LeakyRelu", { UnaryOp::LeakyRelu, alpha<10000> } },
        { "Elu", { UnaryOp::Elu, alpha<1000000> } },
        { "Celu", { UnaryOp::Celu, alpha<1000000> } },
        { "ThresholdedRelu", { UnaryOp::ThresholdedRelu, alpha<1000000> } },
        { "Swish", { UnaryOp::Swish, alpha<1000000> } },
        { "QuickGelu", { UnaryOp::Swish, alpha<1702000> } },
        { "Selu", { UnaryOp::Selu, seluParams } },
        { "Shrink", { UnaryOp::Shrink, shrinkParams } },
        { "Gelu", { UnaryOp::Gelu } },
        { "Not", { UnaryOp::Not } },
        { "BitwiseNot", { UnaryOp::BitwiseNot } },
    };
    return entries;
}

bool takes(UnaryOp op, DType type)
{
    if (op == UnaryOp::Not)
        return type == DType::Bool;
    if (isFloat(type))
        return op != UnaryOp::BitwiseNot;
    return isInteger(type) && (unaryTakesIntegers(op) || op == UnaryOp::Erf || op == UnaryOp::Shrink);
}

/// Integers are computed in integers where the function gives such.
WorkType unaryWorkType(UnaryOp op, DType type, KernelMode mode)
{
    return isInteger(type) && !unaryTakesIntegers(op) ? WorkType::Double : workTypeOf(type, mode);
}

Tensor runUnary(const StepContext& c, UnaryOp op, const UnaryParams& p, const Tensor& x, KernelMode mode)
{
    Tensor y = c.allocate(x.dtype(), x.shape(), x.layout());
    if (x.dtype() == DType::Float32 && mode == KernelMode::Fast) {
        unaryFast(op, p, x.data<float>().data(), y.fill<float>().data(), static_cast<size_t>(x.count()));
        return y;
    }
    withWorkType(unaryWorkType(op, x.dtype(), mode), [&](auto work) {
        using W = decltype(work);
        mapChunks<W>(x, y, [&](const W* in, W* out, size_t n) { unaryReference(op, p, in, out, n); });
    });
    return y;
}

std::shared_ptr<const ElementOp> elementOf(const LowerContext& c, UnaryOp op, const UnaryParams& p)
{
    const bool fast = c.mode == KernelMode::Fast && (c.inputType(0) == DType::Float32);
    return fast ? std::make_shared<ElementOp>(ElementOp { false, op, p, {} }) : nullptr;
}

Result<LoweredNode> unaryNode(const LowerContext& c, UnaryOp op, const UnaryParams& p)
{
    if (c.inputType(0) != DType::Undefined && !takes(op, c.inputType(0)))
        return unsupportedType(c.inputType(0));
    const KernelMode mode = c.mode;
    LoweredNode lowered;
    lowered.run = [op, p, mode](StepContext& s) -> Status {
        const Tensor& x = s.in(0);
        if (!takes(op, x.dtype()))
            return unsupportedType(x.dtype());
        s.setOutput(0, runUnary(s, op, p, x, mode));
        return {};
    };
    lowered.kernel = mode == KernelMode::Reference ? "reference" : "element-wise";
    lowered.layouts = LayoutRule::Any;
    lowered.element = elementOf(c, op, p);
    return lowered;
}

Result<LoweredNode> lowerUnary(const LowerContext& c)
{
    const UnaryEntry& entry = unaryEntries().at(c.node.opType);
    UnaryParams p;
    if (entry.params)
        entry.params(c.node, p);
    UnaryOp op = entry.op;
    if (op == UnaryOp::Gelu && c.node.attributes.text("approximate", "none") == "tanh")
        op = UnaryOp::GeluTanh;
    return unaryNode(c, op, p);
}

/// Bounds of Clip that are not given: everything passes.
UnaryParams openClip(DType type)
{
    UnaryParams p;
    p.low = -std::numeric_limits<double>::infinity();
    p.high = std::numeric_limits<double>::infinity();
    p.lowInt = type == DType::UInt64 ? 0 : std::numeric_limits<int64_t>::min();
    p.highInt = type == DType::UInt64 ? -1 : std::numeric_limits<int64_t>::max();
    return p;
}

Status readBound(const Tensor* bound, double& real, int64_t& integer)
{
    if (!bound)
        return {};
    if (bound->count() != 1 || !isNumeric(bound->dtype()))
        return badInput("a bound of Clip must be one number");
    real = elementAsDouble(*bound, 0);
    if (!isFloat(bound->dtype()))
        integer = elementAsInt(*bound, 0);
    return {};
}

Result<LoweredNode> lowerClip(const LowerContext& c)
{
    if (c.inputType(0) != DType::Undefined && !takes(UnaryOp::Clip, c.inputType(0)))
        return unsupportedType(c.inputType(0));
    const bool byAttributes = c.node.opset > 0 && c.node.opset < 11;
    const float low = c.node.attributes.real("min", -std::numeric_limits<float>::infinity());
    const float high = c.node.attributes.real("max", std::numeric_limits<float>::infinity());
    const KernelMode mode = c.mode;
    const bool constantBounds = (!c.node.hasInput(1) || c.constant(1)) && (!c.node.hasInput(2) || c.constant(2));
    LoweredNode lowered;
    if (byAttributes || constantBounds) {
        UnaryParams p = openClip(DType::Float32);
        p.low = byAttributes ? low : p.low;
        p.high = byAttributes ? high : p.high;
        if (byAttributes
            || (readBound(c.constant(1), p.low, p.lowInt).ok() && readBound(c.constant(2), p.high, p.highInt).ok()))
            lowered.element = elementOf(c, UnaryOp::Clip, p);
    }
    lowered.run = [=](StepContext& s) -> Status {
        const Tensor& x = s.in(0);
        if (!takes(UnaryOp::Clip, x.dtype()))
            return unsupportedType(x.dtype());
        UnaryParams p = openClip(x.dtype());
        if (byAttributes) {
            p.low = low;
            p.high = high;
        } else {
            QS_CHECK(readBound(s.input(1), p.low, p.lowInt));
            QS_CHECK(readBound(s.input(2), p.high, p.highInt));
        }
        s.setOutput(0, runUnary(s, UnaryOp::Clip, p, x, mode));
        return {};
    };
    lowered.kernel = mode == KernelMode::Reference ? "reference" : "element-wise";
    lowered.layouts = LayoutRule::Any;
    return lowered;
}

/// IsNaN and IsInf.
Result<LoweredNode> lowerFloatTest(const LowerContext& c)
{
    if (c.inputType(0) != DType::Undefined && !isFloat(c.inputType(0)))
        return unsupportedType(c.inputType(0));
    const bool nan = c.node.opType == "IsNaN";
    const bool positive = c.node.attributes.integer("detect_positive", 1) != 0;
    const bool negative = c.node.attributes.integer("detect_negative", 1) != 0;
    LoweredNode lowered;
    lowered.run = [=](StepContext& s) -> Status {
        const Tensor& x = s.in(0);
        if (!isFloat(x.dtype()))
            return unsupportedType(x.dtype());
        Tensor y = s.allocate(DType::Bool, x.shape(), x.layout());
        std::array<double, kChunk> in;
        for (size_t i = 0, count = static_cast<size_t>(x.count()); i < count; i += kChunk) {
            const size_t n = std::min(kChunk, count - i);
            loadElements(x.dtype(), x.bytes().data(), i, in.data(), n);
            uint8_t* out = y.fill<uint8_t>().data() + i;
            if (nan)
                isNotANumber(in.data(), out, n);
            else
                isInfinite(in.data(), positive, negative, out, n);
        }
        s.setOutput(0, std::move(y));
        return {};
    };
    lowered.kernel = "element-wise";
    lowered.layouts = LayoutRule::Any;
    return lowered;
}

} // namespace

void lowerElementwise(LoweringRegistry& r)
{
    for (const auto& [type, entry] : unaryEntries())
        r.add(type == "QuickGelu" ? kMicrosoftDomain : "", type, lowerUnary);
    r.add(kMicrosoftDomain, "Gelu", lowerUnary);
    r.add("", "Clip", lowerClip);
    r.add("", "IsNaN", lowerFloatTest);
    r.add("", "IsInf", lowerFloatTest);
    lowerElementwiseBinary(r);
    lowerCasts(r);
    lowerExperimental(r);
}

} // namespace qs
