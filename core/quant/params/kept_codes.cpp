// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/params/kept_codes.h"

#include "core/base/hash.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace qs {

namespace {

template <class T> Hash128 hashOf(const std::vector<T>& values) { return hashBytes(std::as_bytes(std::span(values))); }

Hash128 hashOf(const Tensor& tensor)
{
    std::string shape(dtypeName(tensor.dtype()));
    for (int64_t size : tensor.shape())
        shape += "," + std::to_string(size);
    return combine(hashText(shape), hashBytes(toPlain(tensor).bytes()));
}

Shape withoutOnes(const Shape& shape)
{
    Shape kept;
    for (int64_t size : shape)
        if (size != 1)
            kept.push_back(size);
    return kept;
}

Tensor exchangedCodes(const Tensor& stored)
{
    const Tensor whole = unpacked(toPlain(stored));
    const auto rows = static_cast<size_t>(stored.dim(0)), columns = static_cast<size_t>(stored.dim(1));
    Tensor turned = Tensor::allocate(whole.dtype(), { stored.dim(1), stored.dim(0) });
    const auto move = [&](auto zero) {
        using T = decltype(zero);
        const std::span<const T> from = whole.data<T>();
        const std::span<T> to = turned.fill<T>();
        for (size_t r = 0; r < rows; ++r)
            for (size_t c = 0; c < columns; ++c)
                to[c * rows + r] = from[r * columns + c];
    };
    switch (whole.dtype()) {
    case DType::Int8:
        move(int8_t {});
        break;
    case DType::UInt8:
        move(uint8_t {});
        break;
    case DType::Int16:
        move(int16_t {});
        break;
    case DType::UInt16:
        move(uint16_t {});
        break;
    default: // matrices of other codes are not stored exchanged
        return {};
    }
    return whole.dtype() == stored.dtype() ? turned : packedAs(turned, stored.dtype());
}

} // namespace

std::string codesKey(const Tensor& constant, const QuantParams& params, const Tensor& codes)
{
    std::string grid(dtypeName(params.dtype));
    grid += "," + std::to_string(params.scale.size() > 1 && params.axis ? *params.axis : -1);
    grid += "," + std::to_string(params.blockSize);
    Hash128 key = combine(hashOf(constant), hashText(grid));
    key = combine(key, combine(hashOf(params.scale), hashOf(params.zeroPoint)));
    return combine(key, hashOf(codes)).hex();
}

Tensor codesLike(const Tensor& constant, const Tensor& stored, bool exchanged)
{
    if (!stored.valid())
        return {};
    const Tensor turned = !exchanged ? stored : stored.rank() == 2 ? exchangedCodes(stored) : Tensor();
    if (!turned.valid() || turned.shape() == constant.shape())
        return turned;
    if (withoutOnes(turned.shape()) != withoutOnes(constant.shape()))
        return {};
    return toPlain(turned).reshaped(constant.shape());
}

Tensor codesThatHold(const KeptTensor& kept, const Tensor& constant, const QuantParams& params)
{
    for (const bool exchanged : { false, true })
        if (Tensor codes = codesLike(constant, kept.codes, exchanged);
            codes.valid() && codes.dtype() == params.dtype && codesKey(constant, params, codes) == kept.key)
            return codes;
    return {};
}

QuantParams biasParams(const std::vector<float>& scale)
{
    QuantParams params { DType::Int32, scale, std::vector<int32_t>(scale.size(), 0), std::nullopt, 0 };
    if (scale.size() > 1)
        params.axis = 0;
    return params;
}

Tensor valuesOfBias(const KeptTensor& kept, const Tensor& constant)
{
    const bool fits = kept.scale.size() == 1 || kept.scale.size() == size_t(constant.count());
    if (!fits || kept.codes.dtype() != DType::Int32 || kept.codes.shape() != constant.shape()
        || codesKey(constant, biasParams(kept.scale), kept.codes) != kept.key)
        return {};
    return realOf(kept.codes, biasParams(kept.scale), constant.dtype());
}

Tensor rescaledCodes(const KeptTensor& kept, const Tensor& constant, const QuantParams& params)
{
    if (kept.scale.empty() || params.dtype != DType::Int32 || kept.codes.dtype() != DType::Int32
        || kept.codes.shape() != constant.shape())
        return {};
    const QuantParams own = biasParams(kept.scale);
    const std::vector<int64_t> codes = toInts(kept.codes);
    const auto fits
        = [&](const std::vector<float>& scale) { return scale.size() == 1 || scale.size() == codes.size(); };
    if (!fits(own.scale) || !fits(params.scale) || codesKey(constant, own, kept.codes) != kept.key)
        return {};
    Tensor rescaled = Tensor::allocate(DType::Int32, constant.shape());
    const auto to = rescaled.fill<int32_t>();
    for (size_t i = 0; i < codes.size(); ++i) {
        const double value = double(codes[i]) * own.scale[own.scale.size() > 1 ? i : 0];
        const double code = std::nearbyint(value / params.scale[params.scale.size() > 1 ? i : 0]);
        to[i] = std::isfinite(code) ? int32_t(std::clamp(code, -2147483648.0, 2147483647.0)) : 0;
    }
    return rescaled;
}

Tensor realOf(const Tensor& codes, const QuantParams& params, DType real)
{
    int64_t channels = 1, inner = codes.count();
    if (params.axis && params.scale.size() > 1) {
        const auto axis = static_cast<size_t>(*params.axis);
        channels = codes.dim(axis);
        inner = 1;
        for (size_t i = axis + 1; i < codes.rank(); ++i)
            inner *= codes.dim(i);
    }
    const int64_t block = std::max<int64_t>(params.blockSize, 1), blocks = (channels + block - 1) / block;
    const std::vector<int64_t> whole = toInts(codes);
    std::vector<float> values(whole.size());
    for (size_t i = 0; i < values.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const int64_t channel = at / inner % channels, outer = at / inner / channels;
        const auto scale = static_cast<size_t>(
            params.blockSize > 0 ? (outer * blocks + channel / block) * inner + at % inner : channel);
        values[i] = params.scale[scale] * static_cast<float>(whole[i] - params.zeroPoint[scale]);
    }
    return realTensor(real, codes.shape(), values);
}

} // namespace qs
