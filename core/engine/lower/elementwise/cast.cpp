// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/elementwise/parts.h"

#include "core/engine/lower/common/element_types.h"
#include "core/engine/registry/registry.h"
#include "core/kernels/text_ml/text_numbers.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <bit>

namespace qs {

namespace {

enum class E8M0Rounding { Up, Down, Nearest };

struct CastRule {
    DType to = DType::Undefined; ///< Undefined: the type of the second input (CastLike)
    Overflow overflow = Overflow::Saturate;
    E8M0Rounding rounding = E8M0Rounding::Up;
};

/// Power-of-two scale code of a float's magnitude. Source: ONNX technical note on float8e8m0 (Cast, round_mode).
uint8_t e8m0Code(float value, const CastRule& rule)
{
    const auto bits = std::bit_cast<uint32_t>(value);
    uint32_t exponent = (bits >> 23) & 0xff;
    const uint32_t fraction = bits & 0x7fffff;
    if (exponent == 0xff)
        return 0xff;
    const bool atLeastHalf = fraction >= 0x400000;
    const bool up = rule.rounding == E8M0Rounding::Up ? fraction != 0
        : rule.rounding == E8M0Rounding::Nearest      ? atLeastHalf && (fraction > 0x400000 || exponent > 0)
                                                      : false;
    if (up && !(exponent == 0xfe && rule.overflow == Overflow::Saturate))
        ++exponent;
    return static_cast<uint8_t>(exponent);
}

Tensor numberToText(const Tensor& x)
{
    std::vector<std::string> texts(static_cast<size_t>(x.count()));
    for (size_t i = 0; i < texts.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        if (isFloat(x.dtype()))
            texts[i] = floatText(elementAsDouble(x, at), x.dtype());
        else if (x.dtype() == DType::UInt64)
            texts[i] = std::to_string(x.data<uint64_t>()[i]);
        else
            texts[i] = std::to_string(elementAsInt(x, at));
    }
    return Tensor::strings(x.shape(), std::move(texts));
}

Result<Tensor> textToNumber(const StepContext& s, const Tensor& x, DType to)
{
    Tensor y = s.allocate(to, x.shape());
    const auto& texts = x.stringData();
    for (size_t i = 0; i < texts.size(); ++i) {
        const auto integer = isFloat(to) ? std::nullopt : textToInt(texts[i]);
        const auto number = integer ? std::nullopt : textToDouble(texts[i]);
        if (integer)
            storeElements(to, writable(y), i, &*integer, 1);
        else if (number)
            storeElements(to, writable(y), i, &*number, 1);
        else
            return badInput("cannot read \"" + texts[i].substr(0, 40) + "\" as a number");
    }
    return y;
}

template <class W> void convert(const Tensor& x, Tensor& y, const CastRule& rule)
{
    std::array<W, kChunk> buffer;
    for (size_t i = 0, count = static_cast<size_t>(x.count()); i < count; i += kChunk) {
        const size_t n = std::min(kChunk, count - i);
        loadElements(x.dtype(), x.bytes().data(), i, buffer.data(), n);
        if (rule.to == DType::Float8E8M0)
            for (size_t k = 0; k < n; ++k)
                y.fill<uint8_t>()[i + k] = e8m0Code(static_cast<float>(buffer[k]), rule);
        else
            storeElements(rule.to, writable(y), i, buffer.data(), n, rule.overflow);
    }
}

Result<Tensor> castTensor(const StepContext& s, const Tensor& x, const CastRule& rule)
{
    if (x.dtype() == rule.to)
        return x;
    if (rule.to == DType::String && isNumeric(x.dtype()))
        return numberToText(toPlain(x));
    if (!isNumeric(rule.to))
        return unsupportedType(rule.to);
    if (x.dtype() == DType::String)
        return textToNumber(s, x, rule.to);
    if (!isNumeric(x.dtype()))
        return unsupportedType(x.dtype());
    const Layout layout = dtypeBits(rule.to) >= 8 ? x.layout() : Layout::Plain;
    const Tensor from = toLayout(x, layout);
    Tensor y = s.allocate(rule.to, x.shape(), layout);
    withWorkType(workTypeOf(x.dtype(), KernelMode::Fast), [&](auto w) { convert<decltype(w)>(from, y, rule); });
    return y;
}

/// The attribute `to`: a type number, or in opset 1 its name.
DType castTarget(const Node& node)
{
    const auto* name = node.attributes.get<std::string>("to");
    if (!name)
        return static_cast<DType>(node.attributes.integer("to", 0));
    static const std::map<std::string, DType> names { { "FLOAT", DType::Float32 }, { "DOUBLE", DType::Float64 },
        { "FLOAT16", DType::Float16 }, { "BOOL", DType::Bool }, { "INT8", DType::Int8 }, { "INT16", DType::Int16 },
        { "INT32", DType::Int32 }, { "INT64", DType::Int64 }, { "UINT8", DType::UInt8 }, { "UINT16", DType::UInt16 },
        { "UINT32", DType::UInt32 }, { "UINT64", DType::UInt64 }, { "STRING", DType::String } };
    const auto it = names.find(*name);
    return it == names.end() ? DType::Undefined : it->second;
}

Result<LoweredNode> lowerCast(const LowerContext& c)
{
    CastRule rule;
    const bool like = c.node.opType == "CastLike";
    if (!like) {
        rule.to = castTarget(c.node);
        if (!isNumeric(rule.to) && rule.to != DType::String)
            return badInput(
                "Cast to element type " + std::to_string(c.node.attributes.integer("to", 0)) + " is not supported");
    }
    rule.overflow = c.node.attributes.integer("saturate", 1) ? Overflow::Saturate : Overflow::ToSpecial;
    const std::string rounding = c.node.attributes.text("round_mode", "up");
    rule.rounding = rounding == "down" ? E8M0Rounding::Down
        : rounding == "nearest"        ? E8M0Rounding::Nearest
                                       : E8M0Rounding::Up;
    LoweredNode lowered;
    lowered.run = [rule, like](StepContext& s) -> Status {
        CastRule r = rule;
        if (like)
            r.to = s.in(1).dtype();
        QS_TRY(Tensor y, castTensor(s, s.in(0), r));
        s.setOutput(0, std::move(y));
        return {};
    };
    lowered.kernel = c.mode == KernelMode::Reference ? "reference" : "element-wise";
    lowered.layouts = LayoutRule::Any;
    return lowered;
}

} // namespace

void lowerCasts(LoweringRegistry& r)
{
    r.add("", "Cast", lowerCast);
    r.add("", "CastLike", lowerCast);
}

} // namespace qs
