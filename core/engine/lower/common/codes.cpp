// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/codes.h"

#include "core/kernels/quantize/quantize.h"
#include "core/tensor/convert.h"

namespace qs {

bool isCode(DType type) { return type == DType::UInt8 || type == DType::Int8; }

Codes codesOf(const Tensor& t) { return { t.data<uint8_t>().data(), t.dtype() == DType::Int8 }; }

std::vector<int32_t> zeroPointsOf(const Tensor* t)
{
    if (!t)
        return {};
    std::vector<int32_t> values;
    for (const int64_t zero : toInts(*t)) // of a wider type it may be no code, and then is the nearest
        values.push_back(static_cast<int32_t>(std::clamp<int64_t>(zero, INT8_MIN, UINT8_MAX)));
    return values;
}

Result<float> singleReal(const Tensor& t, const char* what)
{
    if (t.count() != 1)
        return badInput(std::string(what) + " must be one number, it has shape " + shapeText(t.shape()));
    return static_cast<float>(elementAsDouble(t, 0));
}

Status checkCodes(const Tensor& t, const char* what)
{
    if (isCode(t.dtype()))
        return {};
    return badInput(
        std::string(what) + " of type " + std::string(dtypeName(t.dtype())) + " cannot be multiplied as integers", {},
        "use int8 or uint8");
}

Result<OutputCodes> outputCodes(const StepContext& s, size_t scaleSlot, size_t zeroSlot, DType fallback)
{
    OutputCodes out;
    QS_TRY(out.scale, singleReal(s.in(scaleSlot), "the output scale"));
    const Tensor* zero = s.input(zeroSlot);
    out.type = zero ? zero->dtype() : fallback;
    if (!isCode(out.type))
        return badInput(
            "an output of type " + std::string(dtypeName(out.type)) + " is not supported", {}, "use int8 or uint8");
    if (zero && zero->count() != 1)
        return badInput("the output zero point must be one number");
    out.zeroPoint = zero ? static_cast<int32_t>(elementAsInt(*zero, 0)) : 0;
    return out;
}

void requantizeRows(const RowEpilogue& f, const int32_t* sums, int64_t first, int64_t rows)
{
    const auto range = *codeRange(f.codes.type);
    const Requantization q { f.multiplier, f.bias, f.codes.zeroPoint, static_cast<int32_t>(range.low),
        static_cast<int32_t>(range.high) };
    const auto kernel = f.mode == KernelMode::Reference ? requantizeReference : requantize;
    kernel(sums, rows, f.columns, q, f.out + first * f.columns);
    if (f.unrounded)
        scaleSums(sums, rows, f.columns, f.scale, f.bias, f.unrounded + first * f.columns);
}

bool saturates(PairSaturation rule, DType left, DType right)
{
    const DType wanted = rule == PairSaturation::ShiftedLeft ? DType::Int8 : DType::UInt8;
    return rule != PairSaturation::None && left == wanted && right == DType::Int8;
}

void countPairs(const StepContext& s, int64_t rows, int64_t depth, const SaturationTally& tally)
{
    PairCounts* counts = s.pairCounts();
    if (!counts)
        return;
    const std::span<const uint64_t> saturated = tally.columns;
    counts->pairs += static_cast<uint64_t>(rows * ((depth + 1) / 2)) * saturated.size();
    if (counts->saturated.size() < saturated.size())
        counts->saturated.resize(saturated.size());
    for (size_t c = 0; c < saturated.size(); ++c)
        counts->saturated[c] += saturated[c];
    if (losesMore(tally.worst, counts->worst))
        counts->worst = tally.worst;
}

} // namespace qs
