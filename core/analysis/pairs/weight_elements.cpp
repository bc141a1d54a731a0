// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/weight_elements.h"

#include "core/analysis/pairs/float_elements.h"
#include "core/match/graph/canonical.h"
#include "core/tensor/convert.h"

namespace qs {

Tensor floatElements(const Tensor& constant, const WeightPair& pair)
{
    const Tensor plain = toPlain(constant);
    if (!pair.places)
        return plain.dtype() == DType::Float32 ? plain : Tensor::of<float>(plain.shape(), toFloats(plain));
    const std::vector<float> all = toFloats(plain);
    std::vector<float> own;
    own.reserve(pair.places->floats.size());
    for (const uint32_t place : pair.places->floats)
        own.push_back(all[place]);
    return Tensor::of<float>(pair.places->shape, own);
}

std::vector<float> storedElements(const Tensor& codes, const QuantParams& params, const WeightPair& pair)
{
    auto stored = dequantized(codes, params);
    if (pair.transposed && codes.rank() == 2)
        return toFloats(exchangedAxes(Tensor::of<float>(codes.shape(), stored)));
    if (!pair.places)
        return stored;
    std::vector<float> own;
    own.reserve(pair.places->codes.size());
    for (const uint32_t place : pair.places->codes)
        own.push_back(stored[place]);
    return own;
}

} // namespace qs
