// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/input_fit.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace qs {

namespace {

Issue inputIssue(const InputSpec& input, std::string what, const std::string& file, std::string remedy)
{
    Issue issue = badInput(std::move(what), file, std::move(remedy));
    issue.tensor = input.name;
    return issue;
}

std::string named(DType type) { return std::string(dtypeName(type)); }

std::string shortNumber(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

Issue lossIssue(const InputSpec& input, double value, DType from, const std::string& file)
{
    return inputIssue(input,
        "the value " + shortNumber(value) + " of type " + named(from) + " does not fit the input's type "
            + named(input.dtype),
        file, "save the array as " + named(input.dtype) + " with values in its range");
}

Result<Tensor> narrowDoubles(const Tensor& t, const InputSpec& input, const std::string& file)
{
    Tensor out = Tensor::allocate(DType::Float32, t.shape());
    const auto from = t.data<double>();
    const auto to = out.fill<float>();
    for (size_t i = 0; i < from.size(); ++i) {
        to[i] = static_cast<float>(from[i]);
        if (std::isinf(to[i]) && std::isfinite(from[i]))
            return lossIssue(input, from[i], t.dtype(), file);
    }
    return out;
}

template <class T> Result<Tensor> integersTo(const Tensor& t, const InputSpec& input, const std::string& file)
{
    Tensor out = Tensor::allocate(dtypeOf<T>(), t.shape());
    const auto to = out.fill<T>();
    const bool unsignedSource = t.dtype() == DType::UInt64;
    for (size_t i = 0; i < to.size(); ++i) {
        const int64_t v = elementAsInt(t, static_cast<int64_t>(i));
        to[i] = static_cast<T>(v);
        const bool wrapped = unsignedSource ? (v < 0 && sizeof(T) < 8) || (std::is_signed_v<T> && v < 0)
                                            : std::is_unsigned_v<T> && v < 0;
        if (wrapped || static_cast<int64_t>(to[i]) != v)
            return lossIssue(input, elementAsDouble(t, static_cast<int64_t>(i)), t.dtype(), file);
    }
    return out;
}

/// One code a byte, within the range of the 2- or 4-bit type.
Result<Tensor> packedCodes(const Tensor& t, const InputSpec& input, const std::string& file)
{
    const CodeRange range = *codeRange(input.dtype);
    Tensor codes = Tensor::allocate(range.low < 0 ? DType::Int8 : DType::UInt8, t.shape());
    for (int64_t i = 0; i < t.count(); ++i) {
        const int64_t v = elementAsInt(t, i);
        if (v < range.low || v > range.high)
            return lossIssue(input, elementAsDouble(t, i), t.dtype(), file);
        codes.fill<uint8_t>()[static_cast<size_t>(i)] = static_cast<uint8_t>(v);
    }
    return packedAs(codes, input.dtype);
}

Result<Tensor> floatsTo(const Tensor& t, const InputSpec& input, const std::string& file)
{
    Tensor out = Tensor::allocate(input.dtype, t.shape());
    for (int64_t i = 0; i < t.count(); ++i) {
        const double v = elementAsDouble(t, i);
        const auto at = static_cast<size_t>(i);
        const auto single = static_cast<float>(v);
        switch (input.dtype) {
        case DType::Float64:
            out.fill<double>()[at] = v;
            break;
        case DType::Float32:
            out.fill<float>()[at] = single;
            break;
        case DType::Float16:
            out.fill<uint16_t>()[at] = floatToFloat16(single);
            break;
        case DType::BFloat16:
            out.fill<uint16_t>()[at] = floatToBFloat16(single);
            break;
        default:
            out.fill<uint8_t>()[at] = floatToSmallFloat(input.dtype, single, false);
        }
        const double back = elementAsDouble(out, i);
        if (std::isfinite(v) && !std::isfinite(back))
            return lossIssue(input, v, t.dtype(), file);
    }
    return out;
}

} // namespace

bool fits(const Shape& shape, const InputSpec& input)
{
    if (!input.dims)
        return true;
    if (input.dims->size() != shape.size())
        return false;
    for (size_t i = 0; i < shape.size(); ++i)
        if ((*input.dims)[i].known() && (*input.dims)[i].value != shape[i])
            return false;
    return true;
}

Issue shapeIssue(const InputSpec& input, const std::string& given, const std::string& file, std::string remedy)
{
    const std::string expected = input.dims ? dimsText(*input.dims) : "any shape";
    return inputIssue(
        input, "the input expects the shape " + expected + ", the data have " + given, file, std::move(remedy));
}

bool convertible(DType from, DType to)
{
    if (from == to)
        return true;
    if (isInteger(from) && isInteger(to))
        return true;
    return isFloat(from) && isFloat(to) && to != DType::Float4E2M1;
}

Issue dtypeIssue(const InputSpec& input, DType given, const std::string& file)
{
    return inputIssue(input, "the input expects " + named(input.dtype) + ", the data are " + named(given), file,
        "save the array as " + named(input.dtype));
}

Result<Tensor> convertTo(Tensor tensor, const InputSpec& input, const std::string& file)
{
    if (tensor.dtype() == input.dtype)
        return tensor;
    if (!convertible(tensor.dtype(), input.dtype))
        return dtypeIssue(input, tensor.dtype(), file);
    if (tensor.dtype() == DType::Float64 && input.dtype == DType::Float32)
        return narrowDoubles(tensor, input, file);
    switch (input.dtype) {
    case DType::UInt8:
        return integersTo<uint8_t>(tensor, input, file);
    case DType::Int8:
        return integersTo<int8_t>(tensor, input, file);
    case DType::UInt16:
        return integersTo<uint16_t>(tensor, input, file);
    case DType::Int16:
        return integersTo<int16_t>(tensor, input, file);
    case DType::UInt32:
        return integersTo<uint32_t>(tensor, input, file);
    case DType::Int32:
        return integersTo<int32_t>(tensor, input, file);
    case DType::UInt64:
        return integersTo<uint64_t>(tensor, input, file);
    case DType::Int64:
        return integersTo<int64_t>(tensor, input, file);
    default:
        return isFloat(input.dtype) ? floatsTo(tensor, input, file) : packedCodes(tensor, input, file);
    }
}

int64_t batchSize(const InputSpec& input)
{
    if (!input.dims || input.dims->empty() || !input.dims->front().known())
        return 1;
    return std::max<int64_t>(input.dims->front().value, 1);
}

size_t commonBatch(const std::vector<InputSpec>& inputs)
{
    int64_t batch = 0;
    for (const InputSpec& input : inputs) {
        if (batch != 0 && batch != batchSize(input))
            return 1;
        batch = batchSize(input);
    }
    return static_cast<size_t>(std::max<int64_t>(batch, 1));
}

bool allVectors(const std::vector<InputSpec>& inputs)
{
    return std::all_of(inputs.begin(), inputs.end(), [](const InputSpec& i) { return i.dims && i.dims->size() <= 1; });
}

Result<size_t> feedsFor(size_t samples, size_t batch, const std::string& file)
{
    if (samples == 0)
        return badInput("there are no samples", file, "give at least one sample");
    if (samples % batch == 0)
        return samples / batch;
    const size_t less = samples / batch * batch;
    return badInput(std::to_string(samples) + (samples == 1 ? " sample does" : " samples do")
            + " not fill the model's fixed batch of " + std::to_string(batch),
        file,
        less > 0 ? "use --limit " + std::to_string(less) + " or add samples"
                 : "give at least " + std::to_string(batch) + " samples");
}

std::string nameList(const std::vector<std::string>& names)
{
    constexpr size_t kShown = 8;
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), kShown); ++i)
        text += (i ? ", " : "") + ("'" + names[i] + "'");
    if (names.size() > kShown)
        text += " and " + std::to_string(names.size() - kShown) + " more";
    return text;
}

} // namespace qs
