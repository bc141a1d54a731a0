// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/quantizer_differences.h"

#include "core/tensor/convert.h"

namespace qs {

namespace {

bool sameCodes(const Tensor& a, const Tensor& b)
{
    // A weight that is stored transposed, or that nobody stores as codes, is nothing to compare.
    if (!a.valid() || !b.valid() || a.shape() != b.shape() || a.dtype() != b.dtype())
        return true;
    return toInts(a) == toInts(b);
}

} // namespace

QuantizerDifferences quantizerDifferences(const QuantizedFile& file, const QuantizedFile& made)
{
    QuantizerDifferences found;
    for (const auto& [name, tensor] : file.tensors) {
        const FileTensor* ours = made.find(name);
        if (!ours)
            found.lacking.push_back(name);
        else if (!sameParameters(tensor.params, ours->params))
            found.parameters.push_back(name);
        else if (!sameCodes(tensor.codes, ours->codes))
            found.codes.push_back(name);
    }
    for (const auto& [name, tensor] : made.tensors)
        if (!file.find(name))
            found.added.push_back(name);
    return found;
}

} // namespace qs
