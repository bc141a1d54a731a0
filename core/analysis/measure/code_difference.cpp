// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/code_difference.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <cstdlib>

namespace qs {

namespace {

template <class A, class B> CodeDifference countDifferences(const A& a, const B& b)
{
    CodeDifference d;
    d.count = a.size();
    for (size_t i = 0; i < a.size(); ++i) {
        const int64_t steps = std::abs(static_cast<int64_t>(a[i]) - static_cast<int64_t>(b[i]));
        d.offByOne += steps == 1;
        d.beyond += steps > 1;
        d.squares += static_cast<uint64_t>(steps * steps);
    }
    return d;
}

} // namespace

CodeDifference differenceOf(const Tensor& a, const Tensor& b)
{
    if (a.shape() != b.shape() || a.dtype() != b.dtype())
        return { static_cast<uint64_t>(a.count()), 0, static_cast<uint64_t>(a.count()), 0 };
    const Layout layout = a.layout() == b.layout() ? a.layout() : Layout::Plain;
    const Tensor x = toLayout(a, layout), y = toLayout(b, layout);
    if (x.dtype() == DType::UInt8)
        return countDifferences(x.data<uint8_t>(), y.data<uint8_t>());
    if (x.dtype() == DType::Int8)
        return countDifferences(x.data<int8_t>(), y.data<int8_t>());
    return countDifferences(toInts(x), toInts(y));
}

void addPairCounts(std::map<NodeId, PairCounts>& total, const std::map<NodeId, PairCounts>& counts)
{
    for (const auto& [id, more] : counts) {
        PairCounts& sum = total[id];
        sum.pairs += more.pairs;
        sum.saturated.resize(std::max(sum.saturated.size(), more.saturated.size()));
        for (size_t c = 0; c < more.saturated.size(); ++c)
            sum.saturated[c] += more.saturated[c];
        if (losesMore(more.worst, sum.worst))
            sum.worst = more.worst;
    }
}

} // namespace qs
