// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/elementwise/broadcast.h"

namespace qs {

namespace {

/// Strides of an operand over the axes of `out`: 0 where it is repeated.
std::vector<size_t> stridesOver(const Shape& operand, const Shape& out)
{
    std::vector<size_t> strides(out.size(), 0);
    const std::vector<int64_t> own = rowMajorStrides(operand);
    const size_t shift = out.size() - operand.size();
    for (size_t i = 0; i < operand.size(); ++i)
        if (operand[i] != 1)
            strides[i + shift] = static_cast<size_t>(own[i]);
    return strides;
}

} // namespace

BroadcastLoop makeBroadcastLoop(std::span<const Shape> operands, const Shape& out)
{
    std::vector<std::vector<size_t>> full;
    for (const Shape& s : operands)
        full.push_back(stridesOver(s, out));
    BroadcastLoop loop;
    loop.strides.resize(operands.size());
    for (size_t d = 0; d < out.size(); ++d) {
        if (out[d] == 1)
            continue;
        bool merges = !loop.shape.empty();
        for (size_t k = 0; merges && k < operands.size(); ++k)
            merges = loop.strides[k].back() == full[k][d] * static_cast<size_t>(out[d]);
        if (merges)
            loop.shape.back() *= out[d];
        else
            loop.shape.push_back(out[d]);
        for (size_t k = 0; k < operands.size(); ++k) {
            if (merges)
                loop.strides[k].back() = full[k][d];
            else
                loop.strides[k].push_back(full[k][d]);
        }
    }
    if (loop.shape.empty()) {
        loop.shape.push_back(1);
        for (auto& s : loop.strides)
            s.push_back(0);
    }
    return loop;
}

} // namespace qs
