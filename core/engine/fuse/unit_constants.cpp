// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/rounding.h"
#include "core/engine/fuse/unit_builder.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

/// Float weights and biases between DequantizeLinear and QuantizeLinear, which ONNX Runtime quantizes when it loads a
/// model: weights to int8 with one asymmetric grid, biases to int32. Source: its documentation, measured.
namespace qs {

namespace {

struct WeightGrid {
    float scale = 1;
    int8_t zero = 0;
};

WeightGrid weightGrid(std::span<const float> values)
{
    float low = 0, high = 0;
    for (float v : values) {
        low = std::min(low, v);
        high = std::max(high, v);
    }
    WeightGrid grid;
    grid.scale = high == low ? 1.0f : (high - low) / 255.0f;
    grid.zero = static_cast<int8_t>(roundHalfEven(std::clamp(-128.0f - low / grid.scale, -128.0f, 127.0f)));
    return grid;
}

Tensor weightCodes(const Tensor& weight, const WeightGrid& grid)
{
    const auto values = toFloats(weight);
    Tensor codes = Tensor::allocate(DType::Int8, weight.shape());
    std::ranges::transform(values, codes.fill<int8_t>().begin(), [&](float v) {
        return static_cast<int8_t>(
            std::clamp(roundHalfEven(v / grid.scale) + static_cast<float>(grid.zero), -128.0f, 127.0f));
    });
    return codes;
}

} // namespace

/// The runtime's conditions: codes with one scale come in, the result goes to a QuantizeLinear, and the bias is a
/// constant vector or absent.
bool UnitBuilder::quantizesConstants() const
{
    const std::string& type = node().opType;
    if (!node().domain.empty() || !node().hasInput(0) || !node().hasInput(1) || !node().hasOutput(0)
        || (type != "Conv" && type != "ConvTranspose" && type != "Gemm"))
        return false;
    const auto x = m_qdq.codesOf(node().inputs[0]);
    const Tensor* scale = x ? constant(x->scale) : nullptr;
    if (!scale || scale->count() != 1)
        return false;
    const auto weight = m_qdq.codesOf(node().inputs[1]);
    const Tensor* real = constant(node().inputs[1]);
    if (!weight && (!real || real->dtype() != DType::Float32))
        return false;
    if (node().hasInput(2)) {
        const Tensor* bias = constant(node().inputs[2]);
        if (!bias || bias->rank() != 1 || m_qdq.codesOf(node().inputs[2]))
            return false;
    } else if (weight) {
        return false;
    }
    ValueId at = node().outputs[0];
    for (NodeId next = m_qdq.onlyReader(at); next.valid(); next = m_qdq.onlyReader(at)) {
        if (isQuantizeLinear(graph().node(next)))
            return true;
        const std::string& passed = graph().node(next).opType;
        if ((passed != "Relu" && passed != "Clip") || graph().node(next).outputs.empty()
            || !graph().node(next).outputs[0].valid())
            break;
        at = graph().node(next).outputs[0];
    }
    return m_result.has_value();
}

std::optional<UnitBuilder::Operand> UnitBuilder::quantizedWeight(const Tensor& weight)
{
    if (weight.dtype() != DType::Float32)
        return std::nullopt;
    const WeightGrid grid = weightGrid(toFloats(weight));
    Operand o;
    o.codes.type = o.codes.seen = DType::Int8;
    o.code = m_program.constant(weightCodes(weight, grid));
    o.scale = m_program.constant(Tensor::scalar(grid.scale));
    o.zero = m_program.constant(Tensor::scalar(grid.zero));
    return o;
}

/// A number of a Where beside uint8 codes: the end of a grid with zero point 127.
UnitBuilder::Operand UnitBuilder::quantizedNumber(float value)
{
    Operand o;
    o.codes.type = o.codes.seen = DType::UInt8;
    o.code = m_program.constant(Tensor::scalar<uint8_t>(value < 0 ? 0 : value > 0 ? 255 : 127));
    o.scale = m_program.constant(Tensor::scalar(value < 0 ? -value / 127.0f : value > 0 ? value / 128.0f : 1.0f));
    o.zero = m_program.constant(Tensor::scalar<uint8_t>(127));
    return o;
}

UnitBuilder::MaybeSlot UnitBuilder::quantizedBias(const Tensor& bias, const Operand& left, const Operand& right)
{
    const Tensor* xs = constant(left.codes.scale);
    const Tensor* ws = right.codes.scale.valid() ? constant(right.codes.scale) : m_program.constantAt(right.scale);
    if (bias.dtype() != DType::Float32 || bias.rank() != 1 || !xs || !ws)
        return std::nullopt;
    const auto values = toFloats(bias), scales = toFloats(*ws);
    if (scales.size() != 1 && scales.size() != values.size())
        return std::nullopt;
    const float x = toFloats(*xs)[0];
    Tensor codes = Tensor::allocate(DType::Int32, bias.shape());
    for (size_t i = 0; i < values.size(); ++i) {
        const float steps = roundHalfEven(values[i] / (x * scales[scales.size() == 1 ? 0 : i]));
        // What the conversion instruction makes of numbers that do not fit.
        codes.fill<int32_t>()[i]
            = std::abs(steps) < 2147483648.0f ? static_cast<int32_t>(steps) : std::numeric_limits<int32_t>::min();
    }
    return m_program.constant(std::move(codes));
}

/// The operator in float, with the constants that the runtime quantized.
UnitBuilder::MaybeSlot UnitBuilder::quantizedConstants()
{
    m_result.reset();
    if (!quantizesConstants())
        return std::nullopt;
    const Tensor* weight = constant(node().inputs[1]);
    const auto stored = m_qdq.codesOf(node().inputs[1]);
    std::vector<Slot> inputs { value(node().inputs[0]), value(node().inputs[1]) };
    Operand right;
    if (stored)
        right = { *stored, {}, value(stored->scale), {} };
    else if (auto w = quantizedWeight(*weight)) {
        right = std::move(*w);
        const auto real = add(programNode("DequantizeLinear"), { right.code, right.scale, right.zero }, DType::Float32);
        if (!real)
            return std::nullopt;
        inputs[1] = *real;
    }
    if (node().hasInput(2)) {
        const auto x = m_qdq.codesOf(node().inputs[0]);
        const Operand left { *x, {}, value(x->scale), {} };
        const auto codes = quantizedBias(*constant(node().inputs[2]), left, right);
        if (!codes)
            return std::nullopt;
        const auto scale = add(programNode("Mul"), { left.scale, right.scale }, DType::Float32);
        Node dequantize = programNode("DequantizeLinear");
        dequantize.attributes.set("axis", int64_t(0));
        const auto real = scale ? add(std::move(dequantize), { *codes, *scale }, DType::Float32) : std::nullopt;
        if (!real)
            return std::nullopt;
        inputs.push_back(*real);
    }
    return add(node(), inputs, DType::Float32);
}

} // namespace qs
