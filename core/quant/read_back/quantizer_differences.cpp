// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/quantizer_differences.h"

#include "core/quant/params/kept_codes.h"
#include "core/tensor/convert.h"

namespace qs {

namespace {

bool sameCodes(const FileTensor& a, const FileTensor& b)
{
    // A weight that nobody stores as codes is nothing to compare.
    if (!a.codes.valid() || !b.codes.valid() || a.codes.dtype() != b.codes.dtype())
        return true;
    const Tensor codes = codesLike(b.codes, a.codes, a.exchanged != b.exchanged);
    return !codes.valid() || toInts(codes) == toInts(b.codes);
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
        else if (!sameCodes(tensor, *ours))
            found.codes.push_back(name);
    }
    for (const auto& [name, tensor] : made.tensors)
        if (!file.find(name))
            found.added.push_back(name);
    return found;
}

} // namespace qs
