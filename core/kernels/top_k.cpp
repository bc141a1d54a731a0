// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/top_k.h"

#include "core/kernels/element_io.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace qs {

namespace {

template <class W> bool less(W a, W b)
{
    if constexpr (std::is_floating_point_v<W>)
        if (std::isnan(a) || std::isnan(b))
            return !std::isnan(a) && std::isnan(b);
    return a < b;
}

template <class W> void topKOf(DType type, const std::byte* data, const TopK& top, int64_t* indices)
{
    const auto size = static_cast<size_t>(top.size), inner = static_cast<size_t>(top.inner);
    std::vector<W> slab(size * inner), line(size);
    std::vector<int64_t> order(size);
    for (int64_t o = 0; o < top.outer; ++o) {
        loadElements(type, data, static_cast<size_t>(o) * slab.size(), slab.data(), slab.size());
        for (size_t i = 0; i < inner; ++i) {
            for (size_t p = 0; p < size; ++p)
                line[p] = slab[p * inner + i];
            std::iota(order.begin(), order.end(), int64_t(0));
            std::partial_sort(order.begin(), order.begin() + top.k, order.end(), [&](int64_t a, int64_t b) {
                const W va = line[static_cast<size_t>(a)], vb = line[static_cast<size_t>(b)];
                if (less(va, vb) || less(vb, va))
                    return top.largest ? less(vb, va) : less(va, vb);
                return a < b;
            });
            for (int64_t k = 0; k < top.k; ++k)
                indices[(o * top.k + k) * top.inner + static_cast<int64_t>(i)] = order[static_cast<size_t>(k)];
        }
    }
}

} // namespace

bool topKIndices(DType type, const std::byte* data, const TopK& top, int64_t* indices)
{
    if (isFloat(type))
        topKOf<double>(type, data, top, indices);
    else if (type == DType::UInt64)
        topKOf<uint64_t>(type, data, top, indices);
    else if (isInteger(type) || type == DType::Bool)
        topKOf<int64_t>(type, data, top, indices);
    else
        return false;
    return true;
}

} // namespace qs
